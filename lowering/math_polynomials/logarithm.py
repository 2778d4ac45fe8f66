"""
`log`, `log2`, `log10` and `log1p` of f32.

`x` is `2**e * (1 + f)` with `1 + f` from the root of 1/2 to that of 2.
"""

import math

from transom.lowering.math_polynomials.coefficients import LOG
from transom.lowering.math_polynomials.exponential import LN2_HIGH, LN2_LOW
from transom.lowering.math_polynomials.lanes import Lanes

SMALLEST_NORMAL = 2.0**-126
ROOT_OF_HALF = 0x3F3504F3
"""The bits of the float next to the root of 1/2."""


def split(x: Lanes) -> tuple[Lanes, Lanes]:
    """`e`, as i32, and `1 + f`; of what is no positive number, anything."""
    small = x.is_("olt", SMALLEST_NORMAL)
    bits = small.choose(x * 2.0**23, x).bits() - ROOT_OF_HALF
    mantissa = ((bits & 0x007FFFFF) + ROOT_OF_HALF).floats()
    exponent = bits >> 23
    return small.choose(exponent - 23, exponent), mantissa


def log(x: Lanes) -> Lanes:
    """The logarithm. Error: 9e-8 of the result."""
    exponent, mantissa = split(x)
    return where_defined(x, _log(exponent.to_float(), mantissa - 1.0))


def log2(x: Lanes) -> Lanes:
    """The logarithm to base 2. Error: 1.8e-7 of the result."""
    exponent, mantissa = split(x)
    fraction = _log1p(mantissa - 1.0) * (1 / math.log(2))
    return where_defined(x, exponent.to_float() + fraction)


def log10(x: Lanes) -> Lanes:
    """The logarithm to base 10. Error: 1.6e-7 of the result."""
    exponent, mantissa = split(x)
    e = exponent.to_float()
    fraction = _log1p(mantissa - 1.0) * math.log10(math.e)
    low = e.fma(LOG10_2_LOW, fraction)
    return where_defined(x, e.fma(LOG10_2_HIGH, low))


LOG10_2_HIGH = 0.301025390625
"""The logarithm of 2 to base 10 in 13 bits, and what it lacks."""
LOG10_2_LOW = math.log10(2) - LOG10_2_HIGH


def log1p(x: Lanes) -> Lanes:
    """
    The logarithm of `1 + x`, precise near zero.

    What `1 + x` is rounded by is put back into `f`. Error: 1.3e-7 of the result.
    """
    grown = x + 1.0
    lost = x - (grown - 1.0)
    exponent, mantissa = split(grown)
    # Where the exponent is larger, nothing is lost.
    limited = exponent.lower_of(64)
    scale = ((limited.constant(127) - limited) << 23).floats()
    f = lost.fma(scale, mantissa - 1.0)
    result = where_defined(grown, _log(exponent.to_float(), f))
    return result.with_sign_of(x)


def where_defined(x: Lanes, value: Lanes) -> Lanes:
    """
    `value` for a positive finite `x`; for others what a logarithm is there.
    """
    infinite = x.is_("oeq", 0.0).choose(-math.inf, x)
    other = x.is_("olt", 0.0).choose(math.nan, infinite)
    regular = x.is_("ogt", 0.0) & x.is_("olt", math.inf)
    return regular.choose(value, other)


def _log(exponent: Lanes, f: Lanes) -> Lanes:
    square = f * f
    tail = exponent.fma(LN2_LOW, square * f * f.polynomial(LOG))
    return exponent.fma(LN2_HIGH, f + square.fma(-0.5, tail))


def _log1p(f: Lanes) -> Lanes:
    square = f * f
    return f + square.fma(-0.5, square * f * f.polynomial(LOG))
