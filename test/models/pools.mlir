// Pools: windows that leave the image, indices of maxima, what counts in an average.
func.func @main(%x: tensor<1x3x7x9xf32>) -> (tensor<1x3x4x5xf32>, tensor<1x3x4x5xi64>, tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>, tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>, tensor<1x3x3x5xf32>) {
  %m, %i = graph.max_pool2d %x kernel [3, 3] strides [2, 2] padding [1, 1, 1, 1] : tensor<1x3x7x9xf32> -> tensor<1x3x4x5xf32>, tensor<1x3x4x5xi64>
  %n = graph.max_pool2d %x kernel [3, 3] strides [2, 2] : tensor<1x3x7x9xf32> -> tensor<1x3x3x4xf32>
  %a = graph.avg_pool2d %x kernel [3, 3] strides [2, 2] : tensor<1x3x7x9xf32> -> tensor<1x3x3x4xf32>
  %p = graph.avg_pool2d %x kernel [3, 3] strides [2, 2] padding [1, 1, 1, 1] : tensor<1x3x7x9xf32> -> tensor<1x3x4x5xf32>
  %q = graph.avg_pool2d %x kernel [3, 3] strides [2, 2] padding [1, 1, 1, 1] count_include_pad : tensor<1x3x7x9xf32> -> tensor<1x3x4x5xf32>
  %c = graph.avg_pool2d %x kernel [2, 2] strides [2, 2] ceil_mode : tensor<1x3x7x9xf32> -> tensor<1x3x4x5xf32>
  %d = graph.avg_pool2d %x kernel [3, 2] strides [2, 2] padding [1, 1, 1, 2] dilations [2, 3] : tensor<1x3x7x9xf32> -> tensor<1x3x3x5xf32>
  func.return %m, %i, %n, %a, %p, %q, %c, %d : tensor<1x3x4x5xf32>, tensor<1x3x4x5xi64>, tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>, tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>, tensor<1x3x3x5xf32>
}
