"""
`powf` of f32: `2**(y * log2(x))` in f64, or roots where the exponent is a constant that
allows for it.
"""

import math

from xdsl.dialects import arith, vector
from xdsl.dialects import math as math_dialect
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr
from xdsl.ir import SSAValue

from transom.lowering.math_polynomials.coefficients import EXP2, LOG2
from transom.lowering.math_polynomials.lanes import Lanes
from transom.lowering.math_polynomials.logarithm import split

ROUND = 1.5 * 2.0**52
"""Floats of this size are whole, in f64."""

BIAS = 1023
"""Of an exponent of f64."""

LIMIT = 160.0
"""Two to this power is infinite in f32, and the inverse is zero."""

MOST_QUARTERS = 16
"""Exponents of up to four are products of roots."""


def pow(x: Lanes, y: Lanes) -> Lanes:
    """
    `x` to the power of `y`, at special values as in C.

    Error: 6.1e-8 of the result; 3e-7 where `y` is a constant number of quarters, at
    most 4 and not zero.
    """
    exponents = {constant_of(value) for value in y.values}
    exponent = exponents.pop() if len(exponents) == 1 else None
    if exponent is not None:
        quarters = exponent * 4
        if quarters == int(quarters) and 0 < abs(quarters) <= MOST_QUARTERS:
            return _by_roots(x, int(quarters))
    return _general(x, y)


def constant_of(value: SSAValue) -> float | None:
    """The finite number that a value is in all lanes, if it is known."""
    owner = value.owner
    if isinstance(owner, vector.BroadcastOp):
        owner = owner.source.owner
    if not isinstance(owner, arith.ConstantOp):
        return None
    number = owner.value
    if isinstance(number, DenseIntOrFPElementsAttr) and number.is_splat():
        number = next(iter(number.iter_attrs()))
    if isinstance(number, FloatAttr) and math.isfinite(number.value.data):
        return number.value.data
    return None


def _by_roots(x: Lanes, quarters: int) -> Lanes:
    """`x` to the power of some quarters, not zero."""
    wholes, rest = divmod(abs(quarters), 4)
    factors: list[Lanes] = []
    if rest:
        # The root of -0 is -0, and that of -infinity NaN, but the powers are not.
        x = x.is_("oeq", -math.inf).choose(math.inf, x + 0.0)
        root = x.apply(math_dialect.SqrtOp)
        if rest & 2:
            factors.append(root)
        if rest & 1:
            factors.append(root.apply(math_dialect.SqrtOp))
    square = x
    while wholes:
        if wholes & 1:
            factors.append(square)
        wholes >>= 1
        if wholes:
            square = square * square
    result, *others = factors
    for factor in others:
        result = result * factor
    return result.constant(1.0) / result if quarters < 0 else result


def _general(x: Lanes, y: Lanes) -> Lanes:
    size = x.magnitude()
    power = _exp2(_log2(size) * y.wide()).single()
    # 0 times infinity is NaN, but 1 to an infinite power is 1.
    power = size.is_("oeq", 1.0).choose(1.0, power)
    whole = y.is_("oeq", y.apply(math_dialect.FloorOp))
    half = y * 0.5
    odd = whole & half.is_("une", half.apply(math_dialect.FloorOp))
    power = odd.choose(power.with_sign_of(x), power)
    negative = x.is_("olt", 0.0) & x.is_("ogt", -math.inf)
    undefined = (negative & whole.inverted()) | x.is_("uno", y)
    power = undefined.choose(math.nan, power)
    return (x.is_("oeq", 1.0) | y.is_("oeq", 0.0)).choose(1.0, power)


def _log2(x: Lanes) -> Lanes:
    """In f64, of an f32 that is not negative; of NaN anything."""
    exponent, mantissa = split(x)
    f = mantissa.wide() - 1.0
    log = f.fma(f.polynomial(LOG2), exponent.to_float().wide())
    log = x.is_("oeq", math.inf).choose(math.inf, log)
    return x.is_("oeq", 0.0).choose(-math.inf, log)


def _exp2(x: Lanes) -> Lanes:
    """In f64; zero and infinity are such in f32."""
    x = x.at_least(-LIMIT).at_most(LIMIT)
    shifted = x + (ROUND + BIAS)
    r = x - (shifted - (ROUND + BIAS))
    return r.polynomial(EXP2) * (shifted.bits() << 52).floats()
