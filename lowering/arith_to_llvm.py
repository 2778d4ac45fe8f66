"""
Patterns from `arith` (and `ub`) to the `llvm` dialect.

Scalars and vectors alike; `index` is 64 bits. A bf16 is its bits in an i16, arithmetic
on it is done in f32, and the result is rounded to nearest even by integer operations.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from xdsl.dialects import arith, ub
from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    f32,
    i1,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import llvm
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.conversion_patterns import ReplaceOp, result_signature

NO_FLAGS: Mapping[str, Attribute] = {"fastmathFlags": llvm.FastMathAttr(None)}


def flags_of(op: Operation) -> Mapping[str, Attribute]:
    """Fast-math flags under the name that `llvm` gives them."""
    flags = op.properties.get("fastmath")
    return NO_FLAGS if flags is None else converted_flags(flags)


@cache
def converted_flags(flags: Attribute) -> Mapping[str, Attribute]:
    """There are no more than 128 of them."""
    data = cast(arith.FastMathFlagsAttr, flags).data
    return {"fastmathFlags": llvm.FastMathAttr(tuple(data))} if data else NO_FLAGS


OVERFLOW: Sequence[Mapping[str, Attribute]] = [
    {"overflowFlags": IntegerAttr(bits, 32)} for bits in range(4)
]


def overflow_of(op: Operation) -> Mapping[str, Attribute]:
    """Overflow flags as `llvm` stores them."""
    flags = op.properties.get("overflowFlags")
    if flags is None:
        return OVERFLOW[0]
    data = cast(arith.IntegerOverflowAttr, flags).data
    bits = (arith.IntegerOverflowFlag.NSW in data) + 2 * (
        arith.IntegerOverflowFlag.NUW in data
    )
    return OVERFLOW[bits]


RENAMED: dict[type[Operation], type[Operation]] = {
    arith.AndIOp: llvm.AndOp,
    arith.BitcastOp: llvm.BitcastOp,
    arith.DivSIOp: llvm.SDivOp,
    arith.DivUIOp: llvm.UDivOp,
    arith.ExtSIOp: llvm.SExtOp,
    arith.ExtUIOp: llvm.ZExtOp,
    arith.FPToSIOp: llvm.FPToSIOp,
    arith.FPToUIOp: llvm.FPToUIOp,
    arith.MaxSIOp: llvm.SMaxOp,
    arith.MaxUIOp: llvm.UMaxOp,
    arith.MinSIOp: llvm.SMinOp,
    arith.MinUIOp: llvm.UMinOp,
    arith.OrIOp: llvm.OrOp,
    arith.RemSIOp: llvm.SRemOp,
    arith.RemUIOp: llvm.URemOp,
    arith.SIToFPOp: llvm.SIToFPOp,
    arith.ShRSIOp: llvm.AShrOp,
    arith.ShRUIOp: llvm.LShrOp,
    arith.TruncIOp: llvm.TruncOp,
    arith.UIToFPOp: llvm.UIToFPOp,
    arith.XOrIOp: llvm.XOrOp,
    ub.PoisonOp: llvm.PoisonOp,
    ub.UnreachableOp: llvm.UnreachableOp,
}

WITH_OVERFLOW: dict[type[Operation], type[Operation]] = {
    arith.AddiOp: llvm.AddOp,
    arith.MuliOp: llvm.MulOp,
    arith.ShLIOp: llvm.ShlOp,
    arith.SubiOp: llvm.SubOp,
}

WITH_FAST_MATH: dict[type[Operation], type[Operation]] = {
    arith.AddfOp: llvm.FAddOp,
    arith.DivfOp: llvm.FDivOp,
    arith.MaximumfOp: llvm.FMaximumOp,
    arith.MaxnumfOp: llvm.VectorFMaxOp,
    arith.MinimumfOp: llvm.FMinimumOp,
    arith.MinnumfOp: llvm.VectorFMinOp,
    arith.MulfOp: llvm.FMulOp,
    arith.NegfOp: llvm.FNegOp,
    arith.SubfOp: llvm.FSubOp,
}


def like(type: Attribute, element: Attribute) -> Attribute:
    """The element type, or the vector of it with as many lanes as `type`."""
    vector = llvm.as_vector(type)
    return element if vector is None else VectorType(element, [vector.element_count()])


def splat(rewriter: ConversionRewriter, value: int, type: Attribute) -> SSAValue:
    """An integer constant, in every lane of a vector type."""
    element = cast(IntegerType, llvm.element_of(type))
    attr: Attribute = IntegerAttr(value, element, truncate_bits=True)
    if (vector := llvm.as_vector(type)) is not None:
        number = element.normalized_value(value, truncate_bits=True)
        assert number is not None, "bits were truncated"
        data = BytesAttr(element.pack((number,)) * vector.element_count())
        integers = cast("VectorType[IntegerType]", vector)
        attr = DenseIntOrFPElementsAttr(integers, data)
    op = llvm.ConstantOp.create(properties={"value": attr}, result_types=[type])
    return rewriter.insert(op).result


def constant_value(value: Attribute, type: Attribute) -> Attribute | Refusal:
    """A constant's value as one of the converted type."""
    match value:
        case DenseIntOrFPElementsAttr():
            if not isinstance(type, VectorType):
                return Refusal(f"expected a vector, but got '{value}'")
            vector = cast("VectorType[IntegerType]", type)
            # The bytes of an index are those of an i64, those of a bf16 those of an
            # i16, and lanes lie in row-major order.
            return DenseIntOrFPElementsAttr(vector, value.data)
        case IntegerAttr():
            return IntegerAttr(value.value.data, cast(IntegerType, type))
        case FloatAttr(type=BFloat16Type() as bf16):
            data = bf16.pack((value.value.data,))
            return IntegerAttr(int.from_bytes(data, "little"), i16)
        case _:
            return value


