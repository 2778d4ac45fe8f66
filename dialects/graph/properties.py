"""
Properties of ops from Python numbers: each function takes the attribute as well.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    UnitAttr,
    f64,
    i64,
)
from xdsl.irdl import AttrConstraint, eq
from xdsl.utils.exceptions import VerifyException

IntList = DenseArrayBase[I64]
"""A list of i64, written `[1, 2]`."""

INT_LIST = DenseArrayBase.constr(i64)
INT = cast(AttrConstraint[IntegerAttr[I64]], IntegerAttr.constr(type=eq(i64)))
FLOAT = cast(AttrConstraint[FloatAttr[Float64Type]], FloatAttr.constr(f64))


def int_list(values: Sequence[int] | IntList) -> IntList:
    """A list of i64."""
    if isinstance(values, DenseArrayBase):
        return values
    return DenseArrayBase.from_list(i64, [int(value) for value in values])


def int_attr(value: int | IntegerAttr[I64]) -> IntegerAttr[I64]:
    """An i64."""
    return value if isinstance(value, IntegerAttr) else IntegerAttr(int(value), i64)


def float_attr(value: float | FloatAttr[Float64Type]) -> FloatAttr[Float64Type]:
    """An f64."""
    return value if isinstance(value, FloatAttr) else FloatAttr(float(value), f64)


def flag(value: bool) -> UnitAttr | None:
    """A property that is there or not."""
    return UnitAttr() if value else None


def check_axis(axis: int, rank: int, what: str = "axis") -> None:
    """Check that an axis is one of a tensor of this rank."""
    if not 0 <= axis < rank:
        raise VerifyException(f"expected 0 <= {what} < {rank}, but got {axis}")


def check_axes(axes: Sequence[int], rank: int) -> None:
    """Check that axes are some of a tensor of this rank, each one once."""
    for axis in axes:
        check_axis(axis, rank)
    if len(set(axes)) != len(axes):
        raise VerifyException(f"expected each axis once, but got {list(axes)}")


def check_count(values: Sequence[int], count: int, what: str) -> None:
    """Check that a list has so many entries."""
    if len(values) != count:
        raise VerifyException(
            f"expected {count} {what}, but got {len(values)}: {list(values)}"
        )


def check_at_least(values: Sequence[int], least: int, what: str) -> None:
    """Check that no entry of a list is below a bound."""
    if any(value < least for value in values):
        raise VerifyException(f"expected {what} >= {least}, but got {list(values)}")
