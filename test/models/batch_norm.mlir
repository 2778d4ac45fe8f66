// Normalisation, scales and shifts behind convolutions, with and without other readers.
graph.weight @w = dense<[[[[0.5, -1.0]]], [[[1.5, 2.0]]], [[[-0.25, 0.75]]], [[[1.0, -2.0]]]]> : tensor<4x1x1x2xf32>
graph.weight @scale = dense<[1.0, -0.5, 2.0, 0.75]> : tensor<4xf32>
graph.weight @bias = dense<[0.1, 0.2, -0.3, 0.4]> : tensor<4xf32>
graph.weight @mean = dense<[0.5, -0.25, 0.0, 1.5]> : tensor<4xf32>
graph.weight @variance = dense<[0.5, 1.25, 2.0, 0.125]> : tensor<4xf32>
graph.weight @k = dense<[[[[2.0]], [[-1.0]], [[0.5]], [[3.0]]]]> : tensor<1x4x1x1xf32>
func.func @main(%x: tensor<1x1x5x6xf32>) -> (tensor<1x4x5x5xf32>, tensor<1x4x5x5xf32>, tensor<1x4x5x5xf32>) {
  %w = graph.weight_ref @w : tensor<4x1x1x2xf32>
  %s = graph.weight_ref @scale : tensor<4xf32>
  %b = graph.weight_ref @bias : tensor<4xf32>
  %m = graph.weight_ref @mean : tensor<4xf32>
  %v = graph.weight_ref @variance : tensor<4xf32>
  %k = graph.weight_ref @k : tensor<1x4x1x1xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %c = graph.conv2d %x, %w : tensor<1x1x5x6xf32>, tensor<4x1x1x2xf32> -> tensor<1x4x5x5xf32>
  %n = graph.batch_norm %c, %s, %b, %m, %v epsilon 1.0e-05 : tensor<1x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x5x5xf32>
  %nk = graph.mul %k, %n : tensor<1x4x1x1xf32>, tensor<1x4x5x5xf32> -> tensor<1x4x5x5xf32>
  %nks = graph.add %nk, %two : tensor<1x4x5x5xf32>, tensor<f32> -> tensor<1x4x5x5xf32>
  %r = graph.relu %nks : tensor<1x4x5x5xf32>
  %n2 = graph.batch_norm %r, %s, %b, %m, %v epsilon 1.0e-02 : tensor<1x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x5x5xf32>
  %c3 = graph.conv2d %x, %w : tensor<1x1x5x6xf32>, tensor<4x1x1x2xf32> -> tensor<1x4x5x5xf32>
  %n3 = graph.batch_norm %c3, %s, %b, %m, %v epsilon 1.0e-05 : tensor<1x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x5x5xf32>
  %d = graph.mul %n3, %c3 : tensor<1x4x5x5xf32>
  func.return %r, %n2, %d : tensor<1x4x5x5xf32>, tensor<1x4x5x5xf32>, tensor<1x4x5x5xf32>
}
