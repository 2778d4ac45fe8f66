"""
Which nests are convolutions, and which of these Winograd's method computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.dialects.tir.steps import Step, step_along
from transom.dialects.tir.types import memref_type_of
from transom.passes.winograd.tiles import FLOAT_BYTES, count_of, tiles_along
from transom.passes.winograd.transforms import PATCH, WINDOW

LEAST_CHANNELS = 32
"""With fewer channels the transforms cost more than the products save."""
LEAST_SIZE = 6
"""Fewer rows or columns of results make too few whole tiles."""
MULTIPLICATIONS_PER_BYTE = 3
"""What a core computes while it reads a byte of weights that no cache holds."""


@dataclass(frozen=True)
class Sliding:
    """An index of the image that a window moves: `step * point + spread * offset`."""

    index: int
    """Of the image's indices."""
    point: int
    """The parallel dim."""
    step: int
    offset: int
    """The reduction dim."""
    spread: int


@dataclass(frozen=True)
class Convolution:
    """
    A nest that sums products of an image and a weight, over windows of the image.

    Its other dims are those that only the image moves with (`batch`), only the weight
    (`filters`), both (`groups`), and those of the sum (`channels`). Parallel dims of
    one point are left out.
    """

    nest: tir.NestOp
    image: int
    """The position of the image among the inputs."""
    weight: int
    rows: Sliding
    columns: Sliding
    batch: tuple[int, ...]
    filters: tuple[int, ...]
    groups: tuple[int, ...]
    channels: tuple[int, ...]
    flags: arith.FastMathFlagsAttr
    """`fastmath` of the sum."""

    @property
    def image_map(self) -> AffineMap:
        """How the nest reads the image."""
        return map_of(self.nest, self.image)

    @property
    def weight_map(self) -> AffineMap:
        """How the nest reads the weight."""
        return map_of(self.nest, self.weight)

    def sizes(self, dims: Sequence[int]) -> tuple[int, ...]:
        """The bounds of some dims, which are known."""
        bounds = [self.nest.static_bounds[dim] for dim in dims]
        return tuple(bound for bound in bounds if bound is not None)

    @property
    def height(self) -> int:
        """Rows of results."""
        return self.sizes([self.rows.point])[0]

    @property
    def width(self) -> int:
        """Columns of results."""
        return self.sizes([self.columns.point])[0]

    @property
    def epilogue_inputs(self) -> tuple[int, ...]:
        """The positions of the inputs that only `finish` reads."""
        read = (self.image, self.weight)
        return tuple(p for p in self.nest.finish_in_positions if p not in read)


def map_of(nest: tir.NestOp, position: int) -> AffineMap:
    """How a nest reads an input that is not indirect."""
    map = nest.in_accesses.data[position].map
    assert map is not None, "asked for products of plain inputs"
    return map


def find_convolution(nest: tir.NestOp) -> Convolution | None:
    """A nest as a convolution with a window of more than one pixel, if it is one."""
    factors = _factors(nest)
    if factors is None:
        return None
    first, second, flags = factors
    for image, weight in ((first, second), (second, first)):
        slides = _slides(nest, image, weight)
        if len(slides) == 2 and _are_windows(nest, image, weight, slides):
            return _with_dims(nest, image, weight, slides, flags)
    return None


def _factors(nest: tir.NestOp) -> tuple[int, int, arith.FastMathFlagsAttr] | None:
    """The inputs whose products a nest of floats sums from zero, and the flags."""
    if len(nest.accumulator_types) != 1:
        return None
    (start,), (end,) = nest.yielded(nest.init), nest.yielded(nest.body)
    sum, constant = _made_by(end), _made_by(start)
    if not isinstance(sum, arith.AddfOp) or not isinstance(constant, arith.ConstantOp):
        return None
    if not isinstance(constant.value, FloatAttr) or constant.value.value.data != 0:
        return None
    (accumulator,) = nest.body_accumulators
    terms = [value for value in sum.operands if value is not accumulator]
    product = _made_by(terms[0]) if len(terms) == 1 else None
    if not isinstance(product, arith.MulfOp):
        return None
    arguments: list[SSAValue] = list(nest.body_ins)
    if any(value not in arguments for value in product.operands):
        return None  # something is computed with what is read
    first, second = (arguments.index(value) for value in product.operands)
    indirect = any(nest.in_accesses.data[p].is_indirect for p in (first, second))
    return None if indirect else (first, second, sum.fastmath)


def _made_by(value: SSAValue) -> Operation | None:
    return value.op if isinstance(value, OpResult) else None


def _slides(nest: tir.NestOp, image: int, weight: int) -> list[Sliding]:
    """The indices of an input that windows move, which another is indexed by."""
    alone = [
        expr.position
        for expr in map_of(nest, weight).results
        if isinstance(expr, AffineDimExpr)
    ]
    found: list[Sliding] = []
    for index, expr in enumerate(map_of(nest, image).results):
        steps = {
            product[0].position: step
            for product, step in affine.terms_of(expr).items()
            if len(product) == 1 and isinstance(product[0], AffineDimExpr)
        }
        dims = sorted(steps)
        if len(dims) != 2 or dims[1] not in alone:
            continue
        point, offset = dims
        kinds = nest.dim_kinds[point], nest.dim_kinds[offset]
        if kinds == (tir.DimKind.PARALLEL, tir.DimKind.REDUCTION):
            found.append(Sliding(index, point, steps[point], offset, steps[offset]))
    return found


