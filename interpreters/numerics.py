"""
Numbers as the IR means them: wrapping integers of either signedness, `i1` as one bit,
narrow floats rounded once.

All functions take NumPy scalars as well as arrays.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from transom.dialects.dtypes import BFLOAT16
from transom.interpreters.evaluators import Array, Value

BOOL = np.dtype(np.bool_)
F16 = np.dtype(np.float16)
F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)

where: Callable[[Value, Value, Value], Value] = np.where

_NARROW_FLOATS = (F16, BFLOAT16)
_FLOATS = (F16, BFLOAT16, F32, F64)


def is_float_dtype(dtype: np.dtype[Any]) -> bool:
    """Whether it is one of the four floating-point dtypes."""
    return dtype in _FLOATS


def as_signed(x: Value) -> Value:
    """The same bits as a signed integer; a set bit of `i1` is -1."""
    if x.dtype == BOOL:
        return -x.astype(np.int8)
    return x.view(f"i{x.dtype.itemsize}")


def as_unsigned(x: Value) -> Value:
    """The same bits as an unsigned integer; a set bit of `i1` is 1."""
    if x.dtype == BOOL:
        return x.astype(np.uint8)
    return x.view(f"u{x.dtype.itemsize}")


def wrap(x: Value, dtype: np.dtype[Any]) -> Value:
    """The integer modulo two to the width of `dtype`."""
    if dtype == BOOL:
        return (x & 1).astype(BOOL)
    return x.astype(dtype)


def exact(x: Value) -> Value:
    """A float as f32 if it is narrower, so that an operation on it rounds once more."""
    return x.astype(F32) if x.dtype in _NARROW_FLOATS else x


def wide(x: Value) -> Value:
    """A float of twice the precision: f32 for f16 and bf16, f64 for f32 and f64."""
    return x.astype(F32 if x.dtype in _NARROW_FLOATS else F64)


def rounded(x: Value, dtype: np.dtype[Any]) -> Value:
    """The nearest value of `dtype`, ties to even, with a single rounding."""
    if dtype == BFLOAT16 and x.dtype == F64:
        x = _odd_f32(np.asarray(x))
    return x.astype(dtype)


def _odd_f32(x: Array) -> Array:
    """
    f64 to f32, rounded to odd: a later rounding to a narrower float is then that of x.

    (Boldo and Melquiond, "When double rounding is odd", 2005.)
    """
    near = x.astype(F32)
    bits = near.view(np.uint32)
    away = np.abs(near.astype(F64)) > np.abs(x)
    toward_zero = (bits - away.astype(np.uint32)) | np.uint32(1)
    inexact = np.isfinite(x) & (near.astype(F64) != x)
    return where(inexact, toward_zero, bits).view(F32)


def integer_to_float(x: Value, dtype: np.dtype[Any]) -> Value:
    """The nearest float, with a single rounding."""
    if dtype not in _NARROW_FLOATS:
        return x.astype(dtype)
    if x.dtype.itemsize == 8:  # too wide for f64: round large ones to odd first
        odd = ((x >> 11) | (x & 0x7FF != 0).astype(x.dtype)) << 11
        x = where((x > 1 << 53) | (x < -(1 << 53)), odd, x)
    return rounded(x.astype(F64), dtype)


def float_to_int(x: Value, dtype: np.dtype[Any], *, saturate: bool) -> Value:
    """
    A float without its fraction as an integer.

    Out of range it is the nearest integer, and 0 for NaN, if `saturate`; else, where
    the result is undefined, the integer with only its top bit set, as on x86.
    """
    whole = np.trunc(np.asarray(x).astype(F64))
    if dtype == BOOL:
        low, high = -1.0, 2.0
    else:
        info = np.iinfo(dtype)
        low, high = float(info.min) - 1.0, math.ldexp(1.0, info.max.bit_length())
    inside = (whole > low) & (whole < high)
    if dtype.itemsize == 8 and low < -1.0:  # -2^63 - 1 is no float
        inside |= whole == low
    ok = where(inside, whole, 0.0)
    result = ok.astype(np.uint64 if dtype.kind == "u" else np.int64).astype(dtype)
    if not saturate:
        top = np.array(1 << (8 * dtype.itemsize - 1), f"u{dtype.itemsize}")
        return where(inside, result, wrap(top, dtype))
    result = where(whole >= high, _largest(dtype), result)
    return where(whole <= low, _smallest(dtype), result).astype(dtype)


def _largest(dtype: np.dtype[Any]) -> Value:
    return np.True_ if dtype == BOOL else np.array(np.iinfo(dtype).max, dtype)


def _smallest(dtype: np.dtype[Any]) -> Value:
    return np.False_ if dtype == BOOL else np.array(np.iinfo(dtype).min, dtype)


def truncating_divide(a: Value, b: Value) -> Value:
    """Integer division toward zero; by zero it is 0, and the least by -1 wraps."""
    quotient = a // b
    inexact = (a % b != 0) & ((a < 0) != (b < 0))
    return (quotient + inexact.astype(quotient.dtype)).astype(a.dtype)


def minimum(a: Value, b: Value) -> Value:
    """The smaller float: NaN if either is, and -0 below +0."""
    a, b = exact(a), exact(b)
    ordered = where(np.signbit(a), a, b)
    return where(a == b, ordered, np.minimum(a, b))


def maximum(a: Value, b: Value) -> Value:
    """The larger float: NaN if either is, and -0 below +0."""
    a, b = exact(a), exact(b)
    ordered = where(np.signbit(a), b, a)
    return where(a == b, ordered, np.maximum(a, b))


def fused_multiply_add(a: Value, b: Value, c: Value) -> Value:
    """
    `a * b + c`, rounded once for f32 and narrower.

    The product of two f32 is exact in f64; the sum is rounded to odd there. For f64 the
    errors of product and sum are added up, which is off by at most an ulp.
    """
    dtype = a.dtype
    if dtype != F64:
        product, addend = a.astype(F64) * b.astype(F64), c.astype(F64)
        return rounded(_odd_sum(np.asarray(product), np.asarray(addend)), dtype)
    product, lost = _two_product(a, b)
    total, error = _two_sum(product, c)
    fine = np.asarray(total + (lost + error))
    sizes = [np.abs(v) for v in (a, b, product)]
    large = np.maximum.reduce(np.broadcast_arrays(*sizes)) > 2.0**995
    extreme = (large | (sizes[2] < 2.0**-900)) & np.isfinite(a) & np.isfinite(b)
    extreme &= np.isfinite(c) & (product != 0)
    fine = where(np.isfinite(fine), fine, a * b + c)
    if not np.any(extreme):
        return fine
    return where(extreme, _rational_multiply_add(a, b, c), fine)


def _rational_multiply_add(a: Value, b: Value, c: Value) -> Value:
    """`a * b + c` where the parts of the product have no room in f64."""

    def one(x: float, y: float, z: float) -> float:
        try:
            exact = Fraction(x) * Fraction(y) + Fraction(z)
            return float(exact) if exact else x * y + z
        except (OverflowError, ValueError):  # too large, or no number to start with
            return x * y + z

    return np.asarray(np.frompyfunc(one, 3, 1)(a, b, c), F64)


def _two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """The rounded sum and what it lost (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Value, b: Value) -> tuple[Value, Value]:
    """The rounded product and what it lost (Dekker)."""
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    product = a * b
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + (
        a_low * b_low
    )
    return product, rest


