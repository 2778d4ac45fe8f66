"""
Ops that move elements, as nests that read (or write) through another map.
"""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    IndexType,
    IntegerType,
    MemRefType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from transom.dialects import graph, tir
from transom.dialects.graph.shapes import DYNAMIC
from transom.lowering.conversion import ConversionPattern, ConversionRewriter, Operands
from transom.lowering.graph_to_tir.contraction import padding_value
from transom.lowering.graph_to_tir.scalars import is_unsigned, width_of
from transom.lowering.graph_to_tir.site import (
    Site,
    Size,
    Symbols,
    dims,
    indices,
    parallel,
    refuse,
)
from transom.lowering.graph_to_tir.stored import frame


def copy_nest(
    site: Site,
    source: SSAValue,
    out: SSAValue,
    sizes: Sequence[Size],
    reading: Sequence[AffineExpr],
    writing: Sequence[AffineExpr],
    symbols: Sequence[SSAValue] = (),
    pad: Attribute | None = None,
) -> None:
    """Fill `out` with what `source` holds, point by point."""
    rank, count = len(sizes), len(symbols)
    site.nest(
        parallel(sizes),
        ins=[tir.In(source, indices(rank, count, reading), pad)],
        outs=[tir.Out(out, indices(rank, count, writing))],
        finish=lambda b, x: [x],
        symbols=symbols,
    )


