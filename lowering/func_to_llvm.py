"""
Patterns from functions, kernels and calls to the `llvm` dialect.

A function without results returns a status (see `failures`); one with results returns
them, several in a struct, and cannot fail. A kernel does not overlap its arguments and
is internal.

```mlir
func.func @f(%x: memref<?xf32>) {       llvm.func @f(%x: !llvm.ptr, %n: i64) -> i32 {
  func.return                      ==>    %s = llvm.mlir.constant(0 : i32) : i32
}                                         llvm.return %s : i32
                                        }
```
"""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import executor, llvm, tir
from transom.dialects.symbols import lookup
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
    Signature,
)
from transom.lowering.conversion_patterns import (
    result_signature,
    split,
    spread_attributes,
)
from transom.lowering.failures import (
    Failures,
    enclosing_function,
    leave_unless,
    returns_status,
    status_constant,
)
from transom.lowering.memref_parts import MemRef

NAMED_ADDRESS = IntegerAttr(0, i64)
"""What the text of a function says about its address, in saying nothing."""

EXTERNAL, INTERNAL = llvm.LinkageAttr("external"), llvm.LinkageAttr("internal")


def packed(types: Sequence[Attribute]) -> Attribute:
    """The type that a function with these results returns."""
    return types[0] if len(types) == 1 else llvm.LLVMStructType.from_type_list(types)


def converted_function(
    op: func.FuncOp | tir.FuncOp,
    rewriter: ConversionRewriter,
    properties: dict[str, Attribute | None],
) -> llvm.FuncOp:
    """The function as one of `llvm`, not yet inserted."""
    converter = rewriter.converter
    assert converter is not None, "the conversion has a type converter"
    type = op.function_type
    inputs = converter.convert_signature(type.inputs)
    output: Attribute = i32
    if not returns_status(op):
        output = packed(converter.convert_signature(type.outputs).types)
    has_body = bool(op.body.blocks)
    is_public = op.sym_visibility is None or op.sym_visibility.data == "public"
    return llvm.FuncOp(
        op.sym_name,
        llvm.LLVMFunctionType(inputs.types, output),
        EXTERNAL if is_public or not has_body else INTERNAL,
        body=rewriter.convert_region(op.body, signature=inputs),
        other_props={**properties, "unnamed_addr": NAMED_ADDRESS},
    )


