// RUN: %diagnose -p cmsis-nn-select-ops

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{no pattern of 'cmsis_nn.add' is in it: expected 'graph.quantize', but got 'graph.add'}}
  %y = graph.composite "cmsis_nn.add" (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %b = graph.add %a, %a : tensor<4xf32>
    graph.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

func.func @scales(%q: tensor<4xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<4xi8> {
  // expected-error @+1 {{no pattern of 'cmsis_nn.add' is in it: expected 'graph.weight_ref' or 'graph.constant', but got a block argument}}
  %y = graph.composite "cmsis_nn.add" (%a = %q : tensor<4xi8>, %t = %s : tensor<f32>, %u = %z : tensor<i8>) -> (tensor<4xi8>) {
    %b = graph.dequantize %a, %t, %u : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xf32>
    %c = graph.dequantize %a, %t, %u : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xf32>
    %d = graph.add %b, %c : tensor<4xf32>
    %e = graph.quantize %d, %t, %u : tensor<4xf32>, tensor<f32>, tensor<i8> -> tensor<4xi8>
    graph.yield %e : tensor<4xi8>
  }
  func.return %y : tensor<4xi8>
}

// -----

func.func @computed(%q: tensor<1x4xi8>) -> tensor<1x4xi8> {
  // expected-error @+1 {{expected results of scale 1/256 and zero point -128, but got 0.5 with 0}}
  %y = graph.composite "cmsis_nn.softmax" (%a = %q : tensor<1x4xi8>) -> (tensor<1x4xi8>) {
    %s = graph.constant dense<0.5> : tensor<f32>
    %z = graph.constant dense<0> : tensor<i8>
    %b = graph.dequantize %a, %s, %z : tensor<1x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x4xf32>
    %c = graph.softmax %b axis 1 : tensor<1x4xf32>
    %e = graph.quantize %c, %s, %z : tensor<1x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x4xi8>
    graph.yield %e : tensor<1x4xi8>
  }
  func.return %y : tensor<1x4xi8>
}
