// Padded, strided, dilated, grouped, depthwise and 1x1 convolutions with epilogues.
func.func @main(%x: tensor<2x4x9x11xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<6x1x1xf32>, %r: tensor<2x6x9x11xf32>,
    %g: tensor<8x2x3x3xf32>, %dw: tensor<4x1x3x3xf32>, %p: tensor<5x4x1x1xf32>, %s: tensor<3x4x5x3xf32>) -> (
    tensor<2x6x9x11xf32>, tensor<2x8x5x6xf32>, tensor<2x4x9x11xf32>, tensor<2x5x9x11xf32>, tensor<2x3x4x9xf32>) {
  %c = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<2x4x9x11xf32>, tensor<6x4x3x3xf32> -> tensor<2x6x9x11xf32>
  %cb = graph.add %c, %b : tensor<2x6x9x11xf32>, tensor<6x1x1xf32> -> tensor<2x6x9x11xf32>
  %cr = graph.add %cb, %r : tensor<2x6x9x11xf32>
  %y0 = graph.relu %cr : tensor<2x6x9x11xf32>
  %y1 = graph.conv2d %x, %g strides [2, 2] padding [1, 1, 1, 1] groups 2 : tensor<2x4x9x11xf32>, tensor<8x2x3x3xf32> -> tensor<2x8x5x6xf32>
  %d = graph.conv2d %x, %dw padding [2, 2, 2, 2] dilations [2, 2] groups 4 : tensor<2x4x9x11xf32>, tensor<4x1x3x3xf32> -> tensor<2x4x9x11xf32>
  %y2 = graph.sigmoid %d : tensor<2x4x9x11xf32>
  %y3 = graph.conv2d %x, %p : tensor<2x4x9x11xf32>, tensor<5x4x1x1xf32> -> tensor<2x5x9x11xf32>
  %y4 = graph.conv2d %x, %s strides [2, 1] padding [1, 0, 1, 0] : tensor<2x4x9x11xf32>, tensor<3x4x5x3xf32> -> tensor<2x3x4x9xf32>
  func.return %y0, %y1, %y2, %y3, %y4 : tensor<2x6x9x11xf32>, tensor<2x8x5x6xf32>, tensor<2x4x9x11xf32>, tensor<2x5x9x11xf32>, tensor<2x3x4x9xf32>
}
