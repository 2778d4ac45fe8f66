"""
Patterns to the `llvm` dialect for what has bf16 in it, and casts between floats.

A bf16 is its bits in an i16, arithmetic on it is done in f32, and the result is rounded
to nearest even by integer operations.
"""

from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    VectorType,
    bf16,
    f32,
    i16,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import llvm
from transom.dialects.tir.rounding import ROUNDS
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.conversion_patterns import result_signature


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
        rounds = round_by_instruction if ROUNDS in op.attributes else round_to_bf16
        rewriter.replace(op, (), (rounds(rewriter, value),))


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

    The bits stay where they are until the last step, so that nothing is left of it but
    a mask where the result is extended again.
    """
    insert, type = rewriter.insert, like(value.type, i32)

    def constant(bits: int) -> SSAValue:
        return splat(rewriter, bits, type)

    bits = insert(llvm.BitcastOp(value, type)).result
    last = insert(llvm.AndOp(bits, constant(0x10000))).res
    is_odd = insert(llvm.ICmpOp(last, constant(0), "ne")).res
    half = insert(llvm.AddOp(bits, constant(0x8000))).res
    less = insert(llvm.AddOp(bits, constant(0x7FFF))).res
    rounded = insert(llvm.SelectOp(is_odd, half, less)).res
    quiet = insert(llvm.OrOp(bits, constant(0x400000))).res
    is_nan = insert(llvm.FCmpOp(value, value, "uno")).res
    chosen = insert(llvm.SelectOp(is_nan, quiet, rounded)).res
    upper = insert(llvm.LShrOp(chosen, constant(16))).res
    return insert(llvm.TruncOp(upper, like(value.type, i16))).res


def round_by_instruction(rewriter: ConversionRewriter, value: SSAValue) -> SSAValue:
    """
    The same where LLVM has an instruction, which takes what is below the normal numbers
    for zero: such a number gets the smallest exponent, which is taken off again.
    """
    insert = rewriter.insert
    type, half = like(value.type, i32), like(value.type, i16)
    bits = insert(llvm.BitcastOp(value, type)).result
    exponent = insert(llvm.AndOp(bits, splat(rewriter, 0x7F800000, type))).res
    is_small = insert(llvm.ICmpOp(exponent, splat(rewriter, 0, type), "eq")).res
    raised = insert(llvm.OrOp(bits, splat(rewriter, 0x00800000, type))).res
    normal = insert(llvm.SelectOp(is_small, raised, bits)).res
    number = insert(llvm.BitcastOp(normal, value.type)).result
    rounded = insert(llvm.FPTruncOp(number, like(value.type, bf16))).result
    result = insert(llvm.BitcastOp(rounded, half)).result
    lowered = insert(llvm.SubOp(result, splat(rewriter, 0x0080, half))).res
    return insert(llvm.SelectOp(is_small, lowered, result)).res


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


NOT_NARROW = Refusal("no operand or result is of the type that is widened")


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
        return NOT_NARROW
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


FLOAT_PATTERNS: tuple[ConversionPattern[Any], ...] = (
    ConvertExtendFloat(),
    ConvertTruncateFloat(),
    WidenBf16(),
)
