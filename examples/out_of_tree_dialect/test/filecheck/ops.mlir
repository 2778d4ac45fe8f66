// RUN: %roundtrip | filecheck %s

// CHECK-LABEL: @distances
func.func @distances(%a: tensor<4x3xf32>, %b: tensor<5x3xf32>) -> tensor<4x5xf32> {
  // CHECK: metric.distances %a, %b : tensor<4x3xf32>, tensor<5x3xf32> -> tensor<4x5xf32>
  %d = metric.distances %a, %b : tensor<4x3xf32>, tensor<5x3xf32> -> tensor<4x5xf32>
  func.return %d : tensor<4x5xf32>
}

// One type stands for all of them.
// CHECK-LABEL: @square
func.func @square(%a: tensor<3x3xf64>) -> tensor<3x3xf64> {
  // CHECK: metric.distances %a, %a : tensor<3x3xf64>
  %d = metric.distances %a, %a : tensor<3x3xf64>
  func.return %d : tensor<3x3xf64>
}
