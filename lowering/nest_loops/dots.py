"""
Sums of products of several integers at once, by `tir.dot`.

One input is the same for all lanes and has the numbers of a group side by side; the
other, packed, has the groups of neighbouring lanes one behind the other:

    shared   x[c .. c+3]                       lane 0          lane 1
    lanes    w[.., k .. k+15, c .. c+3]    [w w w w]       [w w w w]       ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    MemRefType,
    NoneAttr,
    StringAttr,
    UnitAttr,
    VectorType,
    i16,
)
from xdsl.ir import Attribute, SSAValue

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.dialects.tir.accesses import interval_of
from transom.dialects.tir.dot import GROUPS, DotFactor, DotInstructions, dot_factors
from transom.dialects.tir.steps import Step, step_of
from transom.lowering.nest_loops.emitter import Emitter, as_vector
from transom.lowering.nest_loops.points import Point
from transom.lowering.nest_loops.transfers import Reader, Transfer


class Dots:
    """The dot products of one nest, along a dim in groups of `size`."""

    def __init__(
        self,
        factors: tuple[DotFactor, DotFactor],
        dot: tuple[int, int],
        using: DotInstructions,
        emitter: Emitter,
        reader: Reader,
    ) -> None:
        """`using` says which instructions the CPU has."""
        self.factors = factors
        self.dim, self.size = dot
        self.using = using
        self.emitter = emitter
        self.reader = reader

    @staticmethod
    def of(
        nest: tir.NestOp,
        schedule: tir.ScheduleAttr,
        using: DotInstructions,
        emitter: Emitter,
        reader: Reader,
    ) -> Dots | None:
        """What a schedule asks for, if the nest is such a sum."""
        factors = dot_factors(nest)
        if schedule.dot_dim is None or factors is None:
            return None
        return Dots(factors, schedule.dot_dim, using, emitter, reader)

    def roles(
        self, ins: Sequence[Transfer], point: Point
    ) -> tuple[DotFactor, DotFactor] | None:
        """
        The factor that all lanes of a point share and the one that moves with them, if
        they lie so that a group is summed at once.
        """
        first, second = self.factors
        for shared, moving in ((first, second), (second, first)):
            if (
                point.width > 1
                and self.size <= min(GROUPS[f.element] for f in self.factors)
                and self._is_shared(ins[shared.position], point)
                and self._lies_in_groups(ins[moving.position], point)
            ):
                return shared, moving
        return None

    def _along(self, point: Point) -> Point:
        """The numbers of a group, as lanes."""
        return replace(point, lane_dim=self.dim, width=self.size, count=self.size)

    def _is_shared(self, transfer: Transfer, point: Point) -> bool:
        return (
            transfer.is_input
            and transfer.along(point) is Step.UNIFORM
            and transfer.along(self._along(point)) is Step.CONTIGUOUS
        )

    def _lies_in_groups(self, transfer: Transfer, point: Point) -> bool:
        type, shape = transfer.type, transfer.shape
        if len(shape) < 2 or shape[-1] != self.size or transfer.access.pad is not None:
            return False
        if not transfer.is_input or not isinstance(type.layout, NoneAttr):
            return False
        *outer, last = [point.local(expr) for expr in transfer.exprs]
        if affine.constant_value(last) != 0:
            return False
        rows = MemRefType(type.element_type, shape[:-1])
        if step_of(outer, rows, point.local_lane) is not Step.CONTIGUOUS:
            return False
        first = point.lane(0)
        start = interval_of(first.local(transfer.exprs[-2]), first.local_intervals)
        return start.upper + point.width <= shape[-2]

    def write(
        self,
        ins: Sequence[Transfer],
        roles: tuple[DotFactor, DotFactor],
        point: Point,
        total: SSAValue,
    ) -> SSAValue:
        """The accumulator of a point with a group more."""
        shared, moving = roles
        lhs = self.reader.read(ins[shared.position], self._along(point))
        rhs = self._lanes(ins[moving.position], point)
        narrow = self.size == GROUPS[shared.element] == GROUPS[moving.element]
        properties: dict[str, Attribute] = {}
        if narrow and shared.is_unsigned:
            properties["lhs_unsigned"] = UnitAttr()
        if narrow and moving.is_unsigned:
            properties["rhs_unsigned"] = UnitAttr()
        if self.using is not DotInstructions.NONE:
            properties["instructions"] = StringAttr(self.using)
        if not narrow:
            lhs, rhs = self._widened(lhs, shared), self._widened(rhs, moving)
        operands = (self.emitter.broadcast(total, point.width), lhs, rhs)
        return self.emitter.pure(tir.DotOp, operands, (operands[0].type,), properties)

    def _lanes(self, transfer: Transfer, point: Point) -> SSAValue:
        indices = self.reader.indices(transfer, point.lane(0))
        type = VectorType(transfer.element_type, [point.width, self.size])
        load = vector.LoadOp.create(
            operands=[transfer.value, *map(self.emitter.index, indices)],
            result_types=[type],
        )
        count = point.width * self.size
        return self.reader.insert_load(transfer, load, indices, count)

    def _widened(self, value: SSAValue, factor: DotFactor) -> SSAValue:
        """Numbers as i16."""
        if factor.element == i16:
            return value
        own = as_vector(value)
        assert own is not None, "groups are vectors"
        kind = arith.ExtUIOp if factor.is_unsigned else arith.ExtSIOp
        type = VectorType(i16, own.get_shape())
        return self.emitter.pure(kind, (value,), (type,))
