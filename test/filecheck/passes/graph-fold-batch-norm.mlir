// RUN: transom-opt -p graph-fold-batch-norm %s | filecheck %s
// RUN: transom-opt -p graph-fold-batch-norm,graph-fold-batch-norm %s | filecheck %s
// RUN: transom-opt -p graph-fold-batch-norm --print-debuginfo %s | filecheck %s --check-prefix=LOC

graph.weight @w = dense<2.0> : tensor<4x3x1x1xf32>
graph.weight @s = dense<3.0> : tensor<4xf32>
graph.weight @k = dense<0.25> : tensor<4xf32>
graph.weight @full = dense<0.25> : tensor<1x4x2x2xf32>
graph.weight @h = dense<3.0> : tensor<4xf16>
graph.weight @wh = dense<3.0> : tensor<4x3x1x1xf16>

// The new weights are expressions over the old ones.
// CHECK:         graph.weight @w.scaled : tensor<4x3x1x1xf32> {
// CHECK-NEXT:      %[[EPSILON:.*]] = graph.constant dense<1.000000e-05> : tensor<f32>
// CHECK-NEXT:      %[[V:.*]] = graph.weight_ref @s
// CHECK-NEXT:      %[[SUM:.*]] = graph.add %[[V]], %[[EPSILON]]
// CHECK-NEXT:      %[[ROOT:.*]] = graph.sqrt %[[SUM]]
// CHECK-NEXT:      %[[F:.*]] = graph.div %[[V]], %[[ROOT]]
// CHECK-NEXT:      %[[R:.*]] = graph.reshape %[[F]] to [4, 1, 1]
// CHECK-NEXT:      %[[P:.*]] = graph.reshape %[[R]] to [4, 1, 1, 1]
// CHECK-NEXT:      %[[W:.*]] = graph.weight_ref @w
// CHECK-NEXT:      %[[Y:.*]] = graph.mul %[[W]], %[[P]] : tensor<4x3x1x1xf32>, tensor<4x1x1x1xf32> -> tensor<4x3x1x1xf32>
// CHECK-NEXT:      graph.yield %[[Y]]
// CHECK:         graph.weight @s.shift : tensor<4x1x1xf32> {
// CHECK:           %[[MOVED:.*]] = graph.mul %{{.*}}, %{{.*}} : tensor<4x1x1xf32>
// CHECK-NEXT:      %[[SHIFT:.*]] = graph.sub %{{.*}}, %[[MOVED]]
// CHECK-NEXT:      graph.yield %[[SHIFT]]

// CHECK-LABEL: @convolution
// LOC-LABEL:   @convolution
func.func @convolution(%x: tensor<1x3x2x2xf32>) -> tensor<1x4x2x2xf32> {
  // CHECK:         %[[W:.*]] = graph.weight_ref @w.scaled
  // CHECK-NEXT:    %[[C:.*]] = graph.conv2d %x, %[[W]] {a}
  // CHECK-NEXT:    %[[S:.*]] = graph.weight_ref @s.shift
  // CHECK-NEXT:    %[[Y:.*]] = graph.add %[[C]], %[[S]] {b} : tensor<1x4x2x2xf32>, tensor<4x1x1xf32> -> tensor<1x4x2x2xf32>
  // CHECK-NEXT:    func.return %[[Y]]
  // LOC:           graph.conv2d {{.*}}:41:3)
  // LOC:           graph.add {{.*}}:42:3)
  %w = graph.weight_ref @w : tensor<4x3x1x1xf32>
  %s = graph.weight_ref @s : tensor<4xf32>
  %c = graph.conv2d %x, %w {a} : tensor<1x3x2x2xf32>, tensor<4x3x1x1xf32> -> tensor<1x4x2x2xf32>
  %y = graph.batch_norm %c, %s, %s, %s, %s epsilon 1.0e-05 {b} : tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}

