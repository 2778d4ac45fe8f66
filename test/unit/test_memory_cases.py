"""Programs on which planners of memory have gone wrong elsewhere, run on garbage."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from artifact_cases import module_of as artifact_module
from test_executors import assert_same_bytes
from test_plan_devices import MACHINE, ON_GPU
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.dialects import graph, tir
from transom.driver import EXECUTORS
from transom.passes.pipeline import parse_pipeline
from transom.registry import new_context, registry
from transom.testing import random_inputs
from transom.testing.phases import interpret

BRANCH_OF_VIEWS = """
func.func @main(%x: tensor<4x6xf32>, %c: tensor<i1>) -> tensor<4x6xf32> {
  %b = tensor.extract %c[] : tensor<i1>
  %r = scf.if %b -> (tensor<4x6xf32>) {
    %v = graph.reshape %x to [24] : tensor<4x6xf32> -> tensor<24xf32>
    %s = graph.add %v, %v : tensor<24xf32>
    %w = graph.reshape %s to [4, 6] : tensor<24xf32> -> tensor<4x6xf32>
    scf.yield %w : tensor<4x6xf32>
  } else {
    %t = graph.exp %x : tensor<4x6xf32>
    scf.yield %t : tensor<4x6xf32>
  }
  %y = graph.relu %r : tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}
