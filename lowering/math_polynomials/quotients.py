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
from transom.lowering.math_polynomials.scales import UNSCALED, Scales


def tanh(x: Lanes, scales: Scales = UNSCALED) -> Lanes:
    """The hyperbolic tangent. Error: 5e-7 of the result."""
    return _quotient(x, 9.01, TANH_NUMERATOR, TANH_DIVISOR, scales)


def erf(x: Lanes, scales: Scales = UNSCALED) -> Lanes:
    """The error function. Error: 6e-7 of the result."""
    return _quotient(x, 3.64, ERF_NUMERATOR, ERF_DIVISOR, scales)


def _quotient(
    x: Lanes,
    limit: float,
    numerator: Sequence[float],
    divisor: Sequence[float],
    scales: Scales,
) -> Lanes:
    """
    `x` times a quotient in the square of `x`, at most one in size, before it is scaled.

    The quotient stays what it is at the limit, so that larger arguments give more than
    one.
    """
    factor, last = scales.argument**2, len(divisor) - 1

    def scaled(coefficients: Sequence[float], by: float = 1.0) -> list[float]:
        """Coefficients for the square of `x`; the last of the divisor stays one."""
        return [by * c * factor ** (k - last) for k, c in enumerate(coefficients)]

    square = (x * x).at_most(limit * limit / factor)
    top = square.polynomial(scaled(numerator, scales.argument * scales.result))
    result = x * top / square.polynomial(scaled(divisor))
    one = abs(scales.result)
    return result.at_least(-one).at_most(one)
