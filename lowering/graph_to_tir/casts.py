"""
Casts of one element between the types that a graph knows.
"""

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, i1
from xdsl.ir import Attribute, SSAValue

from transom.dialects.tir import RegionBuilder
from transom.lowering.graph_to_tir.scalars import (
    computed_type,
    extremes,
    is_unsigned,
    narrow,
    signless,
    widen,
    width_of,
)

FloatToInt = type[arith.FPToSIOp] | type[arith.FPToUIOp]


def cast_element(
    b: RegionBuilder, value: SSAValue, source: Attribute, target: Attribute
) -> SSAValue:
    """
    A value of graph element type `source` as one of `target`.

    Floats become integers towards zero, saturating, and NaN becomes 0; anything but
    zero is true. `value` is of the signless type, the result too.
    """
    wide = widen(b, value)
    if target == i1:
        zero = b.constant(0, wide.type)
        if isinstance(wide.type, AnyFloat):
            return b(arith.CmpfOp(wide, zero, "une"))
        return b(arith.CmpiOp(wide, zero, "ne"))
    if isinstance(source, AnyFloat):
        if isinstance(target, AnyFloat):
            made = _cast_float(b, wide, _computed_float(target))
        else:
            made = _float_to_int(b, wide, target)
    elif isinstance(target, AnyFloat):
        if isinstance(source, IndexType):
            wide = b(arith.IndexCastOp(wide, IntegerType(64)))
        to_float = arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp
        made = b(to_float(wide, _computed_float(target)))
    else:
        made = _cast_int(b, wide, source, target)
    return narrow(b, made, target)


def _computed_float(type: Attribute) -> AnyFloat:
    computed = computed_type(type)
    assert isinstance(computed, AnyFloat), "the caller has looked"
    return computed


def _cast_float(b: RegionBuilder, value: SSAValue, result: AnyFloat) -> SSAValue:
    assert isinstance(value.type, AnyFloat), "the caller has looked"
    if value.type.bitwidth == result.bitwidth:
        return value
    if value.type.bitwidth < result.bitwidth:
        return b(arith.ExtFOp(value, result))
    return b(arith.TruncFOp(value, result))


MAX_EXACT_WIDTH = 16
"""Both ends of the range of integers of so many bits are exact in all floats."""


def _clamped_to_int(
    b: RegionBuilder, value: SSAValue, target: Attribute, to_int: FloatToInt
) -> SSAValue:
    """A float as a narrow integer: what does not fit is moved to the end before."""
    low, high = (b.constant(end, value.type) for end in extremes(target))
    if not is_unsigned(target):  # else NaN becomes the lower end, which is 0
        is_number = b(arith.CmpfOp(value, value, "ord"))
        value = b(arith.SelectOp(is_number, value, b.constant(0.0, value.type)))
    inside = b(arith.MinnumfOp(b(arith.MaxnumfOp(value, low)), high))
    return b(to_int(inside, IntegerType(width_of(target))))


def _float_to_int(b: RegionBuilder, value: SSAValue, target: Attribute) -> SSAValue:
    to_int = arith.FPToUIOp if is_unsigned(target) else arith.FPToSIOp
    if not isinstance(target, IndexType) and width_of(target) <= MAX_EXACT_WIDTH:
        return _clamped_to_int(b, value, target, to_int)
    low, high = extremes(target)
    # Both bounds are powers of two (or 0), and so exact in every float type.
    bottom, top = b.constant(low, value.type), b.constant(high + 1, value.type)
    in_range = b(
        arith.AndIOp(
            b(arith.CmpfOp(value, bottom, "oge")), b(arith.CmpfOp(value, top, "olt"))
        )
    )
    width = 64 if isinstance(target, IndexType) else width_of(target)
    type = IntegerType(width)
    safe = b(arith.SelectOp(in_range, value, b.constant(0.0, value.type)))
    made = b(to_int(safe, type))
    largest = b.constant(_as_signed(int(high), width), type)
    above = b(arith.CmpfOp(value, top, "oge"))
    made = b(arith.SelectOp(above, largest, made))
    below = b(arith.CmpfOp(value, bottom, "olt"))
    made = b(arith.SelectOp(below, b.constant(low, type), made))
    if isinstance(target, IndexType):
        return b(arith.IndexCastOp(made, target))
    return made


def _as_signed(value: int, width: int) -> int:
    return value - 2**width if value >= 2 ** (width - 1) else value


def _cast_int(
    b: RegionBuilder, value: SSAValue, source: Attribute, target: Attribute
) -> SSAValue:
    if source == target:
        return value
    if isinstance(target, IndexType):  # whose cast extends by the sign
        whole = _cast_int(b, value, source, IntegerType(64))
        return b(arith.IndexCastOp(whole, target))
    if isinstance(source, IndexType):
        return b(arith.IndexCastOp(value, signless(target)))
    wide = IntegerType(width_of(target))
    if width_of(source) == width_of(target):
        return value
    if width_of(source) > width_of(target):
        return b(arith.TruncIOp(value, wide))
    extend = arith.ExtUIOp if is_unsigned(source) else arith.ExtSIOp
    return b(extend(value, wide))
