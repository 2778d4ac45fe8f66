"""
A tile of points of a nest: what runs inside of the loops of the parallel dims.

The sequential dims, then the reduction dims, whose loops carry the accumulators of all
points of the tile.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import BlockArgument, Operation, SSAValue

from transom.dialects import tir
from transom.dialects.tir.accesses import Interval
from transom.dialects.tir.dot import DotInstructions
from transom.dialects.tir.folds import Fold, folds_of
from transom.dialects.tir.steps import Step
from transom.lowering.nest_loops.dots import Dots
from transom.lowering.nest_loops.emitter import Carried, Emitter, Index
from transom.lowering.nest_loops.points import Evaluator, Point
from transom.lowering.nest_loops.regions import (
    FAULTING,
    RegionWriter,
    can_vectorize,
    computed_together,
    keep_name,
)
from transom.lowering.nest_loops.tiling import Piece
from transom.lowering.nest_loops.transfers import Reader, Transfer, Writer, fold_lanes
from transom.lowering.nest_loops.transposition import Blocks, square_along, strip_along

Copy = Mapping[int, Piece]
"""The points of a tile that are computed as one: for each parallel dim a piece."""


@dataclass
class Cursor:
    """Where the loops that are being written are: the index of each dim."""

    bases: list[Index]
    offsets: list[int]
    intervals: list[Interval]
    """What the bases may be."""
    multiples: list[int]
    """What the bases are multiples of."""


def interval_of_bound(bound: Index) -> Interval:
    return Interval.of_dim(bound if isinstance(bound, int) else None)


def multiple_of(emitter: Emitter, extent: Index, size: int) -> Index:
    """The largest multiple of `size` that is at most `extent`."""
    if size == 1:
        return extent
    return emitter.subtract(extent, emitter.modulo(extent, size, natural=True))


class TileWriter:
    """Writes the tiles of one nest."""

    def __init__(
        self,
        nest: tir.NestOp,
        schedule: tir.ScheduleAttr,
        emitter: Emitter,
        outer: Callable[[SSAValue], SSAValue],
        dot: DotInstructions,
    ) -> None:
        self.nest = nest
        self.emitter = emitter
        self.bounds: list[Index] = [
            bound if isinstance(bound, int) else outer(bound)
            for bound in nest.bounds_values()
        ]
        evaluator = Evaluator(emitter, [outer(symbol) for symbol in nest.symbols])
        self.reader = Reader(emitter, evaluator)
        self.writer = Writer(emitter, self.reader)
        self.blocks = Blocks(emitter, self.reader, self.writer)
        self.extents: tuple[int, ...] = ()
        """How many points there are along each dim of the tile that is written."""
        inputs = {outer(value) for value in nest.ins if value not in nest.outs}
        self.regions = RegionWriter(emitter, evaluator, self.reader, outer, inputs)

        self.tiles = schedule.register_tiles
        self.unroll = schedule.unroll_factors
        self.dots = Dots.of(nest, schedule, dot, emitter, self.reader)
        self.folds: list[Fold] | None = None
        """How the lanes of accumulators are folded, if lanes are points of a sum."""
        self.lane_dim, self.width = self._find_lanes(schedule)
        self.ins, self.outs = self._transfers(outer, schedule.prefetch_distances)
        self.masked = schedule.has_masked_edges and self._may_mask()
        """Whether lanes may be computed that are no points."""
        self.cursor = Cursor(
            [0] * nest.rank,
            [0] * nest.rank,
            [interval_of_bound(bound) for bound in self.bounds],
            [1] * nest.rank,
        )

    def _find_lanes(self, schedule: tir.ScheduleAttr) -> tuple[int | None, int]:
        """The dim of the lanes and the width of vectors, where they are possible."""
        if schedule.vector_dim is None or not can_vectorize(self.nest):
            return None, 1
        dim, width = schedule.vector_dim
        if self.nest.dim_kinds[dim] is tir.DimKind.REDUCTION:
            self.folds = folds_of(self.nest)
            if self.folds is None:
                return None, 1
            while isinstance(extent := self.bounds[dim], int) and width > extent > 0:
                width //= 2
        return (dim, width) if width > 1 else (None, 1)

    def _transfers(
        self, outer: Callable[[SSAValue], SSAValue], ahead: Mapping[int, int]
    ) -> tuple[list[Transfer], list[Transfer]]:
        """The inputs, of which some are asked for ahead, and the outputs."""
        nest, is_vector = self.nest, self.lane_dim is not None
        written = set(nest.outs)

        def transfers(
            values: Sequence[SSAValue],
            accesses: Iterable[tir.AccessAttr],
            ahead: Mapping[int, int],
        ) -> list[Transfer]:
            return [
                Transfer(
                    self.emitter,
                    outer(value),
                    access,
                    is_input=value not in written,
                    is_vector=is_vector,
                    ahead=ahead.get(position, 0),
                )
                for position, (value, access) in enumerate(
                    zip(values, accesses, strict=True)
                )
            ]

        return (
            transfers(nest.ins, nest.in_accesses, ahead),
            transfers(nest.outs, nest.out_accesses, {}),
        )

    def _may_mask(self) -> bool:
        """Whether lanes that are no points do no harm, and are not written."""
        dim, nest = self.lane_dim, self.nest
        if dim is None or self.folds is not None:
            return False
        if any(transfer.access.is_indirect for transfer in (*self.ins, *self.outs)):
            return False
        if any(isinstance(op, FAULTING) for op in nest.walk()):
            return False
        return all(transfer.step(dim) is Step.CONTIGUOUS for transfer in self.outs)

    def _point(self, copy: Copy, width: int = 1) -> Point:
        """`width` is that of lanes along a reduction dim."""
        cursor = self.cursor
        offsets, count = list(cursor.offsets), width
        for dim, piece in copy.items():
            offsets[dim] = piece.offset
        if self.lane_dim is not None and self.lane_dim in copy:
            lanes = copy[self.lane_dim]
            width, count = lanes.width, lanes.count
        return Point(
            tuple(cursor.bases),
            tuple(offsets),
            tuple(cursor.intervals),
            tuple(cursor.multiples),
            self.lane_dim,
            width,
            count,
            self.extents,
        )

    def write(self, copies: Sequence[Copy]) -> None:
        """All that is computed for these points, where the cursor is."""
        self.extents = tuple(
            max((c[dim].offset + c[dim].count for c in copies if dim in c), default=1)
            for dim in range(self.nest.rank)
        )
        carried: list[SSAValue] = []
        if self.nest.has_accumulators:
            for copy in copies:
                point = self._point(copy)
                values = self.regions.write(self.nest.init, {}, point)
                carried += [self.emitter.broadcast(v, point.width) for v in values]
        sequential = self.nest.dims_of_kind(tir.DimKind.SEQUENTIAL)
        self._sequential(sequential, copies, carried)

    def _sequential(
        self, dims: Sequence[int], copies: Sequence[Copy], carried: Carried
    ) -> Carried:
        if dims:
            dim, *rest = dims
            return self._accumulating_loop(
                dim, carried, lambda values: self._sequential(rest, copies, values)
            )
        if self.nest.has_accumulators:
            reduction = list(self.nest.dims_of_kind(tir.DimKind.REDUCTION))
            if self.lane_dim in reduction and self.folds is not None:
                reduction.remove(self.lane_dim)
                carried = self._folded(self.folds, reduction, copies, carried)
            else:
                carried = self._reduction(reduction, copies, carried)
        self._finish(copies, carried)
        return carried

    def _reduction(
        self, dims: Sequence[int], copies: Sequence[Copy], carried: Carried
    ) -> Carried:
        if dims:
            dim, *rest = dims
            return self._accumulating_loop(
                dim, carried, lambda values: self._reduction(rest, copies, values)
            )
        if self.folds is not None and self.lane_dim is not None:
            return self._lanes(self.lane_dim, copies, carried)
        if self.dots is not None:
            return self._groups(self.dots, copies, carried)
        return self._body([self._point(copy) for copy in copies], carried)

    def _groups(self, dots: Dots, copies: Sequence[Copy], carried: Carried) -> Carried:
        """Several points of a sum at once, or one by one where that cannot be."""
        results: list[SSAValue] = []
        first = self.cursor.offsets[dots.dim]
        for copy, total in zip(copies, carried, strict=True):
            point = self._point(copy)
            roles = dots.roles(self.ins, point)
            if roles is not None:
                results.append(dots.write(self.ins, roles, point, total))
                continue
            values: Carried = [total]
            for number in range(dots.size):
                self.cursor.offsets[dots.dim] = first + number
                values = self._body([self._point(copy)], values)
            self.cursor.offsets[dots.dim] = first
            results += values
        return results

    def _folded(
        self,
        folds: list[Fold],
        dims: Sequence[int],
        copies: Sequence[Copy],
        carried: Carried,
    ) -> Carried:
        """
        A reduction with lanes along one of its dims.

        After the scalars, which take what does not fill a vector, vectors are carried;
        they start neutral and are folded into the scalars in the end.
        """
        emitter, width = self.emitter, self.width
        count = len(carried)
        neutral = [
            emitter.broadcast(emitter.constant(fold.neutral, value.type), width)
            for fold, value in zip(itertools.cycle(folds), carried, strict=False)
        ]
        results = self._reduction(dims, copies, [*carried, *neutral * self._sets()])
        folded: list[SSAValue] = []

        def insert(op: Operation) -> SSAValue:
            return emitter.insert(op).results[0]

        for position, value in enumerate(results[:count]):
            fold = folds[position % len(folds)]

            def combine(lhs: SSAValue, rhs: SSAValue, fold: Fold = fold) -> SSAValue:
                return fold.combine(insert, lhs, rhs)

            first, *others = results[count + position :: count]
            for other in others:
                first = combine(first, other)
            folded.append(combine(value, fold_lanes(emitter, first, combine)))
        return folded

    def _sets(self) -> int:
        """How many vectors along the reduction dim have accumulators of their own."""
        assert self.lane_dim is not None, "there are lanes"
        sets = max(1, self.tiles.get(self.lane_dim, 1) // self.width)
        extent = self.bounds[self.lane_dim]
        if isinstance(extent, int):
            sets = max(1, min(sets, extent // self.width))
        return sets

    def _lanes(self, dim: int, copies: Sequence[Copy], carried: Carried) -> Carried:
        """The loop along the lanes: vectors, then what is left."""
        emitter, width, sets = self.emitter, self.width, self._sets()
        extent, whole = self.bounds[dim], self.cursor.intervals[dim]
        count = len(copies) * len(self.nest.body_accumulators)
        scalars, vectors = carried[:count], carried[count:]

        def steps(number: int, width: int) -> Callable[[Index, Carried], Carried]:
            def body(base: Index, values: Carried) -> Carried:
                upper = whole.upper - number * width + 1
                self.cursor.bases[dim] = base
                self.cursor.intervals[dim] = Interval(0, upper, exact=False)
                points: list[Point] = []
                for part in range(number):
                    self.cursor.offsets[dim] = part * width
                    points += [self._point(copy, width) for copy in copies]
                self.cursor.offsets[dim] = 0
                return self._body(points, values)

            return body

        full = multiple_of(emitter, extent, sets * width)
        end = multiple_of(emitter, extent, width)
        vectors = emitter.loop(0, full, sets * width, vectors, steps(sets, width))
        if sets > 1:
            first = emitter.loop(full, end, width, vectors[:count], steps(1, width))
            vectors = [*first, *vectors[count:]]
        scalars = emitter.loop(end, extent, 1, scalars, steps(1, 1))
        self.cursor.intervals[dim], self.cursor.bases[dim] = whole, 0
        return [*scalars, *vectors]

    def _accumulating_loop(
        self, dim: int, carried: Carried, then: Callable[[Carried], Carried]
    ) -> Carried:
        """A loop that carries the accumulators, unrolled as the schedule says."""
        emitter = self.emitter
        extent = self.bounds[dim]
        factor = self.unroll.get(dim, 1)
        stride = 1
        if self.dots is not None and self.dots.dim == dim:
            stride = self.dots.size
            factor = max(stride, factor - factor % stride)
        if isinstance(extent, int):
            factor = max(1, min(factor, extent))
        whole = self.cursor.intervals[dim]

        def steps(count: int) -> Callable[[Index, Carried], Carried]:
            def body(base: Index, values: Carried) -> Carried:
                self.cursor.bases[dim] = base
                self.cursor.multiples[dim] = count
                for offset in range(0, count, stride):
                    self.cursor.offsets[dim] = offset
                    if isinstance(base, int):
                        self.cursor.intervals[dim] = Interval(base, base)
                    else:
                        upper = whole.upper - count + 1
                        self.cursor.intervals[dim] = Interval(0, upper, exact=False)
                    values = then(values)
                self.cursor.offsets[dim] = 0
                return values

            return body

        full = multiple_of(emitter, extent, factor)
        carried = emitter.loop(0, full, factor, carried, steps(factor))
        if factor > 1:
            if isinstance(extent, int) and isinstance(full, int):
                if full < extent:
                    carried = steps(extent - full)(full, carried)
            else:
                carried = emitter.loop(full, extent, 1, carried, steps(1))
        self.cursor.intervals[dim] = whole
        self.cursor.bases[dim] = 0
        self.cursor.multiples[dim] = 1
        return carried

    def _body(self, points: Sequence[Point], carried: Carried) -> Carried:
        nest = self.nest
        count = len(nest.body_accumulators)
        ins = dict(zip(nest.body_ins, self.ins, strict=True))
        together = computed_together(nest.body)
        results: list[SSAValue] = []
        for first in range(0, len(points), together):
            copies: list[tuple[dict[SSAValue, SSAValue], Point]] = []
            for number, point in enumerate(points[first:][:together], start=first):
                arguments = self._read(ins, point)
                mine = carried[number * count : (number + 1) * count]
                for accumulator, value in zip(
                    nest.body_accumulators, mine, strict=True
                ):
                    arguments[accumulator] = value
                    keep_name(accumulator, value)
                copies.append((arguments, point))
            made = self.regions.write_together(nest.body, copies)
            for (_, point), values in zip(copies, made, strict=True):
                results += [self.emitter.broadcast(v, point.width) for v in values]
        return results

    def _read(
        self, ins: Mapping[BlockArgument, Transfer], point: Point
    ) -> dict[SSAValue, SSAValue]:
        """What is read for the arguments that are used."""
        values: dict[SSAValue, SSAValue] = {}
        for argument, transfer in ins.items():
            if argument.first_use is not None:
                dim = square_along(transfer, point) if transfer.is_input else None
                if dim is None:
                    values[argument] = self.reader.read(transfer, point)
                else:
                    values[argument] = self.blocks.read(transfer, point, dim)
                keep_name(argument, values[argument])
        return values

    def _finish(self, copies: Sequence[Copy], carried: Carried) -> None:
        nest = self.nest
        accumulators = nest.finish_accumulators
        count = len(accumulators)
        ins = {arg: self.ins[i] for i, arg in nest.finish_ins.items()}
        together = computed_together(nest.finish)
        points = [self._point(copy) for copy in copies]
        # The results of a strip are written together.
        waits = any(
            strip_along(out, p) is not None for out in self.outs for p in points
        )
        waiting: dict[Point, list[SSAValue]] = {}
        for first in range(0, len(points), together):
            made: list[tuple[dict[SSAValue, SSAValue], Point]] = []
            for number, point in enumerate(points[first:][:together], start=first):
                arguments = self._read(ins, point)
                mine = carried[number * count : (number + 1) * count]
                arguments.update(zip(accumulators, mine, strict=True))
                made.append((arguments, point))
            results = self.regions.write_together(nest.finish, made)
            for (_, point), values in zip(made, results, strict=True):
                waiting[point] = values
            if not waits:
                self._write(waiting)
                waiting = {}
        self._write(waiting)

    def _write(self, results: Mapping[Point, Sequence[SSAValue]]) -> None:
        """Write what `finish` has yielded at some points."""
        for point, values in results.items():
            rest = values[len(self.outs) :]
            for number, transfer in enumerate(self.outs):
                indices = None
                if transfer.access.is_indirect:
                    rank = len(transfer.shape)
                    indices, rest = rest[:rank], rest[rank:]
                strip = strip_along(transfer, point)
                if strip is None:
                    self.writer.write(transfer, point, values[number], indices)
                elif point.offsets[strip.dim] == strip.first:
                    column = {p: v[number] for p, v in results.items()}
                    self.blocks.write(transfer, column, point, strip)
