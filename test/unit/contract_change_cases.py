"""
Hooks that change ops of main in all the ways in which an op can change.
"""

from contract_cases import NPU, Case, Change, ops_of
from xdsl.dialects import cf, test
from xdsl.dialects.builtin import ModuleOp, StringAttr, i32, i64
from xdsl.ir import Block, Region
from xdsl.rewriter import Rewriter

from transom.targets.contract import rules

TEXT = f"""\
target.device @npu {{targets = [#toy_npu.target]}}
func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {{
  %a, %b = "test.op"() {{test.note = "old"}} : () -> (i32, i32)
  "test.op"(%a, %b) ({{
  ^bb0(%i: i32):
    "test.termop"(%i) : (i32) -> ()
  }}) : (i32, i32) -> ()
  cf.cond_br %c, ^left, ^right
^left:
  %y = func.call @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^end(%y : tensor<4xf32>)
^right:
  cf.br ^end(%x : tensor<4xf32>)
^end(%z: tensor<4xf32>):
  func.return %z : tensor<4xf32>
}}
func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {{target.for = {NPU}}} {{
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}}
"""
"""Main has ops with two results, a region, and branches."""


def two(module: ModuleOp) -> test.TestOp:
    """The op with two results."""
    return ops_of(module, test.TestOp)[0]


def outer(module: ModuleOp) -> test.TestOp:
    """The op with a region."""
    return ops_of(module, test.TestOp)[1]


def forget_the_note(module: ModuleOp) -> None:
    two(module).attributes.clear()


def write_another_note(module: ModuleOp) -> None:
    two(module).attributes["test.note"] = StringAttr("new " * 40)


def retype_a_result(module: ModuleOp) -> None:
    Rewriter.replace_value_with_new_type(two(module).results[1], i64)


def add_a_result(module: ModuleOp) -> None:
    """The op is replaced by one that has three."""
    old = two(module)
    new = test.TestOp((), [i32] * 3, attributes=old.attributes)
    Rewriter.replace_op(old, new, new.results[:2])


def add_a_region(module: ModuleOp) -> None:
    outer(module).add_region(Region())


def add_a_block(module: ModuleOp) -> None:
    outer(module).regions[0].add_block(Block([test.TestTermOp()]))


def add_an_argument(module: ModuleOp) -> None:
    outer(module).regions[0].block.insert_arg(i32, 1)


def swap_branches(module: ModuleOp) -> None:
    (branch,) = ops_of(module, cf.ConditionalBranchOp)
    branch.successors = branch.successors[::-1]


def changed(change: Change, message: str) -> Case:
    """A hook that changes an op of main."""
    place, op, what = message.split(" ", 2)
    message = f"test.mlir:{place} error: 'outside': {op} of '@main' has changed: {what}"
    return Case(rules.OP_CHANGED, "graph_pipeline", (change,), message, TEXT)


CASES = (
    changed(forget_the_note, "3:3: 'test.op' attribute 'test.note' is gone"),
    changed(
        write_another_note,
        "3:3: 'test.op' attribute 'test.note' was '\"old\"', but is '\""
        + "new " * 24
        + "new…'",
    ),
    changed(retype_a_result, "3:3: 'test.op' result 1 was 'i32', but is 'i64'"),
    changed(add_a_region, "4:3: 'test.op' the number of regions was 1, but is 2"),
    changed(add_a_block, "4:3: 'test.op' the number of blocks was 1, but is 2"),
    changed(add_an_argument, "4:3: 'test.op' a block has other arguments"),
    changed(swap_branches, "8:3: 'cf.cond_br' it goes to other blocks"),
    Case(
        rules.OP_GONE,
        "graph_pipeline",
        (add_a_result,),
        "test.mlir:3:3: error: 'outside': 'test.op' of '@main' is gone",
        TEXT,
    ),
)
