"""
`sin` and `cos` of f32.

`x` is a whole number `n` of quarter turns and an `r` of at most an eighth, in which a
polynomial is the sine or the cosine, by `n`. The sum of three floats stands for the
quarter turn; where `n` is so large that this is not enough, the C library computes the
lanes one by one, in f64.
"""

import math

from xdsl.dialects import math as math_dialect

from transom.lowering.math_polynomials.coefficients import COS, SIN
from transom.lowering.math_polynomials.exponential import ROUND
from transom.lowering.math_polynomials.lanes import Lanes, joined

QUARTER_TURN = tuple(
    map(float.fromhex, ("0x1.921FB6p0", "-0x1.777A5Cp-25", "-0x1.EE59DAp-50"))
)
"""Half of pi as a sum of f32, for multiply-adds that round once."""

SHORT_QUARTER_TURN = tuple(
    map(float.fromhex, ("0x1.920p0", "0x1.FB4p-12", "0x1.444p-24", "0x1.68C234p-39"))
)
"""The same in parts of 12 bits at most, for products of 12 bits that are exact."""

LARGEST, LARGEST_WITHOUT_FMA = 65536.0, 4096.0
"""The arguments up to which the parts are enough."""


def sin(x: Lanes) -> Lanes:
    """The sine. Error: 1.8e-7 of the result."""
    n, r = _quarters(x.magnitude())
    # Signs: of the argument, and of the half turn.
    sign = ((n << 30) ^ x.bits()) & SIGN
    near = (_parts(n, r, odd_is_cosine=True).bits() ^ sign).floats()
    return _or_library(x, near, math_dialect.SinOp)


def cos(x: Lanes) -> Lanes:
    """The cosine. Error: 1.8e-7 of the result."""
    n, r = _quarters(x.magnitude())
    sign = ((n + 1) << 30) & SIGN
    near = (_parts(n, r, odd_is_cosine=False).bits() ^ sign).floats()
    return _or_library(x, near, math_dialect.CosOp)


SIGN = -(2**31)


def _quarters(x: Lanes) -> tuple[Lanes, Lanes]:
    """The nearest number of quarter turns, as bits, and what is left."""
    shifted = x.fma(2 / math.pi, ROUND)
    n, rest = shifted - ROUND, x
    parts = QUARTER_TURN if x.writer.has_fma else SHORT_QUARTER_TURN
    for part in parts:
        rest = n.fma(-part, rest)
    return shifted.bits(), rest


def _parts(n: Lanes, r: Lanes, *, odd_is_cosine: bool) -> Lanes:
    """The sine or the cosine of `r`, by whether `n` is odd."""
    square = r * r
    sine = (r * square).fma(square.polynomial(SIN), r)
    half = square.fma(-0.5, 1.0)
    cosine = (square * square).fma(square.polynomial(COS), half)
    odd = (n & 1).equals(1)
    return odd.choose(cosine, sine) if odd_is_cosine else odd.choose(sine, cosine)


def _or_library(
    x: Lanes,
    near: Lanes,
    function: type[math_dialect.SinOp | math_dialect.CosOp],
) -> Lanes:
    """`near` for small arguments, the function of the C library for others."""
    largest = LARGEST if x.writer.has_fma else LARGEST_WITHOUT_FMA

    def by_library(lane: Lanes) -> Lanes:
        return lane.wide().apply(function).single()

    def one(x: Lanes, near: Lanes) -> Lanes:
        far = x.magnitude().is_("ugt", largest)
        return far.where_any(lambda: far.choose(x.lane_by_lane(by_library), near), near)

    return joined([*map(one, x.parts(), near.parts())])
