// RUN: %roundtrip | filecheck %s

// CHECK-LABEL: @quantize
// CHECK:         graph.quantize %x, %s, %z : tensor<2x8x4xf32>, tensor<8x1xf32>, tensor<i8> -> tensor<2x8x4xi8>
func.func @quantize(%x: tensor<2x8x4xf32>, %s: tensor<8x1xf32>, %z: tensor<i8>) -> tensor<2x8x4xi8> {
  %q = graph.quantize %x, %s, %z : tensor<2x8x4xf32>, tensor<8x1xf32>, tensor<i8> -> tensor<2x8x4xi8>
  func.return %q : tensor<2x8x4xi8>
}

// CHECK-LABEL: @dequantize
// CHECK:         graph.dequantize %q, %s, %z : tensor<?x4xui8, #graph.desc<dims = ["N"]>>, tensor<f16>, tensor<ui8> -> tensor<?x4xf16, #graph.desc<dims = ["N"]>>
func.func @dequantize(%q: tensor<?x4xui8, #graph.desc<dims = ["N"]>>, %s: tensor<f16>, %z: tensor<ui8>) -> tensor<?x4xf16, #graph.desc<dims = ["N"]>> {
  %x = graph.dequantize %q, %s, %z : tensor<?x4xui8, #graph.desc<dims = ["N"]>>, tensor<f16>, tensor<ui8> -> tensor<?x4xf16, #graph.desc<dims = ["N"]>>
  func.return %x : tensor<?x4xf16, #graph.desc<dims = ["N"]>>
}
