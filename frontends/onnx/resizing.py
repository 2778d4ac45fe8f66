"""
Images in another size.

A resize works along one axis after the other: each new element is a sum of few old ones
with weights that are known. Which ones they are is computed as onnxruntime does it, in
f32.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, SSAValue

from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.weight_files import Array
from transom.frontends.onnx.movement import wanted_sizes
from transom.frontends.onnx.node import Node, Unsupported, positive_axes, shape_of
from transom.frontends.onnx.sizes import RuntimeSize, Size
from transom.frontends.onnx.values import (
    MAX_ELEMENTS,
    check_parts,
    constant,
    cut,
    elements_of,
    in_single,
    merge,
    repeated,
    split,
    total,
)

MAX_TAPS = 4
"""
Old elements of a new one that are picked; more are a product with a matrix, if that is
not too large.
"""

MAX_SIZE = 2**20
"""New elements along an axis."""


@dataclass(frozen=True)
class Scaling:
    """What becomes of one axis: its sizes, new elements per old one, and the part."""

    old: int
    new: int
    scale: float
    start: float = 0.0
    end: float = 1.0

    @property
    def is_identity(self) -> bool:
        return (
            self.old == self.new
            and self.scale == 1
            and (self.start, self.end) == (0, 1)
        )

    @property
    def exact(self) -> float:
        """The new size with its fraction."""
        return float(np.float32(self.scale)) * self.old


@dataclass(frozen=True)
class Taps:
    """Which old elements a new one is made of: arrays of a row for each."""

    places: Array
    weights: Array
    outside: Array
    """Which new elements are outside of the image."""


Positions = Callable[[Scaling, Array], Array]
"""Where new elements are among the old ones."""


def _half_pixel(s: Scaling, at: Array) -> Array:
    return (at + np.float32(0.5)) / np.float32(s.scale) - np.float32(0.5)


def _pytorch_half_pixel(s: Scaling, at: Array) -> Array:
    return _half_pixel(s, at) if s.new > 1 else np.zeros_like(at)


def _half_pixel_symmetric(s: Scaling, at: Array) -> Array:
    offset = s.old / 2 * (1 - s.new / s.exact)
    return np.float32(offset) + _half_pixel(s, at)


def _asymmetric(s: Scaling, at: Array) -> Array:
    return at / np.float32(s.scale)


def _align_corners(s: Scaling, at: Array) -> Array:
    if s.exact == 1:
        return np.zeros_like(at)
    return at * np.float32(s.old - 1) / np.float32(s.exact - 1)


def _tf_half_pixel(s: Scaling, at: Array) -> Array:
    return (at + np.float32(0.5)) / np.float32(s.scale)


def _tf_crop_and_resize(s: Scaling, at: Array) -> Array:
    last = s.old - 1
    if s.new == 1:
        return np.full_like(at, 0.5 * (s.start + s.end) * last)
    step = np.float32((s.end - s.start) * last) / np.float32(s.exact - 1)
    return np.float32(s.start * last) + at * step


POSITIONS: dict[str, Positions] = {
    "align_corners": _align_corners,
    "asymmetric": _asymmetric,
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "tf_crop_and_resize": _tf_crop_and_resize,
    "tf_half_pixel_for_nn": _tf_half_pixel,
}

ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "round_prefer_ceil": lambda x: np.floor(x + np.float32(0.5)),
    "round_prefer_floor": lambda x: np.ceil(x - np.float32(0.5)),
}


class Method:
    """How a node finds and weighs elements."""

    def __init__(self, n: Node) -> None:
        self.mode = n.string_attr("mode", "nearest")
        # Before opset 11 there was one way, in which shrinking rounds up.
        self.is_old = n.opset < 11
        where = "asymmetric" if self.is_old else "half_pixel"
        self.where = n.string_attr("coordinate_transformation_mode", where)
        self.rounding = n.string_attr("nearest_mode", "round_prefer_floor")
        self.cubic = n.float_attr("cubic_coeff_a", -0.75)
        self.smooth = n.flag("antialias")
        self.inside = n.flag("exclude_outside")
        self.extrapolated = n.float_attr("extrapolation_value", 0.0)
        if self.mode == "bilinear":  # of Upsample
            self.mode = "linear"
        if self.mode not in ("nearest", "linear", "cubic"):
            raise Unsupported(f"'mode' is '{self.mode}'")
        if self.where not in POSITIONS:
            raise Unsupported(f"'coordinate_transformation_mode' is '{self.where}'")
        if self.rounding not in ROUNDINGS:
            raise Unsupported(f"'nearest_mode' is '{self.rounding}'")

    @property
    def crops(self) -> bool:
        return self.where == "tf_crop_and_resize"

    def taps(self, s: Scaling) -> Taps:
        """What the new elements along an axis are made of."""
        at = POSITIONS[self.where](s, np.arange(s.new, dtype=np.float32))
        if self.mode == "nearest":
            places, weights = self._nearest(s, at)
        else:
            places, weights = self._weighed(s, at)
        if self.inside and self.mode != "nearest":
            weights = np.where((places < 0) | (places >= s.old), 0, weights)
            sums = weights.sum(1, keepdims=True)
            weights = weights / np.where(sums == 0, 1, sums)
        outside = np.zeros(s.new, np.bool_)
        if self.crops:
            outside = (at < 0) | (at > s.old - 1)
        return Taps(np.clip(places, 0, s.old - 1), weights, outside)

    def _nearest(self, s: Scaling, at: Array) -> tuple[Array, Array]:
        rounding = ROUNDINGS[self.rounding]
        if self.is_old:
            rounding = np.ceil if s.scale < 1 else np.floor
        places = rounding(at).astype(np.int64)[:, None]
        return places, np.ones_like(places, np.float32)

    def _weighed(self, s: Scaling, at: Array) -> tuple[Array, Array]:
        """Shrinking smoothly, each old element counts for the new ones around it."""
        shrink = min(s.scale, 1.0) if self.smooth else 1.0
        reach = 1 if self.mode == "linear" else 2
        first = math.floor(-reach / shrink) + 1
        base = np.floor(at)
        steps = np.arange(first, 2 - first)
        distance = np.abs((steps[None] - (at - base)[:, None]) * np.float32(shrink))
        kernel = self._linear if self.mode == "linear" else self._cubic
        weights = kernel(distance.astype(np.float64))
        if self.smooth:
            weights = weights / weights.sum(1, keepdims=True)
        return base.astype(np.int64)[:, None] + steps[None], weights

    def _linear(self, x: Array) -> Array:
        return np.clip(1 - x, 0, 1)

    def _cubic(self, x: Array) -> Array:
        a = self.cubic
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def upsample(n: Node) -> SSAValue:
    if n.opset < 9:
        if not n.given("scales"):
            raise Unsupported("expected attribute 'scales'")
        scales: Sequence[float] = n.float_list("scales")
    else:
        scales = n.constant(1).reshape(-1).tolist()
    return resized(n, Method(n), _scaled(n, scales, range(n.rank()), None))


def resize(n: Node) -> SSAValue:
    method, rank = Method(n), n.rank()
    if n.opset < 11:
        scales = n.constant(1).reshape(-1).tolist()
        return resized(n, method, _scaled(n, scales, range(rank), None))
    axes = list(range(rank))
    if n.given("axes"):
        given = n.int_list("axes")
        positive_axes(given, rank)
        axes = [axis % rank for axis in given]
    part = None
    if method.crops:
        part = n.constant(1).reshape(-1).astype(np.float64)
        if part.size != 2 * len(axes):
            raise Unsupported(
                f"expected {2 * len(axes)} borders of a part, but got {part.size}"
            )
    policy = n.string_attr("keep_aspect_ratio_policy", "stretch")
    if n.has(3) and _is_given(n, 3):
        return resized(n, method, _sized(n, axes, part, policy))
    scales = n.constant(2).reshape(-1).tolist()
    return resized(n, method, _scaled(n, scales, axes, part))


def _is_given(n: Node, index: int) -> bool:
    """Whether an input has elements, where an empty one says that it is absent."""
    return 0 not in n.known(index).shape


def _scaled(
    n: Node, scales: Sequence[float], axes: Sequence[int], part: Array | None
) -> list[Scaling]:
    """What becomes of each axis, by scales."""
    if len(scales) != len(axes) or not all(0 < scale < MAX_SIZE for scale in scales):
        raise Unsupported(
            f"expected {len(axes)} scales above 0, but got {list(scales)}"
        )
    shape = n.shape()
    found: list[Scaling] = [Scaling(size, size, 1.0) for size in shape]
    for number, (axis, scale) in enumerate(zip(axes, scales, strict=True)):
        scale = float(np.float32(scale))
        # A size that is not static is `old` times an integer.
        new = math.floor(np.float32(shape[axis]) * np.float32(scale))
        found[axis] = _along(shape[axis], new, scale, number, part)
    return found


def _along(
    old: int, new: int, scale: float, number: int, part: Array | None
) -> Scaling:
    if new > MAX_SIZE:
        raise Unsupported(f"expected sizes of at most {MAX_SIZE}, but got {new}")
    if part is None:
        return Scaling(old, new, scale)
    ends = part[number], part[number + len(part) // 2]
    return Scaling(old, new, scale, float(ends[0]), float(ends[1]))


def _sized(
    n: Node, axes: Sequence[int], part: Array | None, policy: str
) -> list[Scaling]:
    """What becomes of each axis, by sizes."""
    if policy not in ("stretch", "not_larger", "not_smaller"):
        raise Unsupported(f"'keep_aspect_ratio_policy' is '{policy}'")
    shape, sizes = n.shape(), wanted_sizes(n, 3)
    if len(sizes) != len(axes):
        raise Unsupported(f"expected {len(axes)} sizes, but got {len(sizes)}")
    found: list[Scaling] = [Scaling(size, size, 1.0) for size in shape]
    if policy != "stretch":
        scale = _common_scale(shape, sizes, axes, policy)
        for number, axis in enumerate(axes):
            new = math.floor(scale * shape[axis] + 0.5)
            found[axis] = _along(shape[axis], new, scale, number, part)
        return found
    for number, (axis, size) in enumerate(zip(axes, sizes, strict=True)):
        if isinstance(size, RuntimeSize):
            if not size.is_size_of(n.input(), axis) or part is not None:
                raise Unsupported(f"axis {axis} gets a size that is not static")
        elif shape[axis] < 1 or size < 0:
            raise Unsupported(
                f"axis {axis} is resized, and its size is not static, 0 or huge"
            )
        else:
            scale = float(np.float32(size) / np.float32(shape[axis]))
            found[axis] = _along(shape[axis], size, scale, number, part)
    return found


def _common_scale(
    shape: Sequence[int], sizes: Sequence[Size], axes: Sequence[int], policy: str
) -> float:
    """The scale of all axes that keeps their ratio."""
    scales: list[float] = []
    for axis, size in zip(axes, sizes, strict=True):
        if isinstance(size, RuntimeSize) or shape[axis] < 1 or size < 0:
            raise Unsupported(
                f"axis {axis} is resized, and its size is not static, 0 or huge"
            )
        scales.append(size / shape[axis])
    return min(scales) if policy == "not_larger" else max(scales)


def resized(n: Node, method: Method, scalings: Sequence[Scaling]) -> SSAValue:
    """An input whose axes are resized one after the other."""
    x = n.input()
    changed = [(axis, s) for axis, s in enumerate(scalings) if not s.is_identity]
    if method.mode == "nearest":
        return _along_axes(n, method, x, changed)
    if not isinstance(elements_of(x), AnyFloat):
        raise Unsupported(f"'mode' is '{method.mode}', of integers")
    return in_single(n, x, lambda wide: _along_axes(n, method, wide, changed))


def _along_axes(
    n: Node, method: Method, x: SSAValue, changed: Sequence[tuple[int, Scaling]]
) -> SSAValue:
    for axis, scaling in changed:
        factor = _repetition(method, scaling)
        if factor is not None:
            x = repeated(n, x, axis, factor)
        elif not 0 < scaling.old <= MAX_SIZE:
            raise Unsupported(
                f"axis {axis} is resized, and its size is not static, 0 or huge"
            )
        else:
            x = _resampled(n, x, axis, scaling, method)
    return x


def _repetition(method: Method, scaling: Scaling) -> int | None:
    """How often each element is repeated, if that is all; also for unknown sizes."""
    factor = round(scaling.scale)
    if method.mode != "nearest" or method.crops or factor != scaling.scale:
        return None
    olds = (scaling.old,) if scaling.old >= 0 else SAMPLES
    for old in olds:
        if scaling.old >= 0 and scaling.new != old * factor:
            return None
        places = method.taps(Scaling(old, old * factor, scaling.scale)).places
        if not np.array_equal(places[:, 0], np.arange(old).repeat(factor)):
            return None
    return factor


SAMPLES = (1, 2, 3, 5, 16, 251)
"""Sizes that stand for all."""


def _resampled(
    n: Node, x: SSAValue, axis: int, scaling: Scaling, method: Method
) -> SSAValue:
    if not scaling.new:
        return cut(n, x, axis, 0, 0)
    taps = method.taps(scaling)
    places, weights = taps.places, taps.weights
    kept = np.any(weights != 0, 0)  # of a kernel that reaches too far
    places, weights = places[:, kept], weights[:, kept]
    element, rest = elements_of(x), len(shape_of(x)) - axis - 1
    if weights.size and (weights == 1).all() and weights.shape[1] == 1:
        y = n.add(graph.GatherOp(x, constant(n, places[:, 0]), axis))
    elif weights.shape[1] > MAX_TAPS and scaling.new * scaling.old <= MAX_ELEMENTS:
        y = _product(n, x, axis, scaling, places, weights)
    else:
        check_parts(weights.shape[1])
        parts: list[SSAValue] = []
        for place, weight in zip(places.T, weights.T, strict=True):
            part = n.add(graph.GatherOp(x, constant(n, place.copy()), axis))
            factors = constant(n, _as(weight.reshape([-1] + [1] * rest), element))
            parts.append(n.add(graph.MulOp(part, factors)))
        y = total(n, graph.AddOp, parts)
    if not taps.outside.any():
        return y
    outside = constant(n, taps.outside.reshape([-1] + [1] * rest))
    value = n.splat(method.extrapolated, element)
    return n.add(graph.SelectOp(outside, value, y))


def _as(array: Array, element: Attribute) -> Array:
    return array.astype(numpy_dtype(element))


def _product(
    n: Node, x: SSAValue, axis: int, s: Scaling, places: Array, weights: Array
) -> SSAValue:
    """A product with the matrix of all weights."""
    matrix = np.zeros((s.new, s.old))
    np.add.at(matrix, (np.arange(s.new)[:, None], places), weights)
    factors = constant(n, _as(matrix, elements_of(x)))
    sizes = shape_of(x)
    if axis == len(sizes) - 1:
        columns = n.add(graph.TransposeOp(factors, [1, 0]))
        if axis == 0:
            return n.reshape(
                n.add(graph.MatmulOp(n.reshape(x, [1, -1]), columns)), [-1]
            )
        return n.add(graph.MatmulOp(x, columns))
    count = len(sizes) - axis - 1
    if count == 1:
        return n.add(graph.MatmulOp(factors, x))
    behind = sizes[axis + 1 :]
    if behind.count(-1) > 1:
        raise Unsupported("several sizes behind an axis are not static")
    y = n.add(graph.MatmulOp(factors, merge(n, x, axis + 1, count)))
    return split(n, y, axis + 1, behind)


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {
    "Resize": resize,
    "Upsample": upsample,
}
