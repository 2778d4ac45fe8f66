"""
Tensors, views of them, and reshapes that are checked when they run.
"""

import numpy as np
import pytest
from interpreter_cases import X, interpret, refused, same

from transom.dialects.diagnostics import OpError


def test_tensor_ops():
    text = """
func.func @main(%x: tensor<3x4xf32>, %i: index)
    -> (tensor<12xf32>, tensor<4x3xf32>, f32, tensor<3x4xf32>, tensor<2x2xf32>,
        tensor<3x4xf32>, tensor<6x4xf32>, tensor<?x2xf32>, index) {
  %c1 = arith.constant 1 : index
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  %e = tensor.expand_shape %c [[0, 1]] output_shape [4, 3]
      : tensor<12xf32> into tensor<4x3xf32>
  %v = tensor.extract %x[%i, %c1] : tensor<3x4xf32>
  %n = "tensor.insert"(%v, %x, %c1, %c1)
      : (f32, tensor<3x4xf32>, index, index) -> tensor<3x4xf32>
  %s = tensor.extract_slice %x[1, 1] [2, 2] [1, 2] : tensor<3x4xf32> to tensor<2x2xf32>
  %w = tensor.insert_slice %s into %x[0, 0] [2, 2] [1, 1]
      : tensor<2x2xf32> into tensor<3x4xf32>
  %t = tensor.concat dim(0) %x, %x
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  %shape = tensor.from_elements %i, %c1 : tensor<2xindex>
  %splat = tensor.splat %v[%i] : tensor<?x2xf32>
  %d = tensor.dim %splat, %c1 : tensor<?x2xf32>
  func.return %c, %e, %v, %n, %s, %w, %t, %splat, %d
      : tensor<12xf32>, tensor<4x3xf32>, f32, tensor<3x4xf32>, tensor<2x2xf32>,
        tensor<3x4xf32>, tensor<6x4xf32>, tensor<?x2xf32>, index
}"""
    c, e, v, n, s, w, t, splat, d = interpret(text, X, 2)
    same(c, X.reshape(12))
    same(e, X.reshape(4, 3))
    same(v, X[2, 1])
    inserted = X.copy()
    inserted[1, 1] = X[2, 1]
    same(n, inserted)
    same(s, X[1:, 1::2])
    placed = X.copy()
    placed[:2, :2] = X[1:, 1::2]
    same(w, placed)
    same(t, np.concatenate([X, X]))
    same(splat, np.full((2, 2), X[2, 1]))
    same(d, np.int64(2))


def test_tensor_pad():
    text = """
func.func @main(%x: tensor<3x4xf32>, %n: index) -> tensor<?x6xf32> {
  %p = "tensor.pad"(%x, %n) <{static_low = array<i64: -9223372036854775808, 1>,
      static_high = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 1, 0>}> ({
    ^bb0(%i: index, %j: index):
      %s = arith.addi %i, %j : index
      %k = arith.index_cast %s : index to i32
      %f = arith.sitofp %k : i32 to f32
      "tensor.yield"(%f) : (f32) -> ()
  }) : (tensor<3x4xf32>, index) -> tensor<?x6xf32>
  func.return %p : tensor<?x6xf32>
}"""
    expected = np.add.outer(np.arange(5), np.arange(6)).astype(np.float32)
    expected[2:, 1:5] = X
    same(interpret(text, X, 2), expected)


def test_tensor_reshape():
    text = """
func.func @main(%x: tensor<3x4xf32>, %s: tensor<2xindex>) -> tensor<6x2xf32> {
  %y = tensor.reshape %x(%s) : (tensor<3x4xf32>, tensor<2xindex>) -> tensor<6x2xf32>
  func.return %y : tensor<6x2xf32>
}"""
    same(interpret(text, X, np.array([6, 2])), X.reshape(6, 2))
    with pytest.raises(OpError, match=r"cannot evaluate 'tensor.reshape': "):
        interpret(text, X, np.array([5, 2]))


def test_tensor_cast_is_checked():
    text = """
func.func @main(%x: tensor<?xf32>) -> tensor<4xf32> {
  %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  func.return %y : tensor<4xf32>
}"""
    same(interpret(text, X[0]), X[0])
    refused(
        "cannot evaluate 'tensor.cast': expected 'tensor<4xf32>', but the sizes are "
        "[3]",
        text,
        X[0, :3],
    )
