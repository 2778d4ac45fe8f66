"""
Hooks on kernels, and hooks that have all functions of their target at once, which keep
the contract; and targets that own nothing.
"""

import pytest
from contract_cases import (
    KERNEL,
    MODULE,
    NOTHING_OWNED,
    NPU,
    ModuleHooks,
    Run,
    append,
    call_of,
    keeps,
    lower,
    nothing,
    ops_of,
    remove,
    symbol,
)
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    f32,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.target import place_of, set_place
from transom.passes.tir_choose_schedule import TirChooseSchedulePass

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


def keep_a_copy(module: ModuleOp) -> None:
    """The kernel needs no scratch memory any more, and main none for it."""
    (call,) = ops_of(module, tir.CallOp)
    for value in call.scratch:
        (kernel,) = ops_of(module, tir.FuncOp)
        kernel.body.block.erase_arg(kernel.args[-1])
        kernel.effects = ArrayAttr(kernel.effects.data[:-1])
        kernel.update_function_type()
        new = tir.CallOp("k", call.ins, call.outs)
        new.location = call.location
        Rewriter.replace_op(call, new, new.results)
        assert isinstance(value.owner, Operation)
        Rewriter.erase_op(value.owner)


SCRATCH = f"""\
target.device @npu {{targets = [#toy_npu.target]}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %d = tensor.empty() : tensor<4xf32>
  %s = tir.alloc : memref<4xf32>
  %y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
      scratch(%s : memref<4xf32>)
  func.return %y : tensor<4xf32>
}}
tir.func @k(read %x: memref<4xf32>, write %y: memref<4xf32>, scratch %s: memref<4xf32>)
    attributes {{target.for = {NPU}}} {{
  tir.copy %x, %y : memref<4xf32>, memref<4xf32>
  tir.return
}}
"""


def test_buffers_of_calls_that_are_not_needed():
    keeps("tir_pipeline", keep_a_copy, text=SCRATCH, hooks=ModuleHooks())


PLANNED = f"""\
target.memory @sram {{planned_by = target}}
target.device @npu {{targets = [#toy_npu.target], memories = [@sram]}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %d = tensor.empty() : tensor<4xf32>
  %s = tir.alloc {{memory = @sram}} : memref<4xf32, @sram>
  %y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
      scratch(%s : memref<4xf32, @sram>)
  func.return %y : tensor<4xf32>
}}
tir.func @k(read %x: memref<4xf32>, write %y: memref<4xf32>,
            scratch %s: memref<4xf32, @sram>)
    attributes {{target.for = {NPU}}} {{
  tir.copy %x, %y : memref<4xf32>, memref<4xf32>
  tir.return
}}
"""


def place_the_buffer(module: ModuleOp) -> None:
    (alloc,) = ops_of(module, tir.AllocOp)
    if alloc.pool is None:
        append(module, executor.PoolOp("work", 256, memory="sram"))
        alloc.pool, alloc.offset = SymbolRefAttr("work"), IntegerAttr(64, i64)


def test_offsets_in_a_memory_that_the_target_plans():
    keeps("tir_pipeline", place_the_buffer, text=PLANNED, hooks=ModuleHooks())
    shared = PLANNED.replace(" {planned_by = target}", "")
    with pytest.raises(OpError, match=r"'tir\.alloc' of '@main' has changed"):
        Run("tir_pipeline", [place_the_buffer], shared, ModuleHooks()).check()


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
