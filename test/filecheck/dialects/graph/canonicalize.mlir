// RUN: transom-opt -p canonicalize %s | filecheck %s

// CHECK-LABEL: @neutral_elements
func.func @neutral_elements(%x: tensor<4xf32>, %i: tensor<4xi32>, %t: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi1>, tensor<4xf32>) {
  // CHECK-NEXT:  func.return %x, %i, %t, %x
  %zero = graph.constant dense<-0.0> : tensor<f32>
  %plus = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %a = graph.add %zero, %x : tensor<f32>, tensor<4xf32> -> tensor<4xf32>
  %b = graph.sub %a, %plus : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %c = graph.mul %b, %one : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  %d = graph.div %c, %one : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  %e = graph.pow %d, %one : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  %i0 = graph.constant dense<0> : tensor<i32>
  %ones = graph.constant dense<-1> : tensor<i32>
  %j = graph.or %i, %i0 : tensor<4xi32>, tensor<i32> -> tensor<4xi32>
  %k = graph.and %ones, %j : tensor<i32>, tensor<4xi32> -> tensor<4xi32>
  %l = graph.xor %k, %i0 : tensor<4xi32>, tensor<i32> -> tensor<4xi32>
  %true = graph.constant dense<true> : tensor<4xi1>
  %u = graph.and %t, %true : tensor<4xi1>
  %v = graph.select %true, %x, %e : tensor<4xi1>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return %e, %l, %u, %v : tensor<4xf32>, tensor<4xi32>, tensor<4xi1>, tensor<4xf32>
}

// `x + 0.0` turns -0.0 into 0.0, and `x - -0.0` does as well.
// CHECK-LABEL: @zeros_that_count
func.func @zeros_that_count(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK:       graph.add %x
  // CHECK-NEXT:  graph.sub %x
  %plus = graph.constant dense<0.0> : tensor<4xf32>
  %minus = graph.constant dense<-0.0> : tensor<4xf32>
  %a = graph.add %x, %plus : tensor<4xf32>
  %s = graph.sub %x, %minus : tensor<4xf32>
  func.return %a, %s : tensor<4xf32>, tensor<4xf32>
}

// The result has another shape than the operand that would stay.
// CHECK-LABEL: @neutral_but_broadcast
func.func @neutral_but_broadcast(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK:       graph.mul %x
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %a = graph.mul %x, %one : tensor<1xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// CHECK-LABEL: @absorbing_elements
func.func @absorbing_elements(%i: tensor<2xi8>, %t: tensor<2xi1>, %n: tensor<?xi8>) -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi1>, tensor<2xi8>, tensor<?xi8>) {
  // CHECK-DAG:   %[[ZERO:.*]] = graph.constant dense<0> : tensor<2xi8>
  // CHECK-DAG:   %[[TRUE:.*]] = graph.constant dense<true> : tensor<2xi1>
  // CHECK-DAG:   %[[SIZE:.*]] = graph.sub %n, %n
  // CHECK:       func.return %{{.*}}, %{{.*}}, %[[TRUE]], %{{.*}}, %[[SIZE]]
  %zero = graph.constant dense<0> : tensor<i8>
  %true = graph.constant dense<true> : tensor<i1>
  %m = graph.mul %i, %zero : tensor<2xi8>, tensor<i8> -> tensor<2xi8>
  %s = graph.sub %i, %i : tensor<2xi8>
  %o = graph.or %t, %true : tensor<2xi1>, tensor<i1> -> tensor<2xi1>
  %x = graph.xor %i, %i : tensor<2xi8>
  %d = graph.sub %n, %n : tensor<?xi8>
  func.return %m, %s, %o, %x, %d : tensor<2xi8>, tensor<2xi8>, tensor<2xi1>, tensor<2xi8>, tensor<?xi8>
}

