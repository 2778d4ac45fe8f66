"""
Pools as arrays of bytes, planned buffers, copies.
"""

import numpy as np
from interpreter_cases import X, interpret, same

POOLS = """
executor.pool @ws {{size = 64}}
graph.weight @w = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
tir.func @double(read %a: memref<4xf32>, write %o: memref<4xf32>) {{
  tir.nest dims [parallel 4] ins(%a[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) {{
      %y = arith.addf %v, %v : f32
      tir.yield %y : f32
    }}
  tir.return
}}
func.func @main(%x: memref<4xf32>,
                %y: memref<4xf32> {{graph.name = "y", tir.result = 0 : i64}}) {{
  %a = executor.view @ws[0] : memref<4xf32>
  %b = executor.view @ws[{0}] : memref<4xf32>
  executor.call @double(%x, %a : memref<4xf32>, memref<4xf32>)
  %w = executor.constant @w : memref<4xf32>
  executor.call @double(%w, %b : memref<4xf32>, memref<4xf32>)
  %c = executor.alloc() : memref<4xf32>
  executor.copy %a, %c : memref<4xf32>, memref<4xf32>
  executor.call @double(%c, %y : memref<4xf32>, memref<4xf32>)
  executor.free %c : memref<4xf32>
  func.return
}}"""


def test_pools():
    x = np.array([1, 2, 3, 4], np.float32)
    same(interpret(POOLS.format(16), x), 4 * x)


def test_a_wrong_plan_gives_wrong_numbers():
    x = np.array([1, 1, 1, 1], np.float32)
    same(interpret(POOLS.format(8), x), np.array([4, 4, 4, 8], np.float32))


def test_alloc_in_a_pool():
    text = """
executor.pool @ws {size = 64}
func.func @main() -> (f32, f32) {
  %a = tir.alloc {pool = @ws, offset = 16} : memref<4xf32>
  %b = executor.view @ws[16] : memref<4xf32>
  %c0 = arith.constant 0 : index
  %old = memref.load %b[%c0] : memref<4xf32>
  %v = arith.constant 3.0 : f32
  memref.store %v, %a[%c0] : memref<4xf32>
  %new = memref.load %b[%c0] : memref<4xf32>
  func.return %old, %new : f32, f32
}"""
    old, new = interpret(text)
    assert np.isnan(old) and new == 3


def test_asynchronous_copy_is_done_at_the_wait():
    text = """
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) -> (f32, f32) {
  %t = tir.copy_async %x, %y : memref<4xf32>, memref<4xf32>
  %c1 = arith.constant 1 : index
  %a = memref.load %y[%c1] : memref<4xf32>
  tir.wait %t
  %b = memref.load %y[%c1] : memref<4xf32>
  func.return %a, %b : f32, f32
}"""
    a, b = interpret(text, X[1], X[0])
    assert (a, b) == (X[0, 1], X[1, 1])
