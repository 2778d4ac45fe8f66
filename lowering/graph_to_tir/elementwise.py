"""
Element-wise ops, casts and constants as nests.
"""

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f32, f64, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from transom.dialects import graph, tir
from transom.dialects.graph.shapes import Dim, same
from transom.dialects.tir.nest_builder import RegionCallback
from transom.lowering.conversion import ConversionPattern, ConversionRewriter, Operands
from transom.lowering.graph_to_tir.casts import cast_element
from transom.lowering.graph_to_tir.scalars import (
    SCALARS,
    Element,
    narrow,
    signless,
)
from transom.lowering.graph_to_tir.site import (
    Site,
    Symbols,
    dims,
    indices,
    parallel,
)


def scalar_of(value: SSAValue) -> int | float | None:
    """The one value of a constant tensor, if all its elements are equal."""
    op = value.owner
    if isinstance(op, graph.ConstantOp) and op.is_splat:
        first = next(iter(op.value.iter_attrs()))
        assert isinstance(first, IntegerAttr | FloatAttr), "elements are numbers"
        return first.value.data
    return None


def broadcast_map(
    site: Site, operand: int, result: Sequence[Dim], symbols: Symbols
) -> list[AffineExpr]:
    """
    The access of an operand that broadcasts to the result, over the result's dims.

    A size that is only known at run time to be 1 or that of the result is read with a
    stride that is 0 or 1.
    """
    sizes = site.op.operand_dims(operand)
    offset = len(result) - len(sizes)
    exprs: list[AffineExpr] = []
    for axis, size in enumerate(sizes):
        dim, full = AffineExpr.dimension(axis + offset), result[axis + offset]
        if size == 1 and full != 1:
            exprs.append(AffineExpr.constant(0))
        elif isinstance(size, int) or same(size, full):
            exprs.append(dim)
        else:
            actual = site.value_of(site.dim(site.ins[operand], axis))
            one, zero = site.constant(1), site.constant(0)
            is_one = site(arith.CmpiOp(actual, one, "eq"))
            stride = site(arith.SelectOp(is_one, zero, one))
            exprs.append(tir.affine.multiply(dim, symbols(stride)))
    return exprs


def elementwise_nest(site: Site, compute: RegionCallback) -> None:
    """
    Replace the op by a nest that computes each result element by `compute(b, *args)`.

    Operands that are constants of one value are constants in the region.
    """
    result = site.op.result_dims()[0]
    symbols = Symbols()
    scalars: dict[int, int | float] = {}
    read: dict[tuple[SSAValue, tuple[AffineExpr, ...]], list[int]] = {}
    for index, value in enumerate(site.op.operands):
        scalar = scalar_of(value)
        if scalar is None:
            exprs = broadcast_map(site, index, result, symbols)
            read.setdefault((site.ins[index], tuple(exprs)), []).append(index)
        else:
            scalars[index] = scalar
    sizes = site.result_sizes()
    rank, count = len(sizes), len(symbols.values)
    out = site.alloc(sizes)

    def finish(b: tir.RegionBuilder, *loaded: SSAValue) -> Sequence[SSAValue]:
        args = {
            index: b.constant(scalar, signless(site.element(index)))
            for index, scalar in scalars.items()
        }
        for value, operands in zip(loaded, read.values(), strict=True):
            args |= dict.fromkeys(operands, value)
        return list(compute(b, *(args[i] for i in range(len(args)))))

    site.nest(
        parallel(sizes),
        ins=[tir.In(value, indices(rank, count, exprs)) for value, exprs in read],
        outs=[tir.Out(out, indices(rank, count, dims(rank)))],
        finish=finish,
        symbols=symbols.values,
    )
    site.done(out)


class ConvertElementwise(ConversionPattern[Operation]):
    """Unary and binary arithmetic and comparisons, by the table of scalars."""

    root = tuple(SCALARS)

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        assert isinstance(op, graph.GraphOp), "the keys of the table"
        site = Site(op, operands, rewriter)
        scalar, source, target = (
            SCALARS[type(op)],
            site.element(0),
            site.result_element(),
        )

        def compute(b: tir.RegionBuilder, *args: SSAValue) -> list[SSAValue]:
            return [narrow(b, scalar(Element(b, op, source, args)), target)]

        elementwise_nest(site, compute)