// NaN times 0 is NaN, and so is infinity minus itself.
// CHECK-LABEL: @floats_do_not_absorb
func.func @floats_do_not_absorb(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK:       graph.mul
  // CHECK-NEXT:  graph.sub
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %m = graph.mul %x, %zero : tensor<4xf32>
  %s = graph.sub %x, %x : tensor<4xf32>
  func.return %m, %s : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @repeated
func.func @repeated(%x: tensor<4xf32>, %t: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK-NEXT:  %[[RELU:.*]] = graph.relu %x : tensor<4xf32>
  // CHECK-NEXT:  %[[CEIL:.*]] = graph.ceil %[[RELU]] : tensor<4xf32>
  // CHECK-NEXT:  %[[ABS:.*]] = graph.abs %[[CEIL]] : tensor<4xf32>
  // CHECK-NEXT:  func.return %[[ABS]], %t
  %a = graph.neg %x : tensor<4xf32>
  %b = graph.neg %a : tensor<4xf32>
  %c = graph.relu %b : tensor<4xf32>
  %d = graph.relu %c : tensor<4xf32>
  %e = graph.ceil %d : tensor<4xf32>
  %f = graph.round %e : tensor<4xf32>
  %g = graph.neg %f : tensor<4xf32>
  %h = graph.abs %g : tensor<4xf32>
  %i = graph.abs %h : tensor<4xf32>
  %j = graph.maximum %i, %i : tensor<4xf32>
  %k = graph.clamp %j : tensor<4xf32>
  %n = graph.not %t : tensor<4xi1>
  %m = graph.not %n : tensor<4xi1>
  %o = graph.and %m, %m : tensor<4xi1>
  func.return %k, %o : tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: @constant_to_the_right
func.func @constant_to_the_right(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:  %[[TWO:.*]] = graph.constant
  // CHECK-NEXT:  graph.add %x, %[[TWO]] : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %a = graph.add %two, %x : tensor<f32>, tensor<4xf32> -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// CHECK-LABEL: @square
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:  graph.mul %x, %x : tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %a = graph.pow %x, %two : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// CHECK-LABEL: @select
func.func @select(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:  %[[S:.*]] = graph.select %c, %y, %x
  // CHECK-NEXT:  func.return %[[S]], %x
  %n = graph.not %c : tensor<4xi1>
  %s = graph.select %n, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %t = graph.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return %s, %t : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @casts
func.func @casts(%h: tensor<4xf16>, %i: tensor<4xui8>) -> (tensor<4xf16>, tensor<4xi64>, tensor<4xf32>) {
  // CHECK-NEXT:  %[[I:.*]] = graph.cast %i : tensor<4xui8> -> tensor<4xi64>
  // CHECK-NEXT:  %[[F:.*]] = graph.cast %i : tensor<4xui8> -> tensor<4xf32>
  // CHECK-NEXT:  func.return %h, %[[I]], %[[F]]
  %f = graph.cast %h : tensor<4xf16> -> tensor<4xf32>
  %g = graph.cast %f : tensor<4xf32> -> tensor<4xf16>
  %j = graph.cast %i : tensor<4xui8> -> tensor<4xi16>
  %k = graph.cast %j : tensor<4xi16> -> tensor<4xi64>
  %l = graph.cast %j : tensor<4xi16> -> tensor<4xf32>
  func.return %g, %k, %l : tensor<4xf16>, tensor<4xi64>, tensor<4xf32>
}

// Each inner cast loses numbers, or turns integers into floats, which saturate.
// CHECK-LABEL: @casts_that_lose
func.func @casts_that_lose(%f: tensor<4xf32>, %i: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xi16>, tensor<4xui8>) {
  // CHECK-COUNT-6:  graph.cast
  %h = graph.cast %f : tensor<4xf32> -> tensor<4xbf16>
  %g = graph.cast %h : tensor<4xbf16> -> tensor<4xf32>
  %u = graph.cast %i : tensor<4xi8> -> tensor<4xui8>
  %j = graph.cast %u : tensor<4xui8> -> tensor<4xi16>
  %l = graph.cast %i : tensor<4xi8> -> tensor<4xf32>
  %m = graph.cast %l : tensor<4xf32> -> tensor<4xui8>
  func.return %g, %j, %m : tensor<4xf32>, tensor<4xi16>, tensor<4xui8>
}

// CHECK-LABEL: @reshapes
func.func @reshapes(%x: tensor<?x3x4xf32>, %s: tensor<2x6xf32>) -> (tensor<?x12xf32>, tensor<2x6xf32>, tensor<4x3xf32>) {
  // CHECK-NEXT:  %[[R:.*]] = graph.reshape %x to [dim(0), 12] : tensor<?x3x4xf32> -> tensor<?x12xf32>
  // CHECK-NEXT:  %[[S:.*]] = graph.reshape %s to [4, 3] : tensor<2x6xf32> -> tensor<4x3xf32>
  // CHECK-NEXT:  func.return %[[R]], %s, %[[S]]
  %a = graph.reshape %x to [dim(0), 4, 3] : tensor<?x3x4xf32> -> tensor<?x4x3xf32>
  %b = graph.reshape %a to [dim(0), -1] : tensor<?x4x3xf32> -> tensor<?x12xf32>
  %c = graph.reshape %s to [12] : tensor<2x6xf32> -> tensor<12xf32>
  %d = graph.reshape %c to [2, -1] : tensor<12xf32> -> tensor<2x6xf32>
  %e = graph.reshape %s to [-1, 3] : tensor<2x6xf32> -> tensor<4x3xf32>
  func.return %b, %d, %e : tensor<?x12xf32>, tensor<2x6xf32>, tensor<4x3xf32>
}

// Only one size can be left over.
// CHECK-LABEL: @reshape_of_unknown_sizes
func.func @reshape_of_unknown_sizes(%x: tensor<?x?x?xf32>) -> tensor<?x?x5xf32> {
  // CHECK-NEXT:  graph.reshape %x to [-1, dim(2)]
  // CHECK-NEXT:  graph.reshape %{{.*}} to [dim(0), -1, 5]
  %a = graph.reshape %x to [-1, dim(2)] : tensor<?x?x?xf32> -> tensor<?x?xf32>
  %b = graph.reshape %a to [dim(0), -1, 5] : tensor<?x?xf32> -> tensor<?x?x5xf32>
  func.return %b : tensor<?x?x5xf32>
}

// CHECK-LABEL: @transposes
func.func @transposes(%x: tensor<2x3x4xf32>, %y: tensor<1x?x4xf32>) -> (tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<?x1x4xf32>) {
  // CHECK-NEXT:  %[[T:.*]] = graph.transpose %x permutation [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  // CHECK-NEXT:  %[[R:.*]] = graph.reshape %y to [dim(1), 1, 4] : tensor<1x?x4xf32> -> tensor<?x1x4xf32>
  // CHECK-NEXT:  func.return %x, %[[T]], %[[R]]
  %a = graph.transpose %x permutation [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %b = graph.transpose %a permutation [1, 2, 0] : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
  %c = graph.transpose %a permutation [2, 0, 1] : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  %d = graph.transpose %y permutation [1, 0, 2] : tensor<1x?x4xf32> -> tensor<?x1x4xf32>
  func.return %b, %c, %d : tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<?x1x4xf32>
}

// CHECK-LABEL: @broadcasts
func.func @broadcasts(%x: tensor<3x1xf32>, %y: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xi1>) {
  // CHECK-NEXT:  %[[B:.*]] = graph.broadcast %x : tensor<3x1xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT:  %[[A:.*]] = graph.add %y, %x : tensor<2x3x4xf32>, tensor<3x1xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT:  %[[C:.*]] = graph.compare lt %x, %y : tensor<3x1xf32>, tensor<2x3x4xf32> -> tensor<2x3x4xi1>
  // CHECK-NEXT:  func.return %[[B]], %[[A]], %y, %[[C]]
  %a = graph.broadcast %x : tensor<3x1xf32> -> tensor<3x4xf32>
  %b = graph.broadcast %a : tensor<3x4xf32> -> tensor<2x3x4xf32>
  %c = graph.add %y, %b : tensor<2x3x4xf32>
  %d = graph.broadcast %y : tensor<2x3x4xf32>
  %e = graph.compare lt %b, %y : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<2x3x4xi1>
  func.return %b, %c, %d, %e : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xi1>
}

// The sum would be smaller without the broadcast.
// CHECK-LABEL: @needed_broadcast
func.func @needed_broadcast(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:  graph.broadcast
  // CHECK-NEXT:  graph.add
  %a = graph.broadcast %x : tensor<1xf32> -> tensor<4xf32>
  %b = graph.add %a, %x : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  %c = graph.mul %a, %a : tensor<4xf32>
  %d = graph.add %b, %c : tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// CHECK-LABEL: @concats
func.func @concats(%x: tensor<2x3xf32>, %e: tensor<0x3xf32>) -> (tensor<6x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT:  %[[C:.*]] = graph.concat %x, %x, %x axis 0 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32> -> tensor<6x3xf32>
  // CHECK-NEXT:  func.return %[[C]], %x
  %a = graph.concat %x, %e, %x axis 0 : tensor<2x3xf32>, tensor<0x3xf32>, tensor<2x3xf32> -> tensor<4x3xf32>
  %b = graph.concat %a, %x axis 0 : tensor<4x3xf32>, tensor<2x3xf32> -> tensor<6x3xf32>
  %c = graph.concat %x axis 1 : tensor<2x3xf32>
  func.return %b, %c : tensor<6x3xf32>, tensor<2x3xf32>
}

// The inner one is needed anyway, or concatenates along another axis.
// CHECK-LABEL: @concats_that_stay
func.func @concats_that_stay(%x: tensor<2x2xf32>) -> (tensor<4x2xf32>, tensor<6x2xf32>, tensor<4x4xf32>) {
  // CHECK-COUNT-3:  graph.concat
  %a = graph.concat %x, %x axis 0 : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<4x2xf32>
  %b = graph.concat %a, %x axis 0 : tensor<4x2xf32>, tensor<2x2xf32> -> tensor<6x2xf32>
  %c = graph.concat %a, %a axis 1 : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<4x4xf32>
  func.return %a, %b, %c : tensor<4x2xf32>, tensor<6x2xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: @slices
func.func @slices(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x2xf32>, tensor<?x3xf32>) {
  // CHECK-NEXT:  %[[A:.*]] = graph.slice %x starts [0, 6] sizes [-1, 2] steps [1, 1] : tensor<?x8xf32> -> tensor<?x2xf32>
  // CHECK-NEXT:  %[[B:.*]] = graph.slice %x starts [0, 1] sizes [-1, 3] steps [1, 2] : tensor<?x8xf32> -> tensor<?x3xf32>
  // CHECK-NEXT:  func.return %x, %[[A]], %[[B]]
  %a = graph.slice %x starts [0, 0] sizes [-1, 8] steps [1, 1] : tensor<?x8xf32>
  %b = graph.slice %x starts [0, -2] sizes [-1, -1] steps [1, 1] : tensor<?x8xf32> -> tensor<?x2xf32>
  %c = graph.slice %x starts [0, 1] sizes [-1, -2] steps [1, 2] : tensor<?x8xf32> -> tensor<?x3xf32>
  func.return %a, %b, %c : tensor<?x8xf32>, tensor<?x2xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: @slices_of_slices
func.func @slices_of_slices(%x: tensor<16x8xf32>) -> tensor<2x2xf32> {
  // CHECK-NEXT:  graph.slice %x starts [7, 7] sizes [2, 2] steps [6, -2] : tensor<16x8xf32> -> tensor<2x2xf32>
  %a = graph.slice %x starts [1, 7] sizes [5, 8] steps [3, -1] : tensor<16x8xf32> -> tensor<5x8xf32>
  %b = graph.slice %a starts [2, 0] sizes [2, 2] steps [2, 2] : tensor<5x8xf32> -> tensor<2x2xf32>
  func.return %b : tensor<2x2xf32>
}

// CHECK-LABEL: @pads
func.func @pads(%x: tensor<2x3xf32>) -> (tensor<4x6xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT:  %[[P:.*]] = graph.pad %x low [1, 2] high [1, 1] value 1.000000e+00 : f32 : tensor<2x3xf32> -> tensor<4x6xf32>
  // CHECK-NEXT:  func.return %[[P]], %x
  %a = graph.pad %x low [1, 0] high [0, 1] value 1.0 : f32 : tensor<2x3xf32> -> tensor<3x4xf32>
  %b = graph.pad %a low [0, 2] high [1, 0] value 1.0 : f32 : tensor<3x4xf32> -> tensor<4x6xf32>
  %c = graph.pad %x low [0, 0] high [0, 0] value 0.0 : f32 : tensor<2x3xf32>
  func.return %b, %c : tensor<4x6xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @pad_into_conv
func.func @pad_into_conv(%x: tensor<?x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<?x4x5x8xf32> {
  // CHECK-NEXT:  graph.conv2d %x, %w strides [2, 1] padding [1, 0, 2, 2] : tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<?x4x5x8xf32>
  %p = graph.pad %x low [0, 0, 1, 0] high [0, 0, 1, 2] value 0.0 : f32 : tensor<?x3x8x8xf32> -> tensor<?x3x10x10xf32>
  %y = graph.conv2d %p, %w strides [2, 1] padding [0, 0, 1, 0] : tensor<?x3x10x10xf32>, tensor<4x3x3x3xf32> -> tensor<?x4x5x8xf32>
  func.return %y : tensor<?x4x5x8xf32>
}

// Quantised images are padded with their zero point.
// CHECK-LABEL: @fill_of_conv
func.func @fill_of_conv(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xi8>) -> (tensor<1x4x8x8xi32>, tensor<1x4x8x8xi32>) {
  // CHECK-NEXT:  graph.conv2d %x, %w padding [1, 1, 1, 1] fill -7 : tensor<1x3x8x8xi8>
  // CHECK-NEXT:  %[[Q:.*]] = graph.pad %x
  // CHECK-NEXT:  graph.conv2d %[[Q]], %w padding [0, 1, 0, 1] :
  %p = graph.pad %x low [0, 0, 1, 0] high [0, 0, 1, 0] value -7 : i8 : tensor<1x3x8x8xi8> -> tensor<1x3x10x8xi8>
  %y = graph.conv2d %p, %w padding [0, 1, 0, 1] fill -7 : tensor<1x3x10x8xi8>, tensor<4x3x3x3xi8> -> tensor<1x4x8x8xi32>
  %q = graph.pad %x low [0, 0, 1, 0] high [0, 0, 1, 0] value -6 : i8 : tensor<1x3x8x8xi8> -> tensor<1x3x10x8xi8>
  %z = graph.conv2d %q, %w padding [0, 1, 0, 1] : tensor<1x3x10x8xi8>, tensor<4x3x3x3xi8> -> tensor<1x4x8x8xi32>
  func.return %y, %z : tensor<1x4x8x8xi32>, tensor<1x4x8x8xi32>
}

// A convolution pads floats with zero only, and no channels.
// CHECK-LABEL: @pads_that_stay
func.func @pads_that_stay(%x: tensor<1x2x8x8xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<4x2x3x3xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x4x8x6xf32>) {
  // CHECK-COUNT-2:  graph.pad
  %p = graph.pad %x low [0, 1, 0, 0] high [0, 0, 0, 0] value 0.0 : f32 : tensor<1x2x8x8xf32> -> tensor<1x3x8x8xf32>
  %y = graph.conv2d %p, %w : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  %q = graph.pad %x low [0, 0, 1, 0] high [0, 0, 1, 0] value 1.0 : f32 : tensor<1x2x8x8xf32> -> tensor<1x2x10x8xf32>
  %z = graph.conv2d %q, %v : tensor<1x2x10x8xf32>, tensor<4x2x3x3xf32> -> tensor<1x4x8x6xf32>
  func.return %y, %z : tensor<1x4x6x6xf32>, tensor<1x4x8x6xf32>
}

// CHECK-LABEL: @no_axes
func.func @no_axes(%x: tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>) {
  // CHECK-NEXT:  func.return %x, %x
  %r = graph.reduce mean %x axes [] : tensor<2x1xf32>
  %c = graph.cumulate sum %x axis 1 : tensor<2x1xf32>
  func.return %r, %c : tensor<2x1xf32>, tensor<2x1xf32>
}

// CHECK-LABEL: @bits
func.func @bits(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xui32>) {
  // CHECK-NEXT:  %[[U:.*]] = graph.bitcast %x : tensor<4xf32> -> tensor<4xui32>
  // CHECK-NEXT:  func.return %x, %[[U]]
  %i = graph.bitcast %x : tensor<4xf32> -> tensor<4xi32>
  %f = graph.bitcast %i : tensor<4xi32> -> tensor<4xf32>
  %u = graph.bitcast %i : tensor<4xi32> -> tensor<4xui32>
  func.return %f, %u : tensor<4xf32>, tensor<4xui32>
}

// CHECK-LABEL: @storage
func.func @storage(%x: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32, #graph.desc<layout = #graph.layout<block = [8]>>>) {
  // CHECK-NEXT:  %[[R:.*]] = graph.relayout %x : tensor<32xf32> -> tensor<32xf32, #graph.desc<layout = #graph.layout<block = [8]>>>
  // CHECK-NEXT:  func.return %x, %[[R]]
  %a = graph.relayout %x : tensor<32xf32> -> tensor<32xf32, #graph.desc<layout = #graph.layout<block = [16]>>>
  %b = graph.relayout %a : tensor<32xf32, #graph.desc<layout = #graph.layout<block = [16]>>> -> tensor<32xf32>
  %c = graph.relayout %a : tensor<32xf32, #graph.desc<layout = #graph.layout<block = [16]>>> -> tensor<32xf32, #graph.desc<layout = #graph.layout<block = [8]>>>
  func.return %b, %c : tensor<32xf32>, tensor<32xf32, #graph.desc<layout = #graph.layout<block = [8]>>>
}

// CHECK-LABEL: @groups
func.func @groups(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:  %[[F:.*]] = graph.fused (%[[A:.*]] = %y : tensor<4xf32>, %[[B:.*]] = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {test.tag} {
  // CHECK-NEXT:    %[[N:.*]] = graph.neg %[[B]]
  // CHECK-NEXT:    %[[S:.*]] = graph.add %[[N]], %[[A]]
  // CHECK-NEXT:    %[[T:.*]] = graph.mul %[[S]], %[[B]]
  // CHECK-NEXT:    graph.yield %[[T]] : tensor<4xf32>
  // CHECK:       func.return %[[F]]
  %u, %v = graph.fused (%a = %y : tensor<4xf32>, %b = %x : tensor<4xf32>, %c = %z : tensor<4xf32>, %d = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {test.tag} {
    %n = graph.neg %b : tensor<4xf32>
    %s = graph.add %n, %a : tensor<4xf32>
    %t = graph.mul %s, %d : tensor<4xf32>
    graph.yield %n, %t : tensor<4xf32>, tensor<4xf32>
  }
  func.return %v : tensor<4xf32>
}

// A fused group of constants is no group.
// CHECK-LABEL: @constants_of_a_group
func.func @constants_of_a_group(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:  %[[K:.*]] = graph.constant dense<2.000000e+00> : tensor<4xf32>
  // CHECK-NEXT:  func.return %y, %[[K]], %[[K]]
  %a, %b, %c = graph.fused (%p = %x : tensor<4xf32>, %q = %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %k = graph.constant dense<2.0> : tensor<4xf32>
    graph.yield %q, %k, %k : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @unused
func.func @unused(%x: tensor<4xf32>) {
  // CHECK-NEXT:  func.return
  %s = graph.softmax %x axis 0 : tensor<4xf32>
  %f = graph.fused (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    graph.yield %a : tensor<4xf32>
  }
  func.return
}
