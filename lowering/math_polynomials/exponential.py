"""
`exp`, `exp2` and `expm1` of f32.

`exp(x)` is `2**n * exp(r)` with a whole `n` and `r` of at most half of ln 2. The sum
with `ROUND` rounds to a whole number, whose bits are then the lowest of the float.
"""

import math

from transom.lowering.math_polynomials.coefficients import EXP, EXPM1
from transom.lowering.math_polynomials.lanes import Lanes

ROUND = 1.5 * 2.0**23
"""Floats of this size are whole, and the next ones in both directions too."""

BIAS = 126
"""
Of an exponent that scales, one less than that of f32: so half of the largest float is
a scale, and the scale of -126 is zero.
"""

LOG2_E = 1 / math.log(2)
LN2_HIGH = 0.693145751953125
"""ln 2 in 15 bits: its products with whole numbers up to 9 bits are exact."""
LN2_LOW = 1.4286068203094173e-06

LOWEST, HIGHEST = -87.4, 88.8
"""Beyond, results are zero and infinity, as they are there."""


def exp(x: Lanes) -> Lanes:
    """
    The exponential; zero where it is below `2**-125.5`, about 1.7e-38.

    Error: 2e-7 of the result.
    """
    scale, r = _split(x)
    return r.polynomial((2.0, 2.0, *(2.0 * c for c in EXP))) * scale


def exp2(x: Lanes) -> Lanes:
    """
    Two to a power; zero where it is below `2**-125.5`.

    Error: 2e-7 of the result.
    """
    x = x.at_least(-126.0).at_most(128.0)
    shifted = x + (ROUND + BIAS)
    r = (x - (shifted - (ROUND + BIAS))) * math.log(2)
    scale = (shifted.bits() << 23).floats()
    return r.polynomial((2.0, 2.0, *(2.0 * c for c in EXP))) * scale


def expm1(x: Lanes) -> Lanes:
    """
    The exponential less one, precise near zero.

    Error: 1.2e-7 of the result.
    """
    half, r = _split(x.at_least(-20.0))
    grown = (r * r).fma(r.polynomial(EXPM1), r)
    result = half.fma(grown, half - 0.5) * 2.0
    return result.with_sign_of(x)


def _split(x: Lanes) -> tuple[Lanes, Lanes]:
    """`2**(n - 1)` and `r` of `exp(x) = 2**n * exp(r)`."""
    x = x.at_least(LOWEST).at_most(HIGHEST)
    shifted = x.fma(LOG2_E, ROUND + BIAS)
    n = shifted - (ROUND + BIAS)
    r = n.fma(-LN2_LOW, n.fma(-LN2_HIGH, x))
    return (shifted.bits() << 23).floats(), r
