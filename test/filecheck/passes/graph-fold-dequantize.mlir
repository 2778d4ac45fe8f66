// RUN: transom-opt -p graph-fold-dequantize %s | filecheck %s
// RUN: transom-opt -p graph-fold-dequantize,graph-fold-dequantize %s | filecheck %s
// RUN: transom-opt -p graph-fold-dequantize --print-debuginfo %s | filecheck %s --check-prefix=LOC

graph.weight @w = dense<2> : tensor<4x3x3x3xi8>
graph.weight @t = dense<0.5> : tensor<4xf32>
graph.weight @m = dense<3> : tensor<6x8xui8>
graph.weight @b = dense<5> : tensor<4xi32>
graph.weight @long = dense<1> : tensor<66000x2xi8>

// The factor of the sums, and what the zero point adds to them.
// CHECK:         graph.weight @w.shift : tensor<4x1x1xi32> {
// CHECK-NEXT:      %[[W:.*]] = graph.weight_ref @w
// CHECK-NEXT:      %[[WIDE:.*]] = graph.cast %[[W]] : tensor<4x3x3x3xi8> -> tensor<4x3x3x3xi32>
// CHECK-NEXT:      %[[SUM:.*]] = graph.reduce sum %[[WIDE]] axes [1, 2, 3] keepdims
// CHECK-NEXT:      %[[ZERO:.*]] = graph.constant dense<3> : tensor<i32>
// CHECK-NEXT:      %[[SHIFT:.*]] = graph.mul %[[SUM]], %[[ZERO]]
// CHECK-NEXT:      graph.reshape %[[SHIFT]] to [4, 1, 1]
// CHECK:         graph.weight @w.factor : tensor<4x1x1xf32> {
// CHECK:           graph.mul %{{.*}}, %{{.*}} : tensor<4x1x1x1xf32>, tensor<f32>

// Transposed, and without the zero point.
// CHECK:         graph.weight @m.moved : tensor<8x6xi16> {
// CHECK:           graph.transpose %{{.*}} permutation [1, 0]
// CHECK:           graph.sub
// CHECK:           graph.cast %{{.*}} : tensor<8x6xi32> -> tensor<8x6xi16>

