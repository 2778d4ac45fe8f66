// A quantised classifier of images of 8 x 8: a convolution, pools, a fully connected layer.
//
// Every activation is i8. It is dequantised in front of an operator, and the result is
// quantised again, as exporters of quantised models write it.

graph.weight @filters = dense<[
  [[[ 40,  80,  40], [  0,   0,   0], [-40, -80, -40]]],
  [[[ 40,   0, -40], [ 80,   0, -80], [ 40,   0, -40]]],
  [[[  0, -50,   0], [-50, 120, -50], [  0, -50,   0]]],
  [[[ 14,  14,  14], [ 14,  14,  14], [ 14,  14,  14]]]
]> : tensor<4x1x3x3xi8>
graph.weight @filter_scales = dense<[[[[0.0125]]], [[[0.0125]]], [[[0.0100]]], [[[0.0080]]]]> : tensor<4x1x1x1xf32>
graph.weight @bias = dense<[0, 0, 120, -60]> : tensor<4xi32>
graph.weight @bias_scales = dense<[0.000625, 0.000625, 0.0005, 0.0004]> : tensor<4xf32>
graph.weight @classes = dense<[
  [ 110, -90, -20,  10],
  [ -90, 110, -20,  10],
  [ -20, -20, 127,  40]
]> : tensor<3x4xi8>

func.func @main(
    %image: tensor<1x1x8x8xi8> {graph.name = "image"}
) -> (tensor<1x3xi8> {graph.name = "classes"}) {
  %zero = graph.constant dense<0> : tensor<i8>
  %zero32 = graph.constant dense<0> : tensor<i32>
  %s0 = graph.constant dense<0.05> : tensor<f32>
  %z0 = graph.constant dense<-20> : tensor<i8>
  %x = graph.dequantize %image, %s0, %z0 : tensor<1x1x8x8xi8>, tensor<f32>, tensor<i8> -> tensor<1x1x8x8xf32>

  %filters = graph.weight_ref @filters : tensor<4x1x3x3xi8>
  %filter_scales = graph.weight_ref @filter_scales : tensor<4x1x1x1xf32>
  %w = graph.dequantize %filters, %filter_scales, %zero : tensor<4x1x3x3xi8>, tensor<4x1x1x1xf32>, tensor<i8> -> tensor<4x1x3x3xf32>
  %bias = graph.weight_ref @bias : tensor<4xi32>
  %bias_scales = graph.weight_ref @bias_scales : tensor<4xf32>
  %b = graph.dequantize %bias, %bias_scales, %zero32 : tensor<4xi32>, tensor<4xf32>, tensor<i32> -> tensor<4xf32>
  %per_channel = graph.reshape %b to [4, 1, 1] : tensor<4xf32> -> tensor<4x1x1xf32>
  %conv = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x1x8x8xf32>, tensor<4x1x3x3xf32> -> tensor<1x4x8x8xf32>
  %sum = graph.add %conv, %per_channel : tensor<1x4x8x8xf32>, tensor<4x1x1xf32> -> tensor<1x4x8x8xf32>
  %relu = graph.relu %sum : tensor<1x4x8x8xf32>
  %s1 = graph.constant dense<0.04> : tensor<f32>
  %z1 = graph.constant dense<-128> : tensor<i8>
  %q1 = graph.quantize %relu, %s1, %z1 : tensor<1x4x8x8xf32>, tensor<f32>, tensor<i8> -> tensor<1x4x8x8xi8>

  %d1 = graph.dequantize %q1, %s1, %z1 : tensor<1x4x8x8xi8>, tensor<f32>, tensor<i8> -> tensor<1x4x8x8xf32>
  %pool = graph.max_pool2d %d1 kernel [2, 2] strides [2, 2] : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  %q2 = graph.quantize %pool, %s1, %z1 : tensor<1x4x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x4x4x4xi8>

  %d2 = graph.dequantize %q2, %s1, %z1 : tensor<1x4x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x4x4x4xf32>
  %mean = graph.reduce mean %d2 axes [2, 3] : tensor<1x4x4x4xf32> -> tensor<1x4xf32>
  %q3 = graph.quantize %mean, %s1, %z1 : tensor<1x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x4xi8>

  %d3 = graph.dequantize %q3, %s1, %z1 : tensor<1x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x4xf32>
  %classes = graph.weight_ref @classes : tensor<3x4xi8>
  %class_scale = graph.constant dense<0.02> : tensor<f32>
  %v = graph.dequantize %classes, %class_scale, %zero : tensor<3x4xi8>, tensor<f32>, tensor<i8> -> tensor<3x4xf32>
  %t = graph.transpose %v permutation [1, 0] : tensor<3x4xf32> -> tensor<4x3xf32>
  %scores = graph.matmul %d3, %t : tensor<1x4xf32>, tensor<4x3xf32> -> tensor<1x3xf32>
  %s4 = graph.constant dense<0.08> : tensor<f32>
  %q4 = graph.quantize %scores, %s4, %zero : tensor<1x3xf32>, tensor<f32>, tensor<i8> -> tensor<1x3xi8>

  %d4 = graph.dequantize %q4, %s4, %zero : tensor<1x3xi8>, tensor<f32>, tensor<i8> -> tensor<1x3xf32>
  %softmax = graph.softmax %d4 axis 1 : tensor<1x3xf32>
  %s5 = graph.constant dense<0.00390625> : tensor<f32>
  %result = graph.quantize %softmax, %s5, %z1 : tensor<1x3xf32>, tensor<f32>, tensor<i8> -> tensor<1x3xi8>
  func.return %result : tensor<1x3xi8>
}
