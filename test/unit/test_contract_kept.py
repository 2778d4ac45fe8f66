"""
Hooks that keep the contract, thoroughly checked.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from contract_cases import (
    KERNEL,
    MODULE,
    NOTHING_OWNED,
    NPU,
    TARGET,
    ModuleHooks,
    Run,
    ToyHooks,
    append,
    call_of,
    lower,
    nothing,
    ops_of,
    remove,
    symbol,
)
from toy_npu.dialect import ToyNpuAttr
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    f32,
)
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.canonicalize import CanonicalizePass

from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import Diagnostic, OpError, handling
from transom.dialects.symbols import set_symbol_name
from transom.dialects.target import LOWERED_TO, PlaceAttr, place_of, set_place
from transom.passes.graph_fuse import GraphFusePass
from transom.passes.tir_choose_schedule import TirChooseSchedulePass
from transom.targets.convert_graph_to_tir import ConvertGraphToTirPass
from transom.targets.hooks import Reference, TargetHooks


def keeps(
    hook: str,
    *changes: Callable[[ModuleOp], None] | ModulePass,
    text: str = MODULE,
    hooks: TargetHooks[Any] | None = None,
) -> ModuleOp:
    """The module after a hook that keeps the contract, with all that it computes."""
    said: list[Diagnostic] = []
    with handling(said.append):
        module = Run(hook, changes, text, hooks or ToyHooks(), thorough=True).check()
    assert not said, "everything is compared"
    return module


# Lowering by the machinery of transom.


def test_the_built_in_lowering():
    module = keeps("convert_graph_to_tir", ConvertGraphToTirPass())
    assert len(ops_of(module, tir.CallOp)) == 2


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


# Kernels.


def test_passes_of_others_on_kernels():
    keeps("tir_pipeline", TirChooseSchedulePass(), text=KERNEL)


# All functions at once.


def merge(module: ModuleOp) -> None:
    """One function, and one call, for `@first` and `@second`."""
    symbols = [op.sym_name.data for op in ops_of(module, func.FuncOp)]
    if "first" not in symbols:
        return
    first, second = symbol(module, "first"), symbol(module, "second")
    first_call, second_call = call_of(module, "first"), call_of(module, "second")
    (relu,) = ops_of(first, graph.ReluOp)
    argument: SSAValue = second.body.block.args[0]
    moved = graph.ReluOp(argument)
    moved.location = relu.location
    Rewriter.insert_op(moved, InsertPoint.at_start(second.body.block))
    argument.replace_uses_with_if(moved.result, lambda use: use.operation is not moved)
    second_call.operands = first_call.operands
    second_call.attributes |= first_call.attributes
    Rewriter.erase_op(first_call)
    remove(first)


def test_a_hook_that_merges_functions():
    module = keeps("graph_pipeline", merge, hooks=ModuleHooks())
    assert len(ops_of(module, func.CallOp)) == 2


def merge_and_lower(module: ModuleOp) -> None:
    merge(module)
    lower(module)


def test_a_hook_that_merges_and_lowers():
    module = keeps("convert_graph_to_tir", merge_and_lower, hooks=ModuleHooks())
    assert len(ops_of(module, tir.CallOp)) == 2


def prefetch(module: ModuleOp) -> None:
    """What `@second` reads besides is read ahead of the call of `@first`."""
    lower(module)
    (ref,) = ops_of(symbol(module, "main"), graph.WeightRefOp)
    ref.detach()
    Rewriter.insert_op(ref, InsertPoint.before(call_of(module, "first")))


def test_work_across_borders_of_regions():
    keeps("convert_graph_to_tir", prefetch, hooks=ModuleHooks())


def widen_a_kernel(module: ModuleOp) -> None:
    """A kernel gets scratch memory; its call passes it."""
    (kernel,) = ops_of(module, tir.FuncOp)
    if len(kernel.args) > 2:
        return
    type = MemRefType(f32, [4])
    kernel.body.block.insert_arg(type, 2)
    kernel.effects = ArrayAttr([*kernel.effects, tir.EffectAttr(tir.Effect.SCRATCH)])
    kernel.update_function_type()
    (call,) = ops_of(module, tir.CallOp)
    alloc = tir.AllocOp(type)
    new = tir.CallOp("k", call.ins, call.outs, alloc.results)
    alloc.location = new.location = call.location
    Rewriter.replace_op(call, (alloc, new), new.results)


def test_signatures_that_change_with_their_calls():
    keeps("tir_pipeline", widen_a_kernel, text=KERNEL, hooks=ModuleHooks())
    with pytest.raises(OpError, match="rule 'signatures': '@k' was of type"):
        Run("tir_pipeline", [widen_a_kernel], KERNEL).check()


# Functions of the host.


def add_a_shape_function(module: ModuleOp) -> None:
    lower(module)
    if "sizes" in [op.sym_name.data for op in ops_of(module, func.FuncOp)]:
        return
    block = Block(arg_types=[])
    one = arith.ConstantOp(IntegerAttr.from_index_int_value(4))
    block.add_ops([one, func.ReturnOp(one.result)])
    type = one.result.type
    function = func.FuncOp("sizes", ([], [type]), Region(block), visibility="private")
    place = place_of(symbol(module, "other"))
    assert place is not None
    set_place(function, place)
    append(module, function)
    call = call_of(module, "first")
    size = func.CallOp("sizes", (), [type])
    size.location = call.location
    Rewriter.insert_op(size, InsertPoint.before(call))


def test_a_function_of_the_host():
    """Sizes that depend on data are computed where main runs."""
    host = "module attributes {target.config = #target.config<host = @cpu>} {\n"
    keeps("convert_graph_to_tir", add_a_shape_function, text=f"{host}{MODULE}}}")
    with pytest.raises(OpError, match="'@sizes' is for '#llvm_cpu"):
        Run("convert_graph_to_tir", [add_a_shape_function]).check()


# Targets that own nothing.


def test_a_target_without_functions():
    keeps("convert_graph_to_tir", nothing, text=NOTHING_OWNED)

    def mark(module: ModuleOp) -> None:
        symbol(module, "main").attributes["test.mark"] = StringAttr("seen")

    with pytest.raises(OpError, match=r"'func\.func' '@main' has changed"):
        Run("convert_graph_to_tir", [mark], NOTHING_OWNED).check()


def test_lowering_what_is_lowered():
    """A hook that finds kernels only, and functions that are kept, does nothing."""
    text = str(Run("convert_graph_to_tir", [lower]).check())
    keeps("convert_graph_to_tir", lower, text=text)
