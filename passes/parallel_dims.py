"""
Which loops of a nest or block may run on several threads, and what that would take.

The estimates are coarse on purpose: they only tell work that is worth a team from work
that is not, and balanced loops from others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from transom.dialects import tir
from transom.dialects.executor import element_bytes
from transom.dialects.tir import affine
from transom.dialects.tir.types import memref_type_of

FORK_NS = 2000.0
"""To start a team and to wait for it."""

CYCLES_PER_NS = 3.0
BYTES_PER_NS = 16.0

DEAR: dict[str, float] = {
    "arith.divf": 8,
    "arith.divsi": 16,
    "arith.divui": 16,
    "arith.remsi": 16,
    "arith.remui": 16,
    "math.sqrt": 8,
    "math.rsqrt": 8,
    "math.powf": 40,
}
"""Cycles of ops that take many."""

MATH = 20.0
"""Cycles of a function of `math`."""


@dataclass(frozen=True)
class Loop:
    """A loop over a parallel dim, as the schedule makes it."""

    dim: int
    steps: int
    outer_steps: int
    """How often the loop is entered."""
    share: float
    """The part of the points that it goes through; others are left over at the end."""

    def time_ns(self, work_ns: float, threads: int) -> float:
        """How long some work takes if this loop runs on several threads."""
        rounds = -(-self.steps // threads)
        parallel = self.share * work_ns * rounds / self.steps
        return parallel + (1 - self.share) * work_ns + self.outer_steps * FORK_NS


def known(bound: int | None) -> int:
    """A bound; one that is not known may be no more than 1."""
    return 1 if bound is None else bound


def work_ns(op: tir.NestOp | tir.BlockOp) -> float:
    """How long an op takes on one thread, at least, where sizes are not known."""
    if isinstance(op, tir.BlockOp):
        points = math.prod(map(known, op.static_bounds))
        inside = (
            i for i in op.body.block.ops if isinstance(i, tir.NestOp | tir.BlockOp)
        )
        return points * sum(map(work_ns, inside))
    all_points = math.prod(map(known, op.static_bounds))
    sums = op.dims_of_kind(tir.DimKind.REDUCTION)
    points = all_points // max(1, math.prod(known(op.static_bounds[d]) for d in sums))
    cycles = all_points * _cycles(op.body.walk()) + points * _cycles(op.finish.walk())
    vector = op.schedule.vector_dim if op.schedule is not None else None
    lanes = 1 if vector is None else vector[1]
    moved = sum(_bytes(value, all_points) for value in (*op.ins, *op.outs))
    # Two ops per cycle: most are multiplications with an addition.
    return max(cycles / (2 * lanes * CYCLES_PER_NS), moved / BYTES_PER_NS)


def _cycles(ops: Iterator[Operation]) -> float:
    total = 0.0
    for op in ops:
        if op.name in DEAR:
            total += DEAR[op.name]
        elif op.name.startswith("math."):
            total += MATH
        elif not isinstance(op, arith.ConstantOp | tir.YieldOp):
            total += 1
    return total


def _bytes(buffer: SSAValue, points: int) -> float:
    """What is touched of a buffer, at least."""
    type = memref_type_of(buffer)
    size = element_bytes(type.element_type) or 1
    count = math.prod(1 if s == DYNAMIC_INDEX else s for s in type.get_shape())
    return size * min(count, points)


def loops_of(op: tir.NestOp | tir.BlockOp) -> list[Loop]:
    """
    The outermost loop of each parallel dim that may run on several threads: no two of
    its steps touch the same element of an output.
    """
    bounds = [known(bound) for bound in op.static_bounds]
    schedule = op.schedule or tir.ScheduleAttr.get()
    found: dict[int, Loop] = {}
    outer = 1
    for dim, size in schedule.steps_of_loops(op.dim_kinds):
        extent = bounds[dim]
        count = extent // size
        if count > 1:
            if dim not in found and may_split(op, dim):
                found[dim] = Loop(dim, count, outer, count * size / extent)
            outer *= -(-extent // size)
        bounds[dim] = min(size, extent)
    return list(found.values())


def may_split(op: tir.NestOp | tir.BlockOp, dim: int) -> bool:
    """Whether points that differ in a parallel dim touch different elements."""
    if isinstance(op, tir.BlockOp):
        return op.dim_kinds[dim] is tir.DimKind.PARALLEL  # which promises it
    if op.dim_kinds[dim] is not tir.DimKind.PARALLEL:
        return False
    maps = [access.map for access in op.out_accesses]
    return all(
        map is not None
        and any(_tells_apart(expr, dim, op.static_bounds) for expr in map.results)
        for map in maps
    )


def _tells_apart(expr: AffineExpr, dim: int, bounds: Sequence[int | None]) -> bool:
    """
    Whether an index is another for each point of the dims in it, one of which is `dim`.

    It is if each dim moves it further than all dims of smaller steps together.
    """
    steps: list[tuple[int, int | None, int]] = []
    for product, coefficient in affine.terms_of(expr).items():
        match product:
            case ():
                pass
            case (AffineDimExpr(position),):
                steps.append((abs(coefficient), bounds[position], position))
            case _:
                return False
    if all(position != dim for _, _, position in steps):
        return False
    reach: float = 0
    for step, bound, _ in sorted(steps, key=lambda entry: entry[0]):
        if step <= reach:
            return False
        reach += math.inf if bound is None else step * (bound - 1)
    return True
