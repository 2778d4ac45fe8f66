"""
A nest as loops.

From outside to inside: the tiles for caches; one loop for each parallel dim, over
tiles of points that are computed together (vectors along one dim, copies along
others); the sequential dims; the reduction dims, whose loops carry the accumulators of
all points of the tile.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from transom.dialects import tir
from transom.dialects.tir.accesses import Interval
from transom.lowering.nest_loops.emitter import Carried, Emitter, Index
from transom.lowering.nest_loops.points import Evaluator, Point
from transom.lowering.nest_loops.regions import RegionWriter, can_vectorize
from transom.lowering.nest_loops.tiling import (
    Piece,
    interior_of,
    pieces_of,
    segments_of,
)
from transom.lowering.nest_loops.transfers import Reader, Transfer, Writer

Then = Callable[[], None]


class NestLoops:
    """The loops of one nest; `write` puts them into the emitter."""

    def __init__(
        self,
        nest: tir.NestOp,
        emitter: Emitter,
        outer: Callable[[SSAValue], SSAValue],
    ) -> None:
        """`outer` gives what a value from outside of the nest has become."""
        self.nest = nest
        self.emitter = emitter
        self.bounds: list[Index] = [
            bound if isinstance(bound, int) else outer(bound)
            for bound in nest.bounds_values()
        ]
        written = set(nest.outs)
        self.ins = [
            Transfer(outer(value), access, value not in written)
            for value, access in zip(nest.ins, nest.in_accesses, strict=True)
        ]
        self.outs = [
            Transfer(outer(value), access, False)
            for value, access in zip(nest.outs, nest.out_accesses, strict=True)
        ]
        evaluator = Evaluator(emitter, [outer(symbol) for symbol in nest.symbols])
        self.reader = Reader(emitter, evaluator)
        self.writer = Writer(emitter, self.reader)
        inputs = {transfer.value for transfer in self.ins if transfer.is_input}
        self.regions = RegionWriter(emitter, evaluator, self.reader, outer, inputs)

        schedule = nest.schedule or tir.ScheduleAttr.get()
        self.parallel_dims = set(schedule.parallel_dims)
        self.tiles = schedule.register_tiles
        self.unroll = schedule.unroll_factors
        self.cache_tiles = schedule.cache_tiles
        self.lane_dim: int | None = None
        self.width = 1
        if schedule.vector_dim is not None and can_vectorize(nest):
            self.lane_dim, self.width = schedule.vector_dim

        # Where each dim is: the range that is left to loop over, then the index.
        self.starts: list[Index] = [0] * nest.rank
        self.extents: list[Index] = list(self.bounds)
        self.bases: list[Index] = [0] * nest.rank
        self.offsets = [0] * nest.rank
        self.intervals = [_interval(bound) for bound in self.bounds]
        self.pieces: dict[int, tuple[Piece, ...]] = {}

        parallel = nest.dims_of_kind(tir.DimKind.PARALLEL)
        order = schedule.loop_order or tuple(range(nest.rank))
        self.loop_dims = [dim for dim in order if dim in parallel]
        # Lanes, or else the innermost loop: there guards cost most.
        innermost = self.loop_dims[-1] if self.loop_dims else None
        self.split_dim = innermost if self.lane_dim is None else self.lane_dim

    def write(self) -> None:
        self._strips(list(self.cache_tiles))

    # Parallel dims.

    def _strips(self, tiles: list[tuple[int, int]]) -> None:
        """Loops over tiles for caches."""
        if not tiles:
            self._points(self.loop_dims)
            return
        (dim, size), *rest = tiles
        start, extent = self.starts[dim], self.extents[dim]
        full = self._multiple(extent, size)

        def strip(extent: Index) -> Callable[[Index, Carried], Carried]:
            def body(base: Index, carried: Carried) -> Carried:
                self.starts[dim], self.extents[dim] = base, extent
                self._strips(rest)
                return carried

            return body

        emitter = self.emitter
        end = emitter.add(start, extent)
        middle = emitter.add(start, full)
        parallel = dim in self.parallel_dims
        emitter.loop(start, middle, size, (), strip(size), parallel=parallel)
        emitter.loop(middle, end, size, (), strip(emitter.subtract(extent, full)))
        self.starts[dim], self.extents[dim] = start, extent

    def _multiple(self, extent: Index, size: int) -> Index:
        """The largest multiple of `size` that is at most `extent`."""
        if size == 1:
            return extent
        rest = self.emitter.modulo(extent, size, natural=True)
        return self.emitter.subtract(extent, rest)

    def _points(self, dims: Sequence[int]) -> None:
        """A loop for each dim, over tiles of points."""
        if not dims:
            self._tile()
            return
        dim, *rest = dims

        def then() -> None:
            self._points(rest)

        width = self.width if dim == self.lane_dim else 1
        tile = max(self.tiles.get(dim, 1), width)
        tile -= tile % width
        extent = self.extents[dim]
        before = self.intervals[dim]
        if isinstance(extent, int):
            self._known_range(dim, extent, tile, width, then)
        else:
            self._unknown_range(dim, extent, tile, width, then)
        self.intervals[dim] = before

    def _known_range(
        self, dim: int, extent: int, tile: int, width: int, then: Then
    ) -> None:
        start = self.starts[dim]
        tile = min(tile, extent) or 1
        interior = None
        if dim == self.split_dim and isinstance(start, int):
            interior = interior_of(self.ins, self.intervals, dim)
            if interior is not None:
                interior = (interior[0] - start, interior[1] - start)
        for segment in segments_of(extent, tile, width, interior):
            first = self.emitter.add(start, segment.start)
            last = self.emitter.add(start, segment.stop)
            bases = Interval(segment.start, segment.stop - segment.step)
            if isinstance(start, int):
                bases = Interval(bases.lower + start, bases.upper + start)
            else:
                whole = _interval(self.bounds[dim])
                bases = Interval(0, whole.upper - segment.step + 1, exact=False)
            self._loop(dim, (first, last), segment.step, segment.pieces, bases, then)

    def _unknown_range(
        self, dim: int, extent: Index, tile: int, width: int, then: Then
    ) -> None:
        emitter = self.emitter
        start = self.starts[dim]
        end = emitter.add(start, extent)
        bases = Interval(0, math.inf, exact=False)
        for size in sorted({tile, width, 1}, reverse=True):
            stop = emitter.add(self.starts[dim], self._multiple(extent, size))
            if size == 1:
                stop = end
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
    ) -> None:
        def body(base: Index, carried: Carried) -> Carried:
            self.bases[dim] = base
            self.pieces[dim] = pieces
            self.intervals[dim] = (
                Interval(base, base) if isinstance(base, int) else bases
            )
            then()
            return carried

        parallel = dim in self.parallel_dims
        self.emitter.loop(*bounds, step, (), body, parallel=parallel)

    # A tile of points.

    def _copies(self) -> list[dict[int, Piece]]:
        """The points of the tile: for each dim a piece."""
        dims = self.loop_dims
        return [
            dict(zip(dims, pieces, strict=True))
            for pieces in itertools.product(*(self.pieces[dim] for dim in dims))
        ]

    def _point(self, copy: dict[int, Piece]) -> Point:
        offsets = list(self.offsets)
        for dim, piece in copy.items():
            offsets[dim] = piece.offset
        width = 1 if self.lane_dim is None else copy[self.lane_dim].width
        return Point(
            tuple(self.bases),
            tuple(offsets),
            tuple(self.intervals),
            self.lane_dim,
            width,
        )

    def _tile(self) -> None:
        copies = self._copies()
        carried: list[SSAValue] = []
        if self.nest.has_accumulators:
            for copy in copies:
                point = self._point(copy)
                values = self.regions.write(self.nest.init, {}, point)
                carried += [self.emitter.broadcast(v, point.width) for v in values]
        sequential = self.nest.dims_of_kind(tir.DimKind.SEQUENTIAL)
        self._sequential(sequential, copies, carried)

    def _sequential(
        self, dims: Sequence[int], copies: list[dict[int, Piece]], carried: Carried
    ) -> Carried:
        if dims:
            dim, *rest = dims
            return self._accumulating_loop(
                dim, carried, lambda values: self._sequential(rest, copies, values)
            )
        if self.nest.has_accumulators:
            reduction = self.nest.dims_of_kind(tir.DimKind.REDUCTION)
            carried = self._reduction(reduction, copies, carried)
        self._finish(copies, carried)
        return carried

    def _reduction(
        self, dims: Sequence[int], copies: list[dict[int, Piece]], carried: Carried
    ) -> Carried:
        if dims:
            dim, *rest = dims
            return self._accumulating_loop(
                dim, carried, lambda values: self._reduction(rest, copies, values)
            )
        return self._body(copies, carried)

    def _accumulating_loop(
        self, dim: int, carried: Carried, then: Callable[[Carried], Carried]
    ) -> Carried:
        """A loop that carries the accumulators, unrolled as the schedule says."""
        emitter = self.emitter
        extent = self.bounds[dim]
        factor = self.unroll.get(dim, 1)
        if isinstance(extent, int):
            factor = max(1, min(factor, extent))
        whole = self.intervals[dim]

        def steps(count: int) -> Callable[[Index, Carried], Carried]:
            def body(base: Index, values: Carried) -> Carried:
                self.bases[dim] = base
                for offset in range(count):
                    self.offsets[dim] = offset
                    if isinstance(base, int):
                        self.intervals[dim] = Interval(base, base)
                    else:
                        upper = whole.upper - count + 1
                        self.intervals[dim] = Interval(0, upper, exact=False)
                    values = then(values)
                self.offsets[dim] = 0
                return values

            return body

        full = self._multiple(extent, factor)
        carried = emitter.loop(0, full, factor, carried, steps(factor))
        if factor > 1:
            if isinstance(extent, int) and isinstance(full, int):
                if full < extent:
                    carried = steps(extent - full)(full, carried)
            else:
                carried = emitter.loop(full, extent, 1, carried, steps(1))
        self.intervals[dim] = whole
        self.bases[dim] = 0
        return carried

    def _body(self, copies: list[dict[int, Piece]], carried: Carried) -> Carried:
        nest = self.nest
        count = len(nest.body_accumulators)
        results: list[SSAValue] = []
        for number, copy in enumerate(copies):
            point = self._point(copy)
            arguments: dict[SSAValue, SSAValue] = {
                argument: self.reader.read(transfer, point)
                for argument, transfer in zip(nest.body_ins, self.ins, strict=True)
                if argument.first_use is not None
            }
            mine = carried[number * count : (number + 1) * count]
            arguments.update(zip(nest.body_accumulators, mine, strict=True))
            values = self.regions.write(nest.body, arguments, point)
            results += [self.emitter.broadcast(v, point.width) for v in values]
        return results

    def _finish(self, copies: list[dict[int, Piece]], carried: Carried) -> None:
        nest = self.nest
        accumulators = nest.finish_accumulators
        count = len(accumulators)
        finish_ins = nest.finish_ins
        for number, copy in enumerate(copies):
            point = self._point(copy)
            arguments: dict[SSAValue, SSAValue] = {
                argument: self.reader.read(self.ins[position], point)
                for position, argument in finish_ins.items()
                if argument.first_use is not None
            }
            mine = carried[number * count : (number + 1) * count]
            arguments.update(zip(accumulators, mine, strict=True))
            values = self.regions.write(nest.finish, arguments, point)
            rest = values[len(self.outs) :]
            for transfer, value in zip(self.outs, values, strict=False):
                indices = None
                if transfer.access.is_indirect:
                    rank = len(transfer.shape)
                    indices, rest = rest[:rank], rest[rank:]
                self.writer.write(transfer, point, value, indices)


def _interval(bound: Index) -> Interval:
    return Interval.of_dim(bound if isinstance(bound, int) else None)
