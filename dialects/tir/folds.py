"""
Reductions whose lanes may be accumulated apart and folded in the end.

An accumulator qualifies if `body` only adds to it (or multiplies, takes the maximum, …)
something that depends on no accumulator: then the order does not matter beyond
rounding.

The largest number can also be what a comparison selects, which is one instruction on
more CPUs. It passes NaN over, and leaves open which of two zeros it takes:

```mlir
%more = arith.cmpf ogt, %x, %top fastmath<nsz> : f32
%next = arith.select %more, %x, %top : f32
```
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from transom.dialects.llvm.types import boolean_like
from transom.dialects.tir.nest import NestOp

Insert: TypeAlias = Callable[[Operation], SSAValue]
"""Writes an op, and gives its result."""

_FLOAT_NEUTRAL: dict[type[Operation], float] = {
    arith.AddfOp: -0.0,
    arith.MulfOp: 1.0,
    arith.MaximumfOp: -math.inf,
    arith.MaxnumfOp: -math.inf,
    arith.MinimumfOp: math.inf,
    arith.MinnumfOp: math.inf,
}


_LOWEST: dict[int, float] = {
    arith.CMPF_COMPARISON_OPERATIONS.index(predicate): start
    for predicate, start in (
        ("ogt", -math.inf),
        ("oge", -math.inf),
        ("olt", math.inf),
        ("ole", math.inf),
    )
}
"""What a value beats, by the predicate that selects it."""


def _smallest(width: int) -> int:
    return -(1 << (width - 1))


def _largest(width: int) -> int:
    return (1 << (width - 1)) - 1


_INTEGER_NEUTRAL: dict[type[Operation], Callable[[int], int]] = {
    arith.AddiOp: lambda width: 0,
    arith.MuliOp: lambda width: 1,
    arith.AndIOp: lambda width: -1,
    arith.OrIOp: lambda width: 0,
    arith.XOrIOp: lambda width: 0,
    arith.MaxSIOp: _smallest,
    arith.MinSIOp: _largest,
    arith.MaxUIOp: lambda width: 0,
    arith.MinUIOp: lambda width: -1,
}


@dataclass(frozen=True)
class Fold:
    """How parts of one accumulator are combined."""

    op: Operation
    neutral: Attribute
    """What changes nothing when it is combined with something."""
    comparison: arith.CmpfOp | None = None
    """That by which `op` selects what is on the left, or the accumulator."""

    @property
    def ops(self) -> tuple[Operation, ...]:
        return (self.op,) if self.comparison is None else (self.comparison, self.op)

    def combine(self, insert: Insert, total: SSAValue, value: SSAValue) -> SSAValue:
        """An accumulator that has taken up a value; `insert` gets each op."""
        if self.comparison is None:
            operands = (total, value)
        else:
            more = self._made(self.comparison, (value, total), boolean_like(total.type))
            operands = (insert(more), value, total)
        return insert(self._made(self.op, operands, total.type))

    @staticmethod
    def _made(
        op: Operation, operands: Sequence[SSAValue], type_: Attribute
    ) -> Operation:
        return type(op).create(
            operands=operands, result_types=[type_], properties=dict(op.properties)
        )


def folds_of(nest: NestOp) -> list[Fold] | None:
    """How each accumulator is folded, or None if one of them cannot be."""
    folds: list[Fold] = []
    yielded = nest.yielded(nest.body)
    for accumulator, value in zip(nest.body_accumulators, yielded, strict=True):
        fold = fold_of(accumulator, value)
        if fold is None:
            return None
        folds.append(fold)
    return folds


def fold_of(accumulator: SSAValue, value: SSAValue) -> Fold | None:
    """How an accumulator that becomes `value` is folded, or None if it cannot be."""
    if not isinstance(value, OpResult):
        return None
    op = value.op
    if not value.has_one_use():
        return None
    if isinstance(op, arith.SelectOp):
        return _selecting(op, accumulator)
    if accumulator.get_user_of_unique_use() is not op:
        return None
    neutral = _neutral(type(op), accumulator.type)
    return None if neutral is None else Fold(op, neutral)


def _selecting(op: arith.SelectOp, accumulator: SSAValue) -> Fold | None:
    """The fold that keeps the accumulator unless a value beats it; NaN does not."""
    comparison = op.cond.owner
    if not isinstance(comparison, arith.CmpfOp) or not op.cond.has_one_use():
        return None
    kept = comparison.rhs is accumulator and op.rhs is accumulator
    if not kept or comparison.lhs is not op.lhs or len(list(accumulator.uses)) != 2:
        return None
    lowest = _LOWEST.get(comparison.predicate.value.data)
    is_free = FastMathFlag.NO_SIGNED_ZEROS in comparison.fastmath.data
    if lowest is None or not is_free or not isinstance(accumulator.type, AnyFloat):
        return None
    return Fold(op, FloatAttr(lowest, accumulator.type), comparison)


def _neutral(kind: type[Operation], type: Attribute) -> Attribute | None:
    if isinstance(type, AnyFloat):
        number = _FLOAT_NEUTRAL.get(kind)
        return None if number is None else FloatAttr(number, type)
    if not isinstance(type, IntegerType | IndexType):
        return None
    integer = cast(IntegerType | IndexType, type)
    width = 64 if isinstance(integer, IndexType) else integer.width.data
    find = _INTEGER_NEUTRAL.get(kind)
    return None if find is None else IntegerAttr(find(width), integer)
