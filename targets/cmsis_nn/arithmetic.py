"""
The integer arithmetic of CMSIS-NN in NumPy, bit by bit that of its default build (two
roundings), and the numbers that its functions take for a scale.

Sources: the requantisation and softmax of gemmlowp and TensorFlow Lite Micro, as the
library (7.0.0) has them.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Integer = npt.NDArray[np.int64] | int

INT32_MAX = 2**31 - 1

LEFT_SHIFT = 20
"""How far inputs of an addition are shifted left, so that nothing is lost."""

EXP_SCALE_BITS = 5
"""Integer bits of the differences that an exponential is taken of."""


class Scale(NamedTuple):
    """A factor as a multiplier of 31 fractional bits, and a shift to the left."""

    multiplier: int
    shift: int


def quantized_scale(factor: float) -> Scale:
    """The nearest `multiplier * 2**(shift - 31)` to a factor > 0."""
    fraction, exponent = math.frexp(factor)
    # Half away from zero, as C's `round`.
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, exponent = multiplier // 2, exponent + 1
    return Scale(multiplier, exponent)


def wrapped(value: Array) -> npt.NDArray[np.int64]:
    """As 32-bit arithmetic leaves it."""
    return value.astype(np.int64).astype(np.int32).astype(np.int64)


def shifted_right(value: Array, exponent: Integer) -> npt.NDArray[np.int64]:
    """`value / 2**exponent`, rounded to the nearest, ties away from zero."""
    value = np.asarray(value, np.int64)
    mask = (np.int64(1) << np.asarray(exponent, np.int64)) - 1
    remainder = value & mask
    return (value >> exponent) + (remainder > (mask >> 1) + (value < 0))


def requantized(
    value: Array, multiplier: Integer, shift: Integer
) -> npt.NDArray[np.int64]:
    """`value * multiplier * 2**(shift - 31)`, rounded after each of two steps."""
    multiplier = np.asarray(multiplier, np.int64)
    shift = np.asarray(shift, np.int64)
    value = wrapped(np.asarray(value, np.int64) << np.maximum(shift, 0))
    high = (value * multiplier + (1 << 30)) >> 31
    return wrapped(shifted_right(wrapped(high), np.maximum(-shift, 0)))


def clamped(value: Array, activation: Sequence[int]) -> npt.NDArray[np.int8]:
    """Within the least and the greatest result."""
    least, most = activation
    return np.clip(value, least, most).astype(np.int8)


class Addition(NamedTuple):
    """What `arm_elementwise_add_s8` takes for three scales."""

    lhs: Scale
    rhs: Scale
    result: Scale


def addition(lhs: float, rhs: float, result: float) -> Addition:
    """The numbers of an addition of values of two scales to one of a third."""
    twice = 2 * max(lhs, rhs)
    return Addition(
        quantized_scale(lhs / twice),
        quantized_scale(rhs / twice),
        quantized_scale(twice / (2**LEFT_SHIFT * result)),
    )


class Softmax(NamedTuple):
    """What `arm_softmax_s8` takes for the scale of its input."""

    scale: Scale
    diff_min: int


def softmax_numbers(scale: float) -> Softmax:
    """The numbers of a softmax of values of a scale."""
    bits = 31 - EXP_SCALE_BITS
    numbers = quantized_scale(min(scale * 2.0**bits, float(INT32_MAX)))
    return Softmax(numbers, -math.floor(31 * 2.0**bits / 2.0**numbers.shift))


def doubling_high(a: Array, b: Integer) -> npt.NDArray[np.int64]:
    """`a * b / 2**31`, rounded, ties toward positive infinity; one case saturates."""
    a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    product = a * b
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    # A division that truncates.
    result = np.sign(nudged) * (np.abs(nudged) >> 31)
    saturates = (a == -(2**31)) & (b == -(2**31))
    return np.where(saturates, INT32_MAX, result)


def exp_of_negative(value: Array) -> npt.NDArray[np.int64]:
    """The exponential of numbers <= 0 with 26 fractional bits, with 31 of them."""
    value = np.asarray(value, np.int64)
    quarter = 1 << 24
    part = (value & (quarter - 1)) - quarter
    rest = part - value
    x = (part << EXP_SCALE_BITS) + (1 << 28)
    x2 = doubling_high(x, x)
    third = round(2**31 / 3)
    x4 = shifted_right(doubling_high(x2, x2), 2)
    inner = doubling_high(x4 + doubling_high(x2, x), third) + x2
    p = x + shifted_right(inner, 1)
    start = round(2**31 * math.exp(-1 / 8))
    result = start + doubling_high(p, start)
    for bit in range(7):
        factor = round(2**31 * math.exp(-(2.0 ** (bit - 2))))
        is_set = (rest & (1 << (24 + bit))) != 0
        result = np.where(is_set, doubling_high(result, factor), result)
    return np.where(value == 0, INT32_MAX, result)


def one_over_one_plus(value: Array) -> npt.NDArray[np.int64]:
    """`1 / (1 + x)` of x in [0, 1), both with 31 fractional bits."""
    half = (np.asarray(value, np.int64) + INT32_MAX + 1) // 2
    y = round(2**29 * 48 / 17) + doubling_high(half, -round(2**29 * 32 / 17))
    for _ in range(3):
        correction = doubling_high(y, (1 << 29) - doubling_high(half, y))
        y = y + saturated(correction << 2)
    return saturated(y << 1)


def saturated(value: Array) -> npt.NDArray[np.int64]:
    """Within 32 bits."""
    return np.clip(value, -(2**31), INT32_MAX)


def softmax(rows: Array, multiplier: int, shift: int, diff_min: int) -> Array:
    """`arm_softmax_s8` of int8 rows `[…, n]`, with scale 1/256 and zero point -128."""
    rows = np.asarray(rows, np.int64)
    differences = rows - rows.max(axis=-1, keepdims=True)
    counts = differences >= diff_min
    kept = np.where(counts, differences, 0)
    powers = exp_of_negative(doubling_high(wrapped(kept << shift), multiplier))
    total = np.where(counts, shifted_right(powers, 12), 0).sum(axis=-1, keepdims=True)
    zeros = 32 - np.ceil(np.log2(total + 0.5)).astype(np.int64)
    inverse = one_over_one_plus((total << zeros) - 2**31)
    result = shifted_right(doubling_high(inverse, powers), 35 - zeros) - 128
    return np.where(counts, np.clip(result, -128, 127), -128).astype(np.int8)
