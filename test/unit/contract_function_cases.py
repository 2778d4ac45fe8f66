"""
Hooks that break the contract in what becomes of their target's functions.
"""

from contract_cases import (
    CPU,
    KERNEL,
    MODULE,
    TARGET,
    Case,
    ModuleHooks,
    append,
    kernel_of,
    lower,
    nothing,
    ops_of,
    symbol,
)
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    f32,
)
from xdsl.ir import Region
from xdsl.rewriter import Rewriter

from transom.dialects import graph, tir
from transom.dialects.symbols import set_symbol_name
from transom.dialects.target import LOWERED_TO, PlaceAttr, set_place
from transom.targets.contract import rules

# Lowered functions.


def lower_all_but_calls(module: ModuleOp) -> None:
    copy = symbol(module, "main").clone()
    lower(module)
    Rewriter.replace_op(symbol(module, "main"), copy)


def drop_the_body(module: ModuleOp) -> None:
    function = symbol(module, "first")
    function.detach_region(0)
    function.add_region(Region())


def lower_to_a_weight(module: ModuleOp) -> None:
    symbol(module, "first").attributes[LOWERED_TO] = ArrayAttr([SymbolRefAttr("w")])


def rewrite_ops(module: ModuleOp) -> None:
    """Replace `relu`, but by another graph op."""
    (op,) = ops_of(module, graph.ReluOp)
    Rewriter.replace_op(op, graph.AbsOp(op.input))


def add_a_graph_function(module: ModuleOp) -> None:
    copy = symbol(module, "second").clone()
    set_symbol_name(copy, "part")
    lower(module)
    append(module, copy)


LOWERED = (
    Case(
        rules.NOT_LOWERED,
        "convert_graph_to_tir",
        (add_a_graph_function,),
        "test.mlir:21:1: error: 'lowered': '@part' is not lowered; convert it, or "
        "raise 'OpError' at the op in the way",
        hooks=ModuleHooks,
    ),
    Case(
        rules.NOT_LOWERED,
        "convert_graph_to_tir",
        (nothing,),
        "test.mlir:16:1: error: 'lowered': '@first' is not lowered; convert it, or "
        "raise 'OpError' at the op in the way",
    ),
    Case(
        rules.NOT_LOWERED,
        "convert_graph_to_tir",
        (rewrite_ops,),
        "test.mlir:16:1: error: 'lowered': '@first' is not lowered; convert it, or "
        "raise 'OpError' at the op in the way",
    ),
    Case(
        rules.NOT_LOWERED,
        "convert_graph_to_artifact",
        (nothing,),
        "test.mlir:16:1: error: 'lowered': '@first' is not lowered; convert it, or "
        "raise 'OpError' at the op in the way",
    ),
    Case(
        rules.STILL_CALLED,
        "convert_graph_to_tir",
        (lower_all_but_calls,),
        "test.mlir:10:3: error: 'lowered': '@first' is lowered, but 'func.call' "
        "still calls it; call its kernels",
    ),
    Case(
        rules.ONLY_DECLARED,
        "convert_graph_to_tir",
        (drop_the_body,),
        "test.mlir:16:1: error: 'lowered': '@first' has lost its body; keep it, with "
        "'target.lowered_to'",
    ),
    Case(
        rules.ONLY_DECLARED,
        "convert_graph_to_tir",
        (lower, drop_the_body),
        "test.mlir:16:1: error: 'lowered': '@first' has lost its body; keep it, with "
        "'target.lowered_to'",
    ),
    Case(
        rules.WRONG_KIND,
        "convert_graph_to_tir",
        (lower_to_a_weight,),
        "test.mlir:6:1: error: 'lowered': '@first' is lowered to '@w', a "
        "'graph.weight', where 'tir.func' is expected",
    ),
    Case(
        rules.WRONG_KIND,
        "convert_graph_to_artifact",
        (lower,),
        "test.mlir:18:3: error: 'lowered': '@first' is lowered to '@relu_…', "
        "a 'tir.func', where 'executor.artifact' is expected\ntest.mlir:18:3: note: "
        "the op is: tir.func @relu_…(read %0: memref<4xf32>, write %1: "
        "memref<4xf32>) attributes {target.for = #t…",
    ),
)


# Places.


def take_the_place_away(module: ModuleOp) -> None:
    del kernel_of(module, "first").attributes["target.for"]


def place_elsewhere(module: ModuleOp) -> None:
    place = symbol(module, "other").attributes["target.for"]
    set_place(kernel_of(module, "first"), place)


def place_nowhere_known(module: ModuleOp) -> None:
    set_place(kernel_of(module, "first"), PlaceAttr.get("unknown"))


def place_in_a_memory(module: ModuleOp) -> None:
    set_place(symbol(module, "first"), PlaceAttr.get("npu", TARGET, "sram"))


def move_to_the_host(module: ModuleOp) -> None:
    place = symbol(module, "other").attributes["target.for"]
    set_place(symbol(module, "first"), place)


def unplace(module: ModuleOp) -> None:
    lower(module)
    del symbol(module, "first").attributes["target.for"]


