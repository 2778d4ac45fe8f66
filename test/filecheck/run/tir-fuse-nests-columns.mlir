// RUN: transom-opt --to=tensor %s | filecheck %s
// RUN: transom-run %s -q --input '3x5xf32=1,2,3,4,5,2,2,0,0,1,3,2,3,2,6' --expected '3x5xf32=-1,0,1,2,1,0,0,-2,-2,-3,1,0,1,0,2'
// RUN: transom-opt --to=tensor %s | transom-run - -q --interpret --input '3x5xf32=1,2,3,4,5,2,2,0,0,1,3,2,3,2,6' --expected '3x5xf32=-1,0,1,2,1,0,0,-2,-2,-3,1,0,1,0,2'

// Differences from the mean of a column: five columns side by side.

// CHECK-NOT: tir.block
// CHECK:     tir.nest dims [parallel 5, reduction 3]
// CHECK:     vector = d0 : 8
// CHECK-NOT: tir.block

builtin.module {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
  func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %m = graph.reduce mean %x axes [0] keepdims : tensor<3x5xf32> -> tensor<1x5xf32>
    %d = graph.sub %x, %m : tensor<3x5xf32>, tensor<1x5xf32> -> tensor<3x5xf32>
    func.return %d : tensor<3x5xf32>
  }
}