class ConvertCast(ConversionPattern[graph.CastOp]):
    root = graph.CastOp

    def match_and_rewrite(
        self, op: graph.CastOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        source, target = site.element(0), site.result_element()
        elementwise_nest(site, lambda b, x: [cast_element(b, x, source, target)])


class ConvertBitcast(ConversionPattern[graph.BitcastOp]):
    root = graph.BitcastOp

    def match_and_rewrite(
        self, op: graph.BitcastOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        target = signless(site.result_element())

        def compute(b: tir.RegionBuilder, x: SSAValue) -> list[SSAValue]:
            # Integers of either sign are one type in kernels.
            return [x if x.type == target else b(arith.BitcastOp(x, target))]

        elementwise_nest(site, compute)


class ConvertSelect(ConversionPattern[graph.SelectOp]):
    root = graph.SelectOp

    def match_and_rewrite(
        self, op: graph.SelectOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        elementwise_nest(
            Site(op, operands, rewriter),
            lambda b, c, x, y: [b(arith.SelectOp(c, x, y))],
        )


class ConvertQuantize(ConversionPattern[graph.QuantizeOp]):
    root = graph.QuantizeOp

    def match_and_rewrite(
        self, op: graph.QuantizeOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        input, scale, zero_point = (site.element(index) for index in range(3))
        wide = f64 if f64 in (input, scale) else f32

        def compute(b: tir.RegionBuilder, *args: SSAValue) -> list[SSAValue]:
            x, s = (
                cast_element(b, value, element, wide)
                for value, element in zip(args[:2], (input, scale), strict=True)
            )
            whole = b(math.RoundEvenOp(b(arith.DivfOp(x, s))))
            z = cast_element(b, args[2], zero_point, wide)
            return [cast_element(b, b(arith.AddfOp(whole, z)), wide, zero_point)]

        elementwise_nest(site, compute)


class ConvertDequantize(ConversionPattern[graph.DequantizeOp]):
    root = graph.DequantizeOp

    def match_and_rewrite(
        self, op: graph.DequantizeOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        input, scale, zero_point = (site.element(index) for index in range(3))
        wide = f64 if scale == f64 else f32

        def compute(b: tir.RegionBuilder, *args: SSAValue) -> list[SSAValue]:
            x = cast_element(b, args[0], input, i32)
            z = cast_element(b, args[2], zero_point, i32)
            moved = cast_element(b, b(arith.SubiOp(x, z)), i32, wide)
            s = cast_element(b, args[1], scale, wide)
            product = b(arith.MulfOp(moved, s))
            return [cast_element(b, product, wide, scale)]

        elementwise_nest(site, compute)


class ConvertBroadcast(ConversionPattern[graph.BroadcastOp]):
    root = graph.BroadcastOp

    def match_and_rewrite(
        self, op: graph.BroadcastOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        elementwise_nest(Site(op, operands, rewriter), lambda b, x: [x])


class ConvertBatchNorm(ConversionPattern[graph.BatchNormOp]):
    """
    `(x - mean) * (scale / sqrt(variance + epsilon)) + bias`, per channel.

    Computed in the widest type of the operands, but f32 at least.
    """

    root = graph.BatchNormOp

    def match_and_rewrite(
        self, op: graph.BatchNormOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        sizes, target = site.result_sizes(), site.result_element()
        out, rank = site.alloc(sizes), len(sizes)
        identity = dims(rank)
        epsilon = op.epsilon.value.data

        elements = [site.element(index) for index in range(len(op.operands))]
        wide = f64 if f64 in elements else f32

        def finish(b: tir.RegionBuilder, *loaded: SSAValue) -> list[SSAValue]:
            x, scale, bias, mean, variance = (
                cast_element(b, value, element, wide)
                for value, element in zip(loaded, elements, strict=True)
            )
            small = b.constant(epsilon, wide)
            deviation = b(math.SqrtOp(b(arith.AddfOp(variance, small))))
            factor = b(arith.DivfOp(scale, deviation))
            centred = b(arith.SubfOp(x, mean))
            moved = b(arith.AddfOp(b(arith.MulfOp(centred, factor)), bias))
            return [cast_element(b, moved, wide, target)]

        per_channel = indices(rank, 0, identity[1:2])
        site.nest(
            parallel(sizes),
            ins=[
                tir.In(site.ins[0], indices(rank, 0, identity)),
                *(tir.In(value, per_channel) for value in site.ins[1:]),
            ],
            outs=[tir.Out(out, indices(rank, 0, identity))],
            finish=finish,
        )
        site.done(out)


class ConvertConstant(ConversionPattern[graph.ConstantOp]):
    """A constant with one value that something reads as a buffer."""

    root = graph.ConstantOp

    def match_and_rewrite(
        self, op: graph.ConstantOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        scalar = scalar_of(op.result)
        assert scalar is not None, "others are inputs of the kernel"
        element: Attribute = signless(site.result_element())
        sizes = site.result_sizes()
        out = site.alloc(sizes)
        site.nest(
            parallel(sizes),
            outs=[tir.Out(out, lambda *dims: dims)],
            finish=lambda b: [b.constant(scalar, element)],
        )
        site.done(out)


PATTERNS = (
    ConvertBatchNorm(),
    ConvertBitcast(),
    ConvertBroadcast(),
    ConvertCast(),
    ConvertConstant(),
    ConvertDequantize(),
    ConvertElementwise(),
    ConvertQuantize(),
    ConvertSelect(),
)
