"""Programs in memory that is filled with garbage where nothing is in it."""

import numpy as np
import pytest

import transom
from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.driver import poison
from transom.registry import new_context

CHAIN = """
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> tensor<64x32xf32> {
  %a = graph.matmul %x, %w : tensor<64x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
  %b = graph.matmul %a, %w : tensor<64x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
  %c = graph.matmul %b, %w : tensor<64x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
  %y = graph.matmul %c, %w : tensor<64x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
  func.return %y : tensor<64x32xf32>
}
"""
X = np.arange(64 * 32, dtype=np.float32).reshape(64, 32) / 1000
W = np.eye(32, dtype=np.float32)


def test_a_right_plan_gives_the_same_numbers() -> None:
    module = transom.parse(CHAIN)
    program = transom.compile(module, poison_memory=True)
    for _ in range(2):
        (y,) = program(X, W).values()
        np.testing.assert_array_equal(y, X)


def test_what_is_read_before_it_is_written_is_garbage() -> None:
    """A kernel call is left out: its result is memory that nobody has written."""
    ctx = new_context()
    planned = transom.lower(transom.parse(CHAIN), "planned")
    first = next(op for op in planned.walk() if isinstance(op, tir.CallOp))
    first.detach()
    first.erase()
    poison(planned, ctx)
    (y,) = transom.compile(planned)(X, W).values()
    assert np.isnan(y).all()


def test_past_the_plan_it_is_refused() -> None:
    module = transom.parse(CHAIN)
    with pytest.raises(OpError, match="at or before phase 'planned', but it is at 'ex"):
        transom.compile(transom.lower(module, "executable"), poison_memory=True)
