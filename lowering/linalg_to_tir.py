"""
`linalg` and `tensor` ops of a kernel, on tensors, as nests on buffers.

The patterns join those of `convert-graph-to-tir`: a kernel that `linalg-group-kernels`
has made is lowered as one of graph ops is. Each result is a buffer of its own.
"""

from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from transom.dialects import linalg, tir
from transom.dialects.linalg.padding import padding_of
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.graph_to_tir.site import Symbols, parallel
from transom.lowering.linalg_nests import Insert, StructureNest, refuse, start_of
from transom.lowering.sizes import Size, buffer_size, mixed_sizes, value_of


class ConvertStructured(ConversionPattern[linalg.LinalgStructuredOperation]):
    root = linalg.LinalgStructuredOperation

    def match_and_rewrite(
        self,
        op: linalg.LinalgStructuredOperation,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> None:
        structure = linalg.structure_of(op)
        assert structure is not None, "the root has one"
        if not structure.on_tensors:
            raise refuse("expected tensors; 'convert-linalg-to-tir' is for memrefs")

        def insert(new: Operation) -> SSAValue:
            return rewriter.insert(new).results[0]

        values = tuple(operands)
        outs = [empty_like(value, insert) for value in values[len(structure.inputs) :]]
        starts = [start_of(value) for value in structure.outputs]
        nest = StructureNest(
            structure, values, outs, starts, insert, rewriter.converted
        ).build()
        rewriter.insert(nest)
        rewriter.replace(op, (), outs)


def empty_like(buffer: SSAValue, insert: Insert) -> SSAValue:
    """A buffer of the sizes of another."""
    type = cast("MemRefType[Attribute]", buffer.type)
    shape = type.get_shape()
    sizes = [
        cast(SSAValue, buffer_size(buffer, axis, insert))
        for axis, size in enumerate(shape)
        if size == DYNAMIC_INDEX
    ]
    return insert(tir.AllocOp(MemRefType(type.element_type, shape), sizes))


class ConvertEmpty(ConversionPattern[tensor.EmptyOp]):
    root = tensor.EmptyOp

    def match_and_rewrite(
        self, op: tensor.EmptyOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        type = op.tensor.type
        memref_type = MemRefType(type.element_type, type.get_shape())
        rewriter.replace(op, tir.AllocOp(memref_type, list(operands)))


class ConvertPad(ConversionPattern[tensor.PadOp]):
    """A nest that reads outside of the source, where there is the padding."""

    root = tensor.PadOp

    def match_and_rewrite(
        self, op: tensor.PadOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        pad = padding_of(op)
        if pad is None:
            return Refusal("expected one constant as padding")
        source = operands[0]
        low = mixed_sizes(op.static_low, list(operands.named("low")))
        high = mixed_sizes(op.static_high, list(operands.named("high")))

        def insert(new: Operation) -> SSAValue:
            return rewriter.insert(new).results[0]

        sizes: list[Size] = []
        for axis, (before, behind, declared) in enumerate(
            zip(low, high, op.result.type.get_shape(), strict=True)
        ):
            if declared != DYNAMIC_INDEX:
                sizes.append(declared)
                continue
            total = value_of(buffer_size(source, axis, insert), insert)
            for more in (before, behind):
                total = insert(arith.AddiOp(total, value_of(more, insert)))
            sizes.append(total)
        type = cast("MemRefType[Attribute]", source.type)
        out = insert(
            tir.AllocOp(
                MemRefType(type.element_type, op.result.type.get_shape()),
                [size for size in sizes if isinstance(size, SSAValue)],
            )
        )
        rank, symbols = len(sizes), Symbols()
        dims = [AffineExpr.dimension(i) for i in range(rank)]
        read = [dim - symbols(before) for dim, before in zip(dims, low, strict=True)]
        count = len(symbols.values)
        rewriter.insert(
            tir.NestOp.build_nest(
                parallel(sizes),
                ins=[tir.In(source, AffineMap(rank, count, tuple(read)), pad)],
                outs=[tir.Out(out, AffineMap(rank, count, tuple(dims)))],
                finish=lambda b, x: [x],
                symbols=symbols.values,
            )
        )
        rewriter.replace(op, (), (out,))
        return None


PATTERNS = (ConvertEmpty(), ConvertPad(), ConvertStructured())
