"""
Hooks that break the contract in weights, or in ways that running again shows.
"""

from contract_cases import (
    Case,
    append,
    ops_of,
    remove,
    symbol,
)
from xdsl.dialects.builtin import (
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    i64,
)
from xdsl.rewriter import InsertPoint, Rewriter

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import set_symbol_name
from transom.targets.contract import rules


def drop_a_used_weight(module: ModuleOp) -> None:
    remove(symbol(module, "w"))


def change_a_weight(module: ModuleOp) -> None:
    symbol(module, "w").properties["value"] = symbol(module, "unused").value


def add_plain_weight(module: ModuleOp) -> None:
    copy = symbol(module, "w").clone()
    set_symbol_name(copy, "packed")
    append(module, copy)


WEIGHTS = (
    Case(
        rules.WEIGHT_GONE,
        "constants",
        (drop_a_used_weight,),
        "test.mlir:23:3: error: 'weights': weight '@w' is gone, but "
        "'graph.weight_ref' still uses it",
    ),
    Case(
        rules.WEIGHT_CHANGED,
        "constants",
        (change_a_weight,),
        "test.mlir:6:1: error: 'weights': weight '@w' has changed; give what is made "
        "of it a name of its own",
    ),
    Case(
        rules.WEIGHT_NO_EXPRESSION,
        "constants",
        (add_plain_weight,),
        "test.mlir:6:1: error: 'weights': new weight '@packed' is no expression over "
        "weights",
    ),
)


# Thorough rules.


class Counter:
    """What a hook should not depend on."""

    count = 0
    runs = 0


def name_by_count(module: ModuleOp) -> None:
    Counter.count += 1
    symbol(module, "first").attributes["test.count"] = IntegerAttr(Counter.count, i64)


def add_one_more(module: ModuleOp) -> None:
    (op,) = ops_of(symbol(module, "first"), graph.ReluOp)[:1]
    more = graph.ReluOp(op.input)
    Rewriter.insert_op(more, InsertPoint.before(op))
    op.operands = [more.result]


def forget_the_relu(module: ModuleOp) -> None:
    for op in ops_of(symbol(module, "first"), graph.ReluOp):
        Rewriter.replace_op(op, (), (op.input,))


def work_once(module: ModuleOp) -> None:
    Counter.runs += 1
    if Counter.runs > 1:
        raise OpError(symbol(module, "first"), "no lanes are left")


def work_on_new(module: ModuleOp) -> None:
    (op,) = ops_of(symbol(module, "first"), graph.ReluOp)
    if "test.seen" in op.attributes:
        raise OpError(op, "expected an op that is new")
    op.attributes["test.seen"] = UnitAttr()


THOROUGH = (
    Case(
        rules.FAILS_THEN,
        "graph_pipeline",
        (work_once,),
        "test.mlir:16:1: error: 'deterministic': on the same module it fails then: no "
        "lanes are left",
        thorough=True,
    ),
    Case(
        rules.FAILS_AGAIN,
        "graph_pipeline",
        (work_on_new,),
        "test.mlir:18:3: error: 'idempotent': running again fails: expected an op that "
        "is new",
        thorough=True,
    ),
    Case(
        rules.OTHER_TEXT,
        "graph_pipeline",
        (name_by_count,),
        "test.mlir:1:1: error: 'deterministic': on the same module it gave "
        "'…get.place<@npu, #toy_npu.target, ?>, test.count = 1 : i64} {' in line 17, "
        "then '…get.place<@npu, #toy_npu.target, ?>, test.count = 2 : i64} {'",
        thorough=True,
    ),
    Case(
        rules.CHANGED_AGAIN,
        "graph_pipeline",
        (add_one_more,),
        "test.mlir:1:1: error: 'idempotent': running again changes line 19 from '%y "
        "= graph.relu %0 : tensor<4xf32> loc(\"test.mlir\":18:3)' to '%1 = graph.relu "
        "%0 : tensor<4xf32> loc(unknown)'",
        thorough=True,
    ),
    Case(
        rules.OTHER_NUMBERS,
        "graph_pipeline",
        (forget_the_relu,),
        "test.mlir:16:1: error: 'computes': '@first' computes something else: result "
        "0: 1 of 4 elements differ, by at most 0.132 (largest expected: 0.64)",
        thorough=True,
    ),
)

CASES = (*WEIGHTS, *THOROUGH)
