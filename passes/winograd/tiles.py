"""
The tiles of results that an image is cut into, and how many are computed at a time.

Whole tiles start at every fourth row. What is left is covered by one more tile that
ends with the last row: it overlaps the one before, and writes what that one does not,
so that no tile reads anything which the convolution itself does not.

    rows   0 1 2 3 4 5 6 7 8 9
           [whole] [whole]
                       [  w w]
"""

from __future__ import annotations

from dataclasses import dataclass

from transom.passes.winograd.transforms import OUTPUTS, PATCH

FLOAT_BYTES = 4

SPILLING = 3
"""What is written once and read once without a cache is moved so often: it is fetched
to be written, written back, and read."""

NEARLY = 1.25
"""Traffic is known so well."""


@dataclass(frozen=True)
class Tiles:
    """Neighbouring tiles along rows or columns that write the same of their results."""

    first: int
    """Which of all tiles of the direction the first one is."""
    count: int
    start: int
    """The row, or column, of results that the first one starts with."""
    written: range
    """Which of its `OUTPUTS` rows, or columns, a tile writes."""


def tiles_along(extent: int) -> tuple[Tiles, ...]:
    """The tiles that cover so many results, at least `OUTPUTS`."""
    whole, rest = divmod(extent, OUTPUTS)
    tiles = [Tiles(0, whole, 0, range(OUTPUTS))]
    if rest:
        written = range(OUTPUTS - rest, OUTPUTS)
        tiles.append(Tiles(whole, 1, extent - OUTPUTS, written))
    return tuple(tiles)


def count_of(tiles: tuple[Tiles, ...]) -> int:
    """How many tiles there are."""
    return sum(part.count for part in tiles)


def rows_per_block(
    rows: tuple[Tiles, ...], columns: int, channels: int, filters: int, cache: int
) -> int:
    """
    How many rows of so many tiles are computed at a time.

    Each block reads all weights again; the pixels and products of a block are written
    and read once, in a cache of so many bytes if they fit. Of numbers that move nearly
    as little the smallest is taken, as it needs least memory. It divides that of all
    rows; an image whose last rows overlap others is one block.
    """
    if len(rows) > 1:
        return count_of(rows)
    total = count_of(rows)
    square = PATCH * PATCH * FLOAT_BYTES

    def traffic(count: int) -> int:
        held = square * count * columns * (channels + filters)
        spilled = 0 if held <= cache else SPILLING * held
        return total // count * (square * channels * filters + spilled)

    found = {n: traffic(n) for n in range(1, total + 1) if total % n == 0}
    least = min(found.values())
    return next(n for n, bytes in found.items() if bytes <= NEARLY * least)
