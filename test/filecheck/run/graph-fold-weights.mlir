// RUN: transom-opt --to=tensor %s | filecheck %s
// RUN: transom-run %s -q --input '1x1x1x4xf32=1,2,3,5' --expected '1x2x1x2xf32=14,23,32,53'
// RUN: transom-opt --to=tensor %s | transom-run - -q --interpret --input '1x1x1x4xf32=1,2,3,5' --expected '1x2x1x2xf32=14,23,32,53'

// Weights that are turned round and cut before a convolution: no kernel does it.

// CHECK-COUNT-1: tir.call
// CHECK-NOT:     tir.call

builtin.module {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
  graph.weight @w = dense<[[3.0, 2.0, 1.0], [6.0, 5.0, 4.0], [9.0, 9.0, 9.0]]> : tensor<3x3xf32>
  func.func @main(%x: tensor<1x1x1x4xf32>) -> tensor<1x2x1x2xf32> {
    %w = graph.weight_ref @w : tensor<3x3xf32>
    %s = graph.slice %w starts [0, 2] sizes [2, 3] steps [1, -1] : tensor<3x3xf32> -> tensor<2x3xf32>
    %r = graph.reshape %s to [2, 1, 1, 3] : tensor<2x3xf32> -> tensor<2x1x1x3xf32>
    %y = graph.conv2d %x, %r : tensor<1x1x1x4xf32>, tensor<2x1x1x3xf32> -> tensor<1x2x1x2xf32>
    func.return %y : tensor<1x2x1x2xf32>
  }
}
