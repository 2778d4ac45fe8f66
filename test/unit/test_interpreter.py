"""
The interpreter itself: calls, limits, evaluators of others, and what it refuses.
"""

from abc import ABC
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest
from interpreter_cases import interpret, parse, same
from xdsl.context import Context
from xdsl.dialects import (
    affine,
    arith,
    builtin,
    cf,
    func,
    math,
    memref,
    scf,
    tensor,
    test,
    vector,
)
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.traits import IsTerminator, Pure, SymbolOpInterface

from transom.dialects import DIALECTS, executor, graph, linalg, plugins, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.plugins import Plugin
from transom.interpreters import evaluators
from transom.interpreters.evaluators import (
    TABLES,
    Evaluators,
    Values,
    dialect_table,
    find_evaluator,
)
from transom.interpreters.interpreter import Frame, Interpreter


class AnyBarkOp(IRDLOperation, ABC):
    """Base of ops of a dialect that the interpreter does not know."""

    input = operand_def()
    result = result_def()

    traits = traits_def(Pure())


@irdl_op_definition
class BarkOp(AnyBarkOp):
    name = "woofles.bark"


@irdl_op_definition
class LoudBarkOp(AnyBarkOp):
    name = "woofles.loud_bark"


WOOFLES = Dialect("woofles", [BarkOp, LoudBarkOp])
TABLE = Evaluators()


@TABLE.of(AnyBarkOp)
def bark(frame: Frame, op: AnyBarkOp, args: Values) -> Values:
    return (args[0] * 2,)


BARK = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "woofles.bark"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = "woofles.loud_bark"(%y) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %z : tensor<2xf32>
}"""


def parse_woofles(text: str, *, unregistered: bool = False) -> ModuleOp:
    context = Context(allow_unregistered=unregistered)
    for dialect in (builtin.Builtin, func.Func, test.Test):
        context.load_dialect(dialect)
    if not unregistered:
        context.load_dialect(WOOFLES)
    return Parser(context, text).parse_module()


def refused(module: ModuleOp, *inputs: Any, **options: Any) -> OpError:
    with pytest.raises(OpError) as raised:
        Interpreter(module, **options).run("main", inputs)
    return raised.value


X = np.array([1, 2], np.float32)


@pytest.mark.parametrize("unregistered", [False, True])
def test_unknown_op(unregistered: bool):
    module = parse_woofles(BARK, unregistered=unregistered)
    error = refused(module, X)
    assert error.message == "no reference evaluation for 'woofles.bark'"


def test_evaluators_that_are_passed():
    interpreter = Interpreter(parse_woofles(BARK), evaluators=TABLE)
    same(interpreter.run("main", [X])[0], 4 * X)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs an entry point, as if a distribution had it."""

    def install(value: str) -> None:
        entry = EntryPoint("woofles", value, plugins.EVALUATORS)
        plugin = Plugin(entry.group, "woofles", value, "woofles-dist", "1.0", entry)
        monkeypatch.setattr(plugins, "installed", lambda: (plugin,))

    evaluators.dialect_table.cache_clear()
    yield install
    evaluators.dialect_table.cache_clear()


def test_evaluators_of_an_entry_point(installed: Any):
    installed(f"{__name__}:TABLE")
    same(Interpreter(parse_woofles(BARK)).run("main", [X])[0], 4 * X)


def test_broken_entry_point(installed: Any):
    installed("no_such_module:TABLE")
    assert refused(parse_woofles(BARK), X).message == (
        "plug-in 'woofles' of distribution 'woofles-dist' (no_such_module:TABLE) "
        "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"
    )


def test_passed_evaluators_come_first():
    def one(frame: Frame, op: math.ExpOp, args: Values) -> Values:
        return (np.ones_like(args[0]),)

    table = Evaluators()
    table.of(math.ExpOp)(one)
    text = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = math.exp %x : tensor<2xf32>
  func.return %y : tensor<2xf32>
}"""
    same(interpret(text, X, evaluators=table), np.ones(2, np.float32))


def test_every_dialect_of_ours_is_evaluated():
    missing = (
        set(DIALECTS) - set(TABLES) - {"llvm", "target"}
    )  # run by the JIT; no values
    assert not missing


CALLS = """
func.func private @twice(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  func.return %y : f32
}
func.func private @outside(f32) -> f32
func.func @main(%x: f32) -> f32 {
  %y = func.call @twice(%x) : (f32) -> f32
  %z = func.call @outside(%y) : (f32) -> f32
  func.return %z : f32
}"""


def test_calls():
    def negative(x: Any) -> Any:
        return -x

    same(interpret(CALLS, 2.5, externs={"outside": negative}), np.array(-5, np.float32))
    assert refused(parse(CALLS), 2.5).message == (
        "no reference evaluation for the external 'outside'"
    )


def test_recursion_is_bounded():
    text = """
