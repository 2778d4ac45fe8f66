"""
Pools over one to three spatial dimensions, and what is built like them.

`graph` has pools over rows and columns. One dimension is a single row; with three, the
planes are pooled first and then what they give, depth by depth.
"""

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node, Unsupported, shape_of
from transom.frontends.onnx.values import (
    check_parts,
    elements_of,
    entries,
    filled,
    in_single,
    merge,
    pad,
    split,
    spread,
    total,
)
from transom.frontends.onnx.windows import Window, numbers, spatial_rank, window_of

Pool = Callable[[SSAValue, Window], SSAValue]
"""A pool over rows and columns."""


def pooled(n: Node, x: SSAValue, window: Window, pool: Pool) -> SSAValue:
    """A pool of an input with as many spatial dimensions as its window has."""
    count = len(window.kernel)
    if count == 1:
        return merge(n, pool(split(n, x, 2, [1, -1]), window.in_rows()), 2)
    if count == 2:
        return pool(x, window)
    planes, depth = _planes(n, x)
    y = pool(planes, window.part(1))
    return _unflattened(n, pool(depth(y), window.part(0, 1).in_columns()), y)


def _planes(n: Node, x: SSAValue) -> tuple[SSAValue, Callable[[SSAValue], SSAValue]]:
    """
    The planes of an input with depth as channels, and what puts a pool of them into
    rows, one for each depth.
    """
    _, channels, depth, *_ = shape_of(x)
    if -1 in (channels, depth):
        raise Unsupported("channels and a depth that are not static are not supported")

    def by_depth(y: SSAValue) -> SSAValue:
        return split(n, merge(n, y, 2), 1, [channels, depth])

    return merge(n, x, 1), by_depth


def _unflattened(n: Node, y: SSAValue, like: SSAValue) -> SSAValue:
    """A pool of depths, whose columns are the rows and columns of another value."""
    sizes = shape_of(like)[2:]
    if -1 in sizes:
        raise Unsupported("three spatial dimensions that are not static")
    return split(n, y, 3, sizes)


def max_pool(n: Node) -> Sequence[SSAValue]:
    window = window_of(n, n.int_list("kernel_shape"))
    by_columns, ceil = n.flag("storage_order"), n.flag("ceil_mode")
    if n.output_count() < 2:
        one = _max_pool(n, ceil)
        return [pooled(n, n.input(), window, lambda x, w: one(x, w, False)[0])]
    y, places = _with_places(n, n.input(), window, _max_pool(n, ceil))
    return [y, _by_columns(n, places) if by_columns else places]


MaxPool = Callable[[SSAValue, Window, bool], Sequence[SSAValue]]
"""A largest element of rows and columns, maybe with its place."""


def _max_pool(n: Node, ceil: bool) -> MaxPool:
    def pool(x: SSAValue, window: Window, indices: bool) -> Sequence[SSAValue]:
        op = graph.MaxPool2dOp(
            x,
            window.kernel,
            strides=window.strides,
            padding=window.padding,
            dilations=window.dilations,
            ceil_mode=ceil,
            indices=indices,
        )
        return n.insert(op).results

    return pool


def _with_places(
    n: Node, x: SSAValue, window: Window, pool: MaxPool
) -> tuple[SSAValue, SSAValue]:
    """The largest elements, and where they are in the input."""
    count = len(window.kernel)
    if count < 3:
        is_line = count == 1
        rows = split(n, x, 2, [1, -1]) if is_line else x
        y, places = pool(rows, window.in_rows() if is_line else window, True)
        return (merge(n, y, 2), merge(n, places, 2)) if is_line else (y, places)
    planes, depth = _planes(n, x)
    y, inner = pool(planes, window.part(1), True)
    # The place of a depth's maximum tells which place in its plane that one had.
    z, outer = pool(depth(y), window.part(0, 1).in_columns(), True)
    found = graph.GatherOp(n.reshape(inner, [-1]), outer, 0)
    return _unflattened(n, z, y), _unflattened(n, n.add(found), y)


