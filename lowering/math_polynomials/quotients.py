"""
`tanh` and `erf` of f32: odd quotients of polynomials up to where they are one.
"""

from transom.lowering.math_polynomials.coefficients import (
    ERF_DIVISOR,
    ERF_NUMERATOR,
    TANH_DIVISOR,
    TANH_NUMERATOR,
)
from transom.lowering.math_polynomials.lanes import Lanes


def tanh(x: Lanes) -> Lanes:
    """The hyperbolic tangent. Error: 4e-7 of the result."""
    x = x.at_least(-9.01).at_most(9.01)
    square = x * x
    top = x * square.polynomial(TANH_NUMERATOR)
    result = top / square.polynomial(TANH_DIVISOR)
    return result.at_least(-1.0).at_most(1.0)


def erf(x: Lanes) -> Lanes:
    """The error function. Error: 4e-7 of the result."""
    x = x.at_least(-3.92).at_most(3.92)
    square = x * x
    top = x * square.polynomial(ERF_NUMERATOR)
    result = top / square.polynomial(ERF_DIVISOR)
    return result.at_least(-1.0).at_most(1.0)