// A chain of scales and shifts, of one number or of one per channel, is one of each.
// CHECK-LABEL: @chain
func.func @chain(%x: tensor<1x3x2x2xf32>) -> tensor<1x4x2x2xf32> {
  // CHECK:         %[[W:.*]] = graph.weight_ref @w.scaled_0
  // CHECK-NEXT:    %[[C:.*]] = graph.conv2d %x, %[[W]]
  // CHECK-NOT:     graph.mul
  // CHECK:         %[[S:.*]] = graph.weight_ref @k.shift
  // CHECK-NEXT:    %[[Y:.*]] = graph.add %[[C]], %[[S]]
  // CHECK-NEXT:    func.return %[[Y]]
  %w = graph.weight_ref @w : tensor<4x3x1x1xf32>
  %k0 = graph.weight_ref @k : tensor<4xf32>
  %k = graph.reshape %k0 to [1, 4, 1, 1] : tensor<4xf32> -> tensor<1x4x1x1xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %c = graph.conv2d %x, %w : tensor<1x3x2x2xf32>, tensor<4x3x1x1xf32> -> tensor<1x4x2x2xf32>
  %a = graph.add %c, %k : tensor<1x4x2x2xf32>, tensor<1x4x1x1xf32> -> tensor<1x4x2x2xf32>
  %m = graph.mul %two, %a : tensor<f32>, tensor<1x4x2x2xf32> -> tensor<1x4x2x2xf32>
  %y = graph.add %m, %k : tensor<1x4x2x2xf32>, tensor<1x4x1x1xf32> -> tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}

// Behind something else it is a product and a sum; so it is where the result of the
// convolution has another reader.
// CHECK-LABEL: @no_convolution
func.func @no_convolution(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  // CHECK:         %[[F:.*]] = graph.weight_ref @s.scale
  // CHECK-NEXT:    %[[M:.*]] = graph.mul %x, %[[F]]
  // CHECK-NEXT:    %[[S:.*]] = graph.weight_ref @s.shift
  // CHECK-NEXT:    graph.add %[[M]], %[[S]]
  %s = graph.weight_ref @s : tensor<4xf32>
  %y = graph.batch_norm %x, %s, %s, %s, %s epsilon 1.0e-05 : tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}

// CHECK-LABEL: @other_reader
func.func @other_reader(%x: tensor<1x3x2x2xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) {
  // CHECK:         %[[W:.*]] = graph.weight_ref @w :
  // CHECK:         %[[C:.*]] = graph.conv2d %x, %[[W]]
  // CHECK:         graph.mul %[[C]]
  %w = graph.weight_ref @w : tensor<4x3x1x1xf32>
  %s = graph.weight_ref @s : tensor<4xf32>
  %c = graph.conv2d %x, %w : tensor<1x3x2x2xf32>, tensor<4x3x1x1xf32> -> tensor<1x4x2x2xf32>
  %y = graph.batch_norm %c, %s, %s, %s, %s epsilon 1.0e-05 : tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x2x2xf32>
  func.return %c, %y : tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>
}

// What is between has another reader: the chain ends there.
// CHECK-LABEL: @read_between
func.func @read_between(%x: tensor<1x4x2x2xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) {
  // CHECK:         %[[M:.*]] = graph.mul %x
  // CHECK:         %[[A:.*]] = graph.add %[[M]]
  // CHECK:         %[[N:.*]] = graph.mul %[[A]]
  // CHECK:         %[[B:.*]] = graph.add %[[N]]
  // CHECK-NEXT:    func.return %[[A]], %[[B]]
  %s = graph.weight_ref @s : tensor<4xf32>
  %y = graph.batch_norm %x, %s, %s, %s, %s epsilon 1.0e-05 : tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x2x2xf32>
  %z = graph.batch_norm %y, %s, %s, %s, %s epsilon 1.0e-05 : tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x2x2xf32>
  func.return %y, %z : tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>
}

