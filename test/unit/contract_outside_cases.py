"""
Hooks that break the contract outside of their target's functions.
"""

from contract_cases import (
    CPU,
    KERNEL,
    MODULE,
    Case,
    append,
    call_of,
    kernel_of,
    lower,
    ops_of,
    remove,
    symbol,
)
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from transom.dialects import graph
from transom.dialects.symbols import set_symbol_name
from transom.dialects.target import LOWERED_TO, LinkOp, MemoryOp, set_phase
from transom.targets.contract import rules


def main_op(module: ModuleOp, kind: type[Operation]) -> Operation:
    """The op of a kind in main."""
    (found,) = ops_of(symbol(module, "main"), kind)
    return found


def at_end_of_main(module: ModuleOp, op: Operation) -> None:
    block = symbol(module, "main").body.block
    block.insert_op_before(op, block.last_op)


# Ops of other functions.


def drop_the_sum(module: ModuleOp) -> None:
    op = main_op(module, arith.AddiOp)
    Rewriter.replace_op(op, (), (op.operands[0],))


def move_the_sum(module: ModuleOp) -> None:
    op = main_op(module, arith.AddiOp)
    op.detach()
    at_end_of_main(module, op)


def change_the_constant(module: ModuleOp) -> None:
    two = IntegerAttr.from_index_int_value(2)
    main_op(module, arith.ConstantOp).properties["value"] = two


def mark_the_constant(module: ModuleOp) -> None:
    main_op(module, arith.ConstantOp).attributes["test.mark"] = UnitAttr()


def swap_operands(module: ModuleOp) -> None:
    op = main_op(module, arith.AddiOp)
    op.operands = op.operands[::-1]


def return_less(module: ModuleOp) -> None:
    op = main_op(module, func.ReturnOp)
    op.operands = op.operands[:1]


def compute_in_main(module: ModuleOp) -> None:
    call = call_of(module, "first")
    op = graph.AbsOp(call.operands[0])
    Rewriter.insert_op(op, InsertPoint.before(call))
    call.operands = [op.result]


def call_another(module: ModuleOp) -> None:
    argument = symbol(module, "main").body.block.args[0]
    at_end_of_main(module, func.CallOp("other", [argument], [argument.type]))


def replace_a_hidden_kernel(module: ModuleOp) -> None:
    copy = symbol(module, "k").clone()
    set_symbol_name(copy, "o")
    copy.attributes["target.for"] = symbol(module, "o").attributes["target.for"]
    Rewriter.replace_op(symbol(module, "o"), copy)


def add_to_a_function_without_calls(module: ModuleOp) -> None:
    block = symbol(module, "helper").body.block
    one = arith.ConstantOp(IntegerAttr.from_index_int_value(1))
    block.insert_op_before(one, block.first_op)


HELPER = """\
func.func @helper(%n: index) -> index {
  func.return %n : index
}
"""


def skip_second(module: ModuleOp) -> None:
    """What reads the result of `@second` reads that of `@first`."""
    call = call_of(module, "second")
    call.results[0].replace_all_uses_with(call.operands[0])


OTHER_KERNEL = f"""\
tir.func @o(read %x: memref<4xf32>, write %y: memref<4xf32>)
    attributes {{target.for = {CPU}}} {{
  tir.copy %x, %y : memref<4xf32>, memref<4xf32>
  tir.copy %x, %y : memref<4xf32>, memref<4xf32>
  tir.return
}}
"""

OPS = (
    Case(
        rules.OP_GONE,
        "graph_pipeline",
        (drop_the_sum,),
        "test.mlir:11:3: error: 'outside': 'arith.addi' of '@main' is gone",
    ),
    Case(
        rules.OP_MOVED,
        "graph_pipeline",
        (move_the_sum,),
        "test.mlir:13:3: error: 'outside': 'func.call' of '@main' stands in front of "
        "'arith.addi' now, which was before it",
    ),
    Case(
        rules.OP_CHANGED,
        "graph_pipeline",
        (change_the_constant,),
        "test.mlir:9:3: error: 'outside': 'arith.constant' of '@main' has changed: "
        "attribute 'value' was '1 : index', but is '2 : index'",
    ),
    Case(
        rules.OP_CHANGED,
        "graph_pipeline",
        (mark_the_constant,),
        "test.mlir:9:3: error: 'outside': 'arith.constant' of '@main' has changed: "
        "attribute 'test.mark' is new",
    ),
    Case(
        rules.OP_CHANGED,
        "graph_pipeline",
        (swap_operands,),
        "test.mlir:11:3: error: 'outside': 'arith.addi' of '@main' has changed: "
        "operand 0 is another value",
    ),
    Case(
        rules.OP_CHANGED,
        "graph_pipeline",
        (return_less,),
        "test.mlir:14:3: error: 'outside': 'func.return' of '@main' has changed: the "
        "number of operands was 2, but is 1",
    ),
    Case(
        rules.OP_CHANGED,
        "graph_pipeline",
        (skip_second,),
        "test.mlir:13:3: error: 'outside': 'func.call' of '@main' has changed: operand "
        "0 is another value",
    ),
    Case(
        rules.OP_ADDED,
        "graph_pipeline",
        (compute_in_main,),
        "test.mlir:8:1: error: 'outside': 'graph.abs' is new in '@main', and no part "
        "of a call of the target's functions\ntest.mlir:8:1: note: the op is: %0 = "
        "graph.abs %x : tensor<4xf32>",
    ),
    Case(
        rules.OP_ADDED,
        "graph_pipeline",
        (add_to_a_function_without_calls,),
        "test.mlir:33:1: error: 'outside': 'arith.constant' is new in '@helper', and "
        "no part of a call of the target's functions\ntest.mlir:33:1: note: the op "
        "is: %0 = arith.constant 1 : index",
        text=MODULE + HELPER,
    ),
    Case(
        rules.CALL_ADDED,
        "graph_pipeline",
        (call_another,),
        "test.mlir:8:1: error: 'outside': 'func.call' is new in '@main', and calls "
        "'@other', which is not the target's\ntest.mlir:8:1: note: the op is: %0 = "
        "func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>",
    ),
    Case(
        rules.OP_GONE,
        "tir_pipeline",
        (replace_a_hidden_kernel,),
        "test.mlir:16:3: error: 'outside': 'tir.copy' of '@o' is gone",
        text=KERNEL + OTHER_KERNEL,
    ),
)