class ConvertConstant(ConversionPattern[arith.ConstantOp]):
    root = arith.ConstantOp
    generates = (llvm.ConstantOp,)

    def match_and_rewrite(
        self, op: arith.ConstantOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        assert rewriter.converter is not None, "the conversion has a type converter"
        type = rewriter.converter.convert_one(op.result.type)
        value = constant_value(op.value, type)
        if isinstance(value, Refusal):
            return value
        rewriter.replace(
            op,
            llvm.ConstantOp.create(properties={"value": value}, result_types=[type]),
        )


class ConvertCompare(ConversionPattern[arith.CmpiOp | arith.CmpfOp]):
    """The predicates of `arith` and `llvm` have the same numbers."""

    root = (arith.CmpiOp, arith.CmpfOp)
    generates = (llvm.ICmpOp, llvm.FCmpOp)

    def match_and_rewrite(
        self,
        op: arith.CmpiOp | arith.CmpfOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        lhs, rhs = operands
        predicate = IntegerAttr(op.predicate.value.data, i64)
        properties: dict[str, Attribute] = {"predicate": predicate}
        kind = llvm.ICmpOp
        if isinstance(op, arith.CmpfOp):
            kind = llvm.FCmpOp
            properties |= flags_of(op)
        rewriter.replace(
            op,
            kind.create(
                operands=[lhs, rhs],
                result_types=[like(lhs.type, i1)],
                properties=properties,
            ),
        )


class ConvertSelect(ConversionPattern[arith.SelectOp]):
    """Also between memrefs, part by part."""

    root = arith.SelectOp
    generates = (llvm.SelectOp,)

    def match_and_rewrite(
        self, op: arith.SelectOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (condition,), lhs, rhs = operands.groups
        selects = [
            rewriter.insert(
                llvm.SelectOp.create(
                    operands=[condition, a, b],
                    result_types=[a.type],
                    properties={"fastmathFlags": llvm.FastMathAttr(None)},
                )
            )
            for a, b in zip(lhs, rhs, strict=True)
        ]
        rewriter.replace(op, (), [[s.res for s in selects]])


class ConvertIndexCast(ConversionPattern[arith.IndexCastOp]):
    root = arith.IndexCastOp
    generates = (llvm.SExtOp, llvm.TruncOp)

    def match_and_rewrite(
        self, op: arith.IndexCastOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (value,) = operands
        (type,) = result_signature(op, rewriter.converter).types
        before = cast(IntegerType, llvm.element_of(value.type)).bitwidth
        after = cast(IntegerType, llvm.element_of(type)).bitwidth
        if before == after:
            rewriter.replace(op, (), (value,))
        elif before < after:
            rewriter.replace(op, llvm.SExtOp(value, type))
        else:
            rewriter.replace(op, llvm.TruncOp(value, type))


class ConvertFloorOrCeilDivision(
    ConversionPattern[arith.FloorDivSIOp | arith.CeilDivSIOp | arith.CeilDivUIOp]
):
    """Division that rounds toward zero, corrected where there is a remainder."""

    root = (arith.FloorDivSIOp, arith.CeilDivSIOp, arith.CeilDivUIOp)

    def match_and_rewrite(
        self,
        op: arith.FloorDivSIOp | arith.CeilDivSIOp | arith.CeilDivUIOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        lhs, rhs = operands
        signed = not isinstance(op, arith.CeilDivUIOp)
        divide, rest = (
            (llvm.SDivOp, llvm.SRemOp) if signed else (llvm.UDivOp, llvm.URemOp)
        )
        quotient = rewriter.insert(divide(lhs, rhs)).res
        remainder = rewriter.insert(rest(lhs, rhs)).res
        zero = splat(rewriter, 0, lhs.type)
        wrong = rewriter.insert(llvm.ICmpOp(remainder, zero, "ne")).res
        step = 1
        if signed:
            signs = rewriter.insert(llvm.XOrOp(lhs, rhs)).res
            down = isinstance(op, arith.FloorDivSIOp)
            step = -1 if down else 1
            side = rewriter.insert(llvm.ICmpOp(signs, zero, "slt" if down else "sge"))
            wrong = rewriter.insert(llvm.AndOp(wrong, side.res)).res
        amount = splat(rewriter, step, lhs.type)
        corrected = rewriter.insert(llvm.AddOp(quotient, amount)).res
        rewriter.replace(op, llvm.SelectOp(wrong, corrected, quotient))


class ConvertAddExtended(ConversionPattern[arith.AddUIExtendedOp]):
    root = arith.AddUIExtendedOp

    def match_and_rewrite(
        self,
        op: arith.AddUIExtendedOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        lhs, rhs = operands
        total = rewriter.insert(llvm.AddOp(lhs, rhs)).res
        overflow = rewriter.insert(llvm.ICmpOp(total, lhs, "ult")).res
        rewriter.replace(op, (), (total, overflow))


class ConvertMultiplyExtended(
    ConversionPattern[arith.MulUIExtendedOp | arith.MulSIExtendedOp]
):
    """Multiply in twice the width and take the halves."""

    root = (arith.MulUIExtendedOp, arith.MulSIExtendedOp)

    def match_and_rewrite(
        self,
        op: arith.MulUIExtendedOp | arith.MulSIExtendedOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        extend = llvm.SExtOp if isinstance(op, arith.MulSIExtendedOp) else llvm.ZExtOp
        lhs, rhs = operands
        type = lhs.type
        width = cast(IntegerType, llvm.element_of(type)).bitwidth
        wide = like(type, IntegerType(2 * width))
        a = rewriter.insert(extend(lhs, wide)).res
        b = rewriter.insert(extend(rhs, wide)).res
        product = rewriter.insert(llvm.MulOp(a, b)).res
        shift = splat(rewriter, width, wide)
        upper = rewriter.insert(llvm.LShrOp(product, shift)).res
        low = rewriter.insert(llvm.TruncOp(product, type)).res
        high = rewriter.insert(llvm.TruncOp(upper, type)).res
        rewriter.replace(op, (), (low, high))


class ConvertExtendFloat(ConversionPattern[arith.ExtFOp]):
    """From bf16 by moving its bits, which are the upper half of an f32."""

    root = arith.ExtFOp

    def match_and_rewrite(
        self, op: arith.ExtFOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (value,) = operands
        (type,) = result_signature(op, rewriter.converter).types
        if is_bf16(op.input.type):
            value = widen_bf16(rewriter, value)
        if value.type == type:
            rewriter.replace(op, (), (value,))
        else:
            rewriter.replace(op, llvm.FPExtOp(value, type))


class ConvertTruncateFloat(ConversionPattern[arith.TruncFOp]):
    """
    To bf16 by way of f32, as NumPy's `ml_dtypes` does.
    """

    root = arith.TruncFOp

    def match_and_rewrite(
        self, op: arith.TruncFOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (value,) = operands
        (type,) = result_signature(op, rewriter.converter).types
        if not is_bf16(op.result.type):
            rewriter.replace(op, llvm.FPTruncOp(value, type))
            return
        single = like(type, f32)
        element = llvm.element_of(value.type)
        if isinstance(element, Float64Type):
            value = rewriter.insert(llvm.FPTruncOp(value, single)).result
        elif not isinstance(element, Float32Type):
            value = rewriter.insert(llvm.FPExtOp(value, single)).result
        rewriter.replace(op, (), (round_to_bf16(rewriter, value),))


def is_bf16(type: Attribute) -> bool:
    """Whether a type of the input is bf16 or a vector of it."""
    return isinstance(llvm.element_of(type), BFloat16Type)


def widen_bf16(rewriter: ConversionRewriter, value: SSAValue) -> SSAValue:
    """The f32 equal to a bf16."""
    wide = rewriter.insert(llvm.ZExtOp(value, like(value.type, i32))).res
    shift = splat(rewriter, 16, wide.type)
    moved = rewriter.insert(llvm.ShlOp(wide, shift)).res
    return rewriter.insert(llvm.BitcastOp(moved, like(value.type, f32))).result


def round_to_bf16(rewriter: ConversionRewriter, value: SSAValue) -> SSAValue:
    """
    The bf16 nearest to an f32, ties to even: add half of the last kept bit's worth,
    less one if that bit is zero. A NaN stays one: its quiet bit is set instead.
    """
    insert, type = rewriter.insert, like(value.type, i32)
    bits = insert(llvm.BitcastOp(value, type)).result
    upper = insert(llvm.LShrOp(bits, splat(rewriter, 16, type))).res
    odd = insert(llvm.AndOp(upper, splat(rewriter, 1, type))).res
    half = insert(llvm.AddOp(odd, splat(rewriter, 0x7FFF, type))).res
    total = insert(llvm.AddOp(bits, half)).res
    rounded = insert(llvm.LShrOp(total, splat(rewriter, 16, type))).res
    quiet = insert(llvm.OrOp(upper, splat(rewriter, 0x40, type))).res
    is_nan = insert(llvm.FCmpOp(value, value, "uno")).res
    chosen = insert(llvm.SelectOp(is_nan, quiet, rounded)).res
    return insert(llvm.TruncOp(chosen, like(value.type, i16))).res


class WidenBf16(ConversionPattern[Operation]):
    """Compute in f32 what has bf16 operands or results."""

    benefit = 2
    root = (
        arith.AddfOp,
        arith.CmpfOp,
        arith.DivfOp,
        arith.FPToSIOp,
        arith.FPToUIOp,
        arith.MaximumfOp,
        arith.MaxnumfOp,
        arith.MinimumfOp,
        arith.MinnumfOp,
        arith.MulfOp,
        arith.NegfOp,
        arith.SIToFPOp,
        arith.SubfOp,
        arith.UIToFPOp,
    )

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        return widen(op, operands, rewriter, BFloat16Type)


def widen(
    op: Operation,
    operands: Operands,
    rewriter: ConversionRewriter,
    narrow: type[Attribute],
) -> Refusal | None:
    """Replace an op by itself in f32 where it has operands or results of `narrow`."""

    def is_narrow(type: Attribute) -> bool:
        return isinstance(llvm.element_of(type), narrow)

    if not any(map(is_narrow, (*op.operand_types, *op.result_types))):
        return Refusal(f"no operand or result is {narrow.name}")
    inputs: list[SSAValue] = []
    for value, before in zip(operands, op.operand_types, strict=True):
        if is_narrow(before):
            if narrow is BFloat16Type:
                value = widen_bf16(rewriter, value)
            else:
                wide = like(value.type, f32)
                value = rewriter.insert(llvm.FPExtOp(value, wide)).result
        inputs.append(value)
    types = result_signature(op, rewriter.converter).types
    new = rewriter.insert(
        type(op).create(
            operands=inputs,
            result_types=[
                like(after, f32) if is_narrow(before) else after
                for before, after in zip(op.result_types, types, strict=True)
            ],
            properties=dict(op.properties),
        )
    )
    outputs: list[SSAValue] = []
    for value, before, after in zip(new.results, op.result_types, types, strict=True):
        result: SSAValue = value
        if is_narrow(before):
            result = rewriter.converted(value)
            if narrow is BFloat16Type:
                result = round_to_bf16(rewriter, result)
            else:
                result = rewriter.insert(llvm.FPTruncOp(result, after)).result
        outputs.append(result)
    rewriter.replace(op, (), outputs)


ARITH_PATTERNS: tuple[ConversionPattern[Any], ...] = (
    ConvertAddExtended(),
    ConvertCompare(),
    ConvertConstant(),
    ConvertExtendFloat(),
    ConvertFloorOrCeilDivision(),
    ConvertIndexCast(),
    ConvertMultiplyExtended(),
    ConvertSelect(),
    ConvertTruncateFloat(),
    WidenBf16(),
    *(ReplaceOp(root, new) for root, new in RENAMED.items()),
    *(ReplaceOp(root, new, overflow_of) for root, new in WITH_OVERFLOW.items()),
    *(ReplaceOp(root, new, flags_of) for root, new in WITH_FAST_MATH.items()),
)
