"""
Schedules of nests without a sum: vectors along a contiguous dim.
"""

from __future__ import annotations

from transom.dialects import tir
from transom.passes.schedules.view import NestView


def schedule(view: NestView, dim: int) -> tir.ScheduleAttr:
    """`dim` is the parallel dim that becomes the lanes."""
    return tir.ScheduleAttr.get(vector=(dim, view.lanes(dim)))
