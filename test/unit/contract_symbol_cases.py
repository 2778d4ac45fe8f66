"""
Hooks that break the contract in symbols, their uses, and what verifies.
"""

from contract_cases import (
    KERNEL,
    Case,
    append,
    call_of,
    kernel_of,
    lower,
    remove,
    symbol,
)
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    FunctionType,
    ModuleOp,
    SymbolRefAttr,
)

from transom.dialects.symbols import rename_symbol, set_symbol_name
from transom.dialects.target import LOWERED_TO
from transom.targets.contract import rules


def define_twice(module: ModuleOp) -> None:
    append(module, symbol(module, "first").clone())


def rename_its_own(module: ModuleOp) -> None:
    rename_symbol(module, "first", "renamed")


def rename_a_memory(module: ModuleOp) -> None:
    rename_symbol(module, "sram", "scratchpad")


def remove_called(module: ModuleOp) -> None:
    remove(symbol(module, "first"))


def call_unknown(module: ModuleOp) -> None:
    call_of(module, "first").properties["callee"] = SymbolRefAttr("nowhere")


def lower_to_unknown(module: ModuleOp) -> None:
    symbol(module, "first").attributes[LOWERED_TO] = ArrayAttr([SymbolRefAttr("k")])


def break_a_kernel(module: ModuleOp) -> None:
    kernel = kernel_of(module, "first")
    kernel.properties["function_type"] = FunctionType.from_lists([], [])


def lose_effects(module: ModuleOp) -> None:
    del symbol(module, "k").properties["effects"]


def add_what_does_not_print(module: ModuleOp) -> None:
    copy = symbol(module, "k").clone()
    set_symbol_name(copy, "copy")
    copy.location = UNKNOWN_LOC
    copy.attributes.clear()
    del copy.properties["effects"]
    append(module, copy)


CASES = (
    Case(
        rules.INVALID,
        "tir_pipeline",
        (lose_effects,),
        "test.mlir:1:1: error: 'verifies': verifying it raised KeyError: 'effects'",
        text=KERNEL,
    ),
    Case(
        rules.NO_PLACE,
        "tir_pipeline",
        (add_what_does_not_print,),
        "test.mlir:1:1: error: 'placed': new function '@copy' has no place; give it "
        "'target.for'\ntest.mlir:1:1: note: the op is: 'tir.func'",
        text=KERNEL,
    ),
    Case(
        rules.SYMBOL_TWICE,
        "graph_pipeline",
        (define_twice,),
        "test.mlir:16:1: error: 'symbols': '@first' is defined twice",
    ),
    Case(
        rules.SYMBOL_RENAMED,
        "graph_pipeline",
        (rename_its_own,),
        "test.mlir:16:1: error: 'symbols': '@first' is called '@renamed' now",
    ),
    Case(
        rules.SYMBOL_RENAMED,
        "convert_graph_to_tir",
        (lower, rename_a_memory),
        "test.mlir:2:1: error: 'symbols': '@sram' is called '@scratchpad' now",
    ),
    Case(
        rules.USES_REMOVED,
        "convert_graph_to_tir",
        (remove_called,),
        "test.mlir:10:3: error: 'resolved': 'func.call' uses '@first', which is "
        "gone; rewrite all its uses",
    ),
    Case(
        rules.USES_UNKNOWN,
        "convert_graph_to_tir",
        (lower, call_unknown),
        "test.mlir:18:3: error: 'resolved': 'tir.call' uses '@nowhere', which there "
        "is not",
    ),
    Case(
        rules.USES_UNKNOWN,
        "convert_graph_to_tir",
        (lower_to_unknown,),
        "test.mlir:16:1: error: 'resolved': 'func.func' uses '@k', which there is not",
    ),
    Case(
        rules.INVALID,
        "convert_graph_to_tir",
        (lower, break_a_kernel),
        "test.mlir:18:3: error: 'verifies': 'tir.call' op expected 0 inputs, outputs "
        "and scratch together, but got 2",
    ),
)
