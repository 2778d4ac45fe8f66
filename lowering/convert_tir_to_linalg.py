"""
Convert nests of `tir` to `linalg` on memrefs, for tools that read it.

An element-wise nest is one `linalg.generic`. `linalg` keeps the running value of a
reduction in the output: a nest with accumulators is a fill, a generic op that updates
the output, and, if `finish` does more than hand the value on, one that computes the
rest in place.

```mlir
tir.nest … init { %zero }               linalg.fill ins(%zero : f32) outs(%o : …)
           body { acc + a * b }   ==>   linalg.generic … ins(%a, %b) outs(%o) { … }
           finish { relu(acc) }         linalg.generic … outs(%o) { relu }
```

Refused with a reason: padded, indirect and combining accesses, sequential dims,
schedules, blocks, and accumulators that are not of the type of the outputs. Afterwards
neither `tir.nest` nor `tir.block` is left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AffineMapAttr, MemRefType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass

from transom.dialects import linalg, tir
from transom.dialects.tir.canonicalization import constant_index
from transom.dialects.tir.folds import fold_of
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    apply_full_conversion,
)
from transom.lowering.linalg_nests import refuse


@dataclass(frozen=True)
class Operand:
    """An operand of a generic op."""

    value: SSAValue
    map: AffineMap


class NestStructures:
    """The structured ops that do what a nest does."""

    def __init__(self, nest: tir.NestOp) -> None:
        self.nest = nest
        self.reduced = set(nest.dims_of_kind(tir.DimKind.REDUCTION))
        self.ops: list[Operation] = []
        self._check()
        self.ins = self._operands("input", nest.ins, nest.in_accesses.data)
        self.outs = self._operands("output", nest.outs, nest.out_accesses.data)

    def make(self) -> list[Operation]:
        """The ops, in order. Raises `RefusalError`."""
        nest = self.nest
        if not nest.has_accumulators:
            self._pointwise()
        elif self._updates_in_place():
            self._update()
        else:
            self._check_accumulators()
            self._fill()
            self._update()
            self._finish()
        return self.ops

    # What cannot be said.

    def _check(self) -> None:
        nest = self.nest
        if nest.schedule is not None:
            raise refuse("expected no schedule, which 'linalg' cannot say")
        if sequential := nest.dims_of_kind(tir.DimKind.SEQUENTIAL):
            raise refuse(
                "expected parallel and reduction dims, but "
                f"'d{sequential[0]}' is sequential"
            )
        if nest.symbols:
            raise refuse("expected accesses without operands of 'at'")

    @staticmethod
    def _operands(
        what: str, values: Sequence[SSAValue], accesses: Sequence[tir.AccessAttr]
    ) -> list[Operand]:
        found: list[Operand] = []
        for number, (value, access) in enumerate(zip(values, accesses, strict=True)):
            if access.map is None:
                raise refuse(
                    f"expected an affine access of {what} {number}, not indirect"
                )
            if access.pad is not None:
                raise refuse(f"expected no pad value of {what} {number}")
            if access.combine is not None:
                raise refuse(f"expected no 'combine' of {what} {number}")
            found.append(Operand(value, access.map))
        return found

    def _check_accumulators(self) -> None:
        nest = self.nest
        elements = [linalg.element_of(out.value.type) for out in self.outs]
        if list(nest.accumulator_types) != elements:
            listed = ", ".join(f"'{type}'" for type in nest.accumulator_types)
            wanted = ", ".join(f"'{type}'" for type in elements)
            raise refuse(
                f"expected an accumulator of the type of each output, {wanted}, but "
                f"got {listed}"
            )
        outs = [out.value for out in self.outs]
        if any(value in outs for value in nest.ins):
            raise refuse(
                "expected no output that is an input, because the sum is kept in it"
            )

    def _updates_in_place(self) -> bool:
        """Whether the nest folds into what the outputs hold, and does no more."""
        nest = self.nest
        outs = [out.value for out in self.outs]
        if len(nest.accumulator_types) != len(outs):
            return False
        for number, value in enumerate(nest.finish_values):
            op = value.owner
            fold = fold_of(
                nest.body_accumulators[number], nest.yielded(nest.body)[number]
            )
            start = nest.yielded(nest.init)[number].owner
            if fold is None or not isinstance(start, arith.ConstantOp):
                return False
            if type(op) is not type(fold.op) or start.value != fold.neutral:
                return False
            old = [nest.finish_accumulators[number], *self._old(number)]
            if set(cast(Operation, op).operands) != set(old) or len(old) != 2:
                return False
        body_reads = {nest.ins[i] for i, arg in enumerate(nest.body_ins) if arg.uses}
        return len(list(nest.finish.block.ops)) == len(outs) + 1 and not any(
            out in body_reads for out in outs
        )

    def _old(self, number: int) -> list[SSAValue]:
        """What `finish` calls the element that an output held."""
        out = self.outs[number].value
        return [
            argument
            for position, argument in self.nest.finish_ins.items()
            if self.nest.ins[position] is out
        ]

    # The ops.

    def _pointwise(self) -> None:
        nest = self.nest
        values = {number: arg for number, arg in nest.finish_ins.items() if arg.uses}
        self._generic(values, {}, nest.finish, nest.dim_kinds)

    def _fill(self) -> None:
        nest = self.nest
        if len(list(nest.init.block.ops)) == 1 or all(
            isinstance(op, arith.ConstantOp | tir.YieldOp) for op in nest.init.block.ops
        ):
            for start, out in zip(nest.yielded(nest.init), self.outs, strict=True):
                owner = start.owner
                if isinstance(owner, arith.ConstantOp):
                    owner = owner.clone()
                    self.ops.append(owner)
                    start = owner.result
                self.ops.append(linalg.FillOp([start], [out.value], []))
            return
        self._generic({}, {}, nest.init, nest.dim_kinds, without_reduction=True)

    def _update(self) -> None:
        nest = self.nest
        values = {number: arg for number, arg in enumerate(nest.body_ins) if arg.uses}
        held = dict(enumerate(nest.body_accumulators))
        self._generic(values, held, nest.body, nest.dim_kinds)

    def _finish(self) -> None:
        nest = self.nest
        if list(nest.finish_values) == list(nest.finish_accumulators):
            return
        values = {number: arg for number, arg in nest.finish_ins.items() if arg.uses}
        held = dict(enumerate(nest.finish_accumulators))
        self._generic(values, held, nest.finish, nest.dim_kinds, without_reduction=True)

    def _generic(
        self,
        values: Mapping[int, SSAValue],
        held: Mapping[int, SSAValue],
        region: Region,
        kinds: Sequence[tir.DimKind],
        *,
        without_reduction: bool = False,
    ) -> None:
        """
        A generic op over the dims of the nest. `values` are the arguments of the region
        for inputs, `held` those for what outputs hold.
        """
        dims = [
            dim
            for dim in range(self.nest.rank)
            if not (without_reduction and dim in self.reduced)
        ]
        renumbered = {dim: AffineDimExpr(new) for new, dim in enumerate(dims)}
        ins = [self.ins[number] for number in values]
        operands = [*ins, *self.outs]
        windows = self._windows(dims, operands)
        ins += windows
        maps = [
            _renumbered(operand.map, renumbered, self.nest.rank)
            for operand in (*ins, *self.outs)
        ]
        types = [linalg.element_of(o.value.type) for o in (*ins, *self.outs)]
        block = Block(arg_types=types)
        inner: dict[SSAValue, SSAValue] = {}
        arguments = list(block.args)
        for old, argument in zip(values.values(), arguments, strict=False):
            inner[old] = argument
        for number, old in held.items():
            inner[old] = arguments[len(ins) + number]
        self._copy(region, block, inner, renumbered)
        kind_attrs = [
            linalg.IteratorTypeAttr(
                linalg.REDUCTION
                if kinds[dim] is tir.DimKind.REDUCTION
                else linalg.PARALLEL
            )
            for dim in dims
        ]
        self.ops.append(
            linalg.GenericOp(
                [operand.value for operand in ins],
                [operand.value for operand in self.outs],
                Region(block),
                [AffineMapAttr(map) for map in maps],
                kind_attrs,
            )
        )

    def _copy(
        self,
        region: Region,
        block: Block,
        values: dict[SSAValue, SSAValue],
        renumbered: dict[int, AffineDimExpr],
    ) -> None:
        for op in region.block.ops:
            if isinstance(op, tir.YieldOp):
                results = [values.get(value, value) for value in op.operands]
                block.add_op(linalg.YieldOp(*results))
                return
            copy = op.clone(values)
            block.add_op(copy)
            values.update(zip(op.results, copy.results, strict=True))
            for inner in tuple(copy.walk()):
                if isinstance(inner, tir.IndexOp):
                    index = linalg.IndexOp(renumbered[inner.position].position)
                    assert inner.parent is not None, "it was copied into a block"
                    inner.parent.insert_op_before(index, inner)
                    inner.result.replace_all_uses_with(index.result)
                    if inner is copy:
                        values[op.results[0]] = index.result
                    inner.detach()
                    inner.erase()

    # Bounds, which `linalg` takes from the sizes of operands.

    def _windows(
        self, dims: Sequence[int], operands: Sequence[Operand]
    ) -> list[Operand]:
        """
        Buffers that nobody reads, whose sizes are the bounds of dims that run along no
        whole axis of an operand, as `linalg` has them for pools.
        """
        bounds = self.nest.bounds_values()
        missing: list[int] = []
        for dim in dims:
            found = [
                (operand.value, axis)
                for operand in operands
                for axis, expr in enumerate(operand.map.results)
                if expr == AffineDimExpr(dim)
            ]
            for value, axis in found:
                if not _is_size(bounds[dim], value, axis):
                    raise refuse(
                        f"expected 'd{dim}' to run along a whole axis of each operand"
                    )
            if not found:
                missing.append(dim)
        if not missing:
            return []
        sizes = [bounds[dim] for dim in missing]
        static = [size for size in sizes if isinstance(size, int)]
        if len(static) < len(sizes):
            raise refuse(
                f"expected a static bound of 'd{missing[0]}', which runs along no axis"
            )
        element = linalg.element_of(self.outs[0].value.type)
        alloc = tir.AllocOp(MemRefType(element, static), [])
        self.ops.append(alloc)
        map = AffineMap(self.nest.rank, 0, tuple(AffineDimExpr(d) for d in missing))
        return [Operand(alloc.result, map)]


def _renumbered(map: AffineMap, dims: dict[int, AffineDimExpr], rank: int) -> AffineMap:
    replaced = [dims.get(dim, AffineDimExpr(dim)) for dim in range(rank)]
    return map.replace_dims_and_symbols(replaced, [], len(dims), 0)


def _is_size(bound: int | SSAValue, value: SSAValue, axis: int) -> bool:
    """Whether a bound surely is the size of a dimension of a memref."""
    size = linalg.shape_of(value)[axis]
    if isinstance(bound, int) or size >= 0:
        return bound == size
    owner = bound.owner
    return (
        isinstance(owner, memref.DimOp)
        and owner.source is value
        and constant_index(owner.index) == axis
    )


class ConvertNest(ConversionPattern[tir.NestOp]):
    root = tir.NestOp

    def match_and_rewrite(
        self, op: tir.NestOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        rewriter.replace(op, NestStructures(op).make(), ())


class RefuseBlock(ConversionPattern[tir.BlockOp]):
    root = tir.BlockOp

    def match_and_rewrite(
        self, op: tir.BlockOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal:
        return Refusal("expected nests without common rows, which 'linalg' cannot say")


@dataclass(frozen=True)
class ConvertTirToLinalgPass(ModulePass):
    name = "convert-tir-to-linalg"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = ConversionTarget()
        target.add_illegal_op(tir.NestOp, tir.BlockOp)
        target.mark_unknown_legal()
        apply_full_conversion(op, target, (ConvertNest(), RefuseBlock()))
