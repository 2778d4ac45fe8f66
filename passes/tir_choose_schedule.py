"""
Give each nest a schedule that suits most machines.

The lanes of vectors go along a dim on which outputs are contiguous, or else along a sum
whose inputs are. A sum also gets copies: points along another dim that share what is
loaded, or several vectors, so that additions do not wait for each other.

```mlir
tir.nest dims [parallel 64, parallel 64, reduction 64]
    ins(%a[d0, d2] : …, %b[d2, d1] : …) outs(%o[d0, d1] : …)
==>
    schedule #tir.schedule<register = [d0 : 8], vector = d1 : 16>
```

Nests that have a schedule keep it. The options say how large the vector registers are
in bytes, and how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    FixedBitwidthType,
    IndexType,
    ModuleOp,
    i1,
)
from xdsl.ir import Attribute

from transom.dialects import tir
from transom.dialects.tir.folds import folds_of
from transom.dialects.tir.steps import Step, step_along
from transom.dialects.tir.types import memref_type_of
from transom.passes.kernel_pass import KernelPass
from transom.passes.rewrite_steps import may_rewrite

MAX_COPIES = 8
"""More copies of a sum gain little and are much code."""

MAX_UNROLL = 4
"""Inner sums over a kernel of up to this size are unrolled."""


@dataclass(frozen=True)
class Machine:
    """What a schedule is chosen for."""

    vector_bytes: int
    register_count: int


@dataclass(frozen=True)
class TirChooseSchedulePass(KernelPass):
    name = "tir-choose-schedule"

    is_kept = False

    vector_bytes: int = 32
    register_count: int = 16

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        machine = Machine(self.vector_bytes, self.register_count)
        for nest in module.walk():
            if not isinstance(nest, tir.NestOp) or nest.schedule is not None:
                continue
            if may_rewrite("choose a schedule", nest):
                nest.schedule = choose_schedule(nest, machine)


def choose_schedule(nest: tir.NestOp, machine: Machine) -> tir.ScheduleAttr | None:
    """A schedule, or None if plain loops do as well."""
    if any(op.regions for region in nest.regions for op in region.walk()):
        return None
    choice = _Choice(nest, machine)
    points, sums = choice.best_parallel_lanes(), choice.best_reduction_lanes()
    # Neighbours that are summed are better than points whose elements lie apart.
    if sums is not None and (
        points is None or Step.SCATTERED in choice.in_steps(points)
    ):
        return choice.reduction_schedule(sums)
    return None if points is None else choice.parallel_schedule(points)


class _Choice:
    """What is known of a nest while its schedule is chosen."""

    def __init__(self, nest: tir.NestOp, machine: Machine) -> None:
        self.nest = nest
        self.machine = machine
        self.bounds = nest.static_bounds
        self.parallel = nest.dims_of_kind(tir.DimKind.PARALLEL)
        self.reduction = nest.dims_of_kind(tir.DimKind.REDUCTION)

    def is_long(self, dim: int) -> bool:
        bound = self.bounds[dim]
        return bound is None or bound > 1

    def in_steps(self, dim: int) -> list[Step]:
        pairs = zip(self.nest.ins, self.nest.in_accesses, strict=True)
        return [step_along(a, memref_type_of(value), dim) for value, a in pairs]

    def out_steps(self, dim: int) -> list[Step]:
        pairs = zip(self.nest.outs, self.nest.out_accesses, strict=True)
        return [step_along(a, memref_type_of(value), dim) for value, a in pairs]

    # Lanes.

    def best_parallel_lanes(self) -> int | None:
        """The dim that makes the cheapest vectors of points."""
        best: tuple[int, int] | None = None
        for dim in self.parallel:
            if not self.is_long(dim) or self.lanes(dim) < 2:
                continue
            outs, ins = self.out_steps(dim), self.in_steps(dim)
            if any(step is not Step.CONTIGUOUS for step in outs):
                continue
            scattered = ins.count(Step.SCATTERED)
            # Lanes that are gathered pay where much is computed with each.
            if not self.reduction and scattered > ins.count(Step.CONTIGUOUS):
                continue
            cost = (scattered, -dim)
            if best is None or cost < best:
                best = cost
        return None if best is None else -best[1]

    def best_reduction_lanes(self) -> int | None:
        """The dim along which a sum reads neighbours."""
        if not self.reduction or folds_of(self.nest) is None:
            return None
        for dim in reversed(self.reduction):
            steps = self.in_steps(dim)
            if (
                self.is_long(dim)
                and self.lanes(dim) >= 2
                and Step.CONTIGUOUS in steps
                and Step.SCATTERED not in steps
            ):
                return dim
        return None

    def lanes(self, dim: int) -> int:
        """How many elements a vector holds, and the dim gives."""
        size = max(map(_bytes_of, self._computed_types()), default=8)
        lanes = max(1, self.machine.vector_bytes // size)
        bound = self.bounds[dim]
        while bound is not None and lanes > bound:
            lanes //= 2
        return lanes

    def _computed_types(self) -> Iterable[Attribute]:
        """Of what is computed: addresses and conditions take no room."""
        nest = self.nest
        written = nest.finish_yield_types[: len(nest.outs)]
        types = (*nest.accumulator_types, *written, *nest.in_types)
        return [type for type in types if _is_computed(type)]

    # Schedules.

    def parallel_schedule(self, dim: int) -> tir.ScheduleAttr:
        lanes = self.lanes(dim)
        register: dict[int, int] = {}
        if self.reduction:
            sharing = self._sharing_dim(dim)
            if sharing is None:
                register[dim] = lanes * self._vectors(dim, lanes)
            else:
                register[sharing] = self._copies(sharing)
        return tir.ScheduleAttr.get(
            vector=(dim, lanes), register=register, unroll=self._unroll(register, lanes)
        )

    def reduction_schedule(self, dim: int) -> tir.ScheduleAttr:
        lanes = self.lanes(dim)
        sets = self._vectors(dim, lanes)
        return tir.ScheduleAttr.get(
            vector=(dim, lanes), register={dim: lanes * sets} if sets > 1 else None
        )

    def _sharing_dim(self, lane_dim: int) -> int | None:
        """
        A dim whose points share a vector that is loaded, and differ in a scalar.

        The points of an output channel share the pixels; each has its weight.
        """
        best: tuple[bool, int] | None = None
        along = self.in_steps(lane_dim)
        for dim in self.parallel:
            if dim == lane_dim or not self.is_long(dim):
                continue
            steps = list(zip(along, self.in_steps(dim), strict=True))
            shares = any(
                lane is not Step.UNIFORM and step is Step.UNIFORM
                for lane, step in steps
            )
            differs = any(
                lane is Step.UNIFORM and step is not Step.UNIFORM
                for lane, step in steps
            )
            if shares and differs:
                # A known bound needs no second loop for the rest.
                best = max(best or (False, -1), (self.bounds[dim] is not None, -dim))
        return None if best is None else -best[1]

    def _copies(self, dim: int) -> int:
        """How many points of a sharing dim, so that few are left over."""
        accumulators = max(1, len(self.nest.accumulator_types))
        most = max(1, min(MAX_COPIES, self.machine.register_count // 2) // accumulators)
        bound = self.bounds[dim]
        if bound is None:
            return most
        most = min(most, bound)
        fitting = max(n for n in range(1, most + 1) if bound % n == 0)
        return fitting if 2 * fitting > most else most

    def _vectors(self, dim: int, lanes: int) -> int:
        """How many vectors along the lanes, so that sums need not wait."""
        accumulators = max(1, len(self.nest.accumulator_types))
        most = max(1, 4 // accumulators)
        bound = self.bounds[dim]
        return most if bound is None else max(1, min(most, bound // lanes))

    def _unroll(self, register: dict[int, int], lanes: int) -> dict[int, int]:
        """The innermost sum, if it is one over a small window."""
        for dim in reversed(self.reduction):
            bound = self.bounds[dim]
            if bound is None or bound > MAX_UNROLL:
                return {}
            if bound > 1:
                return {dim: bound}
        return {}


def _is_computed(type: Attribute) -> bool:
    return type != i1 and isinstance(type, FixedBitwidthType | AnyFloat | IndexType)


def _bytes_of(type: Attribute) -> int:
    if isinstance(type, IndexType):
        return 8
    return max(1, cast(FixedBitwidthType, type).size)
