"""
Patterns from C calls of `tir` to the `llvm` dialect.

A memref is the address of its first element, a number itself; a struct is passed by
value or by pointer as the C compiler of the target does, see `c_calls`. A status that
is not the expected one makes the kernel fail. `tir.symbol` names what is called in the
place of the function.
"""

from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    i1,
    i8,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from transom.dialects import llvm, tir
from transom.lowering.c_calls import CConvention
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.conversion_patterns import result_signature
from transom.lowering.failures import Failures, enclosing_function
from transom.lowering.memref_parts import constant
from transom.lowering.memref_views_to_llvm import take


def c_value(
    value: SSAValue, group: tuple[SSAValue, ...], rewriter: ConversionRewriter
) -> SSAValue:
    """What C sees of a value: one number, address or struct."""
    if isinstance(value.type, MemRefType):
        return take(rewriter, value, group).start(rewriter)
    (single,) = group
    return single


class ConvertStruct(ConversionPattern[tir.StructOp]):
    root = tir.StructOp

    def match_and_rewrite(
        self, op: tir.StructOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (type,) = result_signature(op, rewriter.converter).types
        result: SSAValue = rewriter.insert(llvm.PoisonOp(type)).res
        for position, (field, group) in enumerate(
            zip(op.fields, operands.groups, strict=True)
        ):
            value = c_value(field, group, rewriter)
            if value.type == i1:
                value = rewriter.insert(llvm.ZExtOp(value, i8)).res
            place = DenseArrayBase.from_list(i64, [position])
            result = rewriter.insert(llvm.InsertValueOp(place, result, value)).res
        rewriter.replace(op, (), (result,))


def stack_copy(
    op: tir.ExternOp, struct: SSAValue, rewriter: ConversionRewriter
) -> SSAValue:
    """The address of a copy of a struct, for a call by pointer."""
    function = enclosing_function(op)
    assert function is not None, "a C call is in a function"
    entry = rewriter.converted_block(function.regions[0].blocks[0])
    with rewriter.at_start(entry):
        one = constant(rewriter, 1)
        place = rewriter.insert(llvm.AllocaOp(one, struct.type, STRUCT_ALIGNMENT)).res
    rewriter.insert(llvm.StoreOp(struct, place, STRUCT_ALIGNMENT))
    return place


STRUCT_ALIGNMENT = 16
"""Of a struct on the stack, in bytes: enough for all that C has."""


class ConvertExtern(ConversionPattern[tir.ExternOp]):
    root = tir.ExternOp

    def __init__(self, failures: Failures, convention: CConvention) -> None:
        self.failures = failures
        self.convention = convention

    def match_and_rewrite(
        self, op: tir.ExternOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        passing = self.convention.start()
        values: list[SSAValue] = []
        attributes: list[DictionaryAttr] = []
        for value, group, by_ref in zip(
            op.arguments, operands.groups, op.refs, strict=True
        ):
            single = c_value(value, group, rewriter)
            if isinstance(value.type, BFloat16Type):
                # In C it is a float, in a register for floats.
                single = rewriter.insert(llvm.BitcastOp(single, value.type)).result
            if by_ref:
                single = stack_copy(op, single, rewriter)
            if isinstance(single.type, llvm.LLVMStructType):
                passed = passing.struct(
                    single, lambda s: stack_copy(op, s, rewriter), rewriter
                )
            else:
                passed = [passing.scalar(single, value.type)]
            for part, attrs in passed:
                values.append(part)
                attributes.append(DictionaryAttr(attrs))
        result_type: Attribute | None = None
        if op.result is not None:
            (result_type,) = result_signature(op, rewriter.converter).types
            if isinstance(op.result.type, BFloat16Type):
                return Refusal("no C function that returns a bf16 is called")
        symbol = op.attributes.get(tir.SYMBOL)
        name = symbol.data if isinstance(symbol, StringAttr) else op.callee.data
        call = llvm.CallOp(name, *values, return_type=result_type)
        if any(a.data for a in attributes):
            call.attributes["arg_attrs"] = ArrayAttr(attributes)
        rewriter.insert(call)
        results = call.results
        if op.expected_status is not None:
            (status,) = results
            wanted = IntegerAttr(op.expected_status, self.integer(status))
            expected = rewriter.insert(llvm.ConstantOp(wanted, status.type)).result
            good = rewriter.insert(llvm.ICmpOp(status, expected, "eq")).res
            self.failures.check(op, good, rewriter)
        rewriter.replace(op, (), tuple(results))

    def integer(self, value: SSAValue) -> IntegerType:
        return cast(IntegerType, value.type)


def tir_patterns(
    failures: Failures, convention: CConvention
) -> tuple[ConversionPattern[Any], ...]:
    """Patterns for one module, whose failures are counted."""
    return (ConvertExtern(failures, convention), ConvertStruct())
