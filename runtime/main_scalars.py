"""
The scalar arithmetic of a graph's main: names as in the IR, on NumPy scalars.

Integers wrap; a division by zero and a shift that is too far are errors, where machine
code would do anything.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Scalar = Any
Binary = Callable[[Scalar, Scalar], Scalar]

BITS = {"bool": 1, "int8": 8, "int16": 16, "int32": 32, "int64": 64}


class GraphRunError(ArithmeticError):
    """Arithmetic without a result."""


def unsigned(value: Scalar) -> int:
    """An integer as its bits say."""
    bits = BITS[value.dtype.name]
    return int(value) & ((1 << bits) - 1)


def wrapped(value: int, dtype: np.dtype[Any]) -> Scalar:
    """An integer, cut to the bits of a type."""
    bits = BITS[dtype.name]
    value &= (1 << bits) - 1
    if dtype.name == "bool":
        return np.bool_(value)
    return dtype.type(value - (1 << bits) if value >> (bits - 1) else value)


def _integers(function: Callable[[int, int], int]) -> Binary:
    return lambda a, b: wrapped(function(_signed(a), _signed(b)), a.dtype)


def _bits(function: Callable[[int, int], int]) -> Binary:
    return lambda a, b: wrapped(function(unsigned(a), unsigned(b)), a.dtype)


def _signed(value: Scalar) -> int:
    return -int(value) if value.dtype.name == "bool" else int(value)


def _divisor(b: int) -> int:
    if b == 0:
        raise GraphRunError("division by zero")
    return b


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(_divisor(b))
    return quotient if (a < 0) == (b < 0) else -quotient


def _shift(function: Callable[[int, int], int], *, signed: bool = False) -> Binary:
    def shifted(a: Scalar, b: Scalar) -> Scalar:
        count = unsigned(b)
        if count >= BITS[a.dtype.name]:
            raise GraphRunError(f"shift by {count}")
        value = _signed(a) if signed else unsigned(a)
        return wrapped(function(value, count), a.dtype)

    return shifted


def _float(function: Binary) -> Binary:
    def computed(a: Scalar, b: Scalar) -> Scalar:
        with np.errstate(all="ignore"):
            return function(a, b)

    return computed


BINARY: dict[str, Binary] = {
    "arith.addi": _integers(lambda a, b: a + b),
    "arith.subi": _integers(lambda a, b: a - b),
    "arith.muli": _integers(lambda a, b: a * b),
    "arith.divsi": _integers(_truncated),
    "arith.remsi": _integers(lambda a, b: a - _truncated(a, b) * b),
    "arith.floordivsi": _integers(lambda a, b: a // _divisor(b)),
    "arith.ceildivsi": _integers(lambda a, b: -(-a // _divisor(b))),
    "arith.divui": _bits(lambda a, b: a // _divisor(b)),
    "arith.remui": _bits(lambda a, b: a % _divisor(b)),
    "arith.ceildivui": _bits(lambda a, b: -(-a // _divisor(b))),
    "arith.andi": _bits(lambda a, b: a & b),
    "arith.ori": _bits(lambda a, b: a | b),
    "arith.xori": _bits(lambda a, b: a ^ b),
    "arith.maxsi": _integers(max),
    "arith.minsi": _integers(min),
    "arith.maxui": _bits(max),
    "arith.minui": _bits(min),
    "arith.shli": _shift(lambda a, b: a << b),
    "arith.shrui": _shift(lambda a, b: a >> b),
    "arith.shrsi": _shift(lambda a, b: a >> b, signed=True),
    "arith.addf": _float(lambda a, b: a + b),
    "arith.subf": _float(lambda a, b: a - b),
    "arith.mulf": _float(lambda a, b: a * b),
    "arith.divf": _float(lambda a, b: a / b),
}

INTEGER_PREDICATES: dict[str, Callable[[Scalar, Scalar], bool]] = {
    "eq": lambda a, b: unsigned(a) == unsigned(b),
    "ne": lambda a, b: unsigned(a) != unsigned(b),
    "slt": lambda a, b: _signed(a) < _signed(b),
    "sle": lambda a, b: _signed(a) <= _signed(b),
    "sgt": lambda a, b: _signed(a) > _signed(b),
    "sge": lambda a, b: _signed(a) >= _signed(b),
    "ult": lambda a, b: unsigned(a) < unsigned(b),
    "ule": lambda a, b: unsigned(a) <= unsigned(b),
    "ugt": lambda a, b: unsigned(a) > unsigned(b),
    "uge": lambda a, b: unsigned(a) >= unsigned(b),
}

FLOAT_PREDICATES: dict[str, Callable[[Scalar, Scalar], bool]] = {
    "oeq": lambda a, b: a == b,
    "ogt": lambda a, b: a > b,
    "oge": lambda a, b: a >= b,
    "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b,
    "one": lambda a, b: a < b or a > b,
    "une": lambda a, b: a != b,
    "ueq": lambda a, b: not (a < b or a > b),
    "ugt": lambda a, b: not a <= b,
    "uge": lambda a, b: not a < b,
    "ult": lambda a, b: not a >= b,
    "ule": lambda a, b: not a > b,
}

CASTS: dict[str, Callable[[Scalar, np.dtype[Any]], Scalar]] = {
    "arith.index_cast": lambda a, dtype: wrapped(_signed(a), dtype),
    "arith.index_castui": lambda a, dtype: wrapped(unsigned(a), dtype),
    "arith.extsi": lambda a, dtype: wrapped(_signed(a), dtype),
    "arith.extui": lambda a, dtype: wrapped(unsigned(a), dtype),
    "arith.trunci": lambda a, dtype: wrapped(unsigned(a), dtype),
    "arith.sitofp": lambda a, dtype: dtype.type(_signed(a)),
    "arith.extf": lambda a, dtype: dtype.type(a),
    "arith.truncf": lambda a, dtype: _float(lambda x, _: dtype.type(x))(a, a),
}
"""From one number to one of another type."""
