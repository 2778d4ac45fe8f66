"""
Convolutions over one to three spatial dimensions.

`graph` has them over rows and columns. One dimension is a single row; a third one is a
sum over the depth of the kernel, of a convolution of all planes at once.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import Attribute, SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node, Unsupported, shape_of
from transom.frontends.onnx.values import (
    cast,
    check_parts,
    cut,
    elements_of,
    entries,
    flip,
    merge,
    pad,
    split,
    spread,
    total,
    transpose,
)


@dataclass(frozen=True)
class Window:
    """What an operator does along each of its spatial dimensions."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def padding(self) -> tuple[int, ...]:
        """As the ops take it."""
        return (*self.low, *self.high)

    @property
    def spans(self) -> tuple[int, ...]:
        """From the first to the last element of the window."""
        pairs = zip(self.kernel, self.dilations, strict=True)
        return tuple((size - 1) * step + 1 for size, step in pairs)

    def without_padding(self) -> "Window":
        none = (0,) * len(self.kernel)
        return replace(self, low=none, high=none)

    def part(self, start: int, end: int | None = None) -> "Window":
        """The window along some of the dimensions."""
        places = slice(start, end)
        return Window(
            self.kernel[places],
            self.strides[places],
            self.dilations[places],
            self.low[places],
            self.high[places],
        )

    def in_rows(self) -> "Window":
        """A window along one dimension as one of rows and columns."""
        return Window(
            (1, *self.kernel),
            (1, *self.strides),
            (1, *self.dilations),
            (0, *self.low),
            (0, *self.high),
        )

    def in_columns(self) -> "Window":
        """The other way round: along rows, for each column by itself."""
        return Window(
            (*self.kernel, 1),
            (*self.strides, 1),
            (*self.dilations, 1),
            (*self.low, 0),
            (*self.high, 0),
        )


def spatial_rank(n: Node) -> int:
    """The number of spatial dimensions of a node's first input."""
    found = n.rank() - 2
    if not 1 <= found <= 3:
        raise Unsupported(f"expected one to three spatial dimensions, but got {found}")
    return found


def numbers(name: str, values: Sequence[int], count: int) -> tuple[int, ...]:
    """A number for each of so many dimensions."""
    if len(values) != count:
        raise Unsupported(
            f"expected {count} numbers as '{name}', but got {len(values)}"
        )
    return tuple(values)


