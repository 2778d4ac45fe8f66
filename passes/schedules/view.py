"""
What is known of a nest while its schedule is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, IndexType, i1
from xdsl.ir import Attribute

from transom.dialects import tir
from transom.dialects.tir.folds import folds_of
from transom.dialects.tir.steps import Step, step_along
from transom.dialects.tir.types import memref_type_of
from transom.passes.schedules.machine import Machine

MAX_UNROLL = 4
"""Inner sums over a kernel of up to this size are unrolled."""


class NestView:
    """A nest as a machine sees it."""

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

    def vectors(self, dim: int, lanes: int) -> int:
        """How many vectors along the lanes, so that sums need not wait."""
        accumulators = max(1, len(self.nest.accumulator_types))
        most = max(1, 4 // accumulators)
        bound = self.bounds[dim]
        return most if bound is None else max(1, min(most, bound // lanes))

    def small_window(self) -> dict[int, int]:
        """How to unroll the innermost sum, if it is one over a small window."""
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