def _split(x: Value) -> tuple[Value, Value]:
    scaled = x * 134217729.0  # 2^27 + 1
    high = scaled - (scaled - x)
    return high, x - high


def _odd_sum(a: Array, b: Array) -> Array:
    total, error = _two_sum(a, b)
    even = (total.view(np.uint64) & np.uint64(1)) == 0
    adjust = even & (error != 0) & np.isfinite(total)
    toward = where(error > 0, np.inf, -np.inf)
    return where(adjust, np.nextafter(total, toward), total)


_erf = np.frompyfunc(math.erf, 1, 1)


def erf(x: Value) -> Value:
    """The error function of an f32 or f64, in f64."""
    return np.asarray(_erf(np.asarray(x, F64)), F64)


def through_wide(
    function: Callable[..., Any], *operands: Value, dtype: np.dtype[Any]
) -> Value:
    """A function of floats, computed in more precision and rounded once."""
    return rounded(function(*(wide(x) for x in operands)), dtype)


def power(base: Value, exponent: Value, *, truncate: bool) -> Value:
    """
    Integer power modulo the width.

    With a negative exponent it is the reciprocal without its fraction: 0, 1 or -1.
    """
    base, exponent = np.broadcast_arrays(base, exponent)
    result = np.ones_like(base)
    square, rest = base.copy(), np.maximum(exponent, 0)
    while rest.any():
        result = where(rest & 1 != 0, result * square, result)
        square, rest = square * square, rest >> 1
    if truncate:
        odd = where(exponent & 1 != 0, base, 1)
        fraction = where(np.abs(base) == 1, odd, 0).astype(base.dtype)
        result = where(exponent < 0, fraction, result)
    return result
