"""
Squares of elements that are read along one dim and used along another.

Where the lanes of a vector lie apart in memory, but neighbours along another dim of the
tile lie next to each other, a square of points is loaded along that dim and transposed
in registers; so is a square of results before it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from transom.dialects.tir.steps import Step, step_along
from transom.lowering.nest_loops.emitter import Emitter, as_vector
from transom.lowering.nest_loops.points import Point
from transom.lowering.nest_loops.transfers import Reader, Transfer, Writer


def square_along(transfer: Transfer, point: Point) -> int | None:
    """
    The dim along which a square of points around this one is contiguous, while its
    lanes lie apart; None if the tile has no such square.
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
        first = point.offsets[dim] // width * width
        if (
            dim != point.lane_dim
            and first + width <= size
            and step_along(transfer.access, transfer.type, dim) is Step.CONTIGUOUS
        ):
            return dim
    return None


class Squares:
    """Reads and writes squares of a tile."""

    def __init__(self, emitter: Emitter, reader: Reader, writer: Writer) -> None:
        self.emitter = emitter
        self.reader = reader
        self.writer = writer

    def read(self, transfer: Transfer, point: Point, dim: int) -> SSAValue:
        """
        The vector of a point. Those of the square around it are loaded once, as equal
        ops are.
        """
        rows = [self.reader.read(transfer, row) for row in rows_of(point, dim)]
        return transposed(self.emitter, rows)[point.offsets[dim] % point.width]

    def write(
        self,
        transfer: Transfer,
        values: Mapping[Point, SSAValue],
        point: Point,
        dim: int,
    ) -> None:
        """Write the square that starts at a point, with the values of all points."""
        columns: list[SSAValue] = []
        for number in range(point.width):
            offsets = list(point.offsets)
            offsets[dim] += number
            value = values[replace(point, offsets=tuple(offsets))]
            columns.append(self.emitter.broadcast(value, point.width))
        rows = transposed(self.emitter, columns)
        for row, value in zip(rows_of(point, dim), rows, strict=True):
            self.writer.write(transfer, row, value, None)


def rows_of(point: Point, dim: int) -> list[Point]:
    """The square around a point: for each lane, the vector along `dim`."""
    width = point.width
    offsets = list(point.offsets)
    offsets[dim] = offsets[dim] // width * width
    corner = replace(point, offsets=tuple(offsets))
    return [
        replace(corner.lane(lane), lane_dim=dim, width=width, count=width)
        for lane in range(width)
    ]


def transposed(emitter: Emitter, rows: Sequence[SSAValue]) -> list[SSAValue]:
    """
    As many vectors as each has lanes, a power of two: lane `i` of vector `j` becomes
    lane `j` of vector `i`.

    Each stage exchanges squares of half of the size of those before.
    """
    result = list(rows)
    count = len(result)
    assert all(
        (type := as_vector(row)) is not None and type.element_count() == count
        for row in result
    ), "a square"
    step = count // 2
    while step:
        for low in range(count):
            if low & step:
                continue
            a, b = result[low], result[low | step]
            upper = [
                lane if not lane & step else count + lane - step
                for lane in range(count)
            ]
            lower = [
                lane + step if not lane & step else count + lane
                for lane in range(count)
            ]
            result[low] = emitter.shuffle(a, b, upper)
            result[low | step] = emitter.shuffle(a, b, lower)
        step //= 2
    return result
