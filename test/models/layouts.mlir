// Convolutions on blocks: a first layer of few channels, borders, residuals, pools,
// groups, depthwise ones, concatenation, and channels that fill no block.
func.func @main(%x: tensor<2x3x12x10xf32>, %w0: tensor<16x3x3x3xf32>, %b: tensor<16x1x1xf32>, %w1: tensor<16x16x3x3xf32>,
    %g: tensor<32x16x3x3xf32>, %dw: tensor<32x1x3x3xf32>, %p: tensor<31x32x1x1xf32>, %q: tensor<24x31x3x3xf32>) -> (
    tensor<2x24x3x3xf32>, tensor<2x31x1x1xf32>, tensor<2x32x6x5xf32>) {
  %c0 = graph.conv2d %x, %w0 strides [2, 2] padding [1, 1, 1, 1] : tensor<2x3x12x10xf32>, tensor<16x3x3x3xf32> -> tensor<2x16x6x5xf32>
  %s0 = graph.add %c0, %b : tensor<2x16x6x5xf32>, tensor<16x1x1xf32> -> tensor<2x16x6x5xf32>
  %r0 = graph.relu %s0 : tensor<2x16x6x5xf32>
  %c1 = graph.conv2d %r0, %w1 padding [1, 1, 1, 1] : tensor<2x16x6x5xf32>, tensor<16x16x3x3xf32> -> tensor<2x16x6x5xf32>
  %s1 = graph.add %c1, %r0 : tensor<2x16x6x5xf32>
  %r1 = graph.sigmoid %s1 : tensor<2x16x6x5xf32>
  %m1 = graph.max_pool2d %c1 kernel [3, 3] padding [1, 1, 1, 1] : tensor<2x16x6x5xf32>
  %k = graph.concat %r1, %m1 axis 1 : tensor<2x16x6x5xf32>, tensor<2x16x6x5xf32> -> tensor<2x32x6x5xf32>
  %c2 = graph.conv2d %k, %g padding [2, 2, 2, 2] dilations [2, 2] groups 2 : tensor<2x32x6x5xf32>, tensor<32x16x3x3xf32> -> tensor<2x32x6x5xf32>
  %c3 = graph.conv2d %c2, %dw padding [1, 1, 1, 1] groups 32 : tensor<2x32x6x5xf32>, tensor<32x1x3x3xf32> -> tensor<2x32x6x5xf32>
  %c4 = graph.conv2d %c3, %p : tensor<2x32x6x5xf32>, tensor<31x32x1x1xf32> -> tensor<2x31x6x5xf32>
  %e4 = graph.exp %c4 : tensor<2x31x6x5xf32>
  %a4 = graph.avg_pool2d %e4 kernel [3, 3] strides [2, 2] padding [1, 1, 1, 1] : tensor<2x31x6x5xf32> -> tensor<2x31x3x3xf32>
  %c5 = graph.conv2d %a4, %q padding [1, 1, 1, 1] : tensor<2x31x3x3xf32>, tensor<24x31x3x3xf32> -> tensor<2x24x3x3xf32>
  %t4 = graph.reduce mean %e4 axes [2, 3] keepdims : tensor<2x31x6x5xf32> -> tensor<2x31x1x1xf32>
  func.return %c5, %t4, %c2 : tensor<2x24x3x3xf32>, tensor<2x31x1x1xf32>, tensor<2x32x6x5xf32>
}
