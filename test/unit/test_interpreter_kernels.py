"""
Kernels as entries and as callees, and C functions.
"""

from typing import Any

import numpy as np
from interpreter_cases import X, interpret, refused, same

CALL = """
tir.func @main(read %a: memref<4xi8>, read_write %o: memref<4xi8>,
               scratch %s: memref<4xi8>) {
  "memref.copy"(%a, %s) : (memref<4xi8>, memref<4xi8>) -> ()
  tir.nest dims [parallel 4]
      ins(%s[d0] : memref<4xi8>) outs(%o[d0] combine add : memref<4xi8>)
    finish (%v: i8) {
      %y = arith.addi %v, %v : i8
      tir.yield %y : i8
    }
  tir.return
}"""


def test_kernel_arguments():
    """All are passed, but for scratch at the end, and what is written comes back."""
    a, o = np.array([1, 2, 3, 4], np.int8), np.ones(4, np.int8)
    same(interpret(CALL, a, o), o + 2 * a)


def test_kernel_on_unsigned_tensors():
    text = """
tir.func @k(read %a: memref<2xi8>, write %o: memref<2xi8>) {
  tir.nest dims [parallel 2] ins(%a[d0] : memref<2xi8>) outs(%o[d0] : memref<2xi8>)
    finish (%v: i8) {
      %c = arith.constant 2 : i8
      %y = arith.divui %v, %c : i8
      tir.yield %y : i8
    }
  tir.return
}
func.func @main(%x: tensor<2xui8>) -> tensor<2xui8> {
  %d = tensor.empty() : tensor<2xui8>
  %y = tir.call @k(%x : tensor<2xui8>) outs(%d : tensor<2xui8>)
  func.return %y : tensor<2xui8>
}"""
    same(interpret(text, np.array([200, 3], np.uint8)), np.array([100, 1], np.uint8))


def test_kernel_does_not_change_its_operands():
    text = """
tir.func @k(read_write %o: memref<2xf32>) {
  tir.nest dims [parallel 2] ins(%o[d0] : memref<2xf32>) outs(%o[d0] : memref<2xf32>)
    finish (%v: f32) {
      %y = arith.addf %v, %v : f32
      tir.yield %y : f32
    }
  tir.return
}
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %y = tir.call @k() outs(%x : tensor<2xf32>)
  func.return %x, %y : tensor<2xf32>, tensor<2xf32>
}"""
    x, y = interpret(text, np.ones(2, np.float32))
    same(x, np.ones(2, np.float32))
    same(y, np.full(2, 2, np.float32))


EXTERN = """
tir.func @main(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  %n = arith.constant 4 : i32
  %ws = tir.alloc : memref<16xi8>
  %ctx = tir.struct(%ws, %n) : !tir.struct<"ctx", (memref<16xi8>, i32)>
  %s = tir.extern "scale"(ref %ctx, %x, write %o, %n) status 0
      : (!tir.struct<"ctx", (memref<16xi8>, i32)>, memref<4xf32>, memref<4xf32>, i32)
      -> i32
  tir.return
}"""


def test_c_function():
    def scale(context: Any, x: Any, o: Any, n: Any) -> int:
        workspace, count = context
        assert workspace.size == 16 and count == n == 4
        workspace.view(np.float32)[:] = x * 3
        o[:] = workspace.view(np.float32)
        return 0

    o = np.zeros(4, np.float32)
    same(interpret(EXTERN, X[1], o, externs={"scale": scale}), 3 * X[1])
    same(interpret(EXTERN, X[1], externs={"scale": scale}), 3 * X[1])

    def fail(*arguments: Any) -> int:
        return -3

    refused(
        "'scale' returned status -3, but expected 0",
        EXTERN,
        X[1],
        externs={"scale": fail},
    )
    refused(
        "no reference evaluation for the external 'scale'; did you mean 'scales'?",
        EXTERN,
        X[1],
        externs={"scales": fail},
    )
