// RUN: transom-opt -p 'target-claim-ops{explain}' --split-input-file %s | filecheck %s

target.device @mcu {targets = [#cmsis_nn.target<cpu = "cortex-m55">, #c_source.target]}

// What is claimed becomes a composite; a dequantisation that two read is in both.
// CHECK-LABEL: @shared
func.func @shared(%q: tensor<1x4xi8>) -> (tensor<1x4xi8>, tensor<1x4xi8>) {
  // CHECK:         graph.composite "cmsis_nn.softmax"
  // CHECK:           graph.dequantize
  // CHECK:           graph.softmax
  // CHECK:         graph.composite "cmsis_nn.mul"
  // CHECK:           graph.dequantize
  // CHECK:           graph.mul
  // CHECK:         func.return
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %o = graph.constant dense<0.00390625> : tensor<f32>
  %p = graph.constant dense<-128> : tensor<i8>
  %x = graph.dequantize %q, %s, %z : tensor<1x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x4xf32>
  %a = graph.softmax %x axis 1 : tensor<1x4xf32>
  %b = graph.quantize %a, %o, %p : tensor<1x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x4xi8>
  %c = graph.mul %x, %x : tensor<1x4xf32>
  %d = graph.quantize %c, %s, %z : tensor<1x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x4xi8>
  func.return %b, %d : tensor<1x4xi8>, tensor<1x4xi8>
}

// -----

target.device @mcu {targets = [#cmsis_nn.target<cpu = "cortex-m55">, #c_source.target]}

// CHECK-LABEL: @axis
func.func @axis(%q: tensor<2x4xi8>) -> tensor<2x4xi8> {
  // CHECK:         graph.softmax {{.*}}"as part of 'cmsis_nn.softmax': expected the last axis"
  %s = graph.constant dense<0.00390625> : tensor<f32>
  %z = graph.constant dense<-128> : tensor<i8>
  %x = graph.dequantize %q, %s, %z : tensor<2x4xi8>, tensor<f32>, tensor<i8> -> tensor<2x4xf32>
  %a = graph.softmax %x axis 0 : tensor<2x4xf32>
  %b = graph.quantize %a, %s, %z : tensor<2x4xf32>, tensor<f32>, tensor<i8> -> tensor<2x4xi8>
  func.return %b : tensor<2x4xi8>
}

// -----

target.device @mcu {targets = [#cmsis_nn.target<cpu = "cortex-m55">, #c_source.target]}

// CHECK-LABEL: @floats
func.func @floats(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK:         graph.softmax {{.*}}"expected 'graph.quantize' of the result, and no other reader"
  %a = graph.softmax %x axis 1 : tensor<2x4xf32>
  func.return %a : tensor<2x4xf32>
}

// -----

target.device @mcu {targets = [#cmsis_nn.target<cpu = "cortex-m55">, #c_source.target]}

// CHECK-LABEL: @scale_of_a_pool
func.func @scale_of_a_pool(%q: tensor<1x2x4x4xi8>) -> tensor<1x2x2x2xi8> {
  // CHECK:         graph.max_pool2d {{.*}}"as part of 'cmsis_nn.max_pool': expected the scale and zero point of the input for the result too, but got 0.5 with 3 and 0.25 with 3"
  %s = graph.constant dense<0.5> : tensor<f32>
  %o = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %a = graph.dequantize %q, %s, %z : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
  %b = graph.max_pool2d %a kernel [2, 2] strides [2, 2] : tensor<1x2x4x4xf32> -> tensor<1x2x2x2xf32>
  %c = graph.quantize %b, %o, %z : tensor<1x2x2x2xf32>, tensor<f32>, tensor<i8> -> tensor<1x2x2x2xi8>
  func.return %c : tensor<1x2x2x2xi8>
}

// -----

target.device @mcu {targets = [#cmsis_nn.target<cpu = "cortex-m55">, #c_source.target]}

// CHECK-LABEL: @unsigned
func.func @unsigned(%q: tensor<4xui8>) -> tensor<4xui8> {
  // CHECK:         graph.mul {{.*}}"as part of 'cmsis_nn.mul': expected activations of i8, but got 'tensor<4xui8>'"
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %x = graph.dequantize %q, %s, %z : tensor<4xui8>, tensor<f32>, tensor<ui8> -> tensor<4xf32>
  %c = graph.mul %x, %x : tensor<4xf32>
  %d = graph.quantize %c, %s, %z : tensor<4xf32>, tensor<f32>, tensor<ui8> -> tensor<4xui8>
  func.return %d : tensor<4xui8>
}
