"""
Hooks that keep the contract, thoroughly checked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from contract_cases import (
    MODULE,
    NPU,
    TARGET,
    Run,
    ToyHooks,
    append,
    call_of,
    keeps,
    lower,
    ops_of,
    remove,
    symbol,
)
from toy_npu.dialect import ToyNpuAttr
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    FunctionType,
    MemRefType,
    ModuleOp,
    SymbolRefAttr,
    f32,
)
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.canonicalize import CanonicalizePass

from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import set_symbol_name
from transom.dialects.target import LOWERED_TO, PlaceAttr
from transom.lowering.convert_graph_to_tir import GraphToTirLowering
from transom.passes.graph_fuse import GraphFusePass
from transom.registry import new_context
from transom.targets.convert_graph_to_tir import ConvertGraphToTirPass
from transom.targets.hooks import Reference

# Lowering by the machinery of transom.


def test_the_built_in_lowering():
    module = keeps("convert_graph_to_tir", ConvertGraphToTirPass())
    assert len(ops_of(module, tir.CallOp)) == 2


@dataclass(frozen=True)
class LowerToyPass(GraphToTirLowering):
    """The lowering of a target, which is not the last one."""

    name = "lower-toy"


CONSTANTS = f"""\
target.device @npu {{targets = [#toy_npu.target]}}
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {{
  %c = graph.constant dense<[1., 2.]> : tensor<2xf32>
  %y = func.call @first(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y, %c : tensor<2xf32>, tensor<2xf32>
}}
func.func private @first(%x: tensor<2xf32>) -> tensor<2xf32>
    attributes {{target.for = {NPU}}} {{
  %c = graph.constant dense<[3., 4.]> : tensor<2xf32>
  %y = graph.add %x, %c : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}}
"""


def test_constants_of_main_are_left_to_the_last_lowering():
    module = keeps("convert_graph_to_tir", LowerToyPass(), text=CONSTANTS)
    assert len(ops_of(module, graph.ConstantOp)) == 2  # of main, and of `@first`
    (weight,) = ops_of(module, graph.WeightOp)
    assert str(weight.value).startswith("dense<[3.")
    ConvertGraphToTirPass().apply(new_context(), module)
    assert len(ops_of(module, graph.WeightOp)) == 2


CONTROL_FLOW = f"""\
target.device @npu {{targets = [#toy_npu.target]}}
func.func @main(%x: tensor<4xf32>, %n: index, %c: i1) -> tensor<4xf32> {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = scf.for %i = %zero to %n step %one iter_args(%v = %x) -> (tensor<4xf32>) {{
    %w = func.call @first(%v) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }}
  %z = scf.if %c -> (tensor<4xf32>) {{
    %w = func.call @first(%y) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }} else {{
    scf.yield %y : tensor<4xf32>
  }}
  func.return %z : tensor<4xf32>
}}
func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {{target.for = {NPU}}} {{
  %y = graph.relu %x : tensor<4xf32>
  %z = graph.exp %y : tensor<4xf32>
  func.return %z : tensor<4xf32>
}}
"""


def test_calls_in_branches_and_loops():
    module = keeps("convert_graph_to_tir", ConvertGraphToTirPass(), text=CONTROL_FLOW)
    assert len(ops_of(module, tir.CallOp)) == 4


DYNAMIC = f"""\
target.device @npu {{targets = [#toy_npu.target]}}
func.func @main(%x: tensor<?x4xf32>, %b: tensor<?x4xf32>)
    -> (tensor<?x4xf32>, tensor<8xf32>) {{
  %y, %z = func.call @first(%x, %b)
      : (tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<8xf32>)
  func.return %y, %z : tensor<?x4xf32>, tensor<8xf32>
}}
func.func private @first(%x: tensor<?x4xf32>, %b: tensor<?x4xf32>)
    -> (tensor<?x4xf32>, tensor<8xf32>) attributes {{target.for = {NPU}}} {{
  %y = graph.add %x, %b : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  %c = graph.constant dense<[1., 2., 3., 4., 5., 6., 7., 8.]> : tensor<8xf32>
  %z = graph.relu %c : tensor<8xf32>
  func.return %y, %z : tensor<?x4xf32>, tensor<8xf32>
}}
"""


def test_sizes_and_checks_around_calls():
    module = keeps("convert_graph_to_tir", ConvertGraphToTirPass(), text=DYNAMIC)
    assert ops_of(module, tensor.DimOp)


def test_a_hook_that_copies_main():
    """What is equal and in the same order is found again, though it is another op."""

    def copy_main(module: ModuleOp) -> None:
        main = symbol(module, "main")
        Rewriter.replace_op(main, main.clone())

    for text in (MODULE, CONTROL_FLOW):
        keeps("convert_graph_to_tir", lower, copy_main, text=text)
    keeps("graph_pipeline", copy_main)


def forget_one_location(module: ModuleOp) -> None:
    lower(module)
    call_of(module, "second").location = UNKNOWN_LOC


def test_a_call_whose_place_nobody_knew():
    text = MODULE.replace("@second(%y) :", "@second(%y) : ").replace(
        "%h = func.call", "loc(unknown)\n  %h = func.call"
    )
    keeps("convert_graph_to_tir", forget_one_location, text=text)


# Graph to graph.


def test_passes_of_others_on_graph_functions():
    keeps("graph_pipeline", CanonicalizePass(), GraphFusePass())


def copy_at_the_border(module: ModuleOp) -> None:
    lower(module)
    call = call_of(module, "first")
    if not isinstance(call.operands[0].owner, graph.CopyOp):
        place = PlaceAttr.get("npu", TARGET, "sram")
        copy = graph.CopyOp(call.operands[0], place)
        copy.location = call.location
        Rewriter.insert_op(copy, InsertPoint.before(call))
        call.operands = [copy.results[0], *call.operands[1:]]


def test_copies_on_borders():
    module = keeps("convert_graph_to_tir", copy_at_the_border)
    assert len(ops_of(module, graph.CopyOp)) == 1


SRAM = "tensor<4xf32, #graph.desc<place = #target.place<@npu, ?, @sram>>>"

COPIES = f"""\
target.memory @sram
target.device @npu {{targets = [#toy_npu.target], memories = [@sram]}}
func.func @main(%x: {SRAM}) -> {SRAM} {{
  %a = graph.copy %x : {SRAM} -> {SRAM}
  %y = func.call @first(%a) : ({SRAM}) -> {SRAM}
  %b = graph.copy %y : {SRAM} -> {SRAM}
  func.return %b : {SRAM}
}}
func.func private @first(%x: {SRAM}) -> {SRAM}
    attributes {{target.for = {NPU}}} {{
  %y = graph.relu %x : {SRAM}
  func.return %y : {SRAM}
}}
"""


def drop_copies(module: ModuleOp) -> None:
    for copy in ops_of(module, graph.CopyOp):
        Rewriter.replace_op(copy, (), (copy.input,))


def test_copies_on_borders_that_are_not_needed():
    keeps("graph_pipeline", drop_copies, text=COPIES)
    elsewhere = COPIES.replace("(%a)", "(%x)").replace("copy %y", "copy %a")
    elsewhere = elsewhere.replace("return %b", "return %y")
    with pytest.raises(OpError, match=r"'graph\.copy' of '@main' is gone"):
        Run("graph_pipeline", [drop_copies], elsewhere).check()


# Weights.


def double_the_weight(module: ModuleOp) -> None:
    """`@second` reads a weight that is made of `@w`; nobody reads `@unused`."""
    (ref,) = ops_of(symbol(module, "second"), graph.WeightRefOp)
    if ref.weight.string_value() == "w.doubled":
        return
    old = graph.WeightRefOp(symbol(module, "w"))
    body = Block(
        [old, add := graph.AddOp(old.result, old.result), graph.YieldOp(add.result)]
    )
    append(module, graph.WeightOp("w.doubled", ref.result.type, body=Region(body)))
    half = graph.ConstantOp.splat(ref.result.type, 0.5)
    new = graph.WeightRefOp("w.doubled", ref.result.type)
    Rewriter.replace_op(ref, (new, half, graph.MulOp(new.result, half.result)))
    remove(symbol(module, "unused"))


def test_weights_as_expressions_of_weights():
    module = keeps("constants", double_the_weight)
    assert [w.sym_name.data for w in ops_of(module, graph.WeightOp)] == [
        "w",
        "w.doubled",
    ]


# Artifacts.


def run_relu(code: executor.EmittedCode, arguments: Sequence[Any]) -> None:
    assert code.payload_bytes == b"max"
    np.maximum(arguments[0], 0, out=arguments[1])


class ArtifactHooks(ToyHooks):
    """Hooks that bring evaluations of their code."""

    def reference(self, target: ToyNpuAttr) -> Reference:
        return Reference(artifacts={"toy": run_relu})


class BothWays(ArtifactHooks):
    """Hooks that take some functions the short way, and others through `tir`."""

    def convert_graph_to_tir(self, target: ToyNpuAttr) -> ModulePass:
        return ConvertGraphToTirPass()


def emit_relu(module: ModuleOp) -> None:
    """Replace a function of nothing but `relu` by an artifact of the same name."""
    for function in ops_of(module, func.FuncOp):
        first = function.body.block.first_op if function.body.blocks else None
        if not isinstance(first, graph.ReluOp) or LOWERED_TO in function.attributes:
            continue
        type = MemRefType(f32, first.result.type.get_shape())
        artifact = executor.ArtifactOp(
            "relu_code",
            "toy",
            TARGET,
            b"max",
            FunctionType.from_lists([type, type], []),
            effects=("read", "write"),
        )
        artifact.location = function.location
        append(module, artifact)
        function.attributes[LOWERED_TO] = ArrayAttr([SymbolRefAttr("relu_code")])
        call = call_of(module, function.sym_name.data)
        empty = tensor.EmptyOp((), call.results[0].type)
        new = tir.CallOp("relu_code", call.operands, empty.results)
        new.attributes |= call.attributes
        empty.location = new.location = call.location
        Rewriter.replace_op(call, (empty, new), new.results)


RELU_ONLY = MODULE.replace(
    "graph.add %x, %w : tensor<4xf32>, tensor<4xf32> ->", "graph.abs %x :"
)


def test_artifacts_that_leave_functions_to_another_hook():
    module = keeps("convert_graph_to_artifact", emit_relu, hooks=BothWays())
    assert [call.callee_name for call in ops_of(module, tir.CallOp)] == ["relu_code"]
    with pytest.raises(OpError, match="'@second' is not lowered"):
        Run("convert_graph_to_artifact", [emit_relu], hooks=ArtifactHooks()).check()


def test_a_function_that_is_replaced_by_an_artifact_of_its_name():
    def replace_by_name(module: ModuleOp) -> None:
        emit_relu(module)
        artifacts = ops_of(module, executor.ArtifactOp)
        if artifacts and artifacts[0].sym_name.data == "relu_code":
            remove(symbol(module, "first"))
            set_symbol_name(artifacts[0], "first")
            (call,) = ops_of(module, tir.CallOp)
            call.callee = SymbolRefAttr("first")

    keeps("convert_graph_to_artifact", replace_by_name, hooks=BothWays())
