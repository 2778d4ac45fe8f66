"""
What a convolution does with its sums: its `finish`, at several points of a nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.dialects.tir.steps import Step, step_along
from transom.dialects.tir.types import memref_type_of
from transom.passes.winograd.convolution import Convolution


@dataclass(frozen=True)
class Read:
    """An input beside the sum, read by the dims of the convolution."""

    value: SSAValue
    map: AffineMap
    pad: Attribute | None


@dataclass(frozen=True)
class Epilogue:
    """What is read with a sum, what is computed of it, and where that is stored."""

    outs: Sequence[tuple[SSAValue, AffineMap]]
    """By the dims of the convolution."""
    ins: Sequence[Read] = ()
    finish: Block | None = None
    """None stores the sum itself."""

    def compute(
        self,
        b: tir.RegionBuilder,
        sum: SSAValue,
        inputs: Sequence[SSAValue],
        dims: Sequence[AffineExpr],
    ) -> list[SSAValue]:
        """
        What is stored of a sum, with the values of the inputs; `dims` are those of the
        convolution, in terms of the nest's whose region is built.
        """
        if self.finish is None:
            return [sum]
        values: dict[SSAValue, SSAValue] = {}
        values.update(zip(self.finish.args, (sum, *inputs), strict=True))
        for op in self.finish.ops:
            if isinstance(op, tir.YieldOp):
                return [values.get(value, value) for value in op.operands]
            if isinstance(op, tir.IndexOp):
                expr = dims[op.position]
                if isinstance(expr, AffineDimExpr):
                    values[op.result] = b.index(expr.position)
                else:
                    assert expr == affine.as_expr(0), "a dim of one point"
                    values[op.result] = b.constant(0, IndexType())
            else:
                copy = b.insert(op.clone(values))
                values.update(zip(op.results, copy.results, strict=True))
        raise AssertionError("regions of nests end with 'tir.yield'")


def epilogue_of(conv: Convolution) -> Epilogue:
    """The epilogue that a convolution has."""
    nest = conv.nest
    outs = [
        (value, access.map)
        for value, access in zip(nest.outs, nest.out_accesses, strict=True)
        if access.map is not None
    ]
    accesses = nest.in_accesses.data
    ins = [
        Read(nest.ins[position], map, accesses[position].pad)
        for position in conv.epilogue_inputs
        if (map := accesses[position].map) is not None
    ]
    return Epilogue(outs, ins, nest.finish.block)


def suits_registers(conv: Convolution) -> bool:
    """
    Whether the epilogue can be computed on vectors of filters: results lie side by side
    along these, and nobody asks for another index.
    """
    nest, lanes = conv.nest, conv.filters[-1]
    steps = [
        step_along(access, memref_type_of(out), lanes)
        for out, access in zip(nest.outs, nest.out_accesses, strict=True)
    ]
    asked = {op.position for op in nest.finish.block.ops if isinstance(op, tir.IndexOp)}
    return all(step is Step.CONTIGUOUS for step in steps) and asked <= set(conv.filters)
