"""
Nests that are sums of products, and the ways to see one as such.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from transom.dialects.tir.folds import folds_of
from transom.passes.schedules.view import NestView, bytes_of
from transom.passes.schedules.widening import (
    ASSUMED_EXTENT,
    can_widen,
    count_of,
    reads_of,
)

COPY_READS = 2
"""Scalars are extended in a copy if what is copied is read at least so often."""


@dataclass(frozen=True)
class Product:
    """A nest that sums products, and what its dims are to the operands."""

    view: NestView
    lane_dim: int
    vectors: int
    """The position of the input that moves with the lanes."""
    scalars: int
    shared: tuple[int, ...]
    """Parallel dims that both operands move with, or neither."""
    vector_dims: tuple[int, ...]
    """Parallel dims that only the vectors move with, those of the lanes too."""
    scalar_dims: tuple[int, ...]
    widened: tuple[int, ...] = ()
    """Inputs that are extended in a copy, not where they are read."""

    @property
    def lanes(self) -> int:
        return self.view.lanes(self.lane_dim)

    def extent(self, dims: Sequence[int]) -> int | None:
        """How many points some dims have; None if that is not known."""
        bounds = [self.view.bounds[dim] for dim in dims]
        known = [bound for bound in bounds if bound is not None]
        return math.prod(known) if len(known) == len(bounds) else None

    def element_bytes(self, position: int) -> int:
        """The size of what the loops read of an input."""
        if position in self.widened:
            return max(map(bytes_of, self.view.nest.accumulator_types))
        return self.view.input_element_bytes(position)

    def input_bytes(self, position: int) -> int:
        """The size of an input as the loops read it; 0 if it is not known."""
        return count_of(self.view, position) * self.element_bytes(position)

    @property
    def extends_vectors(self) -> bool:
        """Whether the vectors are extended where they are read."""
        return self.vectors not in self.widened and can_widen(self.view, self.vectors)


def find_products(view: NestView) -> Iterator[Product]:
    """The ways to see a nest as a sum of products of two inputs, by their lanes."""
    nest = view.nest
    if not view.reduction or len(nest.accumulator_types) != 1 or folds_of(nest) is None:
        return
    used = [
        position
        for position, argument in enumerate(nest.body_ins)
        if argument.first_use is not None
    ]
    if len(used) != 2 or any(nest.in_accesses.data[p].is_indirect for p in used):
        return
    for lane_dim in view.parallel:
        moving = [p for p in used if lane_dim in view.dims_of_input(p)]
        if view.lanes(lane_dim) < 2 or len(moving) != 1:
            continue
        (vectors,) = moving
        (scalars,) = (p for p in used if p != vectors)
        own, other = view.dims_of_input(vectors), view.dims_of_input(scalars)
        product = Product(
            view,
            lane_dim,
            vectors,
            scalars,
            tuple(d for d in view.parallel if (d in own) == (d in other)),
            tuple(d for d in view.parallel if d in own - other),
            tuple(d for d in view.parallel if d in other - own),
        )
        if can_widen(view, scalars) and is_read_again(product, scalars):
            product = replace(product, widened=(scalars,))
        yield product
        if product.extends_vectors and view.input_bytes(vectors):
            yield replace(product, widened=(*product.widened, vectors))


def is_read_again(product: Product, position: int) -> bool:
    """Whether scalars are read more often than there are some, by all vectors."""
    view = product.view
    points = product.extent(product.vector_dims) or ASSUMED_EXTENT
    reads = reads_of(view, position) * points // product.lanes
    return 0 < COPY_READS * count_of(view, position) <= reads
