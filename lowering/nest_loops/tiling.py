"""
How a range of a dim is cut into tiles: full ones, those at the border, the rest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir.affine import AffineConstantExpr

from transom.dialects.tir import affine
from transom.dialects.tir.accesses import Interval, interval_of
from transom.lowering.nest_loops.transfers import Transfer


@dataclass(frozen=True)
class Piece:
    """
    Points of a tile that are computed as one vector (`width` 1: as a scalar), whose
    first lanes they are.
    """

    offset: int
    width: int = 1
    count: int = 1


@dataclass(frozen=True)
class Segment:
    """Tiles of equal pieces, at `start`, `start + step`, … before `stop`."""

    start: int
    stop: int
    step: int
    pieces: tuple[Piece, ...]


def pieces_of(size: int, width: int, *, masked: bool = False) -> tuple[Piece, ...]:
    """
    `size` points in vectors of `width` lanes. What is left is one vector more if it is
    `masked`, else narrower ones: of half as many lanes, and so on.
    """
    pieces: list[Piece] = []
    offset = 0
    while offset < size:
        left = size - offset
        while width > left and not (masked and left > 1):
            width = max(1, width // 2)
        pieces.append(Piece(offset, width, min(width, left)))
        offset += width
    return tuple(pieces)


def segments_of(
    extent: int,
    tile: int,
    width: int,
    interior: tuple[int, int] | None,
    *,
    masked: bool = False,
) -> list[Segment]:
    """
    The tiles of a known range of `extent` points.

    Tiles that lie in `interior` (first point, last point) make a segment of their own.
    """
    pieces = pieces_of(tile, width, masked=masked)
    full = extent // tile * tile
    cuts = [0, full]
    if interior is not None:
        first = -(-max(interior[0], 0) // tile) * tile
        last = (min(interior[1], full - 1) + 1) // tile * tile
        if first < last:
            cuts = [0, first, last, full]
    segments = [
        Segment(start, stop, tile, pieces)
        for start, stop in itertools.pairwise(cuts)
        if start < stop
    ]
    if full < extent:
        rest = extent - full
        last = pieces_of(rest, width, masked=masked)
        segments.append(Segment(full, extent, rest, last))
    return segments


def interior_of(
    transfers: Iterable[Transfer], dims: Sequence[Interval], dim: int
) -> tuple[int, int] | None:
    """
    The points of `dim` at which padded inputs stay inside, whatever other dims are.

    Axes that no point of `dim` keeps inside are left out: they need a guard anyway.
    None if there is nothing to gain.
    """
    first, last = -math.inf, math.inf
    for transfer in transfers:
        if transfer.access.pad is None:
            continue
        for expr, extent in zip(transfer.exprs, transfer.shape, strict=True):
            step = affine.coefficient_of(expr, dim)
            if (
                extent == DYNAMIC_INDEX
                or not isinstance(step, AffineConstantExpr)
                or step.value == 0
            ):
                continue
            others = list(dims)
            others[dim] = Interval(0, 0)
            rest = interval_of(expr, others)
            # 0 <= step * point + rest <= extent - 1 for all of rest
            if math.isinf(rest.lower) or math.isinf(rest.upper):
                continue
            low, high = -rest.lower, extent - 1 - rest.upper
            if step.value < 0:
                low, high = -high, -low
            size = abs(step.value)
            low, high = -(-low // size), high // size
            if low <= high:
                first, last = max(first, low), min(last, high)
    if math.isinf(first) or math.isinf(last) or first > last:
        return None
    return int(first), int(last)