class ConvertTranspose(ConversionPattern[graph.TransposeOp]):
    root = graph.TransposeOp

    def match_and_rewrite(
        self, op: graph.TransposeOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        sizes, out = site.result_sizes(), site.alloc()
        every = dims(len(sizes))
        reading = list(every)
        for position, axis in enumerate(op.permutation.get_values()):
            reading[axis] = every[position]
        copy_nest(site, site.ins[0], out, sizes, reading, every)
        site.done(out)


class ConvertSlice(ConversionPattern[graph.SliceOp]):
    """Reads at `start + step * d`; a start from the end is arithmetic on the size."""

    root = graph.SliceOp

    def match_and_rewrite(
        self, op: graph.SliceOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        sizes, out, symbols = site.result_sizes(), site.alloc(), Symbols()
        every = dims(len(sizes))
        reading: list[AffineExpr] = []
        for axis, (start, step) in enumerate(
            zip(op.starts.get_values(), op.steps.get_values(), strict=True)
        ):
            first = AffineExpr.constant(start)
            if start < 0:
                first = tir.affine.add(symbols(site.dim(site.ins[0], axis)), start)
            reading.append(tir.affine.add(first, every[axis] * step))
        copy_nest(site, site.ins[0], out, sizes, reading, every, symbols.values)
        site.done(out)


class ConvertPad(ConversionPattern[graph.PadOp]):
    """
    Writes the operand into the middle of the result and the value around it; reads
    before the start and behind the end, where the value is, if places are not known.
    """

    root = graph.PadOp

    def match_and_rewrite(
        self, op: graph.PadOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        source, sizes, out = site.ins[0], site.result_sizes(), site.alloc()
        every = dims(len(sizes))
        low, high = op.low.get_values(), op.high.get_values()
        pad = padding_value(site.element(0), op.value.value.data)
        if op.has_known_frame:
            shape = cast("TensorType[Attribute]", op.input.type).get_shape()
            around = list(zip(low, shape, high, strict=True))
            for part in frame(sizes, around):
                site.nest(
                    parallel(part.extents),
                    outs=[tir.Out(out, indices(len(sizes), 0, part.indices))],
                    finish=lambda b: [b(arith.ConstantOp(cast("Any", pad)))],
                )
            writing = [
                tir.affine.add(d, start) for d, start in zip(every, low, strict=True)
            ]
            copy_nest(site, source, out, site.sizes(source), every, writing)
        else:
            reading = [d - before for d, before in zip(every, low, strict=True)]
            copy_nest(site, source, out, sizes, reading, every, pad=pad)
        site.done(out)


class ConvertConcat(ConversionPattern[graph.ConcatOp]):
    """Each operand is written at its offset."""

    root = graph.ConcatOp

    def match_and_rewrite(
        self, op: graph.ConcatOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        out, axis = site.alloc(), op.axis.value.data
        offset: Size = 0
        for source in site.ins:
            sizes, symbols = site.sizes(source), Symbols()
            every = dims(len(sizes))
            writing = list(every)
            writing[axis] = tir.affine.add(every[axis], symbols(offset))
            copy_nest(site, source, out, sizes, every, writing, symbols.values)
            offset = _sum(site, offset, sizes[axis])
        site.done(out)


def _sum(site: Site, a: Size, b: Size) -> Size:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return site(arith.AddiOp(site.value_of(a), site.value_of(b)))


def position(
    b: tir.RegionBuilder, index: SSAValue, size: SSAValue, unsigned: bool
) -> SSAValue:
    """
    The place along a dimension that an index names.

    Negative ones count from the end; the result is clamped to the dimension.
    """
    type = IndexType()
    zero, one = b.constant(0, type), b.constant(1, type)
    at = index
    if not isinstance(index.type, IndexType):
        at = b(arith.IndexCastOp(_widened(b, index, unsigned), type))
    if not unsigned:
        negative = b(arith.CmpiOp(at, zero, "slt"))
        at = b(arith.SelectOp(negative, b(arith.AddiOp(at, size)), at))
    last = b(arith.SubiOp(size, one))
    return b(arith.MaxSIOp(b(arith.MinSIOp(at, last)), zero))


def _widened(b: tir.RegionBuilder, value: SSAValue, unsigned: bool) -> SSAValue:
    if unsigned and width_of(value.type) < 64:
        return b(arith.ExtUIOp(value, IntegerType(64)))
    return value


class ConvertGather(ConversionPattern[graph.GatherOp]):
    """The data is indirect: the place along the axis is computed in the region."""

    root = graph.GatherOp

    def match_and_rewrite(
        self, op: graph.GatherOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        data, places = site.ins
        axis, unsigned = op.axis.value.data, is_unsigned(site.element(1))
        sizes, out = site.result_sizes(), site.alloc()
        every = dims(len(sizes))
        count = cast("MemRefType", places.type).get_num_dims()
        size = site.value_of(site.dim(data, axis))

        def finish(
            b: tir.RegionBuilder, index: SSAValue, source: SSAValue
        ) -> list[SSAValue]:
            at = [b.index(d) for d in (*range(axis), *range(axis + count, len(sizes)))]
            at.insert(axis, position(b, index, size, unsigned))
            return [b.load(source, *at)]

        site.nest(
            parallel(sizes),
            ins=[
                tir.In(places, indices(len(sizes), 0, every[axis : axis + count])),
                tir.In(data),
            ],
            outs=[tir.Out(out, indices(len(sizes), 0, every))],
            finish=finish,
        )
        site.done(out)


class ConvertGatherElements(ConversionPattern[graph.GatherElementsOp]):
    """The data is indirect, as in `ConvertGather`; each place is its own."""

    root = graph.GatherElementsOp

    def match_and_rewrite(
        self,
        op: graph.GatherElementsOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> None:
        site = Site(op, operands, rewriter)
        data, places = site.ins
        axis, unsigned = op.axis.value.data, is_unsigned(site.element(1))
        sizes, out = site.result_sizes(), site.alloc()
        every = indices(len(sizes), 0, dims(len(sizes)))
        size = site.value_of(site.dim(data, axis))

        def finish(
            b: tir.RegionBuilder, index: SSAValue, source: SSAValue
        ) -> list[SSAValue]:
            at = [b.index(d) for d in range(len(sizes))]
            at[axis] = position(b, index, size, unsigned)
            return [b.load(source, *at)]

        site.nest(
            parallel(sizes),
            ins=[tir.In(places, every), tir.In(data)],
            outs=[tir.Out(out, every)],
            finish=finish,
        )
        site.done(out)


class ConvertIota(ConversionPattern[graph.IotaOp]):
    root = graph.IotaOp

    def match_and_rewrite(
        self, op: graph.IotaOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        sizes, out = site.result_sizes(), site.alloc()
        axis = op.axis.value.data

        def finish(b: tir.RegionBuilder) -> list[SSAValue]:
            return [b(arith.IndexCastOp(b.index(axis), i64))]

        site.nest(
            parallel(sizes),
            outs=[tir.Out(out, indices(len(sizes), 0, dims(len(sizes))))],
            finish=finish,
        )
        site.done(out)


SCATTERED: dict[str, tuple[str, str]] = {
    "add": ("add", "add"),
    "mul": ("mul", "mul"),
    "max": ("max", "umax"),
    "min": ("min", "umin"),
}
"""How an output combines, for signed numbers and for unsigned ones."""


class ConvertScatter(ConversionPattern[graph.ScatterOp]):
    """
    A copy of the data, into which the updates go one after the other.
    """

    root = graph.ScatterOp

    def match_and_rewrite(
        self, op: graph.ScatterOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        data, places, updates = site.ins
        axis, unsigned = op.axis.value.data, is_unsigned(site.element(1))
        out = site.alloc()
        sizes = site.sizes(data)
        copy_nest(site, data, out, sizes, dims(len(sizes)), dims(len(sizes)))
        kind = op.combine.data.value
        combine = None
        if kind != "none":
            combine = SCATTERED[kind][is_unsigned(site.element(0))]
        size = site.value_of(sizes[axis])
        every = indices(len(sizes), 0, dims(len(sizes)))

        def finish(
            b: tir.RegionBuilder, index: SSAValue, update: SSAValue
        ) -> list[SSAValue]:
            at = [b.index(d) for d in range(len(sizes))]
            at[axis] = position(b, index, size, unsigned)
            return [update, *at]

        site.nest(
            [("sequential", size) for size in site.sizes(updates)],
            ins=[tir.In(places, every), tir.In(updates, every)],
            outs=[tir.Out(out, None, combine)],
            finish=finish,
        )
        site.done(out)


class ConvertReshape(ConversionPattern[graph.ReshapeOp]):
    """A view of the same memory, through its one-dimensional form."""

    root = graph.ReshapeOp

    def match_and_rewrite(
        self, op: graph.ReshapeOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        if any(map(graph.layout_of, (op.input.type, op.result.type))):
            raise refuse(
                "expected a tensor without a layout, as its elements stay where they "
                "are"
            )
        source = site.ins[0]
        element = cast("MemRefType", source.type).element_type
        shape = op.result.type.get_shape()
        sizes = [
            site.value_of(size) if declared == DYNAMIC else size
            for size, declared in zip(site.result_sizes(), shape, strict=True)
        ]
        strides: list[Size] = []
        stride: Size = 1
        for size in reversed(sizes):
            strides.insert(0, stride)
            stride = _product(site, stride, size)
        site.done(
            site(
                memref.ReinterpretCastOp.from_dynamic(
                    source, [0], sizes, strides, MemRefType(element, shape)
                )
            )
        )


def _product(site: Site, a: Size, b: Size) -> Size:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return site(arith.MuliOp(site.value_of(a), site.value_of(b)))


PATTERNS = (
    ConvertConcat(),
    ConvertGather(),
    ConvertGatherElements(),
    ConvertIota(),
    ConvertPad(),
    ConvertReshape(),
    ConvertScatter(),
    ConvertSlice(),
    ConvertTranspose(),
)
