"""
Hooks that break the contract where their target's functions are called.
"""

from contract_cases import (
    MODULE,
    Case,
    ModuleHooks,
    append,
    call_of,
    lower,
    ops_of,
    remove,
    symbol,
)
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    ModuleOp,
    SymbolRefAttr,
    TensorType,
    f32,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from transom.dialects import graph
from transom.dialects.symbols import set_symbol_name
from transom.dialects.target import LOWERED_TO
from transom.targets.contract import rules


def widen_a_result(module: ModuleOp) -> None:
    """`@second` is called on, and gives, another type; nobody else is told."""
    call = call_of(module, "second")
    new = func.CallOp("second", call.operands, [TensorType(f32, [8])])
    Rewriter.replace_op(call, new)


def forget_locations(module: ModuleOp) -> None:
    call_of(module, "first").location = UNKNOWN_LOC


def forget_attributes(module: ModuleOp) -> None:
    call_of(module, "first").attributes.clear()


def copy_main_without_locations(module: ModuleOp) -> None:
    main = symbol(module, "main")
    copy = main.clone()
    for op in copy.walk():
        op.location = UNKNOWN_LOC
    Rewriter.replace_op(main, copy)


CALL_SITES = (
    Case(
        rules.RESULT_TYPE,
        "graph_pipeline",
        (widen_a_result,),
        "test.mlir:13:3: error: 'call-sites': 'func.call' got 'tensor<4xf32>' from "
        "the call of '@second', but gets 'tensor<8xf32>'; insert an adaptor",
        hooks=ModuleHooks,
    ),
    Case(
        rules.NO_LOCATION,
        "convert_graph_to_tir",
        (lower, forget_locations),
        "test.mlir:8:1: error: 'call-sites': the call of '@relu_…' has no "
        "location, but that of '@first' had one\ntest.mlir:8:1: note: the op is: %y = "
        "tir.call @relu_…(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) "
        "{test.hint}",
    ),
    Case(
        rules.NO_LOCATION,
        "graph_pipeline",
        (copy_main_without_locations,),
        "test.mlir:1:1: error: 'call-sites': the call of '@first' has no location, "
        "but that of '@first' had one\ntest.mlir:1:1: note: the op is: %y = func.call "
        "@first(%x) {test.hint} : (tensor<4xf32>) -> tensor<4xf32>",
    ),
    Case(
        rules.NO_ATTRIBUTE,
        "convert_graph_to_tir",
        (lower, forget_attributes),
        "test.mlir:18:3: error: 'call-sites': the call of '@first' had attribute "
        "'test.hint', which no call in its place has",
    ),
)


# One by one.


def inline_first(module: ModuleOp) -> None:
    """`@second` does what `@first` did, which is gone."""
    first, second = call_of(module, "first"), call_of(module, "second")
    second.operands = first.operands
    Rewriter.erase_op(first)
    remove(symbol(module, "first"))
    argument: SSAValue = symbol(module, "second").body.block.args[0]
    relu = graph.ReluOp(argument)
    Rewriter.insert_op(relu, InsertPoint.at_start(symbol(module, "second").body.block))
    argument.replace_uses_with_if(relu.result, lambda use: use.operation is not relu)


def split_second(module: ModuleOp) -> None:
    part = symbol(module, "first").clone()
    set_symbol_name(part, "second_part")
    append(module, part)


def call_second_instead(module: ModuleOp) -> None:
    call_of(module, "first").properties["callee"] = SymbolRefAttr("second")


def call_second_once(module: ModuleOp) -> None:
    first_call, _ = (
        op
        for op in ops_of(symbol(module, "main"), func.CallOp)
        if op.callee.string_value() == "first"
    )
    first_call.callee = SymbolRefAttr("second")


def call_again(module: ModuleOp) -> None:
    call = call_of(module, "second")
    second = func.CallOp("second", call.results, call.result_types)
    Rewriter.insert_op(second, InsertPoint.after(call))


def merge_kernels(module: ModuleOp) -> None:
    """Both functions say that they are lowered to one kernel, which is called once."""
    lower(module)
    first, second = call_of(module, "first"), call_of(module, "second")
    names = [*symbol(module, "first").attributes[LOWERED_TO]]
    symbol(module, "second").attributes[LOWERED_TO] = ArrayAttr(names)
    second.results[0].replace_all_uses_with(first.results[0])
    Rewriter.erase_op(second)


def call_second_first(module: ModuleOp) -> None:
    lower(module)
    first, second = call_of(module, "first"), call_of(module, "second")
    x, *others = second.operands
    x.replace_uses_with_if(first.operands[0], lambda use: use.operation is second)
    for op in (*(value.owner for value in others), second):
        assert isinstance(op, Operation), "it makes an empty tensor or reads a weight"
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(first))


def swap_calls(module: ModuleOp) -> None:
    """Two calls that do not depend on each other change places."""
    a, b = (
        c for c in ops_of(module, func.CallOp) if c.callee.string_value() != "other"
    )
    a.detach()
    Rewriter.insert_op(a, InsertPoint.after(b))


INDEPENDENT = MODULE.replace("@second(%y)", "@second(%x)")

SCOPE = (
    Case(
        rules.FUNCTION_GONE,
        "graph_pipeline",
        (inline_first,),
        "test.mlir:16:1: error: 'scope': '@first' is gone; only hooks of scope "
        "'module' may remove functions",
    ),
    Case(
        rules.FUNCTION_ADDED,
        "graph_pipeline",
        (split_second,),
        "test.mlir:16:1: error: 'scope': graph function '@second_part' is new; only "
        "hooks of scope 'module' may split",
    ),
    Case(
        rules.CALLS_CHANGED,
        "graph_pipeline",
        (call_second_instead,),
        "test.mlir:10:3: error: 'scope': the call of '@first' is new or gone; only "
        "hooks of scope 'module' may change which functions are called",
    ),
    Case(
        rules.CALLS_CHANGED,
        "graph_pipeline",
        (call_again,),
        "test.mlir:8:1: error: 'scope': the call of '@second' is new or gone; only "
        "hooks of scope 'module' may change which functions are "
        "called\ntest.mlir:8:1: note: the op is: %0 = func.call @second(%z) : "
        "(tensor<4xf32>) -> tensor<4xf32>",
    ),
    Case(
        rules.CALLS_CHANGED,
        "graph_pipeline",
        (call_second_once,),
        "test.mlir:10:3: error: 'scope': the call of '@first' is new or gone; only "
        "hooks of scope 'module' may change which functions are called",
        text=MODULE.replace("@second(%y)", "@first(%y)"),
    ),
    Case(
        rules.MERGED,
        "convert_graph_to_tir",
        (merge_kernels,),
        "test.mlir:18:3: error: 'scope': 1 call of '@relu_…' is in place of 2 "
        "calls ('@first', '@second'); only hooks of scope 'module' may merge",
    ),
    Case(
        rules.REORDERED,
        "convert_graph_to_tir",
        (call_second_first,),
        "test.mlir:18:3: error: 'scope': the call of '@relu_…' is out of the "
        "order of the calls in whose place it is; only hooks of scope 'module' may "
        "order",
    ),
    Case(
        rules.REORDERED,
        "graph_pipeline",
        (swap_calls,),
        "test.mlir:12:3: error: 'scope': the call of '@second' is out of the order "
        "of the calls in whose place it is; only hooks of scope 'module' may order",
        text=INDEPENDENT,
    ),
)


CASES = (*CALL_SITES, *SCOPE)