def _are_windows(
    nest: tir.NestOp, image: int, weight: int, slides: Sequence[Sliding]
) -> bool:
    """
    Whether a weight is indexed by filter, channel, and the row and the column of a
    window, and windows move along nothing else.
    """
    shape = memref_type_of(nest.ins[weight]).get_shape()
    read, weights = map_of(nest, image).results, map_of(nest, weight).results
    offsets = [AffineDimExpr(slide.offset) for slide in slides]
    window = [nest.static_bounds[slide.offset] for slide in slides]
    if len(shape) != 4 or [*weights[2:]] != offsets or [*shape[2:]] != window:
        return False
    if window == [1, 1]:
        return False  # a product of matrices
    indices = {slide.index for slide in slides}
    others = [*(e for i, e in enumerate(read) if i not in indices), *weights[:2]]
    sliding = {dim for slide in slides for dim in (slide.point, slide.offset)}
    return not any(sliding & expr.used_dims() for expr in others)


def _with_dims(
    nest: tir.NestOp,
    image: int,
    weight: int,
    slides: Sequence[Sliding],
    flags: arith.FastMathFlagsAttr,
) -> Convolution:
    rows, columns = slides
    sliding = {d for slide in slides for d in (slide.point, slide.offset)}
    own = map_of(nest, image).used_dims()
    other = map_of(nest, weight).used_dims()
    dims: dict[tuple[bool, bool], list[int]] = {}
    for dim in nest.dims_of_kind(tir.DimKind.PARALLEL):
        if dim not in sliding and nest.static_bounds[dim] != 1:
            dims.setdefault((dim in own, dim in other), []).append(dim)
    channels = [
        dim
        for dim in nest.dims_of_kind(tir.DimKind.REDUCTION)
        if dim not in sliding and nest.static_bounds[dim] != 1
    ]
    groups = [*dims.get((True, True), []), *dims.get((False, False), [])]
    return Convolution(
        nest,
        image,
        weight,
        rows,
        columns,
        tuple(dims.get((True, False), ())),
        tuple(dims.get((False, True), ())),
        tuple(groups),
        tuple(channels),
        flags,
    )


def why_direct(conv: Convolution, cache: int) -> str | None:
    """
    Why a convolution stays what it is; None if Winograd's method computes it. `cache`
    is how many bytes stay near from one run to the next.
    """
    nest = conv.nest
    if None in nest.static_bounds:
        return "expected sizes that are known"
    if nest.schedule is not None:
        return "expected no schedule, which says how it is computed"
    if nest.symbols or nest.dims_of_kind(tir.DimKind.SEQUENTIAL):
        return "expected a nest that is in no block, and of no sequential dims"
    for slide, name in ((conv.rows, "rows"), (conv.columns, "columns")):
        if slide.step != 1:
            return f"expected a stride of 1, but that of {name} is {slide.step}"
        if slide.spread != 1:
            return f"expected a dilation of 1, but that of {name} is {slide.spread}"
    window = conv.sizes([conv.rows.offset, conv.columns.offset])
    if window != (WINDOW, WINDOW):
        return f"expected a window of 3 x 3, but got {window[0]} x {window[1]}"
    if conv.groups:
        return "expected one group of channels"
    if not conv.filters:
        return "expected several filters"
    return (
        _why_not_suited(conv)
        or _why_no_gain(conv, cache)
        or _why_not_read(conv)
        or _why_not_finished(conv)
    )


def _why_not_suited(conv: Convolution) -> str | None:
    """What of the sizes and types is against it."""
    shape = memref_type_of(conv.nest.ins[conv.weight]).get_shape()
    if shape[1] < LEAST_CHANNELS:
        return f"expected at least {LEAST_CHANNELS} channels, but got {shape[1]}"
    if min(conv.height, conv.width) < LEAST_SIZE:
        return (
            f"expected at least {LEAST_SIZE} rows and columns of results, but got "
            f"{conv.height} x {conv.width}"
        )
    types = [conv.nest.in_types[p] for p in (conv.image, conv.weight)]
    for type in (*types, *conv.nest.accumulator_types):
        if type != f32:
            return f"expected f32, but got '{type}'"
    return None


def _why_no_gain(conv: Convolution, cache: int) -> str | None:
    """Whether reading more weights takes the time that fewer products save."""
    pairs = prod(conv.sizes((*conv.channels, *conv.filters)))
    weights = PATCH * PATCH * FLOAT_BYTES * pairs
    if weights <= cache:
        return None
    height, width = conv.height, conv.width
    tiles = count_of(tiles_along(height)) * count_of(tiles_along(width))
    saved = WINDOW * WINDOW * height * width - PATCH * PATCH * tiles
    more = (PATCH * PATCH - WINDOW * WINDOW) * FLOAT_BYTES
    if saved < MULTIPLICATIONS_PER_BYTE * more:
        return (
            f"expected a larger image, as there are {weights} bytes of weights to read "
            f"for {height} x {width} results"
        )
    return None


def _why_not_read(conv: Convolution) -> str | None:
    """Whether vectors of channels can be read."""
    nest = conv.nest
    image = memref_type_of(nest.ins[conv.image])
    access = nest.in_accesses.data[conv.image]
    lanes = conv.channels[-1] if conv.channels else None
    if lanes is None or step_along(access, image, lanes) is not Step.CONTIGUOUS:
        return "expected channels that lie side by side in memory"
    return None


def _why_not_finished(conv: Convolution) -> str | None:
    """What of the results is against it."""
    nest = conv.nest
    accesses = [nest.in_accesses.data[p] for p in conv.epilogue_inputs]
    accesses += nest.out_accesses
    if any(access.is_indirect or access.combine for access in accesses):
        return "expected results that are stored where a map says, and no 'combine'"
    if any(op.regions for op in nest.finish.block.ops):
        return "expected no branches behind the sum"
    return None