OTHERS_KERNEL = f"""\
tir.func @others(read %x: memref<4xf32>, write %y: memref<4xf32>)
    attributes {{target.for = {CPU}}} {{
  tir.return
}}
"""


def lower_to_a_kernel_of_others(module: ModuleOp) -> None:
    symbol(module, "first").attributes[LOWERED_TO] = ArrayAttr(
        [SymbolRefAttr("others")]
    )


PLACED = (
    Case(
        rules.OTHER_TARGET,
        "convert_graph_to_tir",
        (lower_to_a_kernel_of_others,),
        "test.mlir:33:1: error: 'placed': '@others' is for '#llvm_cpu.target<cpu = "
        '"x86-64-v3">\'',
        text=MODULE + OTHERS_KERNEL,
    ),
    Case(
        rules.NO_PLACE,
        "convert_graph_to_tir",
        (lower, take_the_place_away),
        "test.mlir:18:3: error: 'placed': new function '@relu_…' has no "
        "place; give it 'target.for'\ntest.mlir:18:3: note: the op is: tir.func "
        "@relu_…(read %0: memref<4xf32>, write %1: memref<4xf32>) {",
    ),
    Case(
        rules.OTHER_TARGET,
        "convert_graph_to_tir",
        (lower, place_elsewhere),
        "test.mlir:18:3: error: 'placed': '@relu_…' is for "
        "'#llvm_cpu.target<cpu = \"x86-64-v3\">'\ntest.mlir:18:3: note: the op is: "
        "tir.func @relu_…(read %0: memref<4xf32>, write %1: memref<4xf32>) "
        "attributes {target.for = #t…",
    ),
    Case(
        rules.OTHER_TARGET,
        "convert_graph_to_tir",
        (lower, place_nowhere_known),
        "test.mlir:18:3: error: 'placed': '@relu_…' is for no "
        "target\ntest.mlir:18:3: note: the op is: tir.func @relu_…(read %0: "
        "memref<4xf32>, write %1: memref<4xf32>) attributes {target.for = #t…",
    ),
    Case(
        rules.OTHER_TARGET,
        "graph_pipeline",
        (move_to_the_host,),
        "test.mlir:16:1: error: 'placed': '@first' is for '#llvm_cpu.target<cpu = "
        '"x86-64-v3">\'',
        hooks=ModuleHooks,
    ),
    Case(
        rules.OTHER_PLACE,
        "graph_pipeline",
        (place_in_a_memory,),
        "test.mlir:16:1: error: 'placed': '@first' was for '#target.place<@npu, "
        "#toy_npu.target, ?>', but is for '#target.place<@npu, #toy_npu.target, "
        "@sram>'",
    ),
    Case(
        rules.OTHER_PLACE,
        "convert_graph_to_tir",
        (unplace,),
        "test.mlir:16:1: error: 'placed': '@first' was for '#target.place<@npu, "
        "#toy_npu.target, ?>', but is for no place",
    ),
)


# Graph functions, signatures.


def publish(module: ModuleOp) -> None:
    symbol(module, "first").sym_visibility = StringAttr("public")


def insert_host_op(module: ModuleOp) -> None:
    block = symbol(module, "first").body.block
    one = arith.ConstantOp(IntegerAttr.from_index_int_value(1))
    block.insert_op_before(one, block.first_op)


def retype(module: ModuleOp) -> None:
    type = TensorType(f32, [8])
    symbol(module, "first").function_type = FunctionType.from_lists([type], [type])


def also_read(module: ModuleOp) -> None:
    (kernel,) = ops_of(module, tir.FuncOp)
    effects = [tir.EffectAttr(tir.Effect.READ), tir.EffectAttr(tir.Effect.READ_WRITE)]
    kernel.effects = ArrayAttr(effects)


GRAPH = (
    Case(
        rules.NO_GRAPH,
        "graph_pipeline",
        (publish,),
        "test.mlir:16:1: error: 'graph': '@first' is no private function of graph "
        "ops with a place any more",
    ),
    Case(
        rules.NO_GRAPH,
        "constants",
        (drop_the_body,),
        "test.mlir:16:1: error: 'graph': '@first' is no private function of graph "
        "ops with a place any more",
    ),
    Case(
        rules.NO_GRAPH_OP,
        "graph_pipeline",
        (insert_host_op,),
        "test.mlir:16:1: error: 'graph': '@first' is no graph function any more, "
        "with 'arith.constant' in it\ntest.mlir:16:1: note: the op is: %0 = "
        "arith.constant 1 : index",
    ),
    Case(
        rules.OTHER_TYPE,
        "graph_pipeline",
        (retype,),
        "test.mlir:16:1: error: 'signatures': '@first' was of type '(tensor<4xf32>) "
        "-> tensor<4xf32>', but is of '(tensor<8xf32>) -> tensor<8xf32>'",
    ),
    Case(
        rules.OTHER_EFFECT,
        "tir_pipeline",
        (also_read,),
        "test.mlir:8:1: error: 'signatures': argument 1 of '@k' was 'write', but is "
        "'read_write'",
        text=KERNEL,
    ),
)

CASES = (*LOWERED, *PLACED, *GRAPH)
