// RUN: transom-opt -p convert-graph-to-tir,tir-use-winograd %s | filecheck %s

// What stays a direct convolution says why.

#here = #target.place<@cpu, ?, ?>

module attributes {target.config = #target.config<options = {winograd = true}>} {

// CHECK:       tir.direct = "expected sizes that are known"
func.func private @open_size(%x: tensor<?x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<32x32x3x3xf32>) -> tensor<?x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<?x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<32x32x3x3xf32> -> tensor<?x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
  func.return %y : tensor<?x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
}

// CHECK:       tir.direct = "expected a stride of 1, but that of columns is 2"
func.func private @stride(%x: tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<32x32x3x3xf32>) -> tensor<1x32x8x4xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w strides [1, 2] padding [1, 1, 1, 1] : tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<32x32x3x3xf32> -> tensor<1x32x8x4xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
  func.return %y : tensor<1x32x8x4xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
}

// CHECK:       tir.direct = "expected a dilation of 1, but that of rows is 2"
func.func private @dilation(%x: tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<32x32x3x3xf32>) -> tensor<1x32x6x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] dilations [2, 1] : tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<32x32x3x3xf32> -> tensor<1x32x6x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
  func.return %y : tensor<1x32x6x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
}

// CHECK:       tir.direct = "expected a window of 3 x 3, but got 3 x 5"
func.func private @window(%x: tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<32x32x3x5xf32>) -> tensor<1x32x8x6xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<32x32x3x5xf32> -> tensor<1x32x8x6xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
  func.return %y : tensor<1x32x8x6xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
}

// CHECK:       tir.direct = "expected one group of channels"
func.func private @groups(%x: tensor<1x64x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<64x32x3x3xf32>) -> tensor<1x64x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] groups 2 : tensor<1x64x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<64x32x3x3xf32> -> tensor<1x64x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
  func.return %y : tensor<1x64x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
}

// CHECK:       tir.direct = "expected several filters"
func.func private @one_filter(%x: tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<1x32x3x3xf32>) -> tensor<1x1x8x8xf32> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<1x32x3x3xf32> -> tensor<1x1x8x8xf32>
  func.return %y : tensor<1x1x8x8xf32>
}

// CHECK:       tir.direct = "expected at least 32 channels, but got 16"
func.func private @few_channels(%x: tensor<1x16x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<32x16x3x3xf32>) -> tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x16x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<32x16x3x3xf32> -> tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
  func.return %y : tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
}

// CHECK:       tir.direct = "expected at least 6 rows and columns of results, but got 5 x 8"
func.func private @few_rows(%x: tensor<1x32x5x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<32x32x3x3xf32>) -> tensor<1x32x5x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x32x5x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<32x32x3x3xf32> -> tensor<1x32x5x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
  func.return %y : tensor<1x32x5x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
}

// CHECK:       tir.direct = "expected f32, but got 'f64'"
func.func private @double(%x: tensor<1x32x8x8xf64, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<32x32x3x3xf64>) -> tensor<1x32x8x8xf64, #graph.desc<layout = #graph.layout<block = [1, 16]>>> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x32x8x8xf64, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<32x32x3x3xf64> -> tensor<1x32x8x8xf64, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
  func.return %y : tensor<1x32x8x8xf64, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
}

// CHECK:       tir.direct = "expected a larger image, as there are 9437184 bytes of weights to read for 7 x 7 results"
func.func private @much_to_read(%x: tensor<1x256x7x7xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<256x256x3x3xf32>) -> tensor<1x256x7x7xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x256x7x7xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<256x256x3x3xf32> -> tensor<1x256x7x7xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
  func.return %y : tensor<1x256x7x7xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
}

// CHECK:       tir.direct = "expected channels that lie side by side in memory"
func.func private @rows_of_channels(%x: tensor<1x32x8x8xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32> -> tensor<1x32x8x8xf32>
  func.return %y : tensor<1x32x8x8xf32>
}

// CHECK:       tir.direct = "expected a weight that is known in each call"
func.func private @not_called(%x: tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, %w: tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>> attributes {target.for = #here} {
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>>>, tensor<32x32x3x3xf32> -> tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
  func.return %y : tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
}
}
