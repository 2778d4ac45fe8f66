"""
Reductions whose lanes may be accumulated apart and folded in the end.

An accumulator qualifies if `body` only adds to it (or multiplies, takes the maximum, …)
something that depends on no accumulator: then the order does not matter beyond
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from transom.dialects.tir.nest import NestOp

_FLOAT_NEUTRAL: dict[type[Operation], float] = {
    arith.AddfOp: -0.0,
    arith.MulfOp: 1.0,
    arith.MaximumfOp: -math.inf,
    arith.MaxnumfOp: -math.inf,
    arith.MinimumfOp: math.inf,
    arith.MinnumfOp: math.inf,
}


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

    def combine(self, lhs: SSAValue, rhs: SSAValue) -> Operation:
        return type(self.op).create(
            operands=[lhs, rhs],
            result_types=[lhs.type],
            properties=dict(self.op.properties),
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
    use = accumulator.get_user_of_unique_use()
    if use is not op or not value.has_one_use():
        return None
    neutral = _neutral(type(op), accumulator.type)
    return None if neutral is None else Fold(op, neutral)


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