func.func @main(%x: f32) -> f32 {
  %y = func.call @main(%x) : (f32) -> f32
  func.return %y : f32
}"""
    assert refused(parse(text), 1.0).message == "expected at most 100 nested calls"


def test_names_of_functions():
    with pytest.raises(ValueError, match=r"^the module has no function 'mian'; did"):
        Interpreter(parse(CALLS)).run("mian", [])
    with pytest.raises(
        ValueError, match=r"^expected 'outside' to be a function with a"
    ):
        Interpreter(parse(CALLS)).run("outside", [1.0])


LOOP = """
func.func @main(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
    %t = scf.for %j = %c0 to %c100 step %c1 iter_args(%b = %a) -> (index) {
      %u = arith.addi %b, %c1 : index
      scf.yield %u : index
    }
    scf.yield %t : index
  }
  func.return %s : index
}"""


def test_steps_are_counted():
    interpreter = Interpreter(parse(LOOP))
    assert int(interpreter.run("main", [3])[0]) == 300
    assert interpreter.steps == 5 + 3 * (2 + 100 * 2)
    interpreter.run("main", [1])
    assert interpreter.steps == 5 + (2 + 100 * 2)


def test_a_long_loop_is_refused_before_it_starts():
    error = refused(parse(LOOP), 10**9)
    assert error.message == (
        "expected at most 10000000 interpreted steps, but at least 202000000005 are "
        "needed"
    )


def test_a_loop_without_end_is_refused():
    text = """
func.func @main() {
  %true = arith.constant true
  %r = scf.while (%a = %true) : (i1) -> i1 {
    scf.condition(%a) %a : i1
  } do {
  ^bb0(%b: i1):
    scf.yield %b : i1
  }
  func.return
}"""
    error = refused(parse(text), max_steps=1000)
    assert error.message.startswith("expected at most 1000 interpreted steps, but at")


def test_step_of_a_loop():
    text = """
func.func @main(%n: index) {
  scf.for %i = %n to %n step %n {
  }
  func.return
}"""
    assert refused(parse(text), 0).message == "expected a step > 0, but got 0"


def test_error_has_the_place_of_the_op():
    text = """
func.func @main(%x: i32) -> i32 {
  %z = arith.constant 0 : i32
  %y = arith.divsi %x, %z : i32 loc("m.mlir":7:3)
  func.return %y : i32
}"""
    assert str(refused(parse(text), 1)) == (
        "m.mlir:7:3: error: cannot evaluate 'arith.divsi': division by zero"
    )


def test_runs_do_not_share_state():
    text = """
"memref.global"() <{sym_name = "g", sym_visibility = "private", type = memref<i32>,
                    initial_value = dense<0> : tensor<i32>}> : () -> ()
func.func @main() -> i32 {
  %g = memref.get_global @g : memref<i32>
  %c1 = arith.constant 1 : i32
  %v = memref.load %g[] : memref<i32>
  %w = arith.addi %v, %c1 : i32
  memref.store %w, %g[] : memref<i32>
  func.return %w : i32
}"""
    interpreter = Interpreter(parse(text))
    assert [int(interpreter.run("main", [])[0]) for _ in range(2)] == [1, 1]


def test_casts_that_a_conversion_left():
    text = """
func.func @main(%x: i64) -> i64 {
  %y = builtin.unrealized_conversion_cast %x : i64 to index
  %z = builtin.unrealized_conversion_cast %y : index to i64
  func.return %z : i64
}"""
    assert int(interpret(text, 5)) == 5


DIALECTS_BY_NAME = {
    dialect.name: dialect
    for dialect in (
        affine.Affine,
        arith.Arith,
        builtin.Builtin,
        cf.Cf,
        executor.Executor,
        func.Func,
        graph.Graph,
        linalg.Linalg,
        math.Math,
        memref.MemRef,
        scf.Scf,
        tensor.Tensor,
        tir.TIR,
        vector.Vector,
    )
}

UNEVALUATED = {
    "affine.if",
    "affine.parallel",
    "affine.vector_load",
    "affine.vector_store",
    "builtin.module",
    "memref.alloca_scope",
    "memref.dma_start",
    "memref.dma_wait",
    "memref.extract_aligned_pointer_as_index",
}
"""Ops without values of their own, or that nothing here makes."""


@pytest.mark.parametrize("name", TABLES)
def test_every_op_is_evaluated(name: str):
    """Or it is a symbol, or ends a block."""
    table = dialect_table(name)
    dialect: Dialect = DIALECTS_BY_NAME[name]
    missing = {
        op.name
        for op in dialect.operations
        if issubclass(op, IRDLOperation)
        and find_evaluator(op, (table,)) is None
        and not (op.has_trait(IsTerminator) or op.has_trait(SymbolOpInterface))
    }
    assert missing <= UNEVALUATED
