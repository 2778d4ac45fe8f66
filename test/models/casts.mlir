// Casts: towards zero, saturating, NaN to 0, non-zero to true.
func.func @main(%x: tensor<40xf32>, %i: tensor<40xi64>) -> (
    tensor<40xi8>, tensor<40xui8>, tensor<40xi32>, tensor<40xi1>, tensor<40xf16>, tensor<40xf64>, tensor<40xf32>, tensor<40xi8>) {
  %c = graph.constant dense<123.4> : tensor<f32>
  %big = graph.mul %x, %c : tensor<40xf32>, tensor<f32> -> tensor<40xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %nan = graph.div %zero, %zero : tensor<f32>
  %neg = graph.compare lt %x, %zero : tensor<40xf32>, tensor<f32> -> tensor<40xi1>
  %mixed = graph.select %neg, %nan, %big : tensor<40xi1>, tensor<f32>, tensor<40xf32> -> tensor<40xf32>
  %a = graph.cast %big : tensor<40xf32> -> tensor<40xi8>
  %b = graph.cast %big : tensor<40xf32> -> tensor<40xui8>
  %d = graph.cast %mixed : tensor<40xf32> -> tensor<40xi32>
  %e = graph.cast %a : tensor<40xi8> -> tensor<40xi1>
  %f = graph.cast %big : tensor<40xf32> -> tensor<40xf16>
  %g = graph.cast %f : tensor<40xf16> -> tensor<40xf64>
  %h = graph.cast %b : tensor<40xui8> -> tensor<40xf32>
  %k = graph.cast %i : tensor<40xi64> -> tensor<40xi8>
  func.return %a, %b, %d, %e, %f, %g, %h, %k : tensor<40xi8>, tensor<40xui8>, tensor<40xi32>, tensor<40xi1>, tensor<40xf16>, tensor<40xf64>, tensor<40xf32>, tensor<40xi8>
}
