"""
Schedules of nests without a sum: vectors along a contiguous dim.
"""

from __future__ import annotations

from xdsl.dialects import math

from transom.dialects import tir
from transom.passes.schedules.prefetching import next_points
from transom.passes.schedules.view import NestView


def schedule(view: NestView, dim: int) -> tir.ScheduleAttr:
    """
    `dim` is the parallel dim that becomes the lanes.

    A function such as `exp` is a long chain of operations, each of which waits for the
    one before, and so is a sum that goes on from point to point: several are computed
    side by side. What lies apart along `dim` is transposed in squares.
    """
    lanes = view.lanes(dim)
    register: dict[int, int] = {}
    across = view.across(dim)
    if across is not None:
        register = {dim: lanes, across: lanes}
    elif view.nest.dims_of_kind(tir.DimKind.SEQUENTIAL) or any(
        op.dialect_name() == math.Math.name for op in view.nest.finish.block.ops
    ):
        vectors = view.vectors(dim, lanes)
        if vectors > 1:
            register[dim] = lanes * vectors
    return tir.ScheduleAttr.get(
        vector=(dim, lanes), register=register, prefetch=next_points(view, dim)
    )
