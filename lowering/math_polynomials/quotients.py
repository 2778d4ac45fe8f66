"""
`tanh` and `erf` of f32: odd quotients of polynomials up to where they are one.
"""

from collections.abc import Sequence

from transom.lowering.math_polynomials.coefficients import (
    ERF_DIVISOR,
    ERF_NUMERATOR,
    TANH_DIVISOR,
    TANH_NUMERATOR,
)
from transom.lowering.math_polynomials.lanes import Lanes


def tanh(x: Lanes) -> Lanes:
    """The hyperbolic tangent. Error: 4e-7 of the result."""
    return _quotient(x, 9.01, TANH_NUMERATOR, TANH_DIVISOR)


def erf(x: Lanes) -> Lanes:
    """The error function. Error: 4e-7 of the result."""
    return _quotient(x, 3.92, ERF_NUMERATOR, ERF_DIVISOR)


def _quotient(
    x: Lanes, limit: float, numerator: Sequence[float], divisor: Sequence[float]
) -> Lanes:
    """
    `x` times a quotient in the square of `x`, at most one in size.

    The quotient stays what it is at the limit, so that larger arguments give more than
    one.
    """
    square = (x * x).at_most(limit * limit)
    result = x * square.polynomial(numerator) / square.polynomial(divisor)
    return result.at_least(-1.0).at_most(1.0)
