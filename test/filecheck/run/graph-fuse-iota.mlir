// RUN: transom-opt --to=tensor %s | filecheck %s
// RUN: transom-run %s -q --input '3x5xf32=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15' --expected '3x5xf32=1,0,0,0,0,6,7,0,0,0,11,12,13,0,0'
// RUN: transom-opt --to=tensor %s | transom-run - -q --interpret --input '3x5xf32=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15' --expected '3x5xf32=1,0,0,0,0,6,7,0,0,0,11,12,13,0,0'

// The lower triangle, in one nest: lanes are compared by their numbers.

// CHECK-COUNT-1: tir.nest
// CHECK:         tir.index 0
// CHECK:         tir.index 1
// CHECK-NOT:     tir.nest

builtin.module {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
  func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %z = graph.constant dense<0.0> : tensor<f32>
    %i = graph.iota %x axis 0 : tensor<3x5xf32> -> tensor<3x5xi64>
    %j = graph.iota %x axis 1 : tensor<3x5xf32> -> tensor<3x5xi64>
    %c = graph.compare le %j, %i : tensor<3x5xi64>, tensor<3x5xi64> -> tensor<3x5xi1>
    %y = graph.select %c, %x, %z : tensor<3x5xi1>, tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
    func.return %y : tensor<3x5xf32>
  }
}