class ConvertFunction(ConversionPattern[func.FuncOp]):
    root = func.FuncOp
    generates = (llvm.FuncOp,)

    def match_and_rewrite(
        self, op: func.FuncOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        assert rewriter.converter is not None, "the conversion has a type converter"
        properties: dict[str, Attribute | None] = {}
        if op.arg_attrs is not None:
            inputs = rewriter.converter.convert_signature(op.function_type.inputs)
            properties["arg_attrs"] = spread_attributes(op.arg_attrs, inputs)
        if op.res_attrs is not None and len(op.function_type.outputs) == 1:
            properties["res_attrs"] = op.res_attrs
        rewriter.replace(op, converted_function(op, rewriter, properties))


EFFECT_ATTRIBUTES = {
    tir.Effect.READ: {"llvm.readonly": UnitAttr()},
    tir.Effect.WRITE: {},
    tir.Effect.READ_WRITE: {},
    tir.Effect.SCRATCH: {},
}
"""What LLVM may know about an argument; writes alone are not `writeonly`, as an output
may be read again after it was written."""


class ConvertKernel(ConversionPattern[tir.FuncOp]):
    root = tir.FuncOp
    generates = (llvm.FuncOp,)

    def match_and_rewrite(
        self, op: tir.FuncOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        assert rewriter.converter is not None, "the conversion has a type converter"
        types = op.function_type.inputs.data
        inputs = rewriter.converter.convert_signature(types)
        dictionaries: list[DictionaryAttr] = []
        for position, (type, effect) in enumerate(
            zip(types, op.argument_effects, strict=True)
        ):
            attrs: dict[str, Attribute] = {}
            if isinstance(type, MemRefType):
                attrs = {"llvm.noalias": UnitAttr(), **EFFECT_ATTRIBUTES[effect]}
            if op.arg_attrs is not None:
                attrs |= op.arg_attrs.data[position].data
            dictionaries.append(DictionaryAttr(attrs))
        properties: dict[str, Attribute | None] = {
            "arg_attrs": spread_attributes(ArrayAttr(dictionaries), inputs),
            "no_inline": UnitAttr(),
            "no_unwind": UnitAttr(),
        }
        rewriter.replace(op, converted_function(op, rewriter, properties))


class ConvertReturn(ConversionPattern[func.ReturnOp | tir.ReturnOp]):
    root = (func.ReturnOp, tir.ReturnOp)
    generates = (
        llvm.ConstantOp,
        llvm.InsertValueOp,
        llvm.PoisonOp,
        llvm.ReturnOp,
    )

    def match_and_rewrite(
        self,
        op: func.ReturnOp | tir.ReturnOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        if returns_status(enclosing_function(op)):
            zero = rewriter.insert(status_constant(0)).result
            rewriter.replace(op, llvm.ReturnOp(zero))
            return
        values = operands.flat
        if len(values) == 1:
            rewriter.replace(op, llvm.ReturnOp(values[0]))
            return
        type = packed([v.type for v in values])
        result: SSAValue = rewriter.insert(llvm.PoisonOp(type)).res
        for position, value in enumerate(values):
            place = DenseArrayBase.from_list(i64, [position])
            result = rewriter.insert(llvm.InsertValueOp(place, result, value)).res
        rewriter.replace(op, llvm.ReturnOp(result))


def parameters_of(callee: Operation | None) -> Sequence[Attribute] | None:
    """The types that a function takes, before its conversion; None if not known."""
    match callee:
        case func.FuncOp() | tir.FuncOp():
            return callee.function_type.inputs.data
        case executor.ArtifactOp():
            return callee.argument_types
        case _:
            return None


def arguments_for(
    op: Operation,
    operands: Operands,
    parameters: Sequence[Attribute] | None,
    rewriter: ConversionRewriter,
) -> list[SSAValue]:
    """
    The values to pass. Where a parameter has other static sizes than the operand, the
    values are those of the parameter's type.
    """
    values: list[SSAValue] = []
    for position, group in enumerate(operands.groups):
        type = op.operands[position].type
        wanted = type if parameters is None else parameters[position]
        if type != wanted and isinstance(type, MemRefType):
            memref = cast(MemRefType, type)
            group = MemRef.take(rewriter, memref, group).give(rewriter, wanted)
        values += group
    return values


def artifact_symbol(name: str) -> str:
    """The C function that an artifact of a module is called as."""
    return f"artifact.{name}"


class ConvertCall(
    ConversionPattern[func.CallOp | executor.CallOp | executor.ShapeCallOp | tir.CallOp]
):
    root = (func.CallOp, executor.CallOp, executor.ShapeCallOp, tir.CallOp)

    def __init__(self, failures: Failures) -> None:
        self.failures = failures

    def match_and_rewrite(
        self,
        op: func.CallOp | executor.CallOp | executor.ShapeCallOp | tir.CallOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        assert not (isinstance(op, tir.CallOp) and op.results), (
            "a tensor has no LLVM type, so that its producer was refused"
        )
        module = rewriter.root
        assert isinstance(module, ModuleOp), "modules are converted"
        name = op.callee.string_value()
        callee = lookup(module, name)
        is_artifact = isinstance(callee, executor.ArtifactOp)
        if is_artifact:
            name = artifact_symbol(name)
        args = arguments_for(op, operands, parameters_of(callee), rewriter)
        if op.results:
            self.take_results(op, name, args, rewriter)
            return
        status = rewriter.insert(llvm.CallOp(name, *args, return_type=i32)).returned
        assert status is not None, "the call has a result"
        if is_artifact or name in self.failures.fallible or callee is None:
            self.failures.require_status(op, rewriter)
            zero = rewriter.insert(status_constant(0)).result
            good = rewriter.insert(llvm.ICmpOp(status, zero, "eq")).res
            # The numbers of an artifact are its own.
            if is_artifact:
                leave_unless(rewriter, good, self.failures.codes[op])
            else:
                leave_unless(rewriter, good, self.failures.translated(name, status))
        rewriter.replace(op, (), ())

    def take_results(
        self,
        op: Operation,
        name: str,
        args: Sequence[SSAValue],
        rewriter: ConversionRewriter,
    ) -> None:
        """Replace a call of a function that has results."""
        signature: Signature = result_signature(op, rewriter.converter)
        types = signature.types
        call = rewriter.insert(llvm.CallOp(name, *args, return_type=packed(types)))
        assert call.returned is not None, "the call has a result"
        values: list[SSAValue] = [call.returned]
        if len(types) > 1:
            values = [
                rewriter.insert(
                    llvm.ExtractValueOp(
                        DenseArrayBase.from_list(i64, [position]), call.returned, type
                    )
                ).res
                for position, type in enumerate(types)
            ]
        rewriter.replace(op, (), split(values, signature))


def func_patterns(failures: Failures) -> tuple[ConversionPattern[Any], ...]:
    """Patterns for one module, whose failures are counted."""
    return (ConvertCall(failures), ConvertFunction(), ConvertKernel(), ConvertReturn())
