"""
Reductions, arg-reductions and cumulative sums as nests.
"""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from transom.dialects import graph, tir
from transom.lowering.conversion import ConversionPattern, ConversionRewriter, Operands
from transom.lowering.graph_to_tir.elementwise import elementwise_nest
from transom.lowering.graph_to_tir.scalars import (
    compare,
    computed_type,
    extremes,
    is_unsigned,
    narrow,
    widen,
)
from transom.lowering.graph_to_tir.site import Site, Size, indices

COMBINED: dict[str, tuple[type[Operation], type[Operation], type[Operation]]] = {
    "sum": (arith.AddfOp, arith.AddiOp, arith.AddiOp),
    "mean": (arith.AddfOp, arith.AddiOp, arith.AddiOp),
    "prod": (arith.MulfOp, arith.MuliOp, arith.MuliOp),
    "max": (arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
}
"""The op of each kind for floats, signed and unsigned integers."""


ANY_ZERO = arith.FastMathFlagsAttr((FastMathFlag.NO_SIGNED_ZEROS,))


def neutral(kind: str, element: Attribute) -> int | float:
    """What a reduction of a graph element type starts from."""
    low, high = extremes(element)
    return {"sum": 0, "mean": 0, "prod": 1, "max": low, "min": high, "top": low}[kind]


def combine(
    b: tir.RegionBuilder, kind: str, element: Attribute, lhs: SSAValue, rhs: SSAValue
) -> SSAValue:
    """
    One step of a reduction.

    Which of two zeros is the larger is left open: to tell takes twice as long. `top`
    is the maximum of floats that passes NaN over, which takes less time still.
    """
    if kind == "top":
        more = b(arith.CmpfOp(rhs, lhs, "ogt", ANY_ZERO))
        return b(arith.SelectOp(more, rhs, lhs))
    floating, signed, unsigned = COMBINED[kind]
    if not isinstance(element, AnyFloat):
        op = unsigned if is_unsigned(element) else signed
        return b(op(lhs, rhs))  # pyright: ignore[reportCallIssue] # binary ops
    flags = ANY_ZERO if kind in ("max", "min") else None
    return b(floating(lhs, rhs, flags))  # pyright: ignore[reportCallIssue] # the same


class Reduction:
    """
    The dims of a reduction: result dims in parallel, then the reduced ones.

    `reading` are the indices into the input, `writing` those into the result.
    """

    def __init__(
        self, sizes: Sequence[Size], axes: Sequence[int], keepdims: bool
    ) -> None:
        rank = len(sizes)
        kept = [axis for axis in range(rank) if axis not in axes]
        order = {axis: i for i, axis in enumerate([*kept, *axes])}
        self.kept = [sizes[axis] for axis in kept]
        self.reduced = [sizes[axis] for axis in axes]
        self.reading = [AffineExpr.dimension(order[axis]) for axis in range(rank)]
        self.writing = [
            AffineExpr.constant(0) if axis in axes else self.reading[axis]
            for axis in range(rank)
            if keepdims or axis not in axes
        ]
        self.rank = rank

    def dims(self, kind: str = "reduction") -> list[tuple[str, Size]]:
        """The dims of the nest."""
        return [
            *(("parallel", size) for size in self.kept),
            *((kind, size) for size in self.reduced),
        ]

    def map(self, exprs: Sequence[AffineExpr]) -> AffineMap:
        """An access without symbols."""
        return indices(self.rank, 0, exprs)


def reduce_nest(
    site: Site,
    source: SSAValue,
    out: SSAValue,
    loop: Reduction,
    kind: str,
    element: Attribute,
) -> None:
    """Fill `out` with the reduction of `source`."""
    count: SSAValue | int = 1
    if kind == "mean":
        for size in loop.reduced:
            if isinstance(count, int) and isinstance(size, int):
                count *= size
            else:
                factors = site.value_of(count), site.value_of(size)
                count = site(arith.MuliOp(*factors))

    def finish(b: tir.RegionBuilder, total: SSAValue) -> list[SSAValue]:
        if kind == "mean":
            total = divide(b, total, count)
        return [narrow(b, total, element)]

    site.nest(
        loop.dims(),
        ins=[tir.In(source, loop.map(loop.reading))],
        outs=[tir.Out(out, loop.map(loop.writing))],
        init=lambda b: [b.constant(neutral(kind, element), computed_type(element))],
        body=lambda b, x, acc: [combine(b, kind, element, acc, widen(b, x))],
        finish=finish,
    )


def divide(b: tir.RegionBuilder, total: SSAValue, count: SSAValue | int) -> SSAValue:
    """A sum of floats over a number of elements."""
    type = total.type
    assert isinstance(type, AnyFloat), "means are of floats"
    if isinstance(count, int):
        return b(arith.DivfOp(total, b.constant(float(count), type)))
    whole = b(arith.IndexCastOp(count, i64))
    return b(arith.DivfOp(total, b(arith.SIToFPOp(whole, type))))


class ConvertReduce(ConversionPattern[graph.ReduceOp]):
    """One nest: result dims in parallel, the axes reduced; f16 and bf16 in f32."""

    root = graph.ReduceOp

    def match_and_rewrite(
        self, op: graph.ReduceOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        if not op.axes.get_values():
            elementwise_nest(site, lambda b, x: [x])
            return
        loop = Reduction(
            site.sizes(site.ins[0]), op.axes.get_values(), op.keepdims is not None
        )
        out = site.alloc()
        kind = op.kind.data.value
        reduce_nest(site, site.ins[0], out, loop, kind, site.element(0))
        site.done(out)


def ordered(b: tir.RegionBuilder, kind: str, value: SSAValue) -> SSAValue:
    """
    An integer in the order of the floats, with NaN at the end that `kind` looks for.

    It is the bits, of negative numbers with all but the sign turned over. LLVM
    vectorizes a loop that carries integers, but none that minds which float is NaN.
    """
    type = value.type
    assert isinstance(type, AnyFloat), "what floats are computed in"
    integer = IntegerType(type.bitwidth)
    low, high = extremes(integer)
    one_zero = b(arith.AddfOp(value, b.constant(0.0, type)))
    bits = b(arith.BitcastOp(one_zero, integer))
    sign = b(arith.ShRSIOp(bits, b.constant(type.bitwidth - 1, integer)))
    turned = b(arith.XOrIOp(bits, b(arith.AndIOp(sign, b.constant(high, integer)))))
    nan = b(arith.CmpfOp(value, value, "uno"))
    winner = b.constant(high if kind == "max" else low, integer)
    return b(arith.SelectOp(nan, winner, turned))


class ConvertArgReduce(ConversionPattern[graph.ArgReduceOp]):
    """
    Value and index are accumulators. They start as if the first element were the least
    (of a minimum the greatest) value of its type, which is right if all are such.
    """

    root = graph.ArgReduceOp

    def match_and_rewrite(
        self, op: graph.ArgReduceOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        element = site.element(0)
        axis = op.axis.value.data
        loop = Reduction(site.sizes(site.ins[0]), (axis,), op.keepdims is not None)
        out = site.alloc()
        kind, wins = {"argmax": ("max", "gt"), "argmin": ("min", "lt")}[op.kind.data]
        type = computed_type(element)
        floats = isinstance(type, AnyFloat)
        key = IntegerType(type.bitwidth) if floats else element

        def body(
            b: tir.RegionBuilder, x: SSAValue, best: SSAValue, where: SSAValue
        ) -> list[SSAValue]:
            value = ordered(b, kind, widen(b, x)) if floats else x
            take = compare(b, wins, key, value, best)
            here = b(arith.IndexCastOp(b.index(loop.rank - 1), i64))
            return [
                b(arith.SelectOp(take, value, best)),
                b(arith.SelectOp(take, here, where)),
            ]

        site.nest(
            loop.dims(),
            ins=[tir.In(site.ins[0], loop.map(loop.reading))],
            outs=[tir.Out(out, loop.map(loop.writing))],
            init=lambda b: [
                b.constant(neutral(kind, key), computed_type(key)),
                b.constant(0, i64),
            ],
            body=body,
            finish=lambda b, best, where: [where],
        )
        site.done(out)


class ConvertCumulate(ConversionPattern[graph.CumulateOp]):
    """
    The axis is sequential and carries the result so far; an exclusive one carries that
    before the element, too.
    """

    root = graph.CumulateOp

    def match_and_rewrite(
        self, op: graph.CumulateOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        element = site.element(0)
        axis, sizes = op.axis.value.data, site.sizes(site.ins[0])
        loop = Reduction(sizes, (axis,), keepdims=True)
        position = list(loop.reading)
        symbols: list[SSAValue] = []
        if op.reverse is not None:
            last: AffineExpr | int
            if isinstance(size := sizes[axis], int):
                last = size - 1
            else:
                symbols.append(size)
                last = AffineExpr.symbol(0) - 1
            position[axis] = tir.affine.add(last, position[axis] * -1)
        access = indices(loop.rank, len(symbols), position)
        out, type = site.alloc(), computed_type(element)
        kind = op.kind.data.value
        exclusive = op.exclusive is not None

        def body(
            b: tir.RegionBuilder, x: SSAValue, total: SSAValue, *before: SSAValue
        ) -> list[SSAValue]:
            grown = combine(b, kind, element, total, widen(b, x))
            return [grown, *(total for _ in before)]

        def finish(b: tir.RegionBuilder, *seen: SSAValue) -> list[SSAValue]:
            return [narrow(b, seen[1 if exclusive else 0], element)]

        site.nest(
            loop.dims("sequential"),
            ins=[tir.In(site.ins[0], access)],
            outs=[tir.Out(out, access)],
            init=lambda b: (
                [b.constant(neutral(kind, element), type)] * (2 if exclusive else 1)
            ),
            body=body,
            finish=finish,
            symbols=symbols,
        )
        site.done(out)


PATTERNS = (ConvertArgReduce(), ConvertCumulate(), ConvertReduce())