def window_of(n: Node, kernel: Sequence[int]) -> Window:
    """The window that the attributes of a node describe."""
    count = spatial_rank(n)
    window = Window(
        numbers("kernel_shape", kernel, count),
        numbers("strides", n.int_list("strides", [1] * count), count),
        numbers("dilations", n.int_list("dilations", [1] * count), count),
        (0,) * count,
        (0,) * count,
    )
    check_positive(window)
    auto = n.string_attr("auto_pad", "NOTSET")
    pads = numbers("pads", n.int_list("pads", [0] * 2 * count), 2 * count)
    if auto == "NOTSET":
        return replace(window, low=pads[:count], high=pads[count:])
    if auto == "VALID":
        return window
    if auto not in ("SAME_UPPER", "SAME_LOWER"):
        raise Unsupported(f"'auto_pad' is '{auto}'")
    totals: list[int] = []
    for size, span, stride in zip(
        n.shape()[2:], window.spans, window.strides, strict=True
    ):
        if size < 0:
            raise Unsupported(f"'auto_pad' is '{auto}', and a size is not static")
        totals.append(max((-(-size // stride) - 1) * stride + span - size, 0))
    low, high = halves(totals, less_in_front=auto == "SAME_UPPER")
    return replace(window, low=low, high=high)


def check_positive(window: Window) -> None:
    """Raise `Unsupported` for numbers below 1."""
    if min(*window.kernel, *window.strides, *window.dilations) < 1:
        raise Unsupported("expected a kernel, strides and dilations of 1 and more")


def halves(
    totals: Sequence[int], *, less_in_front: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers as two halves each; one of an odd number is smaller."""
    small = tuple(total // 2 for total in totals)
    large = tuple(total - total // 2 for total in totals)
    return (small, large) if less_in_front else (large, small)


def kernel_of(n: Node, index: int = 1) -> Sequence[int]:
    """The sizes of a kernel that is an input, which an attribute may say again."""
    kernel = n.shape(index)[2:]
    if n.rank(index) != n.rank():
        raise Unsupported(
            f"expected a weight with {n.rank()} dimensions, but got {n.rank(index)}"
        )
    if n.int_list("kernel_shape", kernel) != list(kernel):
        raise Unsupported(f"expected 'kernel_shape' to be that of the weight, {kernel}")
    return kernel


def conv(n: Node) -> SSAValue:
    window = window_of(n, kernel_of(n))
    groups = n.int_attr("group", 1)
    return with_bias(n, convolve(n, n.input(0), n.input(1), window, groups))


def with_bias(n: Node, value: SSAValue, index: int = 2) -> SSAValue:
    """A value and the bias of each channel, if there is such an input."""
    if not n.has(index):
        return value
    ones = [1] * (len(shape_of(value)) - 2)
    return n.add(graph.AddOp(value, n.reshape(n.input(index), [-1, *ones])))


def convolve(
    n: Node,
    x: SSAValue,
    w: SSAValue,
    window: Window,
    groups: int = 1,
    element: Attribute | None = None,
) -> SSAValue:
    """
    The convolution of an input by a weight with as many spatial dimensions.

    `element` is the element type of the result, if it is another one than the input's.
    """
    if len(window.kernel) == 3:
        return _in_planes(n, x, w, window, groups, element)
    is_line = len(window.kernel) == 1
    if is_line:
        x, w, window = (
            split(n, x, 2, [1, -1]),
            split(n, w, 2, [1, -1]),
            window.in_rows(),
        )
    y = n.add(
        graph.Conv2dOp(
            x,
            w,
            strides=window.strides,
            padding=window.padding,
            dilations=window.dilations,
            groups=groups,
            element_type=element,
        )
    )
    return merge(n, y, 2) if is_line else y


def _in_planes(
    n: Node,
    x: SSAValue,
    w: SSAValue,
    window: Window,
    groups: int,
    element: Attribute | None,
) -> SSAValue:
    """The sum, over the depth of the kernel, of convolutions of planes."""
    depth = shape_of(x)[2]
    if depth < 0:
        raise Unsupported("a depth that is not static is not supported")
    result = element or elements_of(x)
    planes = transpose(n, x, [0, 2, 1, 3, 4])
    low, high = [0] * 5, [0] * 5
    low[1], high[1] = window.low[0], window.high[0]
    planes = pad(n, planes, low, high)
    padded = depth + low[1] + high[1]
    count = (padded - window.spans[0]) // window.strides[0] + 1
    if count < 1:
        raise Unsupported(
            f"expected the kernel, which spans {window.spans[0]} planes, "
            f"to fit the padded input of {padded}"
        )
    check_parts(window.kernel[0])
    parts: list[SSAValue] = []
    for k in range(window.kernel[0]):
        start = k * window.dilations[0]
        seen = cut(n, planes, 1, start, count, window.strides[0])
        kernel = merge(n, cut(n, w, 2, k, 1), 2)
        seen = n.reshape(seen, [-1, *_numbered(seen, 2)])
        # Sums of halves are taken in f32.
        sums = f32 if result in (f16, bf16) else element
        part = window.part(1)
        parts.append(convolve(n, seen, kernel, part, groups, sums))
    y = cast(n, total(n, graph.AddOp, parts), result)
    return transpose(n, split(n, y, 0, [-1, count]), [0, 2, 1, 3, 4])


def _numbered(value: SSAValue, start: int) -> list[int | graph.InputDim]:
    """The sizes of a value from a dimension on, as a reshape of it says them."""
    return entries(value)[start:]


class Transposed:
    """The sizes of a transposed convolution along one dimension."""

    def __init__(self, kernel: int, stride: int, dilation: int) -> None:
        self.span = (kernel - 1) * dilation + 1
        self.stride = stride
        # With a stride, a dilated kernel is one with zeros between its elements.
        self.apart = dilation if stride > 1 else 1
        self.dilation = 1 if stride > 1 else dilation
        self.kernel = self.span if stride > 1 else kernel
        self.taps = -(-self.kernel // stride)
        """Elements of the kernel that each result sees."""


def conv_transpose(n: Node) -> SSAValue:
    """
    One convolution that gives `stride` results per element of the input along each
    dimension, as channels, which are then put beside each other.
    """
    kernel, count = kernel_of(n), spatial_rank(n)
    if -1 in kernel:
        raise Unsupported("a kernel of sizes that are not static is not supported")
    strides = numbers("strides", n.int_list("strides", [1] * count), count)
    dilations = numbers("dilations", n.int_list("dilations", [1] * count), count)
    window = Window(tuple(kernel), strides, dilations, (0,) * count, (0,) * count)
    check_positive(window)
    along = [
        Transposed(*sizes) for sizes in zip(kernel, strides, dilations, strict=True)
    ]
    low, more = _transposed_padding(n, along)
    x, groups = n.input(0), n.int_attr("group", 1)
    w = _phases(n, n.input(1), along, groups)
    # Results before the first that is wanted are left out where a convolution can.
    skipped = [
        min(begin // one.stride, (one.taps - 1) * one.dilation)
        for begin, one in zip(low, along, strict=True)
    ]
    window = Window(
        tuple(one.taps for one in along),
        (1,) * count,
        tuple(one.dilation for one in along),
        tuple(
            (one.taps - 1) * one.dilation - skip
            for one, skip in zip(along, skipped, strict=True)
        ),
        tuple(
            max(-(-end // one.stride), 0) for end, one in zip(more, along, strict=True)
        ),
    )
    y = _side_by_side(n, convolve(n, x, w, window, groups), along)
    for axis, (begin, end, skip, one) in enumerate(
        zip(low, more, skipped, along, strict=True)
    ):
        # There are `stride` results for each element of the input and of the padding.
        surplus = max(-(-end // one.stride), 0) * one.stride - end
        first = begin - skip * one.stride
        if first or surplus:
            y = cut(n, y, 2 + axis, first, -1 - surplus)
    return with_bias(n, y)


def _transposed_padding(
    n: Node, along: Sequence[Transposed]
) -> tuple[list[int], list[int]]:
    """
    How many results are left out at the start, and how many there are up to the last
    one more than `stride` for each element of the input; along each dimension.
    """
    count, shape = len(along), n.shape()[2:]
    extra = numbers("output_padding", n.int_list("output_padding", [0] * count), count)
    pads = numbers("pads", n.int_list("pads", [0] * 2 * count), 2 * count)
    auto = n.string_attr("auto_pad", "NOTSET")
    if auto not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise Unsupported(f"'auto_pad' is '{auto}'")
    if min(*extra, *pads) < 0:
        raise Unsupported("expected 'pads' and 'output_padding' of 0 and more")
    is_same = auto.startswith("SAME")
    low = list(pads[:count] if auto == "NOTSET" else [0] * count)
    high = list(pads[count:] if auto == "NOTSET" else [0] * count)
    ends = [
        one.span - one.stride + more for one, more in zip(along, extra, strict=True)
    ]
    if not is_same and not n.given("output_shape"):
        return low, [end - after for end, after in zip(ends, high, strict=True)]
    if -1 in shape:
        raise Unsupported("'auto_pad' or 'output_shape', and a size is not static")
    whole = [size * one.stride for size, one in zip(shape, along, strict=True)]
    wanted = numbers("output_shape", n.int_list("output_shape", whole), count)
    if min(wanted) < 1:
        raise Unsupported(f"expected 'output_shape' above 0, but got {list(wanted)}")
    totals = [
        max(size + end - out, 0)
        for size, end, out in zip(whole, ends, wanted, strict=True)
    ]
    begins, _ = halves(totals, less_in_front=auto == "SAME_UPPER")
    return list(begins), [
        begin + out - size
        for begin, out, size in zip(begins, wanted, whole, strict=True)
    ]


def _phases(n: Node, w: SSAValue, along: Sequence[Transposed], groups: int) -> SSAValue:
    """
    The weight `[C, M, K…]` of a transposed convolution as that of a convolution: with
    `stride` channels for each of its own along each dimension.
    """
    channels, outputs, *_ = shape_of(w)
    if min(channels, outputs) < 1 or groups < 1 or channels % groups:
        raise Unsupported(
            f"expected the {channels} channels of the weight to be a multiple of "
            f"'group' {groups}"
        )
    count = len(along)
    w = spread(n, w, 2, [one.apart for one in along])
    missing = [one.taps * one.stride - one.kernel for one in along]
    w = pad(n, w, [0] * (2 + count), [0, 0, *missing])
    parts = [size for one in along for size in (one.taps, one.stride)]
    w = n.reshape(w, [groups, channels // groups, outputs, *parts])
    taps, strides = range(3, 3 + 2 * count, 2), range(4, 4 + 2 * count, 2)
    w = transpose(n, w, [0, 2, *strides, 1, *taps])
    made = groups * outputs * math.prod(one.stride for one in along)
    w = n.reshape(w, [made, channels // groups, *(one.taps for one in along)])
    return flip(n, w, range(2, 2 + count))


def _side_by_side(n: Node, y: SSAValue, along: Sequence[Transposed]) -> SSAValue:
    """The channels that are places of a spatial dimension, put there."""
    count = len(along)
    strides = [one.stride for one in along]
    if math.prod(strides) == 1:
        return y
    y = split(n, y, 1, [-1, *strides])
    places = [axis for i in range(count) for axis in (2 + count + i, 2 + i)]
    y = transpose(n, y, [0, 1, *places])
    for axis in range(count):
        y = merge(n, y, 2 + axis)
    return y


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {
    "Conv": conv,
    "ConvTranspose": conv_transpose,
}
