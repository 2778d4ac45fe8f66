"""
Products and convolutions as nests.

f16 and bf16 accumulate in f32, integers in the type of the result.
"""

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from transom.dialects import graph, tir
from transom.dialects.graph.shapes import DYNAMIC
from transom.lowering.conversion import ConversionPattern, ConversionRewriter, Operands
from transom.lowering.graph_to_tir.casts import cast_element
from transom.lowering.graph_to_tir.elementwise import broadcast_map
from transom.lowering.graph_to_tir.scalars import (
    CONTRACT,
    computed_type,
    narrow,
    width_of,
)
from transom.lowering.graph_to_tir.site import (
    Site,
    Size,
    Symbols,
    indices,
    parallel,
    refuse,
)


def multiply_add(
    b: tir.RegionBuilder,
    x: SSAValue,
    w: SSAValue,
    accumulator: SSAValue,
    elements: tuple[Attribute, Attribute, Attribute],
) -> SSAValue:
    """`accumulator + x * w`, of elements of the graph types `(x, w, result)`."""
    left, right, result = elements
    wide = _accumulated(result)
    x, w = cast_element(b, x, left, wide), cast_element(b, w, right, wide)
    if isinstance(wide, AnyFloat):
        product = b(arith.MulfOp(x, w, CONTRACT))
        return b(arith.AddfOp(accumulator, product, CONTRACT))
    return b(arith.AddiOp(accumulator, b(arith.MuliOp(x, w))))


def _accumulated(result: Attribute) -> Attribute:
    """The graph type of the accumulator: signless integers take either sign."""
    return computed_type(result)


def zero(b: tir.RegionBuilder, result: Attribute) -> list[SSAValue]:
    """The accumulator to start with."""
    return [b.constant(0, computed_type(result))]


def padding_value(element: Attribute, value: float | int) -> Attribute:
    """What is read outside of a buffer of a graph element type."""
    if isinstance(element, AnyFloat):
        return FloatAttr(float(value), element)
    if isinstance(element, IndexType):
        return IntegerAttr(int(value), element)
    return IntegerAttr(int(value), IntegerType(width_of(element)))


class ConvertMatmul(ConversionPattern[graph.MatmulOp]):
    """Batch dims and rows and columns in parallel, one reduction."""

    root = graph.MatmulOp

    def match_and_rewrite(
        self, op: graph.MatmulOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        elements = (site.element(0), site.element(1), site.result_element())
        sizes = site.result_sizes()
        rank, symbols = len(sizes), Symbols()
        result = op.result_dims()[0]
        # The last two dims of the operands are not those of the result.
        left = broadcast_map(site, 0, (*result[:-2], 1, 1), symbols)[:-2]
        right = broadcast_map(site, 1, (*result[:-2], 1, 1), symbols)[:-2]
        k = AffineExpr.dimension(rank)
        rows, columns = AffineExpr.dimension(rank - 2), AffineExpr.dimension(rank - 1)
        depth = site.dim(site.ins[0], -1)
        out, count = site.alloc(sizes), len(symbols.values)
        site.nest(
            [*parallel(sizes), ("reduction", depth)],
            ins=[
                tir.In(site.ins[0], indices(rank + 1, count, [*left, rows, k])),
                tir.In(site.ins[1], indices(rank + 1, count, [*right, k, columns])),
            ],
            outs=[
                tir.Out(
                    out,
                    indices(
                        rank + 1, count, [AffineExpr.dimension(i) for i in range(rank)]
                    ),
                )
            ],
            init=lambda b: zero(b, elements[2]),
            body=lambda b, x, w, acc: [multiply_add(b, x, w, acc, elements)],
            finish=lambda b, acc: [narrow(b, acc, elements[2])],
            symbols=symbols.values,
        )
        site.done(out)


class Windows:
    """The accesses of sliding windows over the last two dims of a tensor."""

    def __init__(
        self,
        strides: tuple[int, ...],
        padding: tuple[int, ...],
        dilations: tuple[int, ...],
    ) -> None:
        self.strides = strides
        self.padding = padding
        self.dilations = dilations

    def row(self, y: AffineExpr, kernel: AffineExpr) -> AffineExpr:
        return y * self.strides[0] + kernel * self.dilations[0] - self.padding[0]

    def column(self, x: AffineExpr, kernel: AffineExpr) -> AffineExpr:
        return x * self.strides[1] + kernel * self.dilations[1] - self.padding[1]

    def reads_outside(
        self, sizes: tuple[int, ...], results: tuple[int, ...], kernel: tuple[Size, ...]
    ) -> bool:
        """Whether some window may leave the tensor."""
        if any(self.padding):
            return True
        for size, result, extent, stride, dilation in zip(
            sizes, results, kernel, self.strides, self.dilations, strict=True
        ):
            if DYNAMIC in (size, result):
                continue  # without padding the result has the windows that fit
            if not isinstance(extent, int):
                return True
            if (result - 1) * stride + (extent - 1) * dilation >= size:
                return True
        return False


class ConvertConv2d(ConversionPattern[graph.Conv2dOp]):
    """
    Direct convolution: image, channel, row and column in parallel.

    The channels of a group are found from the output channel by a division, which
    disappears when there is one group or one channel in each.
    """

    root = graph.Conv2dOp

    def match_and_rewrite(
        self, op: graph.Conv2dOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        site = Site(op, operands, rewriter)
        image, weight = site.ins
        elements = (site.element(0), site.element(1), site.result_element())
        windows = Windows(
            tuple(op.strides.get_values()),
            tuple(op.padding.get_values()),
            tuple(op.dilations.get_values()),
        )
        sizes = site.result_sizes()
        filters, depth, *kernel = site.sizes(weight)
        groups = op.groups.value.data
        n, f, y, x, c, p, q = (AffineExpr.dimension(i) for i in range(7))
        channel = c
        if groups > 1:
            if not isinstance(filters, int) or not isinstance(depth, int):
                raise refuse("expected a weight of static shape for several groups")
            per_group = filters // groups
            group = f if per_group == 1 else tir.affine.floordiv(f, per_group)
            channel = group * depth + c if depth > 1 else group + c
        outside = windows.reads_outside(
            site.shape(0)[2:],
            op.result.type.get_shape()[2:],
            tuple(kernel),
        )
        pad = padding_value(elements[0], op.fill.value.data) if outside else None
        out = site.alloc(sizes)
        site.nest(
            [*parallel(sizes), *(("reduction", size) for size in (depth, *kernel))],
            ins=[
                tir.In(
                    image,
                    indices(
                        7, 0, [n, channel, windows.row(y, p), windows.column(x, q)]
                    ),
                    pad,
                ),
                tir.In(weight, indices(7, 0, [f, c, p, q])),
            ],
            outs=[tir.Out(out, indices(7, 0, [n, f, y, x]))],
            init=lambda b: zero(b, elements[2]),
            body=lambda b, v, w, acc: [multiply_add(b, v, w, acc, elements)],
            finish=lambda b, acc: [narrow(b, acc, elements[2])],
            pads_are_neutral=True,
        )
        site.done(out)


PATTERNS = (ConvertConv2d(), ConvertMatmul())
