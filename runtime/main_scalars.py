"""
The scalar arithmetic of main where it is walked: names as in the IR, on NumPy scalars.

Integers wrap; a division by zero, a shift that is too far and an integer that a float
is too large for are errors, where machine code would do anything.
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from transom.runtime import math_library
from transom.runtime.main_failures import MainFailure
from transom.runtime.math_library import calling

Scalar = Any
Unary = Callable[[Scalar], Scalar]
Binary = Callable[[Scalar, Scalar], Scalar]
Ternary = Callable[[Scalar, Scalar, Scalar], Scalar]

BITS = {"bool": 1, "int8": 8, "int16": 16, "int32": 32, "int64": 64}


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
        raise MainFailure("division by zero")
    return b


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(_divisor(b))
    return quotient if (a < 0) == (b < 0) else -quotient


def _shift(function: Callable[[int, int], int], *, signed: bool = False) -> Binary:
    def shifted(a: Scalar, b: Scalar) -> Scalar:
        count = unsigned(b)
        if count >= BITS[a.dtype.name]:
            raise MainFailure(f"shift by {count}")
        value = _signed(a) if signed else unsigned(a)
        return wrapped(function(value, count), a.dtype)

    return shifted


def _quiet(function: Callable[..., Scalar]) -> Callable[..., Scalar]:
    """What is no number is a result, and no warning."""

    def computed(*values: Scalar) -> Scalar:
        with np.errstate(all="ignore"):
            return values[0].dtype.type(function(*values))

    return computed


_added = _quiet(operator.add)
_times = _quiet(operator.mul)


def _larger(a: Scalar, b: Scalar) -> Scalar:
    """The larger one; of zeros that without a sign."""
    if a == b:
        return b if np.signbit(a) else a
    return a if a > b else b


def _smaller(a: Scalar, b: Scalar) -> Scalar:
    """The smaller one; of zeros that with a sign."""
    if a == b:
        return a if np.signbit(a) else b
    return a if a < b else b


def _propagating(function: Binary) -> Binary:
    """What is no number if one of both is none."""
    return lambda a, b: _added(a, b) if np.isnan(a) or np.isnan(b) else function(a, b)


def _skipping(function: Binary) -> Binary:
    """The other one if one of both is no number."""
    return lambda a, b: b if np.isnan(a) else a if np.isnan(b) else function(a, b)


def rounded(value: Fraction, dtype: np.dtype[Any], *, negative_zero: bool) -> Scalar:
    """
    The float nearest to a number, ties to the even one. Where a float of 64 bits lies
    between, the way over it is to odd (Boldo and Melquiond, "Emulation of FMA and
    correctly rounded sums", 2008), so that rounding twice does no harm.
    """
    if value == 0:
        return dtype.type(-0.0 if negative_zero else 0.0)
    try:
        near = float(value)
    except OverflowError:
        near = math.copysign(math.inf, value)
    if dtype.name != "float64" and math.isfinite(near) and Fraction(near) != value:
        bits = int(np.float64(near).view(np.int64))
        if bits & 1 == 0:
            is_beyond = abs(Fraction(near)) > abs(value)
            bits += -1 if is_beyond else 1
        near = float(np.int64(bits).view(np.float64))
    with np.errstate(all="ignore"):
        return dtype.type(near)


def fused(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
    """`a * b + c`, rounded once."""
    if not (np.isfinite(a) and np.isfinite(b)):
        return _added(_times(a, b), c)
    if not np.isfinite(c):
        return c
    product = Fraction(float(a)) * Fraction(float(b))
    negative = product < 0 or (
        product == 0 and bool(np.signbit(a)) != bool(np.signbit(b))
    )
    # A sum of zeros has a sign only if both have; one of others that is 0 has none.
    negative_zero = product == 0 and negative and bool(np.signbit(c))
    return rounded(product + Fraction(float(c)), a.dtype, negative_zero=negative_zero)


def _to_integer(value: Scalar, dtype: np.dtype[Any], *, signed: bool) -> Scalar:
    bits = BITS[dtype.name]
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    number = float(value)
    if not math.isfinite(number) or not low <= math.trunc(number) < high:
        raise MainFailure(f"{number} as an integer of {bits} bits")
    return wrapped(math.trunc(number), dtype)


def _from_integer(value: int, dtype: np.dtype[Any]) -> Scalar:
    return rounded(Fraction(value), dtype, negative_zero=False)


def _narrowed(value: Scalar, dtype: np.dtype[Any]) -> Scalar:
    with np.errstate(all="ignore"):
        return dtype.type(value)


def _same_bits(value: Scalar, dtype: np.dtype[Any]) -> Scalar:
    return np.asarray(value).reshape(1).view(dtype)[0]


def _inverse_root(a: Scalar) -> Scalar:
    """One over the square root, both rounded; of bf16 in f32."""
    wide = np.float32(a) if a.dtype.name == "bfloat16" else a
    return _quiet(np.divide)(wide.dtype.type(1), _quiet(np.sqrt)(wide))


def _power(a: Scalar, exponent: Scalar) -> Scalar:
    """A float to an integer, by squares, as `powi` of GCC's library."""
    wide = np.float32(a) if a.dtype.itemsize == 2 else a
    count = abs(int(exponent))
    result = wide if count % 2 else wide.dtype.type(1)
    while count := count >> 1:
        wide = _times(wide, wide)
        if count % 2:
            result = _times(result, wide)
    if exponent < 0:
        result = _quiet(np.divide)(wide.dtype.type(1), result)
    return _narrowed(result, a.dtype)


INTEGER_UNARY: dict[str, Unary] = {
    "math.absi": lambda a: wrapped(abs(_signed(a)), a.dtype),
    "math.ctlz": lambda a: wrapped(
        BITS[a.dtype.name] - unsigned(a).bit_length(), a.dtype
    ),
    "math.ctpop": lambda a: wrapped(unsigned(a).bit_count(), a.dtype),
    "math.cttz": lambda a: wrapped(
        (unsigned(a) & -unsigned(a) or 1 << BITS[a.dtype.name]).bit_length() - 1,
        a.dtype,
    ),
}

FLOAT_UNARY: dict[str, Unary] = {
    **{op: calling(name) for op, name in math_library.UNARY.items()},
    "arith.negf": lambda a: -a,
    "math.absf": lambda a: abs(a),
    "math.ceil": _quiet(np.ceil),
    "math.floor": _quiet(np.floor),
    "math.roundeven": _quiet(np.rint),
    "math.rsqrt": lambda a: _narrowed(_inverse_root(a), a.dtype),
    "math.sqrt": _quiet(np.sqrt),
    "math.trunc": _quiet(np.trunc),
}

UNARY = {**INTEGER_UNARY, **FLOAT_UNARY}

TERNARY: dict[str, Ternary] = {"math.fma": fused}

INTEGER_BINARY: dict[str, Binary] = {
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
}

FLOAT_BINARY: dict[str, Binary] = {
    **{op: calling(name) for op, name in math_library.BINARY.items()},
    "arith.addf": _added,
    "arith.subf": _quiet(operator.sub),
    "arith.mulf": _times,
    "arith.divf": _quiet(np.divide),
    "arith.maximumf": _propagating(_larger),
    "arith.minimumf": _propagating(_smaller),
    "arith.maxnumf": _skipping(_larger),
    "arith.minnumf": _skipping(_smaller),
    "math.copysign": _quiet(np.copysign),
}

POWERS: dict[str, Binary] = {"math.fpowi": _power}
"""Of a float and an integer."""

BINARY = {**INTEGER_BINARY, **FLOAT_BINARY, **POWERS}

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
    "false": lambda a, b: False,
    "true": lambda a, b: True,
    "ord": lambda a, b: a == a and b == b,
    "uno": lambda a, b: a != a or b != b,
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
    "arith.sitofp": lambda a, dtype: _from_integer(_signed(a), dtype),
    "arith.uitofp": lambda a, dtype: _from_integer(unsigned(a), dtype),
    "arith.fptosi": lambda a, dtype: _to_integer(a, dtype, signed=True),
    "arith.fptoui": lambda a, dtype: _to_integer(a, dtype, signed=False),
    "arith.extf": lambda a, dtype: dtype.type(a),
    "arith.truncf": _narrowed,
    "arith.bitcast": _same_bits,
}
"""From one number to one of another type."""
