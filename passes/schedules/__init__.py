"""
Which schedule a nest gets, by what kind of nest it is.

* `contraction`: a sum over products whose operands are shared by other points;
* `windows`: a sum over neighbours whose points share nothing (pools, depthwise);
* `rows`: a sum along what lies contiguous, such as that of a row;
* `elementwise`: no sum at all.

What is known of a nest is in `view`, what is known of the target in `machine`.
"""

from __future__ import annotations

from transom.dialects import tir
from transom.dialects.tir.steps import Step
from transom.passes.schedules import contraction, elementwise, rows, windows
from transom.passes.schedules.machine import Machine
from transom.passes.schedules.view import NestView

__all__ = ["Machine", "choose_schedule"]


def choose_schedule(
    nest: tir.NestOp, machine: Machine, constants: frozenset[int] = frozenset()
) -> tir.ScheduleAttr | None:
    """
    A schedule, or None if plain loops do as well.

    `constants` are the inputs of the nest, by position, that are weights.
    """
    if 0 in nest.static_bounds:  # no points, or sums of nothing
        return None
    if any(op.regions for region in nest.regions for op in region.walk()):
        return None
    view = NestView(nest, machine)
    product = contraction.schedule(view, constants)
    if product is not None:
        return product
    points = view.best_parallel_lanes(constants)
    sums = view.best_reduction_lanes()
    # Neighbours that are summed are better than points whose elements lie apart.
    if sums is not None and (points is None or Step.SCATTERED in view.in_steps(points)):
        return rows.schedule(view, sums)
    if points is None:
        return None
    if not view.reduction:
        return elementwise.schedule(view, points, constants)
    return windows.schedule(view, points, constants)
