// Weights that are written out, and weights that are expressions over others.
graph.weight @w = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
graph.weight @scaled : tensor<2x3xf32> {
  %w = graph.weight_ref @w : tensor<2x3xf32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %s = graph.mul %w, %half : tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
  graph.yield %s : tensor<2x3xf32>
}
func.func @main(%x: tensor<4x2xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>, tensor<4x2xf32>) {
  %w = graph.weight_ref @w : tensor<2x3xf32>
  %s = graph.weight_ref @scaled : tensor<2x3xf32>
  %bias = graph.constant dense<[0.1, -0.2, 0.3]> : tensor<3xf32>
  %a = graph.matmul %x, %w : tensor<4x2xf32>, tensor<2x3xf32> -> tensor<4x3xf32>
  %b = graph.add %a, %bias : tensor<4x3xf32>, tensor<3xf32> -> tensor<4x3xf32>
  %c = graph.matmul %x, %s : tensor<4x2xf32>, tensor<2x3xf32> -> tensor<4x3xf32>
  func.return %b, %c, %s, %x : tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>, tensor<4x2xf32>
}
