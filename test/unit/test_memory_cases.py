"""Programs on which planners of memory have gone wrong elsewhere, run on garbage."""

import numpy as np
import pytest

import transom
from transom.dialects import tir
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
    results = transom.compile(module, poison_memory=True).run(inputs)
    for label, array in expected.items():
        np.testing.assert_allclose(results[label], array, rtol=1e-5, atol=1e-6)


def test_a_lower_bound_is_no_bound() -> None:
    """Memory for what is at least two rows is not memory for two rows."""
    planned = transom.lower(transom.parse(LOWER_BOUND_ONLY), "planned")
    allocs = [op for op in planned.walk() if isinstance(op, tir.AllocOp)]
    assert allocs and all(op.offset is None for op in allocs if op.dynamic_sizes)


def test_parts_are_computed_in_the_whole() -> None:
    planned = transom.lower(transom.parse(CONCAT), "planned")
    assert not [op for op in planned.walk() if isinstance(op, tir.CopyOp)]
