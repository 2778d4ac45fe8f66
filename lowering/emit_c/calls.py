"""
Calls: functions of the module, artifacts, and C functions with their structs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from transom.dialects import executor, tir
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_c.expressions import Expression
from transom.lowering.emit_c.memory import Buffer
from transom.lowering.emit_c.scope import Struct, number_text, start_text

if TYPE_CHECKING:
    from transom.lowering.emit_c.function import FunctionWriter


def arguments_of(
    writer: FunctionWriter, op: Operation, values: list[SSAValue], types: list[object]
) -> list[str]:
    """
    What a function of the module gets: of a memref the address, then the sizes and
    strides that the parameter's type leaves open.
    """
    texts: list[str] = []
    for value, type in zip(values, types, strict=True):
        if not isinstance(value.type, MemRefType):
            texts.append(writer.scope.number(value).text)
            continue
        buffer = writer.scope.buffer(op, value)
        texts += writer.unit.passed(op, buffer, type)
    return texts


def write_call(writer: FunctionWriter, op: Operation) -> None:
    """A call without results: it returns a status if it can fail."""
    callee = writer.callee(op)
    if callee is None:
        raise OpError(op, "expected a call of a function of the module")
    scope, unit = writer.scope, writer.unit
    texts = arguments_of(
        writer, op, list(op.operands), list(unit.parameter_types(callee))
    )
    scope.settle()
    origin = unit.origin(op)
    if origin:
        scope.line(f"/* {origin} */")
    call = f"{writer.callee_name(callee)}({', '.join(texts)})"
    if op.results:
        if len(op.results) > 1:
            raise OpError(op, "no C form for a call with several results")
        scope.variable(op.results[0], Expression(call))
        return
    if not unit.may_fail(callee):
        scope.line(f"{call};")
        return
    with scope.braces(""):
        scope.line(f"const int32_t status = {call};")
        with scope.braces("if (status != 0)"):
            scope.line("return status;")


def write_struct(writer: FunctionWriter, op: Operation) -> None:
    """A struct, its fields in order."""
    assert isinstance(op, tir.StructOp)
    scope = writer.scope
    struct = writer.unit.struct(op.result.type)
    texts: list[str] = []
    for field in op.fields:
        found = scope.of(field)
        match found:
            case Buffer():
                # Fields of structs that are only read are not always const.
                cast = f"({found.scalar.storage} *)" if found.is_const else ""
                text = start_text(found)
                texts.append(f"{cast}({text})" if cast and " " in text else cast + text)
            case Struct():
                texts.append(found.name)
            case Expression():
                texts.append(found.text)
    scope.settle()
    name = scope.name_for(op.result, struct)
    scope.line(f"{struct} {name} = {{{', '.join(texts)}}};")
    scope.put(op.result, Struct(name))


def write_extern(writer: FunctionWriter, op: Operation) -> None:
    """A C function, whose status is checked."""
    assert isinstance(op, tir.ExternOp)
    scope, unit = writer.scope, writer.unit
    texts: list[str] = []
    for value, by_ref in zip(op.arguments, op.refs, strict=True):
        found = scope.of(value)
        match found:
            case Buffer():
                texts.append(start_text(found))
            case Struct():
                texts.append(f"&{found.name}" if by_ref else found.name)
            case Expression():
                texts.append(found.text)
    scope.settle()
    call = f"{unit.external(op)}({', '.join(texts)})"
    if op.result is None:
        scope.line(f"{call};")
    elif op.expected_status is not None:
        condition = f"{call} != {number_text(op.expected_status)}"
        if op.result.first_use is not None:
            status = scope.variable(op.result, Expression(call), "status")
            condition = f"{status.text} != {number_text(op.expected_status)}"
        writer.fail(
            op, condition, f"'{op.callee.data}' did not return {op.expected_status}"
        )
    elif op.result.first_use is None:
        scope.line(f"(void){call};")
    else:
        scope.variable(op.result, Expression(call), "result")


CALLS: dict[type[Operation], Callable[[FunctionWriter, Operation], None]] = {
    executor.CallOp: write_call,
    executor.ShapeCallOp: write_call,
    func.CallOp: write_call,
    tir.CallOp: write_call,
    tir.ExternOp: write_extern,
    tir.StructOp: write_struct,
}
