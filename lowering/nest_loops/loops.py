"""
A nest as loops.

From outside to inside: the tiles for caches; one loop for each parallel dim, over
tiles of points that are computed together (vectors along one dim, copies along
others). What is inside is in `tile`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from transom.dialects import tir
from transom.dialects.tir.accesses import Interval
from transom.dialects.tir.dot import DotInstructions
from transom.dialects.tir.tiles import sizes_of_unknown
from transom.lowering.nest_loops.emitter import Carried, Emitter, Index
from transom.lowering.nest_loops.tile import (
    Copy,
    TileWriter,
    interval_of_bound,
    multiple_of,
)
from transom.lowering.nest_loops.tiling import (
    Piece,
    interior_of,
    pieces_of,
    segments_of,
)

Then = Callable[[], None]


class NestLoops:
    """The loops of one nest; `write` puts them into the emitter."""

    def __init__(
        self,
        nest: tir.NestOp,
        emitter: Emitter,
        outer: Callable[[SSAValue], SSAValue],
        dot: DotInstructions = DotInstructions.NONE,
    ) -> None:
        """
        `outer` gives what a value from outside of the nest has become; `dot` says which
        instructions there are for dot products.
        """
        schedule = nest.schedule or tir.ScheduleAttr.get()
        self.emitter = emitter
        self.tile = TileWriter(nest, schedule, emitter, outer, dot)
        self.cursor = self.tile.cursor
        self.bounds = self.tile.bounds
        self.parallel_dims = set(schedule.parallel_dims)
        self.tiles = schedule.register_tiles
        self.cache_tiles = schedule.cache_tiles

        # The range of each dim that is left to loop over.
        self.starts: list[Index] = [0] * nest.rank
        self.extents: list[Index] = list(self.bounds)
        self.aligned: list[int] = [0] * nest.rank
        """What the starts are multiples of; 0 is one of all."""
        self.pieces: dict[int, tuple[Piece, ...]] = {}

        parallel = nest.dims_of_kind(tir.DimKind.PARALLEL)
        order = schedule.loop_order or tuple(range(nest.rank))
        self.loop_dims = [dim for dim in order if dim in parallel]
        # Lanes, or else the innermost loop: there guards cost most.
        lanes = self.tile.lane_dim
        innermost = self.loop_dims[-1] if self.loop_dims else None
        self.split_dim = lanes if lanes in parallel else innermost

    def write(self) -> None:
        self._strips(list(self.cache_tiles))

    # Parallel dims.

    def _strips(self, tiles: list[tuple[int, int]]) -> None:
        """Loops over tiles for caches."""
        if not tiles:
            self._points(self.loop_dims)
            return
        (dim, size), *rest = tiles
        start, extent, aligned = self.starts[dim], self.extents[dim], self.aligned[dim]
        full = multiple_of(self.emitter, extent, size)

        def strip(extent: Index) -> Callable[[Index, Carried], Carried]:
            def body(base: Index, carried: Carried) -> Carried:
                self.starts[dim], self.extents[dim] = base, extent
                self.aligned[dim] = math.gcd(aligned, size)
                self._strips(rest)
                return carried

            return body

        emitter = self.emitter
        end = emitter.add(start, extent)
        middle = emitter.add(start, full)
        parallel = dim in self.parallel_dims
        runs = isinstance(full, int) and full > 0
        emitter.loop(start, middle, size, (), strip(size), parallel=parallel, runs=runs)
        emitter.loop(middle, end, size, (), strip(emitter.subtract(extent, full)))
        self.starts[dim], self.extents[dim] = start, extent
        self.aligned[dim] = aligned

    def _points(self, dims: Sequence[int]) -> None:
        """A loop for each dim, over tiles of points."""
        if not dims:
            self.tile.write(self._copies())
            return
        dim, *rest = dims

        def then() -> None:
            self._points(rest)

        width = self.tile.width if dim == self.tile.lane_dim else 1
        tile = max(self.tiles.get(dim, 1), width)
        tile -= tile % width
        extent = self.extents[dim]
        before = self.cursor.intervals[dim], self.cursor.multiples[dim]
        if isinstance(extent, int):
            self._known_range(dim, extent, tile, width, then)
        else:
            self._unknown_range(dim, extent, tile, width, then)
        self.cursor.intervals[dim], self.cursor.multiples[dim] = before

    def _known_range(
        self, dim: int, extent: int, tile: int, width: int, then: Then
    ) -> None:
        start = self.starts[dim]
        tile = min(tile, extent) or 1
        interior = None
        if dim == self.split_dim and isinstance(start, int):
            interior = interior_of(self.tile.ins, self.cursor.intervals, dim)
            if interior is not None:
                interior = (interior[0] - start, interior[1] - start)
        masked = self.tile.masked and width > 1
        for segment in segments_of(extent, tile, width, interior, masked=masked):
            first = self.emitter.add(start, segment.start)
            last = self.emitter.add(start, segment.stop)
            bases = Interval(segment.start, segment.stop - segment.step)
            if isinstance(start, int):
                bases = Interval(bases.lower + start, bases.upper + start)
            else:
                whole = interval_of_bound(self.bounds[dim])
                bases = Interval(0, whole.upper - segment.step + 1, exact=False)
            known = [segment.start, self.aligned[dim]]
            if segment.start + segment.step < segment.stop:
                known.append(segment.step)
            self.cursor.multiples[dim] = math.gcd(*known) or 1
            bounds = (first, last)
            pieces = segment.pieces
            self._loop(dim, bounds, segment.step, pieces, bases, then, runs=True)

    def _unknown_range(
        self, dim: int, extent: Index, tile: int, width: int, then: Then
    ) -> None:
        emitter = self.emitter
        start = self.starts[dim]
        end = emitter.add(start, extent)
        bases = Interval(0, math.inf, exact=False)
        for size in sizes_of_unknown(tile, width):
            stop = emitter.add(
                self.starts[dim], multiple_of(self.emitter, extent, size)
            )
            if size == 1:
                stop = end
            self.cursor.multiples[dim] = math.gcd(size, self.aligned[dim])
            self._loop(dim, (start, stop), size, pieces_of(size, width), bases, then)
            start = stop

    def _loop(
        self,
        dim: int,
        bounds: tuple[Index, Index],
        step: int,
        pieces: tuple[Piece, ...],
        bases: Interval,
        then: Then,
        *,
        runs: bool = False,
    ) -> None:
        def body(base: Index, carried: Carried) -> Carried:
            self.cursor.bases[dim] = base
            self.pieces[dim] = pieces
            self.cursor.intervals[dim] = (
                Interval(base, base) if isinstance(base, int) else bases
            )
            then()
            return carried

        parallel = dim in self.parallel_dims
        self.emitter.loop(*bounds, step, (), body, parallel=parallel, runs=runs)

    def _copies(self) -> list[Copy]:
        """
        The points of the tile: for each dim a piece.

        Pieces of the dim that has the fewest come next to each other: what they load
        stays in registers, and what each of the others loads is needed once.
        """
        lanes = self.tile.lane_dim
        dims = sorted(
            self.loop_dims, key=lambda dim: (-len(self.pieces[dim]), dim == lanes)
        )
        return [
            dict(zip(dims, pieces, strict=True))
            for pieces in itertools.product(*(self.pieces[dim] for dim in dims))
        ]
