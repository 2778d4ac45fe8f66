// RUN: transom-opt -p tir-reorder-for-memory %s | filecheck %s
// RUN: transom-opt -p tir-reorder-for-memory,tir-reorder-for-memory %s | filecheck %s

tir.func @fill(write memref<64xf32>)
tir.func @grow(read memref<4xf32>, write memref<64xf32>)
tir.func @shrink(read memref<64xf32>, write memref<4xf32>)
tir.func @same(read memref<64xf32>, write memref<64xf32>)
tir.func @both(read memref<4xf32>, read memref<4xf32>, write memref<4xf32>)

// Two branches that are large in the middle come one after the other.
// CHECK-LABEL: @branches
func.func @branches(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:         %[[A:.*]] = tir.call @grow
  // CHECK:         %[[C:.*]] = tir.call @shrink(%[[A]]
  // CHECK:         %[[B:.*]] = tir.call @grow
  // CHECK:         %[[D:.*]] = tir.call @shrink(%[[B]]
  // CHECK:         tir.call @both(%[[C]] : {{.*}}, %[[D]]
  %d0 = tensor.empty() : tensor<64xf32>
  %a = tir.call @grow(%x : tensor<4xf32>) outs(%d0 : tensor<64xf32>)
  %d1 = tensor.empty() : tensor<64xf32>
  %b = tir.call @grow(%x : tensor<4xf32>) outs(%d1 : tensor<64xf32>)
  %d2 = tensor.empty() : tensor<4xf32>
  %c = tir.call @shrink(%a : tensor<64xf32>) outs(%d2 : tensor<4xf32>)
  %d3 = tensor.empty() : tensor<4xf32>
  %d = tir.call @shrink(%b : tensor<64xf32>) outs(%d3 : tensor<4xf32>)
  %d4 = tensor.empty() : tensor<4xf32>
  %y = tir.call @both(%c : tensor<4xf32>, %d : tensor<4xf32>) outs(%d4 : tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// A chain has one order.
// CHECK-LABEL: @chain
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[D:.*]] = tensor.empty() : tensor<64xf32>
  // CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<4xf32>
  // CHECK-NEXT:    %[[A:.*]] = tir.call @grow(%x : tensor<4xf32>) outs(%[[D]]
  // CHECK-NEXT:    tir.call @shrink(%[[A]]
  %d0 = tensor.empty() : tensor<64xf32>
  %d1 = tensor.empty() : tensor<4xf32>
  %a = tir.call @grow(%x : tensor<4xf32>) outs(%d0 : tensor<64xf32>)
  %y = tir.call @shrink(%a : tensor<64xf32>) outs(%d1 : tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// Nothing moves over an op with effects.
// CHECK-LABEL: @effects
func.func @effects(%x: tensor<4xf32>, %ok: i1) -> tensor<4xf32> {
  // CHECK:         tir.call @grow
  // CHECK:         tir.call @grow
  // CHECK:         cf.assert
  // CHECK:         tir.call @shrink
  %d0 = tensor.empty() : tensor<64xf32>
  %a = tir.call @grow(%x : tensor<4xf32>) outs(%d0 : tensor<64xf32>)
  %d1 = tensor.empty() : tensor<64xf32>
  %b = tir.call @grow(%x : tensor<4xf32>) outs(%d1 : tensor<64xf32>)
  cf.assert %ok, "no"
  %d2 = tensor.empty() : tensor<4xf32>
  %c = tir.call @shrink(%a : tensor<64xf32>) outs(%d2 : tensor<4xf32>)
  %d3 = tensor.empty() : tensor<4xf32>
  %d = tir.call @shrink(%b : tensor<64xf32>) outs(%d3 : tensor<4xf32>)
  %d4 = tensor.empty() : tensor<4xf32>
  %y = tir.call @both(%c : tensor<4xf32>, %d : tensor<4xf32>) outs(%d4 : tensor<4xf32>)
  func.return %y : tensor<4xf32>
}
