// RUN: %diagnose

func.func @f(%x: tensor<4xi8>, %s: tensor<f32>, %z: tensor<i8>) {
  // expected-error @+1 {{expected 'input' to have floating-point elements, but got 'i8'}}
  %q = graph.quantize %x, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xi8>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %s: tensor<i32>, %z: tensor<i8>) {
  // expected-error @+1 {{expected 'scale' to have floating-point elements, but got 'i32'}}
  %q = graph.quantize %x, %s, %z : tensor<4xf32>, tensor<i32>, tensor<i8> -> tensor<4xi8>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<i32>) {
  // expected-error @+1 {{expected 'zero_point' to have 8-bit or 16-bit integer elements, but got 'i32'}}
  %q = graph.quantize %x, %s, %z : tensor<4xf32>, tensor<f32>, tensor<i32> -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %s: tensor<3xf32>, %z: tensor<i8>) {
  // expected-error @+1 {{expected shapes that broadcast}}
  %q = graph.quantize %x, %s, %z : tensor<4xf32>, tensor<3xf32>, tensor<i8> -> tensor<4xi8>
  func.return
}

// -----

func.func @f(%q: tensor<4xi64>, %s: tensor<f32>, %z: tensor<i64>) {
  // expected-error @+1 {{expected 'input' to have 8-bit, 16-bit or signed 32-bit integer elements, but got 'i64'}}
  %x = graph.dequantize %q, %s, %z : tensor<4xi64>, tensor<f32>, tensor<i64> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%q: tensor<4xi8>, %s: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{expected 'input' and 'zero_point' of one element type, but got 'i8' and 'ui8'}}
  %x = graph.dequantize %q, %s, %z : tensor<4xi8>, tensor<f32>, tensor<ui8> -> tensor<4xf32>
  func.return
}
