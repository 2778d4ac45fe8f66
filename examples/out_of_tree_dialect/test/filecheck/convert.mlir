// RUN: transom-opt %s --to=tensor | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK:         tir.call @metric_distances_
// CHECK-LABEL: tir.func @metric_distances_
// CHECK:         tir.nest dims [parallel 4, parallel 5, reduction 3]
// CHECK:           arith.subf
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK:           math.sqrt
func.func @main(%a: tensor<4x3xf32>, %b: tensor<5x3xf32>) -> tensor<4x5xf32> {
  %d = metric.distances %a, %b : tensor<4x3xf32>, tensor<5x3xf32> -> tensor<4x5xf32>
  func.return %d : tensor<4x5xf32>
}
