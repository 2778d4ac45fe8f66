"""
Patterns from `arith` (and `ub`) to the `llvm` dialect.

Scalars and vectors alike; `index` is 64 bits.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from xdsl.dialects import arith, ub
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
    i16,
    i64,
)
from xdsl.ir import Attribute, Operation

from transom.dialects import llvm
from transom.dialects.op_making import make_op
from transom.lowering.bf16_to_llvm import FLOAT_PATTERNS, like, splat
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
        rewriter.replace(op, make_op(llvm.ConstantOp, (), (type,), {"value": value}))


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


ARITH_PATTERNS: tuple[ConversionPattern[Any], ...] = (
    *FLOAT_PATTERNS,
    ConvertAddExtended(),
    ConvertCompare(),
    ConvertConstant(),
    ConvertFloorOrCeilDivision(),
    ConvertIndexCast(),
    ConvertMultiplyExtended(),
    ConvertSelect(),
    *(ReplaceOp(root, new) for root, new in RENAMED.items()),
    *(ReplaceOp(root, new, overflow_of) for root, new in WITH_OVERFLOW.items()),
    *(ReplaceOp(root, new, flags_of) for root, new in WITH_FAST_MATH.items()),
)
