"""
Schedules of sums along a contiguous dim: lanes are summed apart, in several vectors.
"""

from __future__ import annotations

from transom.dialects import tir
from transom.passes.schedules.prefetching import next_points, streams_of
from transom.passes.schedules.view import NestView


def schedule(view: NestView, dim: int) -> tir.ScheduleAttr:
    """`dim` is the reduction dim that becomes the lanes."""
    lanes = view.lanes(dim)
    sets = view.vectors(dim, lanes)
    return tir.ScheduleAttr.get(
        vector=(dim, lanes),
        register={dim: lanes * sets} if sets > 1 else None,
        prefetch=next_points(view, dim) | streams_of(view, dim),
    )
