// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s
// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s --check-prefix=ROWS

!plain = tensor<1x16x6x6xf32>
!blocked = tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
!bordered = tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [1, 1]>>>
!rest = tensor<1x12x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>

// Channels are dims in front and behind; the window is read in the border.
// CHECK-LABEL: tir.func @conv2d_
// CHECK-SAME:    read %{{.*}}: memref<1x2x8x8x8xf32>, read %{{.*}}: memref<24x16x3x3xf32>, write %{{.*}}: memref<1x3x6x6x8xf32>
func.func private @conv(%x: !bordered, %w: tensor<24x16x3x3xf32>) -> tensor<1x24x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 1, parallel 3, parallel 6, parallel 6, parallel 8, reduction 2, reduction 3, reduction 3, reduction 8]
  // CHECK-NEXT:      ins(%{{.*}}[0, d5, d2 + d6, d3 + d7, d8] : memref<1x2x8x8x8xf32>, %{{.*}}[d1 * 8 + d4, d5 * 8 + d8, d6, d7] : memref<24x16x3x3xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[0, d1, d2, d3, d4] : memref<1x3x6x6x8xf32>)
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : !bordered, tensor<24x16x3x3xf32> -> tensor<1x24x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  func.return %y : tensor<1x24x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
}

// A wider border than the window needs.
// CHECK-LABEL: tir.func @conv2d_
func.func private @wide_border(%x: !bordered, %w: tensor<8x16x1x1xf32>) -> tensor<1x8x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           ins(%{{.*}}[0, d5, d2 + 1, d3 + 1, d8] : memref<1x2x8x8x8xf32>
  %y = graph.conv2d %x, %w : !bordered, tensor<8x16x1x1xf32> -> tensor<1x8x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  func.return %y : tensor<1x8x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
}

// Too narrow a border: the rest is padded.
// CHECK-LABEL: tir.func @conv2d_
func.func private @narrow_border(%x: !bordered, %w: tensor<8x16x5x5xf32>) -> tensor<1x8x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           ins(%{{.*}}[0, d5, d2 + d6 - 1, d3 + d7 - 1, d8] pad 0.000000e+00 : f32 : memref<1x2x8x8x8xf32>
  %y = graph.conv2d %x, %w padding [2, 2, 2, 2] : !bordered, tensor<8x16x5x5xf32> -> tensor<1x8x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  func.return %y : tensor<1x8x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
}

// Blocks of a group are found by a division of blocks, which disappears for one each.
// CHECK-LABEL: tir.func @conv2d_
func.func private @groups(%x: !bordered, %w: tensor<16x8x3x3xf32>) -> !blocked attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         ins(%{{.*}}[0, d1, d2 + d6, d3 + d7, d8] : memref<1x2x8x8x8xf32>, %{{.*}}[d1 * 8 + d4, d8, d6, d7] : memref<16x8x3x3xf32>)
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] groups 2 : !bordered, tensor<16x8x3x3xf32> -> !blocked
  func.return %y : !blocked
}

// CHECK-LABEL: tir.func @conv2d_
func.func private @more_blocks_per_group(%x: tensor<1x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>, %w: tensor<32x16x1x1xf32>) -> tensor<1x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         ins(%{{.*}}[0, d5 + (d1 floordiv 2) * 2, d2, d3, d8] : memref<1x4x6x6x8xf32>, %{{.*}}[d1 * 8 + d4, d5 * 8 + d8, 0, 0] : memref<32x16x1x1xf32>)
  %y = graph.conv2d %x, %w groups 2 : tensor<1x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>, tensor<32x16x1x1xf32> -> tensor<1x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  func.return %y : tensor<1x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
}

// The channel of a depthwise convolution is that of the result.
// CHECK-LABEL: tir.func @conv2d_
func.func private @depthwise(%x: !bordered, %w: tensor<16x1x3x3xf32>) -> !blocked attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 1, parallel 2, parallel 6, parallel 6, parallel 8, reduction 1, reduction 3, reduction 3]
  // CHECK-NEXT:      ins(%{{.*}}[0, d1, d2 + d6, d3 + d7, d4] : memref<1x2x8x8x8xf32>, %{{.*}}[d1 * 8 + d4, 0, d6, d7] : memref<16x1x3x3xf32>)
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] groups 16 : !bordered, tensor<16x1x3x3xf32> -> !blocked
  func.return %y : !blocked
}