def _by_columns(n: Node, places: SSAValue) -> SSAValue:
    """Places that count the last spatial dimension last, not first."""
    sizes = n.shape()[2:]
    if -1 in sizes:
        raise Unsupported("places in column-major order of sizes that are not static")
    image = n.splat(math.prod(sizes), i64)
    rest = n.add(graph.ModOp(places, image))
    parts = [n.add(graph.SubOp(places, rest))]
    for axis in range(len(sizes) - 1, -1, -1):
        size, stride = n.splat(sizes[axis], i64), math.prod(sizes[:axis])
        index = n.add(graph.ModOp(rest, size))
        parts.append(n.add(graph.MulOp(index, n.splat(stride, i64))))
        rest = n.add(graph.DivOp(rest, size))
    return total(n, graph.AddOp, parts)


def average_pool(n: Node) -> SSAValue:
    window = window_of(n, n.int_list("kernel_shape"))
    return _mean(
        n,
        n.input(),
        window,
        ceil=n.flag("ceil_mode"),
        padded=n.flag("count_include_pad"),
    )


def _mean(
    n: Node, x: SSAValue, window: Window, *, ceil: bool = False, padded: bool = False
) -> SSAValue:
    """The means of windows. With three dimensions, halves are not rounded between."""

    def pool(x: SSAValue, window: Window) -> SSAValue:
        return n.add(
            graph.AvgPool2dOp(
                x,
                window.kernel,
                strides=window.strides,
                padding=window.padding,
                dilations=window.dilations,
                ceil_mode=ceil,
                count_include_pad=padded,
            )
        )

    if len(window.kernel) < 3:
        return pooled(n, x, window, pool)
    return in_single(n, x, lambda wide: pooled(n, wide, window, pool))


def lp_pool(n: Node) -> SSAValue:
    """Sums are means over windows that are all whole, of an input with zeros around."""
    window = window_of(n, n.int_list("kernel_shape"))
    exponent, ceil = n.int_attr("p", 2), n.flag("ceil_mode")
    high = list(window.high)
    if ceil:
        high = [
            _reached(size, *along)
            for size, *along in zip(
                n.shape()[2:],
                window.low,
                window.high,
                window.spans,
                window.strides,
                strict=True,
            )
        ]
    around = pad(n, n.input(), [0, 0, *window.low], [0, 0, *high])
    whole = window.without_padding()

    def norm(x: SSAValue) -> SSAValue:
        mean = _mean(n, _power(n, x, exponent), whole)
        count = n.splat(math.prod(window.kernel), elements_of(mean))
        return _root(n, n.add(graph.MulOp(mean, count)), exponent)

    return in_single(n, around, norm)


