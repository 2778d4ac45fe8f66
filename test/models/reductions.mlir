// Reductions, where extremes are, and cumulative sums in both directions.
func.func @main(%x: tensor<4x5x6xf32>, %i: tensor<4x5xi32>, %u: tensor<4x5xui8>) -> (
    tensor<5xf32>, tensor<4x1x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<4xf32>, tensor<4xi32>, tensor<5xui8>, tensor<4x6xi64>, tensor<4x5x1xi64>, tensor<4x5x6xf32>, tensor<4x5x6xf32>, tensor<4x5xi32>) {
  %a = graph.reduce sum %x axes [0, 2] : tensor<4x5x6xf32> -> tensor<5xf32>
  %b = graph.reduce mean %x axes [1] keepdims : tensor<4x5x6xf32> -> tensor<4x1x6xf32>
  %c = graph.reduce max %x axes [1] : tensor<4x5x6xf32> -> tensor<4x6xf32>
  %d = graph.reduce min %x axes [0, 1, 2] : tensor<4x5x6xf32> -> tensor<f32>
  %e = graph.reduce prod %x axes [1, 2] : tensor<4x5x6xf32> -> tensor<4xf32>
  %f = graph.reduce sum %i axes [1] : tensor<4x5xi32> -> tensor<4xi32>
  %g = graph.reduce max %u axes [0] : tensor<4x5xui8> -> tensor<5xui8>
  %h = graph.arg_reduce argmax %x axis 1 : tensor<4x5x6xf32> -> tensor<4x6xi64>
  %j = graph.arg_reduce argmin %x axis 2 keepdims : tensor<4x5x6xf32> -> tensor<4x5x1xi64>
  %k = graph.cumulate sum %x axis 1 : tensor<4x5x6xf32>
  %l = graph.cumulate sum %x axis 2 exclusive reverse : tensor<4x5x6xf32>
  %m = graph.cumulate sum %i axis 0 exclusive : tensor<4x5xi32>
  func.return %a, %b, %c, %d, %e, %f, %g, %h, %j, %k, %l, %m : tensor<5xf32>, tensor<4x1x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<4xf32>, tensor<4xi32>, tensor<5xui8>, tensor<4x6xi64>, tensor<4x5x1xi64>, tensor<4x5x6xf32>, tensor<4x5x6xf32>, tensor<4x5xi32>
}
