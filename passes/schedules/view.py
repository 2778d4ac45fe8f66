"""
What is known of a nest while its schedule is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, IndexType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.dialects.tir.folds import folds_of
from transom.dialects.tir.steps import Step, step_along
from transom.dialects.tir.types import memref_type_of
from transom.passes.schedules.machine import Machine

MAX_UNROLL = 4
"""Inner sums over a kernel of up to this size are unrolled."""


MAX_WINDOW = 9
"""Sums over a window of up to this many points are unrolled."""


class NestView:
    """A nest as a machine sees it. The nest stays as it is while it is looked at."""

    def __init__(self, nest: tir.NestOp, machine: Machine) -> None:
        self.nest = nest
        self.machine = machine
        self.bounds = nest.static_bounds
        self.parallel = nest.dims_of_kind(tir.DimKind.PARALLEL)
        self.reduction = nest.dims_of_kind(tir.DimKind.REDUCTION)
        # Searches of tiles ask again and again.
        self._in_steps: dict[int, Sequence[Step]] = {}
        self._out_steps: dict[int, Sequence[Step]] = {}
        self._lanes: dict[int, int] = {}

    def is_long(self, dim: int) -> bool:
        bound = self.bounds[dim]
        return bound is None or bound > 1

    def in_steps(self, dim: int) -> Sequence[Step]:
        found = self._in_steps.get(dim)
        if found is None:
            pairs = zip(self.nest.ins, self.nest.in_accesses, strict=True)
            found = [step_along(a, memref_type_of(value), dim) for value, a in pairs]
            self._in_steps[dim] = found
        return found

    def out_steps(self, dim: int) -> Sequence[Step]:
        found = self._out_steps.get(dim)
        if found is None:
            pairs = zip(self.nest.outs, self.nest.out_accesses, strict=True)
            found = [step_along(a, memref_type_of(value), dim) for value, a in pairs]
            self._out_steps[dim] = found
        return found

    # Inputs.

    def dims_of_input(self, position: int) -> frozenset[int]:
        """The dims that the access of an input moves with."""
        map = self.nest.in_accesses.data[position].map
        assert map is not None, "the access is not indirect"
        return frozenset(map.used_dims())

    def reads_each_once(self, position: int) -> bool:
        """Whether other points of the dims of an input are other elements of it."""
        map = self.nest.in_accesses.data[position].map
        assert map is not None, "the access is not indirect"
        counts: dict[int, int] = {}
        for expr in map.results:
            if affine.used_symbols(expr) or affine.divisors(expr):
                return False
            strides: list[tuple[int, int]] = []
            for product, stride in affine.terms_of(expr).items():
                if len(product) == 1 and isinstance(product[0], AffineDimExpr):
                    dim = product[0].position
                    counts[dim] = counts.get(dim, 0) + 1
                    strides.append((stride, dim))
                elif product:
                    return False
            if not self._counts_apart(sorted(strides)):
                return False
        return all(count == 1 for count in counts.values())

    def _counts_apart(self, strides: Sequence[tuple[int, int]]) -> bool:
        """Whether dims with these strides in one index count like digits."""
        size: float = 1
        for stride, dim in strides:
            bound = self.bounds[dim]
            if stride < size:
                return False
            size = math.inf if bound is None else stride * bound
        return True

    def row_length(self, position: int) -> int:
        """The elements of the last axis of an input; 0 if that is not known."""
        shape = memref_type_of(self.nest.ins[position]).get_shape()
        return max(0, shape[-1]) if shape else 1

    def input_element_bytes(self, position: int) -> int:
        return bytes_of(self._in_types[position])

    def input_bytes(self, position: int) -> int:
        """The size of an input; 0 if it is not known."""
        shape = memref_type_of(self.nest.ins[position]).get_shape()
        if any(size < 0 for size in shape):
            return 0
        return math.prod(shape) * self.input_element_bytes(position)

    # Lanes.

    def best_parallel_lanes(
        self, constants: frozenset[int] = frozenset()
    ) -> int | None:
        """
        The dim that makes the cheapest vectors of points. Inputs of sums that are
        weights, `constants`, are packed for any.
        """
        best: tuple[int, int] | None = None
        for dim in self.parallel:
            if not self.is_long(dim) or self.lanes(dim) < 2:
                continue
            outs, ins = self.out_steps(dim), list(self.in_steps(dim))
            for position in constants if self.reduction else ():
                if ins[position] is Step.SCATTERED:
                    ins[position] = Step.CONTIGUOUS
            across = self.across(dim)
            if across is None:
                apart = sum(step is not Step.CONTIGUOUS for step in outs)
                if apart and not (self.reduction and self._has_strips(dim)):
                    continue
                scattered, squares = ins.count(Step.SCATTERED) + apart, 0
            else:
                pairs = list(zip(ins, self.in_steps(across), strict=True))
                scattered = 0
                squares = pairs.count((Step.SCATTERED, Step.CONTIGUOUS))
            # Lanes that are gathered pay where much is computed with each.
            if not self.reduction and scattered > ins.count(Step.CONTIGUOUS):
                continue
            if across is None:
                scattered -= self.gathered_once(dim)
            # What a sum reads would be transposed again and again.
            cost = (scattered + (squares if self.reduction else 0), -dim)
            if best is None or cost < best:
                best = cost
        return None if best is None else -best[1]

    def _has_strips(self, dim: int) -> bool:
        """
        Whether all that is written lies next to each other along one other dim: tiles
        of a sum are transposed once, in strips.
        """
        return any(
            all(step is Step.CONTIGUOUS for step in self.out_steps(other))
            for other in self.parallel
            if other != dim and self.is_long(other)
        )

    def gathered_once(self, dim: int) -> int:
        """
        How many inputs lie apart along `dim`, but stay where they are along another
        dim, whose loop need not gather them again.
        """
        others = [d for d in self.parallel if d != dim and self.is_long(d)]
        beside = [self.in_steps(other) for other in others]
        return sum(
            step is Step.SCATTERED
            and any(steps[number] is Step.UNIFORM for steps in beside)
            for number, step in enumerate(self.in_steps(dim))
        )

    def across(self, dim: int) -> int | None:
        """
        A dim along which all lies next to each other that lies apart along `dim`, or
        stays where it is: squares of points of the two are transposed in registers.
        """
        width = self.lanes(dim)
        apart = [
            (value, access)
            for value, access in self.transfers
            if step_along(access, memref_type_of(value), dim) is Step.SCATTERED
        ]
        if width < 2 or width & (width - 1) or not apart:
            return None
        for other in reversed(self.parallel):
            bound = self.bounds[other]
            if other == dim or (bound is not None and bound < width):
                continue
            steps = {step_along(a, memref_type_of(v), other) for v, a in apart}
            if Step.CONTIGUOUS in steps and steps <= {Step.CONTIGUOUS, Step.UNIFORM}:
                return other
        return None

    @property
    def transfers(self) -> list[tuple[SSAValue, tir.AccessAttr]]:
        """All that is read and written."""
        nest = self.nest
        return [
            *zip(nest.ins, nest.in_accesses, strict=True),
            *zip(nest.outs, nest.out_accesses, strict=True),
        ]

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
        found = self._lanes.get(dim)
        if found is None:
            found = self._lanes[dim] = self._lanes_within(self.bounds[dim])
        return found

    def _lanes_within(self, bound: int | None) -> int:
        lanes = max(1, self.machine.vector_bytes // self._widest_bytes)
        if bound is None or bound == 1:
            return lanes if bound is None else 1
        while lanes > bound:
            if self.can_mask and lanes // 2 < bound:
                break
            lanes //= 2
        return lanes

    @cached_property
    def can_mask(self) -> bool:
        """Whether vectors may be loaded and stored in part, of all that is accessed."""
        types = (*self._written_types, *self._in_types)
        sizes = [bytes_of(type) for type in types if _is_computed(type)]
        return all(map(self.machine.can_mask, sizes)) and len(sizes) == len(types)

    @cached_property
    def _widest_bytes(self) -> int:
        """Of what is computed: addresses and conditions take no room."""
        types = (*self.nest.accumulator_types, *self._written_types, *self._in_types)
        return max((bytes_of(type) for type in types if _is_computed(type)), default=8)

    @cached_property
    def _written_types(self) -> tuple[Attribute, ...]:
        return self.nest.finish_yield_types[: len(self.nest.outs)]

    @cached_property
    def _in_types(self) -> tuple[Attribute, ...]:
        return self.nest.in_types

    def vectors(self, dim: int, lanes: int) -> int:
        """How many vectors along the lanes, so that sums need not wait."""
        accumulators = max(1, len(self.nest.accumulator_types))
        most = max(1, 4 // accumulators)
        bound = self.bounds[dim]
        return most if bound is None else max(1, min(most, bound // lanes))

    def small_window(self) -> dict[int, int]:
        """
        How to unroll sums over a small window: all of it, or else the innermost.
        """
        bounds = {dim: self.bounds[dim] or 0 for dim in self.reduction}
        long = {dim: bound for dim, bound in bounds.items() if bound != 1}
        if 0 < math.prod(long.values()) <= MAX_WINDOW:
            return long
        for dim, bound in reversed(long.items()):
            return {dim: bound} if 0 < bound <= MAX_UNROLL else {}
        return {}


def _is_computed(type: Attribute) -> bool:
    return type != i1 and isinstance(type, FixedBitwidthType | AnyFloat | IndexType)


def bytes_of(type: Attribute) -> int:
    if isinstance(type, IndexType):
        return 8
    return max(1, cast(FixedBitwidthType, type).size)
