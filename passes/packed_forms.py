"""
The order in which the loops of a nest read an operand, as a shape of its own.

The axes are the dims that the operand is read with, in the order of the loops; a dim
with a register tile or lanes gives one axis of tiles there, and one of the points of a
tile at the end, the lanes last. Points that one dot product sums come behind the lanes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from transom.dialects.tir import AccessAttr, DimKind, NestOp, ScheduleAttr, affine
from transom.dialects.tir.accesses import Interval, is_inside


@dataclass(frozen=True)
class Axis:
    """
    Points of a dim, or tiles of them: `size` many, `step` apart. How many tiles there
    are may not be known.
    """

    dim: int
    size: int
    step: int
    is_inner: bool
    """Whether these are the points of one tile of several."""

    def position(self) -> AffineExpr:
        """Where a point of the nest stands on this axis."""
        point = affine.dim(self.dim)
        if self.is_inner:
            return affine.modulo(point, self.size)
        return point if self.step == 1 else affine.floordiv(point, self.step)


@dataclass(frozen=True)
class PackedForm:
    """How an operand is packed."""

    axes: tuple[Axis, ...]
    source: AffineMap
    """From the axes to indices of the operand."""
    rank: int
    """Of the nest."""
    num_symbols: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def is_static(self) -> bool:
        """Whether it is known how many tiles there are."""
        return DYNAMIC_INDEX not in self.shape

    def access(self) -> AccessAttr:
        """How the nest reads what is packed."""
        exprs = tuple(axis.position() for axis in self.axes)
        return AccessAttr(AffineMap(self.rank, self.num_symbols, exprs))

    def leaves(self, shape: Sequence[int]) -> bool:
        """Whether the source may lie outside of an operand of this shape."""
        dims = [Interval(0, size - 1) for size in self.shape]
        return not is_inside(self.source, dims, shape)


def packed_form(nest: NestOp, position: int) -> PackedForm | str:
    """How an input is packed for the schedule of a nest, or why it cannot be."""
    schedule, access = nest.schedule, nest.in_accesses.data[position]
    assert schedule is not None and access.map is not None, "the schedule is verified"
    if any(affine.used_symbols(expr) for expr in access.map.results):
        return f"expected an access without symbols to pack 'in{position}'"
    used = access.map.used_dims()
    for dim in sorted(used):
        if nest.static_bounds[dim] == 0:
            return f"expected 'in{position}' to be read, but 'd{dim}' has no points"
    outer: list[Axis] = []
    inner: list[Axis] = []
    for dim in _loop_order(nest, schedule):
        extent = nest.static_bounds[dim]
        if dim not in used:
            continue
        tile = _tile_of(schedule, dim, extent)
        tiles = DYNAMIC_INDEX if extent is None else -(-extent // tile)
        outer.append(Axis(dim, tiles, tile, False))
        if tile > 1:
            inner.append(Axis(dim, tile, 1, tiles != 1))
    vector = schedule.vector_dim
    last = [pair[0] for pair in (vector, schedule.dot_dim) if pair is not None]
    inner.sort(key=lambda axis: last.index(axis.dim) if axis.dim in last else -1)
    # What is read with a sum is not known before it, also if that has one step.
    sums = [axis for axis in outer if nest.dim_kinds[axis.dim] is DimKind.REDUCTION]
    kept = sums[:1] if all(nest.static_bounds[axis.dim] == 1 for axis in sums) else []
    axes = tuple(
        axis
        for axis in (*outer, *inner)
        if axis.size != 1 or len(used) == 1 or axis in kept
    )
    parts: list[AffineExpr] = [affine.as_expr(0)] * nest.rank
    for number, axis in enumerate(axes):
        here = affine.multiply(affine.dim(number), axis.step)
        parts[axis.dim] = affine.add(parts[axis.dim], here)
    exprs = tuple(affine.substitute(expr, parts) for expr in access.map.results)
    source = AffineMap(len(axes), 0, exprs)
    return PackedForm(axes, source, nest.rank, len(nest.symbols))


def _loop_order(nest: NestOp, schedule: ScheduleAttr) -> Sequence[int]:
    order = schedule.loop_order or tuple(range(nest.rank))
    kinds = nest.dim_kinds
    parallel = [dim for dim in order if kinds[dim] is DimKind.PARALLEL]
    return [*parallel, *(dim for dim in order if dim not in parallel)]


def _tile_of(schedule: ScheduleAttr, dim: int, extent: int | None) -> int:
    """How many points of a dim are computed together, in whole vectors or sums."""
    if schedule.dot_dim is not None and schedule.dot_dim[0] == dim:
        return schedule.dot_dim[1]
    width = 1
    if schedule.vector_dim is not None and schedule.vector_dim[0] == dim:
        width = schedule.vector_dim[1]
    tile = max(schedule.register_tiles.get(dim, 1), width)
    tile -= tile % width
    return tile if extent is None else min(tile, -(-extent // width) * width)


@dataclass(frozen=True)
class Rearrangement:
    """A form that a reshape, padding, another reshape and a transpose give."""

    grouped: tuple[int, ...]
    """What each index of the operand is a number of groups and a place in one of."""
    padded: tuple[int, ...]
    """What each of these is padded to."""
    split: tuple[int, ...]
    """The axes that they are made of, in their order."""
    permutation: tuple[int, ...]
    """Which of these each axis of the form is."""


def as_rearrangement(form: PackedForm, shape: Sequence[int]) -> Rearrangement | None:
    """
    A form as a rearrangement of an operand of this shape, if it is one: each index is
    made of axes that count through it like digits, or through a group of it.
    """
    grouped: list[int] = []
    padded: list[int] = []
    split: list[int] = []
    order: list[int] = []
    for expr, extent in zip(form.source.results, shape, strict=True):
        digits = _digits_of(expr, form.shape)
        if digits is None:
            return None
        groups: list[tuple[int, int]] = []
        size = 1
        for number, stride in reversed(digits):
            if stride < size and extent % stride == 0:
                # What is before it fills up a group that is smaller.
                groups.insert(0, (stride, size))
                extent, size = extent // stride, 1
            elif stride != size * math.prod(group for group, _ in groups):
                return None
            size *= form.shape[number]
        if size < extent:
            return None
        groups.insert(0, (extent, size))
        grouped += [group for group, _ in groups]
        padded += [size for _, size in groups]
        # An index that is always 0 is an axis of one element.
        split += [form.shape[number] for number, _ in digits]
        order += [number for number, _ in digits]
    if sorted(order) != list(range(len(form.axes))):
        return None
    permutation = tuple(order.index(number) for number in range(len(form.axes)))
    return Rearrangement(tuple(grouped), tuple(padded), tuple(split), permutation)


def _digits_of(expr: AffineExpr, sizes: Sequence[int]) -> list[tuple[int, int]] | None:
    """The axes of an index and their strides, the largest first."""
    digits: list[tuple[int, int]] = []
    for product, coefficient in affine.terms_of(expr).items():
        if len(product) != 1 or not isinstance(product[0], AffineDimExpr):
            return None
        digits.append((product[0].position, coefficient))
    return sorted(digits, key=lambda digit: digit[1], reverse=True)


def memref_shape(value: SSAValue) -> Sequence[int]:
    return cast("MemRefType[Attribute]", value.type).get_shape()
