"""
Blocks of elements that are read or written along one dim and used along another.

Where the lanes of a vector lie apart in memory, but neighbours along another dim of the
tile lie next to each other, a square of points is loaded along that dim and transposed
in registers. Results are transposed before they are written, in *strips* of as many
points as the tile has, down to two:

    tile of 6 points by 8 lanes          written
    | a | a | a | a | b | b |            8 vectors of 4 points, 8 of 2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from transom.dialects.tir.steps import Step
from transom.lowering.nest_loops.emitter import Emitter, as_vector
from transom.lowering.nest_loops.points import Point
from transom.lowering.nest_loops.transfers import Reader, Transfer, Writer


@dataclass(frozen=True)
class Strip:
    """Neighbours along a dim of a tile, a power of two of them."""

    dim: int
    first: int
    """The offset of the first one."""
    count: int


def strip_along(transfer: Transfer, point: Point) -> Strip | None:
    """
    The points around this one, no more than its lanes, that lie next to each other
    while the lanes lie apart; None if the tile has no such strip.
    """
    width = point.width
    if (
        point.is_partial
        or width < 2
        or width & (width - 1)
        or transfer.access.is_indirect
        or transfer.along(point) is not Step.SCATTERED
    ):
        return None
    for dim, size in enumerate(point.tile):
        if dim != point.lane_dim and size > 1 and transfer.step(dim) is Step.CONTIGUOUS:
            return _strip_in(dim, size, point)
    return None


def _strip_in(dim: int, size: int, point: Point) -> Strip | None:
    """The strip of a point if a tile is cut into the longest ones, from its start."""
    first, count = 0, point.width
    while count > 1:
        if first + count > size:
            count //= 2
        elif point.offsets[dim] < first + count:
            return Strip(dim, first, count)
        else:
            first += count
    return None


def square_along(transfer: Transfer, point: Point) -> int | None:
    """The dim of a strip that is as long as the point has lanes, if there is one."""
    strip = strip_along(transfer, point)
    return strip.dim if strip is not None and strip.count == point.width else None


class Blocks:
    """Reads squares and writes strips of a tile."""

    def __init__(self, emitter: Emitter, reader: Reader, writer: Writer) -> None:
        self.emitter = emitter
        self.reader = reader
        self.writer = writer

    def read(self, transfer: Transfer, point: Point, dim: int) -> SSAValue:
        """
        The vector of a point. Those of the square around it are loaded once, as equal
        ops are.
        """
        width = point.width
        strip = Strip(dim, point.offsets[dim] // width * width, width)
        rows = [self.reader.read(transfer, row) for row in rows_of(point, strip)]
        return transposed(self.emitter, rows)[point.offsets[dim] - strip.first]

    def write(
        self,
        transfer: Transfer,
        values: Mapping[Point, SSAValue],
        point: Point,
        strip: Strip,
    ) -> None:
        """Write a strip with a point in it, with the values of all points."""
        columns: list[SSAValue] = []
        for number in range(strip.count):
            offsets = list(point.offsets)
            offsets[strip.dim] = strip.first + number
            value = values[replace(point, offsets=tuple(offsets))]
            columns.append(self.emitter.broadcast(value, point.width))
        rows = transposed(self.emitter, columns)
        for row, value in zip(rows_of(point, strip), rows, strict=True):
            self.writer.write(transfer, row, value, None)


def rows_of(point: Point, strip: Strip) -> list[Point]:
    """The block around a point: for each lane, the vector along the strip."""
    offsets = list(point.offsets)
    offsets[strip.dim] = strip.first
    corner = replace(point, offsets=tuple(offsets))
    count = strip.count
    return [
        replace(corner.lane(lane), lane_dim=strip.dim, width=count, count=count)
        for lane in range(point.width)
    ]


def transposed(emitter: Emitter, rows: Sequence[SSAValue]) -> list[SSAValue]:
    """
    `n` vectors of `m` lanes as `m` vectors of `n` lanes, both powers of two and `n` the
    smaller one: lane `i` of vector `j` becomes lane `j` of vector `i`.

    Squares of `n` by `n` lie side by side in the vectors. Each stage exchanges squares
    of half of the size of those before, in all of them.
    """
    result = list(rows)
    count = len(result)
    types = [as_vector(row) for row in result]
    assert types[0] is not None, "vectors"
    lanes = types[0].element_count()
    assert lanes % count == 0 and all(type == types[0] for type in types), "a block"
    step = count // 2
    while step:
        for low in range(count):
            if low & step:
                continue
            a, b = result[low], result[low | step]
            upper = [
                lane if not lane & step else lanes + lane - step
                for lane in range(lanes)
            ]
            lower = [
                lane + step if not lane & step else lanes + lane
                for lane in range(lanes)
            ]
            result[low] = emitter.shuffle(a, b, upper)
            result[low | step] = emitter.shuffle(a, b, lower)
        step //= 2
    if count == lanes:
        return result
    return [
        emitter.shuffle(row, row, range(start, start + count))
        for start in range(0, lanes, count)
        for row in result
    ]
