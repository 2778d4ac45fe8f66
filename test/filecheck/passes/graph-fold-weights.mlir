// RUN: transom-opt -p graph-fold-weights %s | filecheck %s
// RUN: transom-opt -p graph-fold-weights,graph-fold-weights %s | filecheck %s

graph.weight @w = dense<2.0> : tensor<4x2x3xf32>
graph.weight @m = dense<2.0> : tensor<6x4xf32>
graph.weight @q = dense<2> : tensor<6x4xi8>

// What is made for a convolution is one expression; so is a part of a weight.
// CHECK:         graph.weight @w.moved : tensor<4x2x1x3xf32> {
// CHECK-NEXT:      %[[W:.*]] = graph.weight_ref @w
// CHECK-NEXT:      %[[S:.*]] = graph.slice %[[W]] starts [0, 0, 2] sizes [4, 2, 3] steps [1, 1, -1]
// CHECK-NEXT:      %[[R:.*]] = graph.reshape %[[S]] to [4, 2, 1, 3]
// CHECK-NEXT:      graph.yield %[[R]]
// CHECK:         graph.weight @m.moved : tensor<2x4xf32> {
// CHECK-NEXT:      %[[M:.*]] = graph.weight_ref @m
// CHECK-NEXT:      %[[P:.*]] = graph.slice %[[M]] starts [2, 0]
// CHECK-NEXT:      graph.yield %[[P]]

// What is summed of one is small.
// CHECK:         graph.weight @q.moved : tensor<1x4xi32> {
// CHECK-NEXT:      %[[Q:.*]] = graph.weight_ref @q
// CHECK-NEXT:      %[[C:.*]] = graph.cast %[[Q]]
// CHECK-NEXT:      %[[S:.*]] = graph.reduce sum %[[C]] axes [0] keepdims
// CHECK-NEXT:      graph.yield %[[S]]

// CHECK-LABEL: @convolution
func.func @convolution(%x: tensor<1x2x1x8xf32>) -> tensor<1x4x1x6xf32> {
  // CHECK-NEXT:    %[[R:.*]] = graph.weight_ref @w.moved : tensor<4x2x1x3xf32>
  // CHECK-NEXT:    graph.conv2d %x, %[[R]]
  %w = graph.weight_ref @w : tensor<4x2x3xf32>
  %s = graph.slice %w starts [0, 0, 2] sizes [4, 2, 3] steps [1, 1, -1] : tensor<4x2x3xf32>
  %r = graph.reshape %s to [4, 2, 1, 3] : tensor<4x2x3xf32> -> tensor<4x2x1x3xf32>
  %c = graph.conv2d %x, %r : tensor<1x2x1x8xf32>, tensor<4x2x1x3xf32> -> tensor<1x4x1x6xf32>
  func.return %c : tensor<1x4x1x6xf32>
}

// The kernel of a product reads a weight in the order that it wants.
// CHECK-LABEL: @product
func.func @product(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT:    %[[P:.*]] = graph.weight_ref @m.moved : tensor<2x4xf32>
  // CHECK-NEXT:    %[[T:.*]] = graph.transpose %[[P]]
  // CHECK-NEXT:    graph.matmul %x, %[[T]]
  %m = graph.weight_ref @m : tensor<6x4xf32>
  %s = graph.slice %m starts [2, 0] sizes [2, 4] steps [1, 1] : tensor<6x4xf32> -> tensor<2x4xf32>
  %t = graph.transpose %s permutation [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  %c = graph.matmul %x, %t : tensor<3x4xf32>, tensor<4x2xf32> -> tensor<3x2xf32>
  func.return %c : tensor<3x2xf32>
}

// What is computed from an argument stays, and so does a shape that no convolution reads.
// CHECK-LABEL: @others
func.func @others(%x: tensor<1x2x1x8xf32>, %k: tensor<4x2x3xf32>) -> (tensor<1x4x1x6xf32>, tensor<24x1xf32>) {
  // CHECK-NEXT:    %[[W:.*]] = graph.weight_ref @w :
  // CHECK-NEXT:    %[[A:.*]] = graph.reshape %k to
  // CHECK-NEXT:    graph.conv2d %x, %[[A]]
  // CHECK-NEXT:    graph.reshape %[[W]] to [24, 1]
  %w = graph.weight_ref @w : tensor<4x2x3xf32>
  %a = graph.reshape %k to [4, 2, 1, 3] : tensor<4x2x3xf32> -> tensor<4x2x1x3xf32>
  %c = graph.conv2d %x, %a : tensor<1x2x1x8xf32>, tensor<4x2x1x3xf32> -> tensor<1x4x1x6xf32>
  %r = graph.reshape %w to [24, 1] : tensor<4x2x3xf32> -> tensor<24x1xf32>
  func.return %c, %r : tensor<1x4x1x6xf32>, tensor<24x1xf32>
}

// A cast alone stays: it is fused, or a schedule widens the weight.
// CHECK-LABEL: @sums
func.func @sums() -> (tensor<1x4xi32>, tensor<6x4xi32>) {
  // CHECK-NEXT:    %[[Q:.*]] = graph.weight_ref @q :
  // CHECK-NEXT:    graph.cast %[[Q]]
  // CHECK-NEXT:    graph.weight_ref @q.moved : tensor<1x4xi32>
  // CHECK-NEXT:    func.return
  %q = graph.weight_ref @q : tensor<6x4xi8>
  %c = graph.cast %q : tensor<6x4xi8> -> tensor<6x4xi32>
  %s = graph.reduce sum %c axes [0] keepdims : tensor<6x4xi32> -> tensor<1x4xi32>
  func.return %s, %c : tensor<1x4xi32>, tensor<6x4xi32>
}
