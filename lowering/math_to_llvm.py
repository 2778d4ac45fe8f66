"""
Patterns from `math` to the `llvm` dialect: intrinsics, and calls of the C library for
what has none, one call per lane.

Where speed matters, functions are expanded to polynomials before; this is the exact and
slow way. bf16 is computed in f32, and so is f16 where the C library is called.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from xdsl.dialects import math
from xdsl.dialects.builtin import (
    BFloat16Type,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import llvm
from transom.lowering.arith_to_llvm import flags_of
from transom.lowering.bf16_to_llvm import widen
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.conversion_patterns import ReplaceOp

INTRINSICS: dict[type[Operation], type[Operation]] = {
    math.AbsFOp: llvm.FAbsOp,
    math.CeilOp: llvm.FCeilOp,
    math.CopySignOp: llvm.FCopySignOp,
    math.CosOp: llvm.FCosOp,
    math.Exp2Op: llvm.FExp2Op,
    math.ExpOp: llvm.FExpOp,
    math.FloorOp: llvm.FFloorOp,
    math.FmaOp: llvm.FMAOp,
    math.FPowIOp: llvm.FPowiOp,
    math.Log10Op: llvm.FLog10Op,
    math.Log2Op: llvm.FLog2Op,
    math.LogOp: llvm.FLogOp,
    math.PowFOp: llvm.FPowOp,
    # In the one rounding mode that there is; few C libraries have a 'roundeven'.
    math.RoundEvenOp: llvm.FRintOp,
    math.RoundOp: llvm.FRoundOp,
    math.SinOp: llvm.FSinOp,
    math.SqrtOp: llvm.FSqrtOp,
    math.TruncOp: llvm.FTruncOp,
}

FUNCTIONS: dict[type[Operation], str] = {
    math.AcosOp: "acos",
    math.AcoshOp: "acosh",
    math.AsinOp: "asin",
    math.AsinhOp: "asinh",
    math.Atan2Op: "atan2",
    math.AtanOp: "atan",
    math.AtanhOp: "atanh",
    math.CbrtOp: "cbrt",
    math.CoshOp: "cosh",
    math.ErfOp: "erf",
    math.ExpM1Op: "expm1",
    math.Log1pOp: "log1p",
    math.SinhOp: "sinh",
    math.TanOp: "tan",
    math.TanhOp: "tanh",
}
"""Functions of the C library; that on f32 has an `f` at its end."""


def no_poison(name: str) -> Callable[[Operation], Mapping[str, Attribute]]:
    """The flag of an integer intrinsic, which is not set."""
    return lambda _: {name: BoolAttr.from_bool(False)}


class CallLibrary(ConversionPattern[Operation]):
    root = tuple(FUNCTIONS)

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        values = tuple(operands)
        type = values[0].type
        element = llvm.element_of(type)
        if isinstance(element, Float32Type):
            name = FUNCTIONS[op.__class__] + "f"
        elif isinstance(element, Float64Type):
            name = FUNCTIONS[op.__class__]
        else:
            return Refusal(f"no function of the C library on '{element}'")
        lanes = llvm.lanes_of(type)
        if lanes is None:
            rewriter.replace(op, llvm.CallOp(name, *values, return_type=element))
            return
        result: SSAValue = rewriter.insert(llvm.PoisonOp(type)).res
        for lane in range(lanes):
            place = IntegerAttr(lane, i64)
            index = rewriter.insert(llvm.ConstantOp(place, i64)).result
            scalars = [
                rewriter.insert(llvm.ExtractElementOp(value, index)).res
                for value in values
            ]
            call = llvm.CallOp(name, *scalars, return_type=element)
            value = rewriter.insert(call).returned
            assert value is not None, "the call has a result"
            insert = llvm.InsertElementOp(result, value, index)
            result = rewriter.insert(insert).res
        rewriter.replace(op, (), (result,))


class ConvertRsqrt(ConversionPattern[math.RsqrtOp]):
    root = math.RsqrtOp

    def match_and_rewrite(
        self, op: math.RsqrtOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (value,) = operands
        flags = cast(llvm.FastMathAttr, flags_of(op)["fastmathFlags"])
        root = rewriter.insert(llvm.FSqrtOp(value, flags)).res
        one = rewriter.insert(llvm.ConstantOp(ones(value.type), value.type)).result
        rewriter.replace(op, llvm.FDivOp(one, root, flags))


def ones(type: Attribute) -> Attribute:
    """The number one, in every lane of a vector type."""
    vector = llvm.as_vector(type)
    if vector is None:
        return FloatAttr(1.0, cast(Float32Type, type))
    floats = cast("VectorType[Float32Type]", vector)
    return DenseIntOrFPElementsAttr.from_list(floats, (1.0,) * vector.element_count())


class WidenBf16Function(ConversionPattern[Operation]):
    """Compute in f32 what is asked for in bf16."""

    benefit = 2
    root = (*INTRINSICS, *FUNCTIONS, math.RsqrtOp)

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        return widen(op, operands, rewriter, BFloat16Type)


class WidenF16Function(ConversionPattern[Operation]):
    """Call the C library in f32 for what is asked for in f16."""

    benefit = 2
    root = tuple(FUNCTIONS)

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        return widen(op, operands, rewriter, Float16Type)


MATH_PATTERNS: tuple[ConversionPattern[Any], ...] = (
    CallLibrary(),
    ConvertRsqrt(),
    WidenBf16Function(),
    WidenF16Function(),
    ReplaceOp(math.AbsIOp, llvm.AbsOp, no_poison("is_int_min_poison")),
    ReplaceOp(
        math.CountLeadingZerosOp, llvm.CountLeadingZerosOp, no_poison("is_zero_poison")
    ),
    ReplaceOp(
        math.CountTrailingZerosOp,
        llvm.CountTrailingZerosOp,
        no_poison("is_zero_poison"),
    ),
    ReplaceOp(math.CtPopOp, llvm.CtPopOp),
    *(ReplaceOp(root, new, flags_of) for root, new in INTRINSICS.items()),
)