def _reached(size: int, low: int, high: int, span: int, stride: int) -> int:
    """How far windows reach over the end if the last may be cut (`ceil_mode`)."""
    if size < 0:
        raise Unsupported("'ceil_mode', and a size is not static")
    last = -(-(size + low + high - span) // stride)
    if last * stride >= size + low:
        last -= 1
    return max(last * stride + span - size - low, 0)


def _power(n: Node, x: SSAValue, exponent: int) -> SSAValue:
    """`|x|` to the power of a small number."""
    if exponent < 1:
        raise Unsupported(f"expected 'p' of 1 and more, but got {exponent}")
    if exponent == 2:
        return n.add(graph.MulOp(x, x))
    x = n.add(graph.AbsOp(x))
    if exponent == 1:
        return x
    return n.add(graph.PowOp(x, n.splat(exponent, elements_of(x))))


def _root(n: Node, x: SSAValue, exponent: int) -> SSAValue:
    if exponent == 1:
        return x
    if exponent == 2:
        return n.add(graph.SqrtOp(x))
    return n.add(graph.PowOp(x, n.splat(1 / exponent, elements_of(x))))


def global_pool(kind: str) -> Callable[[Node], SSAValue]:
    return lambda n: _over_all(n, kind, n.input())


def _over_all(n: Node, kind: str, x: SSAValue) -> SSAValue:
    """A reduction of all spatial dimensions."""
    rank = len(shape_of(x))
    if rank < 3:
        raise Unsupported("expected spatial dimensions")
    axes = list(range(2, rank))
    return n.add(graph.ReduceOp(kind, x, axes=axes, keepdims=True))


def global_lp_pool(n: Node) -> SSAValue:
    exponent = n.int_attr("p", 2)
    return in_single(
        n,
        n.input(),
        lambda x: _root(n, _over_all(n, "sum", _power(n, x, exponent)), exponent),
    )


def lp_normalization(n: Node) -> SSAValue:
    exponent, axis = n.int_attr("p", 2), n.axis("axis", -1, n.rank())
    if exponent not in (1, 2):
        raise Unsupported(f"expected 'p' of 1 or 2, but got {exponent}")

    def normalized(x: SSAValue) -> SSAValue:
        powers = _power(n, x, exponent)
        sums = graph.ReduceOp("sum", powers, axes=[axis], keepdims=True)
        norm = _root(n, n.add(sums), exponent)
        zero = n.splat(0, elements_of(x))
        # Where all elements are zero, they stay so.
        is_zero = n.add(graph.CompareOp("eq", norm, zero))
        return n.add(graph.SelectOp(is_zero, zero, n.add(graph.DivOp(x, norm))))

    return in_single(n, n.input(), normalized)


def lrn(n: Node) -> SSAValue:
    """The mean of squares over neighbouring channels is a pool of a column."""
    size, rank = n.int_attr("size"), n.rank()
    alpha, beta = n.float_attr("alpha", 1e-4), n.float_attr("beta", 0.75)
    bias = n.float_attr("bias", 1.0)
    if size < 1 or rank < 2:
        raise Unsupported(
            f"expected channels and a 'size' above 0, but got {rank} dimensions "
            f"and {size}"
        )
    rest = n.shape()[2:]
    if rest.count(-1) > 1:
        raise Unsupported("several spatial sizes that are not static")

    def normalized(x: SSAValue) -> SSAValue:
        element, own = elements_of(x), entries(x)
        squares = n.add(graph.MulOp(x, x))
        columns = n.reshape(squares, [own[0], 1, own[1], -1])
        low, high = (size - 1) // 2, size // 2
        window = Window((size,), (1,), (1,), (low,), (high,)).in_columns()
        mean = _mean(n, columns, window, padded=True)
        batch, _, channels, _ = entries(mean)
        mean = n.reshape(mean, [batch, channels, *rest])
        scaled = n.add(graph.MulOp(mean, n.splat(alpha, element)))
        base = n.add(graph.AddOp(scaled, n.splat(bias, element)))
        return n.add(graph.DivOp(x, _beta(n, base, beta)))

    return in_single(n, n.input(), normalized)


def _beta(n: Node, base: SSAValue, beta: float) -> SSAValue:
    """A power; that of three quarters, which networks have, is made of roots."""
    if beta != 0.75:
        return n.add(graph.PowOp(base, n.splat(beta, elements_of(base))))
    root = n.add(graph.SqrtOp(base))
    return n.add(graph.MulOp(root, n.add(graph.SqrtOp(root))))


def max_unpool(n: Node) -> SSAValue:
    """
    Elements at the places where they were, among zeros. Places count in the shape that
    the attributes say, which stands in the first corner of `output_shape`.
    """
    x, places, count = n.input(0), n.input(1), spatial_rank(n)
    kernel = numbers("kernel_shape", n.int_list("kernel_shape"), count)
    strides = numbers("strides", n.int_list("strides", [1] * count), count)
    pads = numbers("pads", n.int_list("pads", [0] * 2 * count), 2 * count)
    shape = n.shape()
    if -1 in shape:
        raise Unsupported("sizes that are not static are not supported")
    inner = [
        (size - 1) * stride - low - high + extent
        for size, stride, low, high, extent in zip(
            shape[2:], strides, pads[:count], pads[count:], kernel, strict=True
        )
    ]
    sizes = [*shape[:2], *inner]
    wanted = n.integers(2) if n.has(2) else sizes
    more = [want - size for want, size in zip(wanted, sizes, strict=False)]
    if len(wanted) != len(sizes) or min(*sizes, *more) < 0:
        raise Unsupported(f"expected an output of at least {sizes}, but got {wanted}")
    zeros = filled(n, 0, elements_of(x), [math.prod(sizes)])
    flat = graph.ScatterOp(zeros, n.reshape(places, [-1]), n.reshape(x, [-1]), 0)
    return pad(n, n.reshape(n.add(flat), sizes), [0] * len(sizes), more)


def col2im(n: Node) -> SSAValue:
    """The sum, over the places of a block, of what they give to the whole image."""
    x, image, block = n.input(0), n.integers(1), n.integers(2)
    count = len(image)
    kernel = numbers("block_shape", block, count)
    strides = numbers("strides", n.int_list("strides", [1] * count), count)
    dilations = numbers("dilations", n.int_list("dilations", [1] * count), count)
    pads = numbers("pads", n.int_list("pads", [0] * 2 * count), 2 * count)
    window = Window(kernel, strides, dilations, pads[:count], pads[count:])
    if count < 1 or min(*image, *kernel, *strides, *dilations) < 1 or min(pads) < 0:
        raise Unsupported("expected an image, blocks, strides and dilations above 0")
    padded = [
        size + low + high
        for size, low, high in zip(image, window.low, window.high, strict=True)
    ]
    blocks = [
        (size - span) // stride + 1
        for size, span, stride in zip(padded, window.spans, strides, strict=True)
    ]
    whole, shape = math.prod(kernel), n.shape()
    if (
        len(shape) != 3
        or min(blocks) < 1
        or shape[1] < 1
        or shape[1] % whole
        or shape[2] != math.prod(blocks)
    ):
        raise Unsupported(
            f"expected blocks of {whole} in {math.prod(blocks)} places, "
            f"but got a shape of {list(shape)}"
        )
    check_parts(whole)
    parts = split(n, split(n, x, 1, [shape[1] // whole, whole]), 3, blocks)
    images = [_block(n, parts, number, window, padded) for number in range(whole)]
    y = total(n, graph.AddOp, images)
    starts, sizes = [0, 0, *window.low], [-1, -1, *image]
    return n.add(graph.SliceOp(y, starts, sizes))


def _block(
    n: Node, parts: SSAValue, number: int, window: Window, padded: Sequence[int]
) -> SSAValue:
    """What one place of the blocks gives to the padded image."""
    rank = len(shape_of(parts))
    starts, sizes = [0] * rank, [-1] * rank
    starts[2], sizes[2] = number, 1
    one = merge(n, n.add(graph.SliceOp(parts, starts, sizes)), 1)
    one = spread(n, one, 2, window.strides)
    low: list[int] = []
    for size, step in zip(window.kernel[::-1], window.dilations[::-1], strict=True):
        low.append(number % size * step)
        number //= size
    low.reverse()
    high = [
        size - before - own
        for size, before, own in zip(padded, low, shape_of(one)[2:], strict=True)
    ]
    return pad(n, one, [0, 0, *low], [0, 0, *high])


HANDLERS: dict[str, Callable[[Node], SSAValue | Sequence[SSAValue]]] = {
    "AveragePool": average_pool,
    "Col2Im": col2im,
    "GlobalAveragePool": global_pool("mean"),
    "GlobalLpPool": global_lp_pool,
    "GlobalMaxPool": global_pool("max"),
    "LRN": lrn,
    "LpNormalization": lp_normalization,
    "LpPool": lp_pool,
    "MaxPool": max_pool,
    "MaxUnpool": max_unpool,
}