# Other symbols, and the module.


def drop_a_weight(module: ModuleOp) -> None:
    remove(symbol(module, "unused"))


def mark_a_function(module: ModuleOp) -> None:
    symbol(module, "other").attributes["test.mark"] = UnitAttr()


def mark_as_lowered(module: ModuleOp) -> None:
    symbol(module, "main").attributes[LOWERED_TO] = ArrayAttr([])


def make_another_kind(module: ModuleOp) -> None:
    Rewriter.replace_op(symbol(module, "unused"), MemoryOp("unused"))


def shrink_a_memory(module: ModuleOp) -> None:
    symbol(module, "sram").properties["size"] = IntegerAttr(1024, i64)


def add_public(module: ModuleOp) -> None:
    copy = kernel_of(module, "first").clone()
    set_symbol_name(copy, "entry")
    copy.sym_visibility = StringAttr("public")
    append(module, copy)


def publish_a_kernel(module: ModuleOp) -> None:
    symbol(module, "k").sym_visibility = StringAttr("public")


def add_a_memory(module: ModuleOp) -> None:
    append(module, MemoryOp("extra"))


def drop_a_link(module: ModuleOp) -> None:
    remove(ops_of(module, LinkOp)[0])


def add_a_link(module: ModuleOp) -> None:
    append(module, LinkOp("sram", "dram", 1e9))


def go_on_to_tensor(module: ModuleOp) -> None:
    set_phase(module, "tensor")


SURROUNDINGS = (
    Case(
        rules.SYMBOL_GONE,
        "graph_pipeline",
        (drop_a_weight,),
        "test.mlir:7:1: error: 'outside': 'graph.weight' '@unused' is gone",
    ),
    Case(
        rules.SYMBOL_CHANGED,
        "graph_pipeline",
        (mark_as_lowered,),
        "test.mlir:8:1: error: 'outside': 'func.func' '@main' has changed: attribute "
        "'target.lowered_to' is new",
    ),
    Case(
        rules.SYMBOL_CHANGED,
        "graph_pipeline",
        (mark_a_function,),
        "test.mlir:27:1: error: 'outside': 'func.func' '@other' has changed: "
        "attribute 'test.mark' is new",
    ),
    Case(
        rules.SYMBOL_CHANGED,
        "graph_pipeline",
        (make_another_kind,),
        "test.mlir:1:1: error: 'outside': 'graph.weight' '@unused' has changed: it "
        "is a 'target.memory'\ntest.mlir:1:1: note: the op is: target.memory @unused",
    ),
    Case(
        rules.SYMBOL_CHANGED,
        "graph_pipeline",
        (shrink_a_memory,),
        "test.mlir:2:1: error: 'outside': 'target.memory' '@sram' has changed: "
        "attribute 'size' was '65536 : i64', but is '1024 : i64'",
    ),
    Case(
        rules.SYMBOL_PUBLIC,
        "convert_graph_to_tir",
        (lower, add_public),
        "test.mlir:1:1: error: 'outside': new symbol '@entry' is not "
        "private\ntest.mlir:1:1: note: the op is: tir.func public @entry(read %0: "
        "memref<4xf32>, write %1: memref<4xf32>) attributes {target.for = #ta…",
    ),
    Case(
        rules.SYMBOL_EXPOSED,
        "tir_pipeline",
        (publish_a_kernel,),
        "test.mlir:8:1: error: 'outside': '@k' was private, but is public",
        text=KERNEL,
    ),
    Case(
        rules.MACHINE_ADDED,
        "graph_pipeline",
        (add_a_memory,),
        "test.mlir:1:1: error: 'outside': 'target.memory' '@extra' is new; hook "
        "'memories' brings memories\ntest.mlir:1:1: note: the op is: target.memory "
        "@extra",
    ),
    Case(
        rules.TOP_LEVEL_GONE,
        "graph_pipeline",
        (drop_a_link,),
        "test.mlir:3:1: error: 'outside': 'target.link' of the module is gone, or "
        "has changed",
    ),
    Case(
        rules.TOP_LEVEL_ADDED,
        "graph_pipeline",
        (add_a_link,),
        "test.mlir:1:1: error: 'outside': 'target.link' is new in the module, and no "
        "symbol\ntest.mlir:1:1: note: the op is: target.link @sram -> @dram "
        "{bandwidth = 1.0e+09}",
    ),
    Case(
        rules.MODULE_CHANGED,
        "graph_pipeline",
        (go_on_to_tensor,),
        "test.mlir:1:1: error: 'outside': the module has changed: attribute "
        "'target.config' is new",
    ),
)

CASES = (*OPS, *SURROUNDINGS)
