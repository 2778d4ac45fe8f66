// RUN: transom-opt -p canonicalize %s | filecheck %s

// Quantised as before: nothing happens to the number.
// CHECK-LABEL: @again
// CHECK-NEXT:    func.return %q
func.func @again(%q: tensor<4xi8>, %z: tensor<i8>) -> tensor<4xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %x = graph.dequantize %q, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xf32>
  %y = graph.quantize %x, %s, %z : tensor<4xf32>, tensor<f32>, tensor<i8> -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// Another zero point moves it.
// CHECK-LABEL: @moved
// CHECK:         graph.quantize
func.func @moved(%q: tensor<4xi8>, %z: tensor<i8>, %other: tensor<i8>) -> tensor<4xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %x = graph.dequantize %q, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xf32>
  %y = graph.quantize %x, %s, %other : tensor<4xf32>, tensor<f32>, tensor<i8> -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// A scale that is not known may be 0.
// CHECK-LABEL: @unknown
// CHECK:         graph.quantize
func.func @unknown(%q: tensor<4xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<4xi8> {
  %x = graph.dequantize %q, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xf32>
  %y = graph.quantize %x, %s, %z : tensor<4xf32>, tensor<f32>, tensor<i8> -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// CHECK-LABEL: @tiny
// CHECK:         graph.quantize
func.func @tiny(%q: tensor<4xi8>, %z: tensor<i8>) -> tensor<4xi8> {
  %s = graph.constant dense<1.0e-40> : tensor<f32>
  %x = graph.dequantize %q, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xf32>
  %y = graph.quantize %x, %s, %z : tensor<4xf32>, tensor<f32>, tensor<i8> -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// An f16 product has too few bits.
// CHECK-LABEL: @narrow
// CHECK:         graph.quantize
func.func @narrow(%q: tensor<4xi16>, %z: tensor<i16>) -> tensor<4xi16> {
  %s = graph.constant dense<0.5> : tensor<f16>
  %x = graph.dequantize %q, %s, %z : tensor<4xi16>, tensor<f16>, tensor<i16> -> tensor<4xf16>
  %y = graph.quantize %x, %s, %z : tensor<4xf16>, tensor<f16>, tensor<i16> -> tensor<4xi16>
  func.return %y : tensor<4xi16>
}

// Other integers than before.
// CHECK-LABEL: @retyped
// CHECK:         graph.quantize
func.func @retyped(%q: tensor<4xi8>, %z: tensor<i8>, %u: tensor<ui8>) -> tensor<4xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %x = graph.dequantize %q, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xf32>
  %y = graph.quantize %x, %s, %u : tensor<4xf32>, tensor<f32>, tensor<ui8> -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}
