"""
Functions without bodies, arguments, results.

A function is a symbol with a `function_type`; calls are ops with a property `callee`.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import ReturnLike
from xdsl.utils.hints import isa

from transom.dialects.symbols import symbol_name, walk_symbol_uses
from transom.tools.reduction.edits import (
    Edit,
    erase_blocks,
    is_attached,
    set_function_type,
)
from transom.tools.reduction.operands import remove_operand, remove_result


def _functions(module: ModuleOp) -> Iterator[tuple[int, Operation, FunctionType]]:
    """Functions with a body, by their index, last ones first."""
    for index, op in reversed(list(enumerate(module.walk()))):
        type = op.properties.get("function_type")
        if (
            isinstance(type, FunctionType)
            and symbol_name(op) is not None
            and op.regions
            and op.regions[0].blocks
        ):
            yield index, op, type


def drop_bodies(module: ModuleOp) -> list[Edit]:
    """Make declarations of functions."""
    return [partial(_declare, index) for index, _, _ in _functions(module)]


def _declare(index: int, ops: Sequence[Operation]) -> bool:
    func = ops[index]
    region = func.regions[0]
    if not is_attached(func, ops[0]):
        return False
    erase_blocks(region, tuple(region.blocks))
    if isinstance(func, FuncOp):
        func.sym_visibility = StringAttr("private")
    return True


def drop_arguments(module: ModuleOp) -> list[Edit]:
    """Arguments that a function does not use, and the operands of its calls."""
    edits: list[Edit] = []
    for index, func, type in _functions(module):
        block = func.regions[0].first_block
        assert block is not None, "only functions with a body are offered"
        if len(block.args) != len(type.inputs.data):
            continue
        edits.extend(
            partial(_drop_argument, index, position)
            for position in reversed(range(len(block.args)))
            if not block.args[position].uses
        )
    return edits


def _drop_argument(index: int, position: int, ops: Sequence[Operation]) -> bool:
    func = ops[index]
    if not is_attached(func, ops[0]):
        return False
    type = func.properties["function_type"]
    block = func.regions[0].first_block
    assert isinstance(type, FunctionType) and block is not None, "as it was offered"
    if (calls := _calls(func, ops[0])) is None:
        return False
    count = len(type.inputs.data)
    _drop_elements(func, count, position, ("res_attrs",))
    block.erase_arg(block.args[position])
    set_function_type(func, block.arg_types, type.outputs.data)
    return all(remove_operand(call, position) for call in calls)


def drop_results(module: ModuleOp) -> list[Edit]:
    """Results of functions that no call of them uses."""
    return [
        partial(_drop_result, index, position)
        for index, _, type in _functions(module)
        for position in reversed(range(len(type.outputs.data)))
    ]


def _drop_result(index: int, position: int, ops: Sequence[Operation]) -> bool:
    func = ops[index]
    if not is_attached(func, ops[0]):
        return False
    type = func.properties["function_type"]
    assert isinstance(type, FunctionType), "as it was offered"
    calls = _calls(func, ops[0])
    if calls is None or any(call.results[position].uses for call in calls):
        return False
    outputs = list(type.outputs.data)
    _drop_elements(func, len(outputs), position, ("arg_attrs", "effects"))
    del outputs[position]
    set_function_type(func, type.inputs.data, outputs)
    for block in func.regions[0].blocks:
        last = block.last_op
        if last is not None and last.has_trait(ReturnLike, value_if_unregistered=False):
            remove_operand(last, position)
    for call in calls:
        remove_result(call, position)
    return True


def _calls(func: Operation, module: Operation) -> list[Operation] | None:
    """The calls of a function, or None if it is used in another way, too."""
    name = symbol_name(func)
    calls: list[Operation] = []
    for use in walk_symbol_uses(module):
        if use.name != name:
            continue
        callee = use.user.properties.get("callee")
        if not isinstance(callee, SymbolRefAttr) or callee is not use.ref:
            return None
        calls.append(use.user)
    return calls


def _drop_elements(
    func: Operation, count: int, position: int, others: Sequence[str]
) -> None:
    """Drop what a function says about an argument, or a result, in its lists."""
    for name, value in func.properties.items():
        if name in others or not isa(value, ArrayAttr[Attribute]):
            continue
        elements = list(value.data)
        if len(elements) == count:
            del elements[position]
            func.properties[name] = ArrayAttr(elements)
