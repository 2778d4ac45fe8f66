"""
Schedules of sums of products whose operands are shared by other points: products of
matrices, convolutions.

One operand, the *vectors*, moves with the lanes; the other, the *scalars*, does not. A
register tile is some points along a dim of the scalars by some vectors: each vector
that is loaded serves all points, each scalar all vectors, and the whole sum stays in
registers.

          vectors  b0 b1          per step of the sum: NV loads, T broadcasts,
    scalars  a0  [ c  c  ]                             T * NV multiply-adds
             a1  [ c  c  ]
             a2  [ c  c  ]

What the loops would not read in order is packed, if that pays: weights always do.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i8

from transom.dialects import tir
from transom.dialects.tir.dot import dot_factors
from transom.dialects.tir.steps import Step
from transom.dialects.tir.tiles import sizes_of_unknown
from transom.passes.schedules.prefetching import stream
from transom.passes.schedules.products import Product, find_products
from transom.passes.schedules.view import NestView
from transom.passes.schedules.widening import (
    ASSUMED_EXTENT,
    EXTENDED,
    WIDENED,
    count_of,
)

MAX_POINTS = 14
"""How many points of the scalars a tile has at most."""

MAX_VECTORS = 8
"""How many vectors a tile has at most."""

BODY = 12
"""
So many multiply-adds at least are in the body of the innermost sum's loop: with them
the loop itself takes no time, and more are only more to compile.
"""

NEARLY = 1.1
"""Costs are known so well."""

ALIGNED_STORE = 2
"""What storing neighbours takes, in multiply-adds, where lanes lie apart."""

SCATTERED_STORE = 8
"""The same for a number by itself, whose line is not near any more at the next one."""

LIKELY_EXTENTS = (50, 64, 100)
"""Points of dims whose number is not known, for which tiles shall do."""

PANEL_REUSE = 4
"""An operand is copied if what is copied is read at least so often."""


@dataclass(frozen=True)
class Tile:
    """Points of one dim by vectors of another: what is computed at once."""

    point_dim: int | None
    points: int
    vector_dim: int
    vectors: int


@dataclass(frozen=True)
class Choice:
    """A way to compute a product, and what it takes, in multiply-adds of vectors."""

    product: Product
    tile: Tile
    pack: tuple[int, ...]
    cost: float
    dot: tuple[int, int] | None = None

    def scattered(self) -> tuple[int, int]:
        """How many outputs the lanes are scattered over; inner lanes are better."""
        steps = self.product.view.out_steps(self.product.lane_dim)
        apart = sum(step is not Step.CONTIGUOUS for step in steps)
        return (apart, -self.product.lane_dim)

    def schedule(self) -> tir.ScheduleAttr:
        product, tile = self.product, self.tile
        register: dict[int, int] = {}
        if tile.point_dim is not None and tile.points > 1:
            register[tile.point_dim] = tile.points
        lanes = product.lanes if tile.vector_dim == product.lane_dim else 1
        if tile.vectors > 1:
            register[tile.vector_dim] = tile.vectors * lanes
        return tir.ScheduleAttr.get(
            cache=cache_tiles(product, tile),
            register=dict(sorted(register.items())),
            vector=(product.lane_dim, product.lanes),
            unroll=unrolled(product, tile, self.dot),
            order=loop_order(product),
            pack=sorted(self.pack),
            widen=sorted(product.widened),
            masked_edges=product.view.can_mask,
            dot=self.dot,
            prefetch=self.prefetch(),
        )

    def prefetch(self) -> dict[int, int]:
        """Panels are read one after the other, as often as there are rows of tiles."""
        product, vectors = self.product, self.product.vectors
        if vectors not in self.pack:
            return {}
        return stream(product.view, vectors, product.element_bytes(vectors))


def schedule(view: NestView, constants: frozenset[int]) -> tir.ScheduleAttr | None:
    """
    The schedule of a nest as a product, if it is one; `constants` are the inputs that
    are weights. None if sums along what is contiguous are better.
    """
    choices = [choose(product, constants) for product in find_products(view)]
    found = [choice for choice in choices if choice is not None]
    if not found:
        return None
    least = min(choice.cost for choice in found)
    near = [choice for choice in found if choice.cost <= NEARLY * least]
    return min(near, key=lambda choice: (choice.scattered(), choice.cost)).schedule()


def choose(product: Product, constants: frozenset[int]) -> Choice | None:
    """How to compute a product with its lanes, if vectors can be had."""
    view = product.view
    tile, cost = choose_tile(product)
    pack = tuple(
        position
        for position in (product.scalars, product.vectors)
        if pays_to_pack(product, tile, position, position in constants)
    )
    dot = find_dot(product, tile, constants)
    if dot is not None:
        pack = (product.vectors,)
        cost /= dot[1]
    if product.vectors not in pack:
        step = view.in_steps(product.lane_dim)[product.vectors]
        if step is not Step.CONTIGUOUS:
            return None
    points = [view.bounds[dim] or ASSUMED_EXTENT for dim in product.shared]
    cost *= math.prod(points)
    for position in pack:
        if position not in constants:
            cost += copy_cost(product, position)
    for position in product.widened:
        if position not in pack:
            cost += widening_cost(product, position)
    return Choice(product, tile, pack, cost, dot)


def find_dot(
    product: Product, tile: Tile, constants: frozenset[int]
) -> tuple[int, int] | None:
    """
    A dim along which the scalars lie side by side, and how many products of small
    integers along it the machine sums at once. The vectors are packed for it.
    """
    view, machine = product.view, product.view.machine
    factors = dot_factors(view.nest)
    if factors is None or product.scalars in constants:
        return None
    points = product.extent(product.scalar_dims) or ASSUMED_EXTENT
    is_constant = product.vectors in constants
    if not is_packable(product, product.vectors) or (
        not is_constant and points < PANEL_REUSE * tile.points
    ):
        return None
    size = 2 if machine.dot.takes_pairs else 1
    if all(factor.element == i8 for factor in factors):
        signs = [factor.is_unsigned for factor in factors]
        size = 4 if machine.dot.takes_bytes(*signs) else size
    for dim in reversed(view.reduction):
        bound, step = view.bounds[dim], view.in_steps(dim)[product.scalars]
        moves = dim in view.dims_of_input(product.vectors)
        while size > 1 and bound is not None and bound % size:
            size //= 2
        is_enough = size == 4 or machine.dot.takes_pairs
        if size > 1 and is_enough and bound and moves and step is Step.CONTIGUOUS:
            return dim, size
    return None


def copy_cost(product: Product, position: int) -> float:
    """What copying an operand takes: a load and a store for each vector, or number."""
    view = product.view
    count = view.input_bytes(position) / view.input_element_bytes(position)
    step = view.in_steps(product.lane_dim)[position]
    return 2 * count / (product.lanes if step is Step.CONTIGUOUS else 1)


def widening_cost(product: Product, position: int) -> float:
    """What a copy of an operand as it lies takes, in the wider type."""
    return WIDENED * count_of(product.view, position) / product.lanes


# The tile.


def choose_tile(product: Product) -> tuple[Tile, float]:
    """The tile that computes all points in the least time, and that time."""
    view, lane_dim = product.view, product.lane_dim
    width = product.lanes
    point_dim = _longest(view, product.scalar_dims)
    lane_vectors = _ceil_div(view.bounds[lane_dim], width)
    vector_dim, many_vectors = lane_dim, lane_vectors
    if lane_vectors is not None and lane_vectors < 2:
        others = [dim for dim in product.vector_dims if dim != lane_dim]
        longest = _longest(view, others)
        if longest is not None:
            vector_dim, many_vectors = longest, view.bounds[longest]
    many_points = 1 if point_dim is None else view.bounds[point_dim]
    steps = math.prod(view.bounds[dim] or ASSUMED_EXTENT for dim in view.reduction)
    vector_bytes = width * product.element_bytes(product.vectors)
    extended = EXTENDED if product.extends_vectors else 0

    def cost(sizes: tuple[int, int]) -> float:
        if not _fits(view, sizes, many_points, many_vectors):
            return math.inf
        return _total(
            lambda t, v: (
                steps * view.machine.step_cost(t, v, vector_bytes, steps)
                + steps * v * extended
                + store_cost(product, point_dim, t, v)
            ),
            (many_points, sizes[0]),
            (many_vectors, sizes[1], width if vector_dim == lane_dim else 1),
        )

    best = min(
        itertools.product(range(1, MAX_POINTS + 1), range(1, MAX_VECTORS + 1)),
        key=lambda sizes: (
            cost(sizes),
            1 / sizes[0] + 1 / sizes[1],  # loads for each multiply-add
            sizes[1],
        ),
    )
    points, vectors = best
    tile = Tile(point_dim, points, vector_dim, vectors)
    unseen = [
        view.bounds[dim] or ASSUMED_EXTENT
        for dim in (*product.scalar_dims, *product.vector_dims)
        if dim not in (point_dim, vector_dim)
    ]
    if vector_dim != lane_dim:
        unseen[unseen.index(view.bounds[lane_dim] or ASSUMED_EXTENT)] = (
            lane_vectors or ASSUMED_EXTENT
        )
    return tile, cost(best) * math.prod(unseen)


def _longest(view: NestView, dims: Sequence[int]) -> int | None:
    """
    The innermost of the dims that have the most points. One that is not known may have
    a single point, as batches do: it is taken if there is no other.
    """
    best, most = None, 0
    for dim in dims:
        if not view.is_long(dim):
            continue
        points = view.bounds[dim] or 1
        if points >= most:
            best, most = dim, points
    return best


def _fits(
    view: NestView, sizes: tuple[int, int], points: int | None, vectors: int | None
) -> bool:
    """Whether a tile has its sums in registers, and no more points than there are."""
    t, v = sizes
    return (
        t * v + min(t, v) + 1 <= view.machine.register_count
        and (points is None or t <= points)
        and (vectors is None or v <= vectors)
    )


def _total(
    cost: Callable[[int, int], float],
    points: tuple[int | None, int],
    vectors: tuple[int | None, int, int],
) -> float:
    """
    What all tiles take together: `cost` is that of one, extents come with tiles, and
    vectors with how many points of the extent one is.
    """
    total = 0.0
    for tiles, t in _parts(*points):
        for groups, v in _parts(*vectors):
            total += tiles * groups * cost(t, v)
    return total


def store_cost(
    product: Product, point_dim: int | None, points: int, vectors: int
) -> float:
    """
    What it takes to store a tile whose lanes lie apart, in multiply-adds: one by one,
    or in strips of the points, which stay within lines of the cache if all have one
    size.
    """
    view, lanes = product.view, product.lanes
    numbers = lanes * points * vectors
    total = 0.0
    for number, step in enumerate(view.out_steps(product.lane_dim)):
        if step is Step.CONTIGUOUS:
            continue
        along = None if point_dim is None else view.out_steps(point_dim)[number]
        strip = math.gcd(points, lanes)
        if along is Step.CONTIGUOUS and strip > 1:
            total += ALIGNED_STORE * numbers / strip
            total += 0 if strip > 2 else SCATTERED_STORE * numbers / 2
        else:
            total += SCATTERED_STORE * numbers
    return total


def _parts(extent: int | None, size: int, width: int = 1) -> list[tuple[float, int]]:
    """How many tiles of which size cover an extent, in vectors of `width`."""
    if extent is None:
        return _parts_of_unknown(size, width)
    parts: list[tuple[float, int]] = [(extent // size, size)]
    if extent % size:
        parts.append((1, extent % size))
    return parts


def _parts_of_unknown(size: int, width: int) -> list[tuple[float, int]]:
    """The same of as many points as are assumed, from what some extents need."""
    counts: dict[int, float] = {}
    for extent in LIKELY_EXTENTS:
        left = extent
        for points in sizes_of_unknown(size * width, width):
            tiles, left = divmod(left, points)
            vectors = max(1, points // width)
            counts[vectors] = counts.get(vectors, 0) + tiles
    scale = ASSUMED_EXTENT / (sum(LIKELY_EXTENTS))
    return [(tiles * scale, vectors) for vectors, tiles in counts.items() if tiles]


def _ceil_div(extent: int | None, size: int) -> int | None:
    return None if extent is None else -(-extent // size)


# Packing.


def pays_to_pack(
    product: Product, tile: Tile, position: int, is_constant: bool
) -> bool:
    """Whether an operand is better copied than read where it lies."""
    if not is_packable(product, position):
        return False
    if position == product.vectors:
        return _pays_vectors(product, tile, is_constant)
    return _pays_scalars(product, tile, is_constant)


def is_packable(product: Product, position: int) -> bool:
    """
    Whether an operand is copied once and not more, and not written. One of a size that
    is not known is copied only if its lanes lie apart.
    """
    view = product.view
    if view.nest.ins[position] in view.nest.outs:
        return False
    if any(view.bounds[dim] is None for dim in view.dims_of_input(position)):
        step = view.in_steps(product.lane_dim)[position]
        if position != product.vectors or step is Step.CONTIGUOUS:
            return False
    # A window would be copied once for each place that it covers.
    return view.reads_each_once(position)


def _pays_vectors(product: Product, tile: Tile, is_constant: bool) -> bool:
    view, position = product.view, product.vectors
    contiguous = view.in_steps(product.lane_dim)[position] is Step.CONTIGUOUS
    width = product.lanes * tile.vectors
    if contiguous and view.row_length(position) <= width:
        return False  # rows are as long as the tile is wide: this is the order
    points = product.extent(product.scalar_dims)
    if is_constant:
        # A row of a weight that is used once is read as it lies in the file.
        return contiguous or points is None or points >= PANEL_REUSE
    reuse = math.inf if points is None else points / tile.points
    if not contiguous:
        return reuse >= 2
    return reuse >= PANEL_REUSE and view.input_bytes(position) > view.machine.l1_bytes


def _pays_scalars(product: Product, tile: Tile, is_constant: bool) -> bool:
    view, position = product.view, product.scalars
    if tile.point_dim is None or tile.points == 1:
        return False
    if view.in_steps(tile.point_dim)[position] is Step.CONTIGUOUS and not is_constant:
        return False  # the points of a tile lie side by side
    if is_constant:
        return True
    groups = product.extent(product.vector_dims)
    width = product.lanes * tile.vectors
    reuse = math.inf if groups is None else groups / width
    if reuse < PANEL_REUSE:
        return False
    # The rows of a tile: they stay in the nearest cache, unless they fall on one place.
    row = view.row_length(position) * product.element_bytes(position)
    return row * tile.points > view.machine.l1_bytes or row % 2048 == 0


# Loops.


def cache_tiles(product: Product, tile: Tile) -> list[tuple[int, int]]:
    """
    A block of the scalars that stays in the cache of the core, while all vectors pass.
    """
    view = product.view
    dims = [dim for dim in product.scalar_dims if view.is_long(dim)]
    groups = product.extent(product.vector_dims)
    width = product.lanes * tile.vectors
    if not dims or (groups is not None and groups <= width):
        return []
    dim, limit = dims[0], view.machine.l2_bytes * 5 // 4
    # Of several products, one at a time.
    own = view.dims_of_input(product.scalars)
    batch_dims = [dim for dim in product.shared if dim in own]
    bound = view.bounds[dim]
    total = product.input_bytes(product.scalars) // (product.extent(batch_dims) or 1)
    if bound is None or total <= limit:
        return []
    step = tile.points if dim == tile.point_dim else 1
    many = max(1, limit * bound // total // step) * step
    if many >= bound:
        return []
    # Blocks of one size, but for the last.
    blocks = -(-bound // many)
    return [(dim, -(-bound // (blocks * step)) * step)]


def loop_order(product: Product) -> list[int]:
    """Vectors outside, so that they stay near while all points of a block pass."""
    order = [*product.shared, *product.vector_dims, *product.scalar_dims]
    order += [dim for dim in range(product.view.nest.rank) if dim not in order]
    return [] if order == sorted(order) else order


def unrolled(
    product: Product, tile: Tile, dot: tuple[int, int] | None = None
) -> dict[int, int]:
    """
    As many steps of the innermost sum that has any as fill its loop's body: a divisor
    of all, if one is near.
    """
    view = product.view
    enough = math.ceil(BODY / (tile.points * tile.vectors))
    if enough == 1:
        return {}
    for dim in reversed(view.reduction):
        bound = view.bounds[dim]
        at_once = dot[1] if dot is not None and dot[0] == dim else 1
        if bound is not None and bound <= at_once:
            continue
        steps = None if bound is None else bound // at_once
        near = range(enough, 2 * enough + 1)
        fitting = (size for size in near if steps is not None and steps % size == 0)
        return {dim: next(fitting, enough) * at_once}
    return {}
