"""
Schedules of sums whose points share nothing that is loaded: pools, depthwise
convolutions. Several vectors of points are summed at once.
"""

from __future__ import annotations

from transom.dialects import tir
from transom.passes.schedules.view import NestView


def schedule(view: NestView, dim: int) -> tir.ScheduleAttr:
    """`dim` is the parallel dim that becomes the lanes."""
    lanes = view.lanes(dim)
    return tir.ScheduleAttr.get(
        vector=(dim, lanes),
        register={dim: lanes * view.vectors(dim, lanes)},
        unroll=view.small_window(),
    )
