"""
Schedules of nests without a sum: vectors along a contiguous dim.
"""

from __future__ import annotations

from xdsl.dialects import math

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.dialects.tir.steps import Step
from transom.passes.schedules.prefetching import next_points
from transom.passes.schedules.view import NestView
from transom.passes.schedules.widening import can_widen


def schedule(
    view: NestView, dim: int, constants: frozenset[int] = frozenset()
) -> tir.ScheduleAttr:
    """
    `dim` is the parallel dim that becomes the lanes; `constants` are the inputs that
    are weights: those of halves that all rows read are extended once.

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
    extended = [i for i in sorted(constants) if _is_read_by_rows(view, dim, i)]
    return tir.ScheduleAttr.get(
        vector=(dim, lanes),
        register=register,
        pack=extended,
        widen=extended,
        prefetch=next_points(view, dim),
    )


def _is_read_by_rows(view: NestView, dim: int, position: int) -> bool:
    """
    Whether a weight is extended again for each row of a block, and nothing else reads
    it: another one can be made of it.
    """
    nest = view.nest
    map = nest.in_accesses.data[position].map
    return (
        isinstance(nest.parent_op(), tir.BlockOp)
        and nest.ins[position].has_one_use()
        and map is not None
        and map.results == (affine.dim(dim),)
        and view.in_steps(dim)[position] is Step.CONTIGUOUS
        and can_widen(view, position)
    )
