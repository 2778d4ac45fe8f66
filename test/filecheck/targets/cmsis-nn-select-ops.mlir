// RUN: transom-opt -p 'target-claim-ops,cmsis-nn-select-ops,func.func(canonicalize)' %s | filecheck %s

target.device @mcu {targets = [#cmsis_nn.target<cpu = "cortex-m4">]}
graph.weight @w = dense<[[[[1]], [[-2]]], [[[3]], [[4]]], [[[5]], [[6]]]]> : tensor<3x2x1x1xi8>
graph.weight @ws = dense<[[[[0.5]]], [[[0.25]]], [[[0.125]]]]> : tensor<3x1x1x1xf32>
graph.weight @b = dense<[10, -20, 30]> : tensor<3xi32>
graph.weight @bs = dense<[0.25, 0.125, 0.0625]> : tensor<3xf32>
graph.weight @f = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>

// Scales become multipliers and shifts, zero points offsets, the activation a range.
// CHECK:       graph.weight @w.ohwi : tensor<3x1x1x2xi8> {
// CHECK:         graph.transpose %{{.*}} permutation [0, 2, 3, 1]
// CHECK-LABEL: @conv
func.func @conv(%q: tensor<1x2x4x4xi8>) -> tensor<1x3x4x4xi8> {
  // CHECK-DAG:     %[[W:.*]] = graph.weight_ref @w.ohwi
  // CHECK-DAG:     %[[B:.*]] = graph.weight_ref @b :
  // CHECK-DAG:     %[[X:.*]] = graph.transpose %{{.*}} permutation [0, 2, 3, 1]
  // CHECK-DAG:     %[[M:.*]] = graph.constant dense<1073741824> : tensor<3xi32>
  // CHECK-DAG:     %[[S:.*]] = graph.constant dense<[0, -1, -2]> : tensor<3xi32>
  // CHECK:         %[[Y:.*]] = cmsis_nn.conv %[[X]], %[[W]], %[[B]], %[[M]], %[[S]] offsets [-3, -5] activation [-5, 7] :
  // CHECK:         graph.transpose %[[Y]] permutation [0, 3, 1, 2]
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %z0 = graph.constant dense<0> : tensor<i8>
  %b0 = graph.constant dense<0> : tensor<i32>
  %o = graph.constant dense<0.5> : tensor<f32>
  %p = graph.constant dense<-5> : tensor<i8>
  %w = graph.weight_ref @w : tensor<3x2x1x1xi8>
  %ws = graph.weight_ref @ws : tensor<3x1x1x1xf32>
  %b = graph.weight_ref @b : tensor<3xi32>
  %bs = graph.weight_ref @bs : tensor<3xf32>
  %xf = graph.dequantize %q, %s, %z : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
  %wf = graph.dequantize %w, %ws, %z0 : tensor<3x2x1x1xi8>, tensor<3x1x1x1xf32>, tensor<i8> -> tensor<3x2x1x1xf32>
  %bf = graph.dequantize %b, %bs, %b0 : tensor<3xi32>, tensor<3xf32>, tensor<i32> -> tensor<3xf32>
  %bt = graph.reshape %bf to [3, 1, 1] : tensor<3xf32> -> tensor<3x1x1xf32>
  %c = graph.conv2d %xf, %wf : tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32> -> tensor<1x3x4x4xf32>
  %a = graph.add %c, %bt : tensor<1x3x4x4xf32>, tensor<3x1x1xf32> -> tensor<1x3x4x4xf32>
  %r = graph.clamp %a min 0.0 : f32 max 6.0 : f32 : tensor<1x3x4x4xf32>
  %y = graph.quantize %r, %o, %p : tensor<1x3x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x3x4x4xi8>
  func.return %y : tensor<1x3x4x4xi8>
}

// Between two ops on images nothing is transposed.
// CHECK-LABEL: @chain
func.func @chain(%q: tensor<1x2x4x4xi8>) -> tensor<1x2xi8> {
  // CHECK:         %[[X:.*]] = graph.transpose %{{.*}} permutation [0, 2, 3, 1]
  // CHECK-NEXT:    %[[P:.*]] = cmsis_nn.max_pool %[[X]] kernel [2, 2] strides [2, 2]
  // CHECK-NEXT:    %[[A:.*]] = cmsis_nn.avg_pool %[[P]] kernel [2, 2]
  // CHECK-NEXT:    %[[R:.*]] = graph.reshape %[[A]] to [1, 2]
  // CHECK-NEXT:    func.return %[[R]]
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %a = graph.dequantize %q, %s, %z : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
  %b = graph.max_pool2d %a kernel [2, 2] strides [2, 2] : tensor<1x2x4x4xf32> -> tensor<1x2x2x2xf32>
  %c = graph.quantize %b, %s, %z : tensor<1x2x2x2xf32>, tensor<f32>, tensor<i8> -> tensor<1x2x2x2xi8>
  %d = graph.dequantize %c, %s, %z : tensor<1x2x2x2xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x2x2xf32>
  %e = graph.reduce mean %d axes [2, 3] keepdims : tensor<1x2x2x2xf32> -> tensor<1x2x1x1xf32>
  %f = graph.quantize %e, %s, %z : tensor<1x2x1x1xf32>, tensor<f32>, tensor<i8> -> tensor<1x2x1x1xi8>
  %g = graph.dequantize %f, %s, %z : tensor<1x2x1x1xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x1x1xf32>
  %h = graph.reshape %g to [1, 2] : tensor<1x2x1x1xf32> -> tensor<1x2xf32>
  %y = graph.quantize %h, %s, %z : tensor<1x2xf32>, tensor<f32>, tensor<i8> -> tensor<1x2xi8>
  func.return %y : tensor<1x2xi8>
}

// One scale for all weights is a part of the op; a bias of floats is rounded.
// CHECK-LABEL: @fully_connected
func.func @fully_connected(%q: tensor<2x2xi8>) -> tensor<2x3xi8> {
  // CHECK-DAG:     %[[F:.*]] = graph.weight_ref @f :
  // CHECK-DAG:     %[[B:.*]] = graph.constant dense<[2, -4, 6]> : tensor<3xi32>
  // CHECK:         cmsis_nn.fully_connected %{{.*}}, %[[F]], %[[B]] offsets [-3, 1, -5] scale [1073741824, -1] : tensor<2x2xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %u = graph.constant dense<-1> : tensor<i8>
  %p = graph.constant dense<-5> : tensor<i8>
  %bias = graph.constant dense<[0.5, -1.0, 1.5]> : tensor<3xf32>
  %w = graph.weight_ref @f : tensor<3x2xi8>
  %xf = graph.dequantize %q, %s, %z : tensor<2x2xi8>, tensor<f32>, tensor<i8> -> tensor<2x2xf32>
  %wf = graph.dequantize %w, %s, %u : tensor<3x2xi8>, tensor<f32>, tensor<i8> -> tensor<3x2xf32>
  %wt = graph.transpose %wf permutation [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  %c = graph.matmul %xf, %wt : tensor<2x2xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  %a = graph.add %c, %bias : tensor<2x3xf32>, tensor<3xf32> -> tensor<2x3xf32>
  %o = graph.constant dense<1.0> : tensor<f32>
  %y = graph.quantize %a, %o, %p : tensor<2x3xf32>, tensor<f32>, tensor<i8> -> tensor<2x3xi8>
  func.return %y : tensor<2x3xi8>
}

// CHECK-LABEL: @elements
func.func @elements(%q: tensor<2x4xi8>, %v: tensor<2x4xi8>) -> (tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xi8>) {
  // CHECK-DAG:     cmsis_nn.add %{{.*}} offsets [-3, 5, -5] multipliers [1073741824, 1073741824, 1073741824] shifts [0, -1, -18] left_shift 20 activation [-5, 127]
  // CHECK-DAG:     cmsis_nn.mul %{{.*}} offsets [-3, 5, -5] scale [1073741824, -1]
  // CHECK-DAG:     cmsis_nn.softmax %{{.*}} scale [1073741824, 26] diff_min -31
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %p = graph.constant dense<-5> : tensor<i8>
  %one = graph.constant dense<0.00390625> : tensor<f32>
  %low = graph.constant dense<-128> : tensor<i8>
  %a = graph.dequantize %q, %s, %z : tensor<2x4xi8>, tensor<f32>, tensor<i8> -> tensor<2x4xf32>
  %b = graph.dequantize %v, %t, %p : tensor<2x4xi8>, tensor<f32>, tensor<i8> -> tensor<2x4xf32>
  %c = graph.add %a, %b : tensor<2x4xf32>
  %r = graph.relu %c : tensor<2x4xf32>
  %x = graph.quantize %r, %s, %p : tensor<2x4xf32>, tensor<f32>, tensor<i8> -> tensor<2x4xi8>
  %d = graph.dequantize %q, %s, %z : tensor<2x4xi8>, tensor<f32>, tensor<i8> -> tensor<2x4xf32>
  %e = graph.dequantize %v, %t, %p : tensor<2x4xi8>, tensor<f32>, tensor<i8> -> tensor<2x4xf32>
  %f = graph.mul %d, %e : tensor<2x4xf32>
  %y = graph.quantize %f, %s, %p : tensor<2x4xf32>, tensor<f32>, tensor<i8> -> tensor<2x4xi8>
  %g = graph.dequantize %q, %s, %z : tensor<2x4xi8>, tensor<f32>, tensor<i8> -> tensor<2x4xf32>
  %h = graph.softmax %g axis 1 : tensor<2x4xf32>
  %i = graph.quantize %h, %one, %low : tensor<2x4xf32>, tensor<f32>, tensor<i8> -> tensor<2x4xi8>
  func.return %x, %y, %i : tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xi8>
}

// A mean of another scale is a product with ones, which is rounded once.
// CHECK-LABEL: @rescaled_mean
func.func @rescaled_mean(%q: tensor<1x2x4x4xi8>) -> tensor<1x2xi8> {
  // CHECK-DAG:     %[[X:.*]] = graph.reshape %q to [2, 16]
  // CHECK-DAG:     %[[ONES:.*]] = graph.constant dense<1> : tensor<1x16xi8>
  // CHECK:         %[[Y:.*]] = cmsis_nn.fully_connected %[[X]], %[[ONES]], %{{.*}} offsets [-3, 0, 3] scale [1073741824, -2]
  // CHECK-NEXT:    graph.reshape %[[Y]] to [1, 2]
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %d = graph.dequantize %q, %s, %z : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
  %e = graph.reduce mean %d axes [2, 3] : tensor<1x2x4x4xf32> -> tensor<1x2xf32>
  %f = graph.quantize %e, %t, %z : tensor<1x2xf32>, tensor<f32>, tensor<i8> -> tensor<1x2xi8>
  func.return %f : tensor<1x2xi8>
}

// An image comes before the numbers of its channels.
// CHECK-LABEL: @per_pixel
func.func @per_pixel(%row: tensor<1x2x1x1xi8>, %q: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  // CHECK-DAG:     %[[X:.*]] = graph.transpose %q permutation [0, 2, 3, 1]
  // CHECK-DAG:     %[[R:.*]] = graph.reshape %row to [1, 1, 1, 2]
  // CHECK:         cmsis_nn.mul %[[X]], %[[R]] offsets [-3, 5, 3] scale [1073741824, -1] : tensor<1x4x4x2xi8>, tensor<1x1x1x2xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %p = graph.constant dense<-5> : tensor<i8>
  %a = graph.dequantize %row, %t, %p : tensor<1x2x1x1xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x1x1xf32>
  %b = graph.dequantize %q, %s, %z : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
  %m = graph.mul %a, %b : tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %f = graph.quantize %m, %s, %z : tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xi8>
  func.return %f : tensor<1x2x4x4xi8>
}