// What makes the tensor larger is no part of the chain behind it.
// CHECK-LABEL: @grows
func.func @grows(%x: tensor<1x1x2x2xf32>) -> tensor<1x4x2x2xf32> {
  // CHECK:         %[[M:.*]] = graph.mul %x
  // CHECK:         graph.mul %[[M]]
  %k0 = graph.weight_ref @k : tensor<4xf32>
  %k = graph.reshape %k0 to [1, 4, 1, 1] : tensor<4xf32> -> tensor<1x4x1x1xf32>
  %m = graph.mul %x, %k : tensor<1x1x2x2xf32>, tensor<1x4x1x1xf32> -> tensor<1x4x2x2xf32>
  %y = graph.batch_norm %m, %k0, %k0, %k0, %k0 epsilon 1.0e-05 : tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}

// Nothing happens below.

// A bias alone.
// CHECK-LABEL: @bias
func.func @bias(%x: tensor<1x3x2x2xf32>) -> tensor<1x4x2x2xf32> {
  // CHECK:         graph.weight_ref @w :
  // CHECK:         graph.add %{{.*}}, %{{.*}} : tensor<1x4x2x2xf32>, tensor<f32>
  %w = graph.weight_ref @w : tensor<4x3x1x1xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %c = graph.conv2d %x, %w : tensor<1x3x2x2xf32>, tensor<4x3x1x1xf32> -> tensor<1x4x2x2xf32>
  %y = graph.add %c, %two : tensor<1x4x2x2xf32>, tensor<f32> -> tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}

// A scale and a shift of what is no convolution: there are as many ops as before.
// CHECK-LABEL: @scale_and_shift
func.func @scale_and_shift(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  // CHECK:         graph.mul %x, %{{.*}} : tensor<1x4x2x2xf32>, tensor<f32>
  // CHECK-NEXT:    graph.add
  %two = graph.constant dense<2.0> : tensor<f32>
  %m = graph.mul %x, %two : tensor<1x4x2x2xf32>, tensor<f32> -> tensor<1x4x2x2xf32>
  %y = graph.add %m, %two : tensor<1x4x2x2xf32>, tensor<f32> -> tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}

// A number for each element.
// CHECK-LABEL: @each_element
func.func @each_element(%x: tensor<1x3x2x2xf32>) -> tensor<1x4x2x2xf32> {
  // CHECK:         graph.weight_ref @w :
  // CHECK:         graph.mul
  %w = graph.weight_ref @w : tensor<4x3x1x1xf32>
  %f = graph.weight_ref @full : tensor<1x4x2x2xf32>
  %c = graph.conv2d %x, %w : tensor<1x3x2x2xf32>, tensor<4x3x1x1xf32> -> tensor<1x4x2x2xf32>
  %y = graph.mul %c, %f : tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}

// Statistics that are computed.
// CHECK-LABEL: @computed
func.func @computed(%x: tensor<1x4x2x2xf32>, %m: tensor<4xf32>) -> tensor<1x4x2x2xf32> {
  // CHECK:         graph.batch_norm
  %s = graph.weight_ref @s : tensor<4xf32>
  %y = graph.batch_norm %x, %s, %s, %m, %s epsilon 1.0e-05 : tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}

// Weights of f16 would be rounded.
// CHECK-LABEL: @halves
func.func @halves(%x: tensor<1x3x2x2xf16>) -> tensor<1x4x2x2xf16> {
  // CHECK:         graph.batch_norm
  %w = graph.weight_ref @wh : tensor<4x3x1x1xf16>
  %s = graph.weight_ref @h : tensor<4xf16>
  %c = graph.conv2d %x, %w : tensor<1x3x2x2xf16>, tensor<4x3x1x1xf16> -> tensor<1x4x2x2xf16>
  %y = graph.batch_norm %c, %s, %s, %s, %s epsilon 1.0e-05 : tensor<1x4x2x2xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16> -> tensor<1x4x2x2xf16>
  func.return %y : tensor<1x4x2x2xf16>
}
