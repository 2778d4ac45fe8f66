"""
Schedules of sums whose points share nothing that is loaded: pools, depthwise
convolutions. Several vectors of points are summed at once.
"""

from __future__ import annotations

from transom.dialects import tir
from transom.dialects.tir.steps import Step
from transom.passes.schedules.view import NestView
from transom.passes.schedules.widening import pays_in_window

MOST_POINTS = 8
"""Vectors whose sums run side by side, and share what windows have in common."""


def schedule(
    view: NestView, dim: int, constants: frozenset[int] = frozenset()
) -> tir.ScheduleAttr:
    """
    `dim` is the parallel dim that becomes the lanes; `constants` are the inputs that
    are weights: those whose lanes lie apart are packed.

    Where it is one vector long, as channels in blocks are, points beside it are summed
    together; where results lie apart along it, as many as make a square.
    """
    lanes = view.lanes(dim)
    vectors = view.vectors(dim, lanes)
    register = {dim: lanes * vectors}
    across, beside = view.across(dim), _beside(view, dim)
    if across is not None:
        register = {dim: lanes, across: lanes}
    elif vectors == 1 and beside is not None:
        register = {dim: lanes, beside: _points(view.bounds[beside])}
    steps = view.in_steps(dim)
    return tir.ScheduleAttr.get(
        vector=(dim, lanes),
        register=register,
        unroll=view.small_window(),
        pack=[i for i in sorted(constants) if steps[i] is Step.SCATTERED],
        widen=[i for i in range(len(steps)) if pays_in_window(view, i)],
    )


def _beside(view: NestView, dim: int) -> int | None:
    """The innermost other dim along which inputs move."""
    for other in reversed(view.parallel):
        if other != dim and view.is_long(other):
            moves = [step is not Step.UNIFORM for step in view.in_steps(other)]
            return other if any(moves) else None
    return None


def _points(bound: int | None) -> int:
    """As many points as leave no rest, if that are not too few."""
    if bound is None:
        return MOST_POINTS
    fitting = max(n for n in range(1, MOST_POINTS + 1) if bound % n == 0)
    return fitting if 2 * fitting > MOST_POINTS else min(MOST_POINTS, bound)