"""

LOWER_BOUND_ONLY = """
func.func @main(%x: tensor<?x4xf32, #graph.desc<dims = ["N" : 2 to ?]>>) -> tensor<?x4xf32, #graph.desc<dims = ["N" : 2 to ?]>> {
  %a = graph.softmax %x axis 0 : tensor<?x4xf32, #graph.desc<dims = ["N" : 2 to ?]>>
  %y = graph.softmax %a axis 1 : tensor<?x4xf32, #graph.desc<dims = ["N" : 2 to ?]>>
  func.return %y : tensor<?x4xf32, #graph.desc<dims = ["N" : 2 to ?]>>
}
"""  # noqa: E501

OUTPUT_IS_A_VIEW = """
func.func @main(%x: tensor<4x6xf32>) -> (tensor<24xf32>, tensor<4x6xf32>) {
  %v = graph.reshape %x to [24] : tensor<4x6xf32> -> tensor<24xf32>
  %y = graph.relu %x : tensor<4x6xf32>
  func.return %v, %y : tensor<24xf32>, tensor<4x6xf32>
}
"""

TWO_READERS = """
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %a = graph.matmul %x, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %s = tensor.extract_slice %x[0, 0] [1, 8] [1, 1] : tensor<8x8xf32> to tensor<1x8xf32>
  %b = tensor.insert_slice %s into %a[2, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<8x8xf32>
  %y = graph.matmul %b, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %z = graph.matmul %a, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  func.return %y, %z : tensor<8x8xf32>, tensor<8x8xf32>
}
"""  # noqa: E501

CONCAT = """
func.func @main(%x: tensor<1x8x4x4xf32>) -> (tensor<1x24x4x4xf32>, tensor<1x8x4x4xf32>) {
  %a = graph.softmax %x axis 3 : tensor<1x8x4x4xf32>
  %b = graph.softmax %a axis 2 : tensor<1x8x4x4xf32>
  %c = graph.concat %a, %b axis 1 : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32> -> tensor<1x16x4x4xf32>
  %d = graph.softmax %b axis 1 : tensor<1x8x4x4xf32>
  %e = graph.concat %c, %d axis 1 : tensor<1x16x4x4xf32>, tensor<1x8x4x4xf32> -> tensor<1x24x4x4xf32>
  %y = graph.softmax %e axis 1 : tensor<1x24x4x4xf32>
  %z = graph.add %b, %a : tensor<1x8x4x4xf32>
  func.return %y, %z : tensor<1x24x4x4xf32>, tensor<1x8x4x4xf32>
}
"""  # noqa: E501

PROGRAMS = {
    "branch_of_views": BRANCH_OF_VIEWS,
    "lower_bound_only": LOWER_BOUND_ONLY,
    "output_is_a_view": OUTPUT_IS_A_VIEW,
    "two_readers": TWO_READERS,
    "concat": CONCAT,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("reorder", [False, True])
def test_gives_the_numbers_of_the_interpreter(name: str, reorder: bool) -> None:
    module = transom.parse(PROGRAMS[name])
    inputs = random_inputs(module)
    expected = interpret(module, inputs)
    if reorder:
        ctx = new_context()
        module = transom.lower(module, "scheduled", ctx=ctx)
        order = parse_pipeline("tir-reorder-for-memory", registry().passes, ctx)
        order.apply(ctx, module)
    for executor in EXECUTORS:
        program = transom.compile(module, executor=executor, poison_memory=True)
        for _ in range(2):
            results = program.run(inputs)
            for label, array in expected.items():
                np.testing.assert_allclose(results[label], array, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_memory_of_the_caller_is_written_each_time(executor: str) -> None:
    """An output that is a view of an input, with other memory in each run."""
    module = transom.parse(OUTPUT_IS_A_VIEW)
    program = transom.compile(module, executor=executor)
    inputs = random_inputs(module)
    expected = interpret(module, inputs)
    for _ in range(2):
        given = {name: np.full_like(array, 7) for name, array in expected.items()}
        program.run(inputs, outputs=given)
        for name, array in expected.items():
            np.testing.assert_array_equal(given[name], array)
            given[name][...] = 9
        (x,) = inputs.values()
        assert not (x == 9).any()


SHAPE_OPERAND = f"""
func.func @main(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {{
  %s = arith.constant dense<[5, 3]> : tensor<2xindex>
  %a = graph.exp %x : tensor<3x5xf32>
  %p = graph.on_device %a {ON_GPU}
  %v = tensor.reshape %p(%s) : (tensor<3x5xf32>, tensor<2xindex>) -> tensor<5x3xf32>
  %b = graph.neg %v : tensor<5x3xf32>
  %q = graph.on_device %b pinned #target.place<@gpu, ?, ?> : tensor<5x3xf32>
  func.return %q : tensor<5x3xf32>
}}
"""

FAR = "tensor<3x5xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>>"
PINNED_RESULT = f"""
func.func @main(%x: tensor<3x5xf32>) -> {FAR} {{
  %a = graph.exp %x : tensor<3x5xf32>
  %y = graph.copy %a : tensor<3x5xf32> -> {FAR}
  func.return %y : {FAR}
}}
"""


def copies_at_placed(module: ModuleOp) -> list[graph.CopyOp]:
    placed = transom.lower(module, "placed")
    return [op for op in placed.walk() if isinstance(op, graph.CopyOp)]


def test_shapes_stay_on_the_host() -> None:
    """The data goes to the device and comes back; what says its shape does not."""
    module = transom.parse(MACHINE + SHAPE_OPERAND + "}")
    types = [str(op.input.type) for op in copies_at_placed(module)]
    assert len(types) == 2 and not any("index" in type for type in types)
    assert_same_bytes(module, random_inputs(module))


def test_a_copy_to_a_pinned_result_runs_where_that_is_written() -> None:
    """The host computes, and its copy reaches the memory of the other device."""
    module = transom.parse(MACHINE + PINNED_RESULT + "}")
    assert len(copies_at_placed(module)) == 1
    assert_same_bytes(module, random_inputs(module))


TWO_OUTPUTS = """(%x: tensor<2x4xf32> {graph.name = "x"})
      -> (tensor<2x4xf32> {graph.name = "y"}, tensor<4xf32> {graph.name = "z"})
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    %d = tensor.empty() : tensor<2x4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %y, %z = tir.call @both(%x : tensor<2x4xf32>)
        outs(%d : tensor<2x4xf32>, %e : tensor<4xf32>)
    func.return %y, %z : tensor<2x4xf32>, tensor<4xf32>
  }"""

BOTH = """executor.artifact @both {
    format = "test", target = #llvm_cpu.target<cpu = "x86-64">, payload = "2",
    signature = (memref<2x4xf32>, memref<2x4xf32>, memref<4xf32>) -> (),
    effects = [read, write, write]
  }"""


def test_an_artifact_of_two_outputs() -> None:
    """Both addresses are passed, in their order."""

    def both(code: Any, arrays: Sequence[Any]) -> None:
        x, y, z = arrays
        y[...] = x * int(code.payload_bytes)
        z[...] = x.sum(axis=0)

    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    module = artifact_module(BOTH, TWO_OUTPUTS)
    found = assert_same_bytes(module, {"x": x}, callbacks={"both": both})
    np.testing.assert_array_equal(found["y"], 2 * x)
    np.testing.assert_array_equal(found["z"], x.sum(axis=0))


def test_a_lower_bound_is_no_bound() -> None:
    """Memory for what is at least two rows is not memory for two rows."""
    planned = transom.lower(transom.parse(LOWER_BOUND_ONLY), "planned")
    allocs = [op for op in planned.walk() if isinstance(op, tir.AllocOp)]
    assert allocs and all(op.offset is None for op in allocs if op.dynamic_sizes)


def test_parts_are_computed_in_the_whole() -> None:
    planned = transom.lower(transom.parse(CONCAT), "planned")
    assert not [op for op in planned.walk() if isinstance(op, tir.CopyOp)]
