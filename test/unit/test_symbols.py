"""
Symbols in attributes and types: looking up, renaming, removing.
"""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.test import Test
from xdsl.ir import Operation
from xdsl.parser import Parser

from transom.dialects.graph import Graph
from transom.dialects.symbols import (
    dead_symbols,
    fresh_symbol,
    lookup,
    rename_symbol,
    set_symbol_name,
    symbol_name,
    walk_symbol_uses,
)
from transom.dialects.target import MemoryOp, Target


def parse(text: str) -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, Func, Graph, Target, Test):
        ctx.load_dialect(dialect)
    return Parser(ctx, text).parse_module()


EVERYWHERE = """
module attributes {target.config = #target.config<host = @a>} {
  target.memory @a {size = 64}
  target.memory @b
  target.link @a -> @b {bandwidth = 1.0}
  func.func @f(%x: memref<4xf32, @a>, %y: memref<4xf32, #target.place<?, ?, @a>>) {
    %z = "test.op"() {at = [#target.place<@a, ?, @a>], n = {k = @a::@x}}
      : () -> tensor<?xf32, #graph.desc<dims = ["N"], place = #target.place<@b, ?, @a>>>
    "test.op"() ({
    ^bb0(%w: tuple<memref<1xf32, @a>>):
      "test.termop"() : () -> ()
    }) : () -> ()
    func.return
  }
}
"""


def test_uses_are_found_in_attributes_and_types():
    module = parse(EVERYWHERE)
    users = [use.user.name for use in walk_symbol_uses(module) if use.name == "a"]
    assert users == [
        "builtin.module",
        "target.link",
        "func.func",  # twice in its type, twice in those of its arguments
        "func.func",
        "func.func",
        "func.func",
        "test.op",  # two in a place, one in a dictionary, one in an encoding
        "test.op",
        "test.op",
        "test.op",
        "test.op",  # a block argument
    ]


def test_rename_reaches_encodings_memory_spaces_and_block_arguments():
    module = parse(EVERYWHERE)
    rename_symbol(module, "a", "sram")
    module.verify()
    assert str(module) == str(parse(EVERYWHERE.replace("@a", "@sram")))


def test_rename_keeps_values_and_what_has_no_such_symbol():
    module = parse(EVERYWHERE)
    before = [(op, tuple(op.results)) for op in module.walk()]
    rename_symbol(module, "b", "c")
    assert [(op, tuple(op.results)) for op in module.walk()] == before
    rename_symbol(module, "c", "b")
    assert str(module) == str(parse(EVERYWHERE))


def test_rename_leaves_nested_symbol_tables_alone():
    module = parse("""
      target.memory @a
      builtin.module {
        target.memory @a
        "test.op"() {use = @a} : () -> ()
      }
    """)
    rename_symbol(module, "a", "c")
    assert [op.sym_name.data for op in module.walk() if isinstance(op, MemoryOp)] == [
        "c",
        "a",
    ]
    assert [use.name for use in walk_symbol_uses(module)] == []


def test_rename_refuses_a_missing_and_a_taken_name():
    module = parse("target.memory @a target.memory @b")
    with pytest.raises(ValueError, match="expected a symbol '@c' to rename"):
        rename_symbol(module, "c", "d")
    with pytest.raises(ValueError, match="expected no symbol '@b' before '@a'"):
        rename_symbol(module, "a", "b")


def test_look_up_follows_changes():
    module = parse("target.memory @a target.memory @b")
    first, second = module.ops
    assert lookup(module, "a") is first
    set_symbol_name(first, "c")
    assert lookup(module, "a") is None
    assert lookup(module, "c") is first
    second.detach()
    assert lookup(module, "b") is None
    new = MemoryOp("b")
    module.body.block.add_op(new)
    assert lookup(new, "b") is new


def test_look_up_outside_a_symbol_table_finds_nothing():
    assert lookup(MemoryOp("a"), "a") is None


def test_fresh_symbol_takes_the_first_free_name():
    module = parse("target.memory @a target.memory @a_0 target.memory @a_2")
    assert fresh_symbol(module, "b") == "b"
    assert fresh_symbol(module, "a") == "a_1"


DEAD = """
module attributes {keep.by_module = @kept_by_module} {
  func.func private @kept_by_module()
  func.func private @even() {
    "test.op"() {calls = @odd} : () -> ()
    func.return
  }
  func.func private @odd() {
    "test.op"() {calls = @even} : () -> ()
    func.return
  }
  func.func private @leaf()
  func.func private @used_by_main() {
    "test.op"() {calls = @leaf} : () -> ()
    func.return
  }
  func.func @main() {
    "test.op"() {calls = [@used_by_main]} : () -> ()
    func.return
  }
  graph.weight @unused = dense<1.0> : tensor<f32>
  target.memory @machine
}
"""


def names(ops: list[Operation]) -> list[str | None]:
    return [symbol_name(op) for op in ops]


def test_dead_symbols_are_private_and_not_reached():
    assert names(dead_symbols(parse(DEAD))) == ["even", "odd", "unused"]
