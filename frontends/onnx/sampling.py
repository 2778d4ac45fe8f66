"""
Images at places that are computed: grids, regions, and convolutions with offsets.

Images are turned into rows of all their channels, so that one index picks a row; what
lies between pixels is a sum of the rows around it.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import AnyFloat, f32, f64, i64
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node, Unsupported, shape_of
from transom.frontends.onnx.values import (
    cast,
    constant,
    cut,
    elements_of,
    entries,
    in_single,
    merge,
    split,
    total,
    transpose,
)
from transom.frontends.onnx.windows import numbers, with_bias


class Floats:
    """Arithmetic on floats of one type, at the place of a node."""

    def __init__(self, n: Node, like: SSAValue) -> None:
        self.n = n
        self.element = elements_of(like)

    def __call__(self, value: SSAValue | float) -> SSAValue:
        if isinstance(value, SSAValue):
            return value
        return self.n.splat(value, self.element)

    def add(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self.n.add(graph.AddOp(a, self(b)))

    def sub(self, a: SSAValue | float, b: SSAValue | float) -> SSAValue:
        return self.n.add(graph.SubOp(self(a), self(b)))

    def mul(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self.n.add(graph.MulOp(a, self(b)))

    def div(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self.n.add(graph.DivOp(a, self(b)))

    def floor(self, a: SSAValue) -> SSAValue:
        return self.n.add(graph.FloorOp(a))

    def clamp(self, a: SSAValue, low: float, high: float) -> SSAValue:
        return self.n.add(graph.ClampOp(a, low, high))

    def compare(self, predicate: str, a: SSAValue, b: float) -> SSAValue:
        return self.n.add(graph.CompareOp(predicate, a, self(b)))

    def between(self, a: SSAValue, low: float, high: float) -> SSAValue:
        """Whether numbers are within bounds."""
        ends = self.compare("ge", a, low), self.compare("le", a, high)
        return self.n.add(graph.AndOp(*ends))


@dataclass(frozen=True)
class Tap:
    """One of the pixels along an axis that a result is made of."""

    place: SSAValue
    """Where it is, within the axis, as floats."""
    weight: SSAValue | None = None
    inside: SSAValue | None = None
    """Whether it is one at all; None if it always is."""


class Rows:
    """An image `[N, C, …]` as a row of channels for each pixel of each image."""

    def __init__(self, n: Node, x: SSAValue) -> None:
        self.n = n
        self.sizes = shape_of(x)[2:]
        if min(self.sizes) < 1:
            raise Unsupported("spatial sizes that are not static, or 0")
        last = [0, *range(2, len(self.sizes) + 2), 1]
        rows = transpose(n, x, last)
        self.rows = n.reshape(rows, [-1, entries(rows)[-1]])

    def at(self, images: SSAValue, places: Sequence[SSAValue]) -> SSAValue:
        """The rows of pixels of images; all of them broadcast, and are whole."""
        n, index = self.n, images
        for size, place in zip(self.sizes, places, strict=True):
            scaled = n.add(graph.MulOp(index, n.splat(size, i64)))
            index = n.add(graph.AddOp(scaled, cast(n, place, i64)))
        return n.add(graph.GatherOp(self.rows, index, 0))

    def sum(
        self, f: Floats, images: SSAValue, axes: Sequence[Sequence[Tap]]
    ) -> list[SSAValue]:
        """
        For each choice of a tap per axis the rows there, by the product of the weights.
        """
        parts: list[SSAValue] = []
        for taps in itertools.product(*axes):
            row = self.at(images, [tap.place for tap in taps])
            weights = [tap.weight for tap in taps if tap.weight is not None]
            if weights:
                row = cast(self.n, row, f.element)
            tests = [tap.inside for tap in taps if tap.inside is not None]
            if tests:
                test = self._per_row(total(self.n, graph.AndOp, tests), row)
                zero = self.n.splat(0, elements_of(row))
                row = self.n.add(graph.SelectOp(test, row, zero))
            if weights:
                weight = total(self.n, graph.MulOp, weights)
                row = f.mul(row, self._per_row(weight, row))
            parts.append(row)
        return parts

    def _per_row(self, value: SSAValue, row: SSAValue) -> SSAValue:
        """A number for each row, which broadcasts with its channels."""
        ones = [1] * (len(shape_of(row)) - 1 - len(shape_of(value)))
        return self.n.reshape(value, [*ones, *entries(value), 1])


# Grids


class Grid:
    """How `GridSample` finds pixels along an axis of a size."""

    def __init__(self, n: Node) -> None:
        modes = {"linear": "linear", "nearest": "nearest", "cubic": "cubic"}
        if n.opset < 20:
            modes = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}
        mode = n.string_attr("mode", "bilinear" if n.opset < 20 else "linear")
        if mode not in modes:
            raise Unsupported(f"'mode' is '{mode}'")
        self.mode = modes[mode]
        self.padding = n.string_attr("padding_mode", "zeros")
        if self.padding not in ("zeros", "border", "reflection"):
            raise Unsupported(f"'padding_mode' is '{self.padding}'")
        self.corners = n.flag("align_corners")

    def taps(self, f: Floats, at: SSAValue, size: int) -> list[Tap]:
        """The pixels around places, which are from -1 to 1."""
        if self.corners:
            at = f.mul(f.div(f.add(at, 1.0), 2.0), size - 1)
        else:
            at = f.div(f.add(f.mul(f.add(at, 1.0), size), -1.0), 2.0)
        if self.mode == "nearest":
            at = f.n.add(graph.RoundOp(at))
        if self.mode == "nearest":
            return [self._tap(f, at, size, None)]
        if self.mode == "linear" or self.padding == "reflection":
            at = self._within(f, at, size)
        base = f.floor(at)
        rest = f.sub(at, base)
        if self.mode == "linear":
            weights = [f.sub(1.0, rest), rest]
            steps = (0, 1)
        else:
            weights = cubic_weights(f, rest)
            steps = (-1, 0, 1, 2)
        return [
            self._tap(f, f.add(base, step) if step else base, size, weight)
            for step, weight in zip(steps, weights, strict=True)
        ]

    def _tap(
        self, f: Floats, place: SSAValue, size: int, weight: SSAValue | None
    ) -> Tap:
        inside = None
        if self.padding == "zeros":
            inside = f.between(place, 0.0, size - 1)
        else:
            place = self._within(f, place, size)
        return Tap(f.clamp(place, 0.0, size - 1), weight, inside)

    def _within(self, f: Floats, at: SSAValue, size: int) -> SSAValue:
        """Places beyond the border, as padding says."""
        if self.padding == "zeros":
            return at
        if self.padding == "border":
            return f.clamp(at, 0.0, size - 1)
        low, high = (0.0, size - 1.0) if self.corners else (-0.5, size - 0.5)
        width = high - low
        if not width:
            return f.clamp(at, low, low)
        # There and back again: a mirror at both ends.
        distance = f.n.add(graph.AbsOp(f.add(at, -low)))
        turn = f.n.add(graph.ModOp(distance, f(2 * width)))
        back = f.sub(2 * width, turn)
        nearer = f.n.add(graph.MinimumOp(turn, back))
        return f.add(nearer, low)


def cubic_weights(f: Floats, rest: SSAValue) -> list[SSAValue]:
    """The weights of the four pixels around a place that is so far from the second."""
    a = -0.75

    def near(x: SSAValue) -> SSAValue:
        inner = f.add(f.mul(x, a + 2), -(a + 3))
        return f.add(f.mul(f.mul(inner, x), x), 1.0)

    def far(x: SSAValue) -> SSAValue:
        inner = f.add(f.mul(f.add(f.mul(x, a), -5 * a), x), 8 * a)
        return f.add(f.mul(inner, x), -4 * a)

    other = f.sub(1.0, rest)
    return [far(f.add(rest, 1.0)), near(rest), near(other), far(f.add(other, 1.0))]


def grid_sample(n: Node) -> SSAValue:
    grid, x, places = Grid(n), n.input(0), n.input(1)
    count = n.rank() - 2
    if count < 1 or n.rank(1) != count + 2 or n.shape(1)[-1] != count:
        raise Unsupported(
            f"expected places in {count} dimensions, but got the shape "
            f"{list(n.shape(1))}"
        )
    if grid.mode != "nearest" and not isinstance(elements_of(x), AnyFloat):
        raise Unsupported(f"'mode' is '{grid.mode}', of integers")
    rows = Rows(n, x)

    def sampled(places: SSAValue) -> SSAValue:
        f = Floats(n, places)
        axes: list[list[Tap]] = []
        for axis, size in enumerate(rows.sizes):
            one = cut(n, places, count + 1, count - 1 - axis, 1)
            at = n.reshape(one, entries(one)[:-1])
            axes.append(grid.taps(f, at, size))
        images = n.add(graph.IotaOp(axes[0][0].place, 0))
        return total(n, graph.AddOp, rows.sum(f, images, axes))

    y = sampled(_wide(n, places, x))
    return cast(n, _channels_first(n, y), elements_of(x))


def _wide(n: Node, places: SSAValue, x: SSAValue) -> SSAValue:
    """Places in the type to compute in: that of the wider one, f32 at least."""
    wide = f64 if f64 in (elements_of(places), elements_of(x)) else f32
    return cast(n, places, wide)


def _channels_first(n: Node, y: SSAValue) -> SSAValue:
    """Rows `[N, …, C]` as an image `[N, C, …]`."""
    rank = len(shape_of(y))
    return transpose(n, y, [0, rank - 1, *range(1, rank - 1)])


def affine_grid(n: Node) -> SSAValue:
    """The places of the pixels of an image, moved by a matrix for each."""
    theta, size, corners = n.input(0), n.integers(1), n.flag("align_corners")
    count = len(size) - 2
    shape = n.shape()
    if count not in (2, 3) or min(size) < 1 or list(shape[1:]) != [count, count + 1]:
        raise Unsupported(
            f"expected matrices for a size in 2 or 3 dimensions, but got the shape "
            f"{list(shape)} for {size}"
        )
    if corners and min(size[2:]) == 1:
        raise Unsupported("a single pixel has no corners to align")

    def moved(theta: SSAValue) -> SSAValue:
        f = Floats(n, theta)
        # [N, 1, …, count, count + 1]
        matrix = split(n, theta, 0, [-1, *[1] * count])
        last = count + 2
        result = cut(n, matrix, last, count, 1)
        for axis in range(count):
            column = cut(n, matrix, last, count - 1 - axis, 1)
            at = _centres(size[2 + axis], corners)
            spread = np.asarray(at, np.float64).reshape(
                [-1 if a == axis else 1 for a in range(count)] + [1, 1]
            )
            if f.element != f64:
                spread = spread.astype(np.float32)
            result = f.add(f.mul(column, constant(n, spread)), result)
        return n.reshape(result, [-1, *size[2:], count])

    return in_single(n, theta, moved)


def _centres(size: int, corners: bool) -> Sequence[float]:
    """The places of so many pixels from -1 to 1."""
    if corners:
        return [2 * i / (size - 1) - 1 for i in range(size)]
    return [(2 * i + 1) / size - 1 for i in range(size)]


# Regions


def roi_align(n: Node) -> SSAValue:
    """The mean, or largest, of samples of each part of regions."""
    x = n.input(0)
    samples = n.int_attr("sampling_ratio", 0)
    sizes = n.int_attr("output_height", 1), n.int_attr("output_width", 1)
    scale, mode = n.float_attr("spatial_scale", 1.0), n.string_attr("mode", "avg")
    default = "output_half_pixel" if n.opset < 16 else "half_pixel"
    where = n.string_attr("coordinate_transformation_mode", default)
    if mode not in ("avg", "max"):
        raise Unsupported(f"'mode' is '{mode}'")
    if where not in ("half_pixel", "output_half_pixel"):
        raise Unsupported(f"'coordinate_transformation_mode' is '{where}'")
    if samples < 1:
        raise Unsupported(
            "'sampling_ratio' is 0: how many samples there are depends on the regions"
        )
    if min(sizes) < 1 or max(*sizes, samples) > MAX_SIZE:
        raise Unsupported(f"expected sizes of 1 to {MAX_SIZE}, but got {list(sizes)}")
    if n.rank() != 4 or n.rank(1) != 2 or n.shape(1)[1] != 4:
        raise Unsupported(
            "expected an image with 4 dimensions, and regions with 4 ends"
        )
    regions, rows = _wide(n, n.input(1), x), Rows(n, x)
    f = Floats(n, regions)
    is_half = where == "half_pixel"
    axes: list[list[Tap]] = []
    for axis, (size, count) in enumerate(zip(rows.sizes, sizes, strict=True)):
        ends = [
            f.add(f.mul(cut(n, regions, 1, column, 1), scale), -0.5 * is_half)
            for column in (1 - axis, 3 - axis)
        ]
        at = _samples(f, ends[0], ends[1], count, samples, whole=not is_half)
        others = (2,) if axis == 0 else (1,)
        axes.append([_spread(n, tap, others) for tap in _clamped_taps(f, at, size)])
    images = split(n, cast(n, n.input(2), i64), 0, [-1, 1, 1])
    parts = rows.sum(f, images, axes)
    joined = total(n, graph.AddOp if mode == "avg" else graph.MaximumOp, parts)
    # [R, height * samples, width * samples, C]
    joined = split(n, split(n, joined, 2, [sizes[1], samples]), 1, [sizes[0], samples])
    kind = "mean" if mode == "avg" else "max"
    y = n.add(graph.ReduceOp(kind, joined, axes=[2, 4], keepdims=False))
    return cast(n, _channels_first(n, y), elements_of(x))


MAX_SIZE = 4096
"""Parts of a region along an axis."""


def _samples(
    f: Floats, start: SSAValue, end: SSAValue, count: int, samples: int, *, whole: bool
) -> SSAValue:
    """Where the samples of each of so many parts of regions are."""
    width = f.sub(end, start)
    if whole:  # a region has at least one pixel
        width = f.n.add(graph.MaximumOp(width, f(1.0)))
    part = f.div(width, count)
    numbers = np.arange(count)[:, None] + (np.arange(samples)[None] + 0.5) / samples
    numbers = numbers.reshape(1, -1)
    if f.element != f64:
        numbers = numbers.astype(np.float32)
    return f.add(f.mul(part, constant(f.n, numbers)), start)


def _clamped_taps(f: Floats, at: SSAValue, size: int) -> list[Tap]:
    """The two pixels around places of which those far outside count nothing."""
    inside = f.between(at, -1.0, size)
    at = f.clamp(at, 0.0, size - 1)
    base = f.floor(at)
    rest = f.sub(at, base)
    above = f.clamp(f.add(base, 1.0), 0.0, size - 1)
    return [Tap(base, f.sub(1.0, rest), inside), Tap(above, rest, inside)]


def _spread(n: Node, tap: Tap, axes: Sequence[int]) -> Tap:
    """A tap with further dimensions, along which it is the same."""

    def wide(value: SSAValue) -> SSAValue:
        shape = entries(value)
        for axis in axes:
            shape.insert(axis, 1)
        return n.reshape(value, shape)

    return Tap(
        wide(tap.place),
        None if tap.weight is None else wide(tap.weight),
        None if tap.inside is None else wide(tap.inside),
    )


# Convolutions with offsets


def deform_conv(n: Node) -> SSAValue:
    """A convolution of pixels that each place of the kernel has an offset to."""
    x, w, offsets = n.input(0), n.input(1), n.input(2)
    if (n.rank(), n.rank(1), n.rank(2)) != (4, 4, 4):
        raise Unsupported("expected an image, a weight and offsets with 4 dimensions")
    shape, (outputs, depth, *kernel) = n.shape(), n.shape(1)
    groups, parts = n.int_attr("group", 1), n.int_attr("offset_group", 1)
    if n.int_list("kernel_shape", kernel) != list(kernel):
        raise Unsupported(f"expected 'kernel_shape' to be that of the weight, {kernel}")
    strides = numbers("strides", n.int_list("strides", (1, 1)), 2)
    dilations = numbers("dilations", n.int_list("dilations", (1, 1)), 2)
    pads = numbers("pads", n.int_list("pads", (0, 0, 0, 0)), 4)
    channels, count, (_, _, *sizes) = shape[1], math.prod(kernel), n.shape(2)
    static = min(channels, outputs, depth, *kernel, *sizes) > 0
    if (
        not static
        or min(groups, parts) < 1
        or channels != depth * groups
        or channels % parts
        or outputs % groups
        or n.shape(2)[1] != 2 * parts * count
        or (n.has(4) and n.shape(4)[1] != parts * count)
    ):
        raise Unsupported("expected static sizes that fit each other")
    # [N, parts, places of the kernel, height, width]
    split_offsets = split(n, _wide(n, offsets, x), 1, [parts, count, 2])
    f = Floats(n, split_offsets)
    images = n.reshape(x, [-1, channels // parts, *shape[2:]])
    rows = Rows(n, images)
    axes: list[list[Tap]] = []
    for axis, size in enumerate(rows.sizes):
        moved = merge(n, cut(n, split_offsets, 3, axis, 1), 3)
        steps = np.indices(kernel)[axis].reshape(1, 1, -1, 1, 1) * dilations[axis]
        places = np.arange(sizes[axis]) * strides[axis] - pads[axis]
        places = places.reshape((-1, 1) if axis == 0 else (1, -1))
        start = (steps + places).astype(np.float64 if f.element == f64 else np.float32)
        axes.append(_zero_taps(f, f.add(moved, constant(n, start)), size))
    place = axes[0][0].place
    image = n.add(graph.MulOp(n.add(graph.IotaOp(place, 0)), n.splat(parts, i64)))
    number = n.add(graph.AddOp(image, n.add(graph.IotaOp(place, 1))))
    columns = total(n, graph.AddOp, rows.sum(f, number, axes))
    if n.has(4):
        mask = split(n, cast(n, n.input(4), f.element), 1, [parts, count])
        columns = f.mul(columns, n.reshape(mask, [*entries(mask), 1]))
    # [N, parts, count, height, width, C] to [N, parts, C, count, height, width]
    columns = transpose(n, cast(n, columns, elements_of(x)), [0, 1, 5, 2, 3, 4])
    rest = [depth * count, math.prod(sizes)]
    columns = n.reshape(columns, [-1, groups, *rest])
    factors = n.reshape(w, [1, groups, outputs // groups, depth * count])
    y = n.reshape(n.add(graph.MatmulOp(factors, columns)), [-1, outputs, *sizes])
    return with_bias(n, y, 3)


def _zero_taps(f: Floats, at: SSAValue, size: int) -> list[Tap]:
    """The two pixels around places; beyond the border they are zero."""
    base = f.floor(at)
    rest = f.sub(at, base)
    above = f.add(base, 1.0)
    return [
        Tap(f.clamp(place, 0.0, size - 1), weight, f.between(place, 0.0, size - 1))
        for place, weight in ((base, f.sub(1.0, rest)), (above, rest))
    ]


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {
    "AffineGrid": affine_grid,
    "DeformConv": deform_conv,
    "GridSample": grid_sample,
    "RoiAlign": roi_align,
}