// Few channels are no block; rows and columns have a border all the same.
// CHECK-LABEL: tir.func @conv2d_
func.func private @first_layer(%x: tensor<1x3x8x8xf32, #graph.desc<layout = #graph.layout<border = [1, 1]>>>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x4x4xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 1, parallel 2, parallel 4, parallel 4, parallel 8, reduction 3, reduction 3, reduction 3]
  // CHECK-NEXT:      ins(%{{.*}}[0, d5, d2 * 2 + d6, d3 * 2 + d7] : memref<1x3x10x10xf32>
  %y = graph.conv2d %x, %w strides [2, 2] padding [1, 1, 1, 1] : tensor<1x3x8x8xf32, #graph.desc<layout = #graph.layout<border = [1, 1]>>>, tensor<16x3x3x3xf32> -> tensor<1x16x4x4xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  func.return %y : tensor<1x16x4x4xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
}

// The border of a result is filled, side by side; corners once.
// CHECK-LABEL: tir.func @relayout_
func.func private @relayout(%x: !plain) -> !bordered attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 1, parallel 2, parallel 1, parallel 8, parallel 8]
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1, d2, d3, d4] : memref<1x2x8x8x8xf32>)
  // CHECK:         arith.constant 0.000000e+00 : f32
  // CHECK:         tir.nest dims [parallel 1, parallel 2, parallel 1, parallel 8, parallel 8]
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1, d2 + 7, d3, d4] : memref<1x2x8x8x8xf32>)
  // CHECK:         tir.nest dims [parallel 1, parallel 2, parallel 6, parallel 1, parallel 8]
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1, d2 + 1, d3, d4] : memref<1x2x8x8x8xf32>)
  // CHECK:         tir.nest dims [parallel 1, parallel 2, parallel 6, parallel 1, parallel 8]
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1, d2 + 1, d3 + 7, d4] : memref<1x2x8x8x8xf32>)
  // CHECK:         tir.nest dims [parallel 1, parallel 2, parallel 6, parallel 6, parallel 8]
  // CHECK-NEXT:      ins(%{{.*}}[0, d1 * 8 + d4, d2, d3] : memref<1x16x6x6xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[0, d1, d2 + 1, d3 + 1, d4] : memref<1x2x8x8x8xf32>)
  %y = graph.relayout %x : !plain -> !bordered
  func.return %y : !bordered
}

// A size that is not known may stand before blocks.
// CHECK-LABEL: tir.func @relayout_
func.func private @open_batch(%x: tensor<?x16x6x6xf32>) -> tensor<?x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [0, 1]>>> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         tir.nest dims [parallel %{{.*}}, parallel 2, parallel 6, parallel 6, parallel 8]
  // CHECK-NEXT:      ins(%{{.*}}[d0, d1 * 8 + d4, d2, d3] : memref<?x16x6x6xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1, d2, d3 + 1, d4] : memref<?x2x6x8x8xf32>)
  %y = graph.relayout %x : tensor<?x16x6x6xf32> -> tensor<?x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [0, 1]>>>
  func.return %y : tensor<?x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [0, 1]>>>
}

// What is behind the last channel holds the fill of the layout, whatever is computed.
// CHECK-LABEL: tir.func @exp_
func.func private @rest_is_filled(%x: !rest) -> !rest attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         %[[EXP:.*]] = math.exp
  // CHECK:         %[[END:.*]] = arith.constant 12 : index
  // CHECK-NEXT:    %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[END]]
  // CHECK-NEXT:    %[[FILL:.*]] = arith.constant 0.000000e+00
  // CHECK-NEXT:    %[[Y:.*]] = arith.select %[[INSIDE]], %[[EXP]], %[[FILL]]
  // CHECK-NEXT:    tir.yield %[[Y]]
  %y = graph.exp %x : !rest
  func.return %y : !rest
}

// A sum of products needs no test: weights are padded with zeros.
// CHECK-LABEL: tir.func @conv2d_
func.func private @rest_of_sums(%x: !rest, %w: tensor<8x12x1x1xf32>) -> tensor<1x8x6x6xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         ins(%{{.*}}[0, d4, d2, d3, d7] : memref<1x2x6x6x8xf32>, %{{.*}}[d1, d4 * 8 + d7, 0, 0] pad 0.000000e+00 : f32 : memref<8x12x1x1xf32>)
  // CHECK-NOT:     arith.select
  %y = graph.conv2d %x, %w : !rest, tensor<8x12x1x1xf32> -> tensor<1x8x6x6xf32>
  func.return %y : tensor<1x8x6x6xf32>
}

