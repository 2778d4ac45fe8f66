// Softmax and layer normalisation are one kernel each: blocks of nests over rows.
func.func @main(%x: tensor<3x5x37xf32>, %g: tensor<37xf32>, %b: tensor<37xf32>, %i: tensor<2x4x3x3xf32>, %c: tensor<4xf32>) -> (
    tensor<3x5x37xf32>, tensor<3x5x37xf32>, tensor<3x5x37xf32>, tensor<3x5x37xf32>, tensor<2x4x3x3xf32>) {
  %s = graph.softmax %x axis 2 : tensor<3x5x37xf32>
  %t = graph.softmax %x axis 1 : tensor<3x5x37xf32>
  %l = graph.log_softmax %x axis 2 : tensor<3x5x37xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<f32>
  %m = graph.reduce mean %x axes [2] keepdims : tensor<3x5x37xf32> -> tensor<3x5x1xf32>
  %d = graph.sub %x, %m : tensor<3x5x37xf32>, tensor<3x5x1xf32> -> tensor<3x5x37xf32>
  %q = graph.mul %d, %d : tensor<3x5x37xf32>
  %v = graph.reduce mean %q axes [2] keepdims : tensor<3x5x37xf32> -> tensor<3x5x1xf32>
  %ve = graph.add %v, %eps : tensor<3x5x1xf32>, tensor<f32> -> tensor<3x5x1xf32>
  %r = graph.rsqrt %ve : tensor<3x5x1xf32>
  %n = graph.mul %d, %r : tensor<3x5x37xf32>, tensor<3x5x1xf32> -> tensor<3x5x37xf32>
  %sc = graph.mul %n, %g : tensor<3x5x37xf32>, tensor<37xf32> -> tensor<3x5x37xf32>
  %ln = graph.add %sc, %b : tensor<3x5x37xf32>, tensor<37xf32> -> tensor<3x5x37xf32>
  %pos = graph.exp %c : tensor<4xf32>
  %bn = graph.batch_norm %i, %c, %c, %c, %pos epsilon 1.0e-5 : tensor<2x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<2x4x3x3xf32>
  func.return %s, %t, %l, %ln, %bn : tensor<3x5x37xf32>, tensor<3x5x37xf32>, tensor<3x5x37xf32>, tensor<3x5x37xf32>, tensor<2x4x3x3xf32>
}
