"""
Schedules of sums whose operands are shared by other points: products of matrices,
convolutions. Points along one dim are the lanes, points along another are copies, so
that a vector that is loaded serves all copies.
"""

from __future__ import annotations

from transom.dialects import tir
from transom.dialects.tir.steps import Step
from transom.passes.schedules.view import NestView

MAX_COPIES = 8
"""More copies of a sum gain little and are much code."""


def schedule(view: NestView, dim: int, sharing: int) -> tir.ScheduleAttr:
    """`dim` becomes the lanes, `sharing` is the dim of the copies."""
    return tir.ScheduleAttr.get(
        vector=(dim, view.lanes(dim)),
        register={sharing: _copies(view, sharing)},
        unroll=view.small_window(),
    )


def sharing_dim(view: NestView, lane_dim: int) -> int | None:
    """
    A dim whose points share a vector that is loaded, and differ in a scalar.

    The points of an output channel share the pixels; each has its weight.
    """
    best: tuple[bool, int] | None = None
    along = view.in_steps(lane_dim)
    for dim in view.parallel:
        if dim == lane_dim or not view.is_long(dim):
            continue
        steps = list(zip(along, view.in_steps(dim), strict=True))
        shares = any(
            lane is not Step.UNIFORM and step is Step.UNIFORM for lane, step in steps
        )
        differs = any(
            lane is Step.UNIFORM and step is not Step.UNIFORM for lane, step in steps
        )
        if shares and differs:
            # A known bound needs no second loop for the rest.
            best = max(best or (False, -1), (view.bounds[dim] is not None, -dim))
    return None if best is None else -best[1]


def _copies(view: NestView, dim: int) -> int:
    """How many points of a sharing dim, so that few are left over."""
    accumulators = max(1, len(view.nest.accumulator_types))
    most = max(1, min(MAX_COPIES, view.machine.register_count // 2) // accumulators)
    bound = view.bounds[dim]
    if bound is None:
        return most
    most = min(most, bound)
    fitting = max(n for n in range(1, most + 1) if bound % n == 0)
    return fitting if 2 * fitting > most else most
