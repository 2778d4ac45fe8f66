"""
Powers, quotients and rests of one element: what takes more than one instruction.
"""

import math as numbers
from typing import TYPE_CHECKING

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import (
    Float16Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    f32,
    f64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from transom.dialects.tir import RegionBuilder

if TYPE_CHECKING:
    from transom.lowering.graph_to_tir.scalars import Element

MAX_CHAIN = 16
"""Up to this exponent an integer power is written out as products."""


def constant_of(value: SSAValue) -> int | float | None:
    """The number that a value in a region is, if it is a constant."""
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(
        op.value, FloatAttr | IntegerAttr
    ):
        return op.value.value.data
    return None


def power(e: "Element") -> SSAValue:
    """`lhs` to the power of `rhs`; integers wrap around."""
    b, (lhs, rhs) = e.b, e.args
    exponent = constant_of(rhs)
    if e.is_float:
        if exponent == 2.0:  # the product is rounded as the power is
            return b(arith.MulfOp(lhs, lhs))
        return b(math.PowFOp(lhs, rhs))
    if exponent is not None and 0 <= exponent <= MAX_CHAIN:
        return _chain(b, lhs, int(exponent), e.constant(1))
    result = _integer_power(b, lhs, rhs, e.width)
    return result if e.is_unsigned else _of_negative(e, result)


def _chain(b: RegionBuilder, base: SSAValue, exponent: int, one: SSAValue) -> SSAValue:
    """A power by squaring and multiplying, written out."""
    result: SSAValue | None = None
    while exponent:
        if exponent % 2:
            result = base if result is None else b(arith.MuliOp(result, base))
        exponent //= 2
        if exponent:
            base = b(arith.MuliOp(base, base))
    return one if result is None else result


def _integer_power(
    b: RegionBuilder, base: SSAValue, exponent: SSAValue, bits: int
) -> SSAValue:
    """A power by squaring and multiplying, for the bits of an exponent >= 0."""
    type = base.type
    one = b.constant(1, type)
    first, end, step = (b.constant(n, IndexType()) for n in (0, bits, 1))
    block = Block(arg_types=[IndexType(), type, type, type])
    _, result, square, left = block.args
    inner = RegionBuilder(block)
    odd = inner(arith.AndIOp(left, one))
    is_odd = inner(arith.CmpiOp(odd, one, "eq"))
    grown = inner(arith.MuliOp(result, square))
    inner.insert(
        scf.YieldOp(
            inner(arith.SelectOp(is_odd, grown, result)),
            inner(arith.MuliOp(square, square)),
            inner(arith.ShRUIOp(left, one)),
        )
    )
    return b(scf.ForOp(first, end, step, (one, base, exponent), Region(block)))


def _of_negative(e: "Element", result: SSAValue) -> SSAValue:
    """The power where the exponent is negative: 1 / power, rounded towards zero."""
    b, (lhs, rhs) = e.b, e.args
    zero, one, minus_one = e.constant(0), e.constant(1), e.constant(-1)
    is_unit = b(
        arith.OrIOp(
            b(arith.CmpiOp(lhs, one, "eq")), b(arith.CmpiOp(lhs, minus_one, "eq"))
        )
    )
    is_odd = b(arith.CmpiOp(b(arith.AndIOp(rhs, one)), one, "eq"))
    unit = b(arith.SelectOp(is_odd, lhs, one))
    inverse = b(arith.SelectOp(is_unit, unit, zero))
    negative = b(arith.CmpiOp(rhs, zero, "slt"))
    return b(arith.SelectOp(negative, inverse, result))


DIGITS = 49
"""Bits of a quotient that one step of `float_rest` takes away: f64 holds them."""


MAX_SCALE = 1000
"""The power of two that one product scales by at most."""


def float_rest(e: "Element") -> SSAValue:
    """
    C's `fmod`, exactly, by long division in f64.

    Each step leaves the rest of a division by the divisor times a power of two, so that
    no quotient has more bits than f64 holds; each rest has no more bits than the
    operands, and is exact.
    """
    b, is_double = e.b, isinstance(e.type, Float64Type)
    lhs, rhs = e.args if is_double else (b(arith.ExtFOp(v, f64)) for v in e.args)
    size, rest = b(math.AbsFOp(rhs)), b(math.AbsFOp(lhs))
    zero, infinity = b.constant(0.0, f64), b.constant(numbers.inf, f64)
    for step in reversed(range(_steps(e.type))):
        divisor, scale = size, DIGITS * step
        while scale:
            power = min(scale, MAX_SCALE)
            divisor = b(arith.MulfOp(divisor, b.constant(2.0**power, f64)))
            scale -= power
        quotient = b(math.TruncOp(b(arith.DivfOp(rest, divisor))))
        left = b(math.FmaOp(b(arith.NegfOp(quotient)), divisor, rest))
        # A quotient that was rounded up to the next integer leaves a negative rest.
        below = b(arith.CmpfOp(left, zero, "olt"))
        left = b(arith.SelectOp(below, b(arith.AddfOp(left, divisor)), left))
        if step and is_double:  # a divisor that is too large takes nothing away
            too_large = b(arith.CmpfOp(divisor, infinity, "oeq"))
            left = b(arith.SelectOp(too_large, rest, left))
        rest = left
    # A finite number over infinity is its own rest; infinity and NaN have none.
    infinite = b(arith.CmpfOp(size, infinity, "oeq"))
    whole = b(arith.AddfOp(lhs, b(arith.SubfOp(lhs, lhs))))
    rest = b(arith.SelectOp(infinite, whole, rest))
    signed = b(math.CopySignOp(rest, lhs))
    return signed if is_double else b(arith.TruncFOp(signed, f32))


def _steps(type: Attribute) -> int:
    """
    How many quotients there are: the largest is below 2^40 of two f16, below 2^278 of
    two f32 or bf16, and below 2^2099 of two f64.
    """
    if isinstance(type, Float64Type):
        return 43
    return 1 if isinstance(type, Float16Type) else 6


def quotient(e: "Element") -> SSAValue:
    """Of integers rounded towards zero; by zero it is 0, and the least by -1 wraps."""
    b, (lhs, rhs) = e.b, e.args
    if e.is_float:
        return b(arith.DivfOp(lhs, rhs))
    divisor, faults = _safe_divisor(e)
    divide = arith.DivUIOp if e.is_unsigned else arith.DivSIOp
    result = b(divide(lhs, divisor))
    if faults is None:
        return result
    # By 0 and -1 the product with the divisor is the quotient.
    return b(arith.SelectOp(faults, b(arith.MuliOp(lhs, rhs)), result))


def _safe_divisor(e: "Element") -> tuple[SSAValue, SSAValue | None]:
    """
    What to divide by, and whether it takes the place of a divisor that `arith` has no
    result for, by which dividing ends the process; None if none can be one.

    Those are 0 and, by which the least number has none, -1.
    """
    b, divisor = e.b, e.args[1]
    constant = constant_of(divisor)
    if constant not in (None, 0) and (e.is_unsigned or constant != -1):
        return divisor, None
    one = e.constant(1)
    if e.is_unsigned:
        faults = b(arith.CmpiOp(divisor, e.constant(0), "eq"))
    else:
        faults = b(arith.CmpiOp(b(arith.AddiOp(divisor, one)), one, "ule"))
    return b(arith.SelectOp(faults, one, divisor)), faults


def integer_rest(e: "Element") -> SSAValue:
    """The rest with the sign of the divisor; by zero it is 0."""
    b, (lhs, rhs) = e.b, e.args
    divisor, _ = _safe_divisor(e)  # by which the rest is 0
    if e.is_unsigned:
        return b(arith.RemUIOp(lhs, divisor))
    # The remainder has the sign of the dividend.
    rest = b(arith.RemSIOp(lhs, divisor))
    zero = e.constant(0)
    nonzero = b(arith.CmpiOp(rest, zero, "ne"))
    differ = b(arith.CmpiOp(b(arith.XOrIOp(rest, rhs)), zero, "slt"))
    wrong = b(arith.AndIOp(nonzero, differ))
    return b(arith.SelectOp(wrong, b(arith.AddiOp(rest, rhs)), rest))


def rest(e: "Element") -> SSAValue:
    """Of floats with the sign of the dividend, of integers with the divisor's."""
    return float_rest(e) if e.is_float else integer_rest(e)