// Other reductions leave out what is behind the last channel.
// CHECK-LABEL: tir.func @reduce_
func.func private @rest_of_maxima(%x: !rest) -> tensor<1x1x6x6xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         body (%[[X:.*]]: f32, %[[TOP:.*]]: f32) {
  // CHECK:         %[[INSIDE:.*]] = arith.cmpi ult
  // CHECK-NEXT:    %[[MAX:.*]] = arith.maximumf %[[TOP]], %[[X]]
  // CHECK-NEXT:    arith.select %[[INSIDE]], %[[MAX]], %[[TOP]]
  %y = graph.reduce max %x axes [1] keepdims : !rest -> tensor<1x1x6x6xf32>
  func.return %y : tensor<1x1x6x6xf32>
}

// A border of zeros is not what a maximum reads beyond the end: a view without it.
// CHECK-LABEL: tir.func @max_pool2d_
func.func private @pool_with_border(%x: !bordered) -> !blocked attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         %[[VIEW:.*]] = memref.subview %{{.*}}[0, 0, 1, 1, 0] [1, 2, 6, 6, 8] [1, 1, 1, 1, 1]
  // CHECK:         ins(%[[VIEW]][0, d1, d2 + d5 - 1, d3 + d6 - 1, d4] pad 0xff800000 : f32
  %y = graph.max_pool2d %x kernel [3, 3] padding [1, 1, 1, 1] : !bordered -> !blocked
  func.return %y : !blocked
}

// Whole blocks follow each other.
// CHECK-LABEL: tir.func @concat_
func.func private @concat(%x: tensor<2x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>, %y: tensor<2x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>) -> tensor<2x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         outs(%{{.*}}[d0, d1, d2, d3, d4] : memref<2x4x6x6x8xf32>)
  // CHECK:         outs(%{{.*}}[d0, d1 + 2, d2, d3, d4] : memref<2x4x6x6x8xf32>)
  %z = graph.concat %x, %y axis 1 : tensor<2x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>, tensor<2x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>> -> tensor<2x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  func.return %z : tensor<2x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
}

// Those of one image lie one after the other: main puts them where they are computed.
// ROWS-LABEL: func.func @of_one_image
func.func @of_one_image(%x: tensor<1x16x6x6xf32>) -> tensor<1x32x6x6xf32> {
  // ROWS:         %[[X:.*]] = tir.call @relayout_
  // ROWS-NEXT:    %[[D:.*]] = tensor.empty() : tensor<1x4x6x6x8xf32>
  // ROWS-NEXT:    %[[A:.*]] = tensor.insert_slice %[[X]] into %[[D]][0, 0, 0, 0, 0] [1, 2, 6, 6, 8]
  // ROWS-NEXT:    %[[Z:.*]] = tensor.insert_slice %[[X]] into %[[A]][0, 2, 0, 0, 0] [1, 2, 6, 6, 8]
  // ROWS:         tir.call @relayout_{{.*}}(%[[Z]] :
  %z = func.call @rows(%x) : (tensor<1x16x6x6xf32>) -> tensor<1x32x6x6xf32>
  func.return %z : tensor<1x32x6x6xf32>
}
func.func private @rows(%x: tensor<1x16x6x6xf32>) -> tensor<1x32x6x6xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %b = graph.relayout %x : tensor<1x16x6x6xf32> -> !blocked
  %z = graph.concat %b, %b axis 1 : !blocked, !blocked -> tensor<1x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  %y = graph.relayout %z : tensor<1x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>> -> tensor<1x32x6x6xf32>
  func.return %y : tensor<1x32x6x6xf32>
}

// What broadcasts need not have a layout.
// CHECK-LABEL: tir.func @add_
func.func private @bias(%x: !blocked, %b: tensor<16x1x1xf32>) -> !blocked attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         ins(%{{.*}}[0, d1, d2, d3, d4] : memref<1x2x6x6x8xf32>, %{{.*}}[d1 * 8 + d4, 0, 0] : memref<16x1x1xf32>)
  %z = graph.add %x, %b : !blocked, tensor<16x1x1xf32> -> !blocked
  func.return %z : !blocked
}
