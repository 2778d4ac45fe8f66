// RUN: transom-opt --to=tensor %s | filecheck %s
// RUN: transom-run %s -q --input '2x4xf16=1,2,3,6,0,0,4,4' --expected '2x4xf32=-7,-3.5,0,10.5,-8,-8,8,8'
// RUN: transom-opt --to=tensor %s | transom-run - -q --interpret --input '2x4xf16=1,2,3,6,0,0,4,4' --expected '2x4xf32=-7,-3.5,0,10.5,-8,-8,8,8'

// Differences from the mean of a row, times their mean square: each reader subtracts the
// mean itself. The extension to f32 is stored.

// CHECK-LABEL: tir.func
// CHECK:           arith.extf
// CHECK:           tir.nest dims [reduction 4]
// CHECK:           tir.nest dims [reduction 4]
// CHECK:             arith.subf
// CHECK-NEXT:        arith.mulf
// CHECK-NEXT:        arith.addf
// CHECK:           tir.nest dims [parallel 4]
// CHECK:             arith.subf
// CHECK-NEXT:        arith.mulf
// CHECK-NOT:       tir.nest
// CHECK:         tir.return

builtin.module {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
  func.func @main(%h: tensor<2x4xf16>) -> tensor<2x4xf32> {
    %x = graph.cast %h : tensor<2x4xf16> -> tensor<2x4xf32>
    %m = graph.reduce mean %x axes [1] keepdims : tensor<2x4xf32> -> tensor<2x1xf32>
    %d = graph.sub %x, %m : tensor<2x4xf32>, tensor<2x1xf32> -> tensor<2x4xf32>
    %s = graph.mul %d, %d : tensor<2x4xf32>
    %v = graph.reduce mean %s axes [1] keepdims : tensor<2x4xf32> -> tensor<2x1xf32>
    %y = graph.mul %d, %v : tensor<2x4xf32>, tensor<2x1xf32> -> tensor<2x4xf32>
    func.return %y : tensor<2x4xf32>
  }
}
