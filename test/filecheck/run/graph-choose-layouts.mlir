// RUN: transom-opt --to=tensor %s | filecheck %s
// RUN: transom-run %s -q --input '1x8x1x2xf32=1,2,0,1,3,1,2,2,-1,1,4,0,1,1,5,-5' --expected '1x8x1x2xf32=3,3,1,1,4,4,4,4,0,0,4,4,2,2,0,0' --expected '1x8x1x2xf32=2,2,1,1,3,3,2,2,1,1,4,4,1,1,5,5'
// RUN: transom-opt --to=tensor %s | transom-run - -q --interpret --input '1x8x1x2xf32=1,2,0,1,3,1,2,2,-1,1,4,0,1,1,5,-5' --expected '1x8x1x2xf32=3,3,1,1,4,4,4,4,0,0,4,4,2,2,0,0' --expected '1x8x1x2xf32=2,2,1,1,3,3,2,2,1,1,4,4,1,1,5,5'

// Large windows over channels that do not meet: eight channels are the lanes, and rows of
// two points are written in strips.

// CHECK: memref<1x1x{{[0-9x]+}}x8xf32>
// CHECK: vector = d4 : 8

builtin.module {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
  graph.weight @w = dense<1.0> : tensor<8x1x5x5xf32>
  func.func @main(%x: tensor<1x8x1x2xf32>) -> (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) {
    %w = graph.weight_ref @w : tensor<8x1x5x5xf32>
    %y = graph.conv2d %x, %w padding [2, 2, 2, 2] groups 8 : tensor<1x8x1x2xf32>, tensor<8x1x5x5xf32> -> tensor<1x8x1x2xf32>
    %z = graph.max_pool2d %x kernel [5, 5] padding [2, 2, 2, 2] : tensor<1x8x1x2xf32>
    func.return %y, %z : tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>
  }
}