// CHECK-LABEL: @convolution
// LOC-LABEL:   @convolution
func.func @convolution(%q: tensor<1x3x8x8xi8>) -> tensor<1x4x8x8xf32> {
  // CHECK:         %[[W:.*]] = graph.weight_ref @w
  // CHECK:         %[[C:.*]] = graph.conv2d %q, %[[W]] padding [1, 1, 1, 1] fill -3 : tensor<1x3x8x8xi8>, tensor<4x3x3x3xi8> -> tensor<1x4x8x8xi32>
  // CHECK-NEXT:    %[[SHIFT:.*]] = graph.weight_ref @w.shift
  // CHECK-NEXT:    %[[S:.*]] = graph.add %[[C]], %[[SHIFT]] : tensor<1x4x8x8xi32>, tensor<4x1x1xi32> -> tensor<1x4x8x8xi32>
  // CHECK-NEXT:    %[[F:.*]] = graph.cast %[[S]] : tensor<1x4x8x8xi32> -> tensor<1x4x8x8xf32>
  // CHECK-NEXT:    %[[FACTOR:.*]] = graph.weight_ref @w.factor
  // CHECK-NEXT:    %[[Y:.*]] = graph.mul %[[F]], %[[FACTOR]] {test.hint} : tensor<1x4x8x8xf32>, tensor<4x1x1xf32> -> tensor<1x4x8x8xf32>
  // CHECK-NEXT:    func.return %[[Y]]
  // LOC:           graph.conv2d {{.*}}:49:3)
  // LOC:           graph.mul {{.*}} {test.hint} {{.*}}:49:3)
  %s = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<-3> : tensor<i8>
  %none = graph.constant dense<0> : tensor<i8>
  %x = graph.dequantize %q, %s, %z : tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8> -> tensor<1x3x8x8xf32>
  %w = graph.weight_ref @w : tensor<4x3x3x3xi8>
  %t0 = graph.weight_ref @t : tensor<4xf32>
  %t = graph.reshape %t0 to [4, 1, 1, 1] : tensor<4xf32> -> tensor<4x1x1x1xf32>
  %v = graph.dequantize %w, %t, %none : tensor<4x3x3x3xi8>, tensor<4x1x1x1xf32>, tensor<i8> -> tensor<4x3x3x3xf32>
  %y = graph.conv2d %x, %v padding [1, 1, 1, 1] {test.hint} : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// No shift for the zero point 0.
// CHECK-LABEL: @product
func.func @product(%q: tensor<2x8xui8>) -> tensor<2x6xf32> {
  // CHECK:         %[[M:.*]] = graph.weight_ref @m.moved
  // CHECK-NEXT:    %[[P:.*]] = graph.matmul %q, %[[M]] : tensor<2x8xui8>, tensor<8x6xi16> -> tensor<2x6xi32>
  // CHECK-NEXT:    %[[F:.*]] = graph.cast %[[P]]
  // CHECK-NEXT:    %[[FACTOR:.*]] = graph.weight_ref @m.factor : tensor<6xf32>
  // CHECK-NEXT:    graph.mul %[[F]], %[[FACTOR]]
  %s = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<0> : tensor<ui8>
  %x = graph.dequantize %q, %s, %z : tensor<2x8xui8>, tensor<f32>, tensor<ui8> -> tensor<2x8xf32>
  %m = graph.weight_ref @m : tensor<6x8xui8>
  %t = graph.constant dense<[[0.1], [0.2], [0.3], [0.4], [0.5], [0.6]]> : tensor<6x1xf32>
  %o = graph.constant dense<100> : tensor<ui8>
  %v = graph.dequantize %m, %t, %o : tensor<6x8xui8>, tensor<6x1xf32>, tensor<ui8> -> tensor<6x8xf32>
  %u = graph.transpose %v permutation [1, 0] : tensor<6x8xf32> -> tensor<8x6xf32>
  %y = graph.matmul %x, %u : tensor<2x8xf32>, tensor<8x6xf32> -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// A sum of so many products may leave i32; its weight is evaluated once all the same.
// CHECK-LABEL: @overflow
func.func @overflow(%q: tensor<1x66000xi8>) -> tensor<1x2xf32> {
  // CHECK:         %[[W:.*]] = graph.weight_ref @long.dequantized
  // CHECK:         %[[X:.*]] = graph.dequantize %q
  // CHECK-NEXT:    graph.matmul %[[X]], %[[W]] : tensor<1x66000xf32>, tensor<66000x2xf32>
  %s = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<127> : tensor<i8>
  %none = graph.constant dense<0> : tensor<i8>
  %w = graph.weight_ref @long : tensor<66000x2xi8>
  %v = graph.dequantize %w, %s, %none : tensor<66000x2xi8>, tensor<f32>, tensor<i8> -> tensor<66000x2xf32>
  %x = graph.dequantize %q, %s, %z : tensor<1x66000xi8>, tensor<f32>, tensor<i8> -> tensor<1x66000xf32>
  %y = graph.matmul %x, %v : tensor<1x66000xf32>, tensor<66000x2xf32> -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}

// Weights have known sizes: what is typed with an open one is computed.
// CHECK-LABEL: @open_type
func.func @open_type() -> tensor<1x?xf32> {
  // CHECK:         graph.dequantize
  // CHECK-NEXT:    func.return
  %s = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i16>
  %q = graph.constant dense<5> : tensor<1x1xi16>
  %y = graph.dequantize %q, %s, %z : tensor<1x1xi16>, tensor<f32>, tensor<i16> -> tensor<1x?xf32>
  func.return %y : tensor<1x?xf32>
}

// Scales along what is summed do not come out of the sum.
// CHECK-LABEL: @scales_of_rows
func.func @scales_of_rows(%q: tensor<2x6xui8>) -> tensor<2x8xf32> {
  // CHECK:         graph.matmul {{.*}} : tensor<2x6xf32>, tensor<6x8xf32>
  %s = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<0> : tensor<ui8>
  %x = graph.dequantize %q, %s, %z : tensor<2x6xui8>, tensor<f32>, tensor<ui8> -> tensor<2x6xf32>
  %m = graph.weight_ref @m : tensor<6x8xui8>
  %t = graph.constant dense<[[0.1], [0.2], [0.3], [0.4], [0.5], [0.6]]> : tensor<6x1xf32>
  %v = graph.dequantize %m, %t, %z : tensor<6x8xui8>, tensor<6x1xf32>, tensor<ui8> -> tensor<6x8xf32>
  %y = graph.matmul %x, %v : tensor<2x6xf32>, tensor<6x8xf32> -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// A scale that is computed is not known.
// CHECK-LABEL: @dynamic_scale
func.func @dynamic_scale(%q: tensor<2x6xui8>, %s: tensor<f32>) -> tensor<2x8xf32> {
  // CHECK:         graph.matmul {{.*}} : tensor<2x6xf32>, tensor<6x8xf32>
  %z = graph.constant dense<0> : tensor<ui8>
  %one = graph.constant dense<1.0> : tensor<f32>
  %x = graph.dequantize %q, %s, %z : tensor<2x6xui8>, tensor<f32>, tensor<ui8> -> tensor<2x6xf32>
  %m = graph.weight_ref @m : tensor<6x8xui8>
  %v = graph.dequantize %m, %one, %z : tensor<6x8xui8>, tensor<f32>, tensor<ui8> -> tensor<6x8xf32>
  %y = graph.matmul %x, %v : tensor<2x6xf32>, tensor<6x8xf32> -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// A bias becomes a weight of floats, in the form in which it is read.
// CHECK-LABEL: @bias
func.func @bias(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  // CHECK-NEXT:    %[[B:.*]] = graph.weight_ref @b.dequantized : tensor<4x1x1xf32>
  // CHECK-NEXT:    graph.add %x, %[[B]]
  %s = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i32>
  %b = graph.weight_ref @b : tensor<4xi32>
  %v = graph.dequantize %b, %s, %z : tensor<4xi32>, tensor<f32>, tensor<i32> -> tensor<4xf32>
  %u = graph.reshape %v to [4, 1, 1] : tensor<4xf32> -> tensor<4x1x1xf32>
  %y = graph.add %x, %u : tensor<1x4x2x2xf32>, tensor<4x1x1xf32> -> tensor<1x4x2x2xf32>
  func.return %y : tensor<1x4x2x2xf32>
}

// Each reader dequantises by itself.
// CHECK-LABEL: @two_readers
func.func @two_readers(%q: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK:         %[[X:.*]] = graph.dequantize %q
  // CHECK-NEXT:    graph.relu %[[X]]
  // CHECK-NEXT:    %[[Y:.*]] = graph.dequantize %q
  // CHECK-NEXT:    graph.neg %[[Y]]
  %s = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %x = graph.dequantize %q, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xf32>
  %y = graph.relu %x : tensor<4xf32>
  %n = graph.neg %x : tensor<4xf32>
  func.return %y, %n : tensor<4xf32>, tensor<4xf32>
}
