// RUN: transom-opt -p 'graph-choose-layouts{vector-bytes=32}' %s | filecheck %s
// RUN: transom-opt -p 'graph-choose-layouts{vector-bytes=32},graph-choose-layouts{vector-bytes=32}' %s | filecheck %s
// RUN: transom-opt -p 'graph-choose-layouts{vector-bytes=32}' --print-debuginfo %s | filecheck %s --check-prefix=LOC
// RUN: transom-opt -p 'graph-choose-layouts{vector-bytes=64}' %s | filecheck %s --check-prefix=WIDE
// RUN: transom-opt -p graph-choose-layouts %s | filecheck %s --check-prefix=NONE
// NONE-NOT: graph.relayout

// A value has the border that its widest reader pads; an element-wise op computes
// without.
// CHECK-LABEL: @conv_relu_conv
// WIDE-LABEL:  @conv_relu_conv
// LOC-LABEL:   @conv_relu_conv
func.func @conv_relu_conv(%x: tensor<1x16x6x6xf32>, %w: tensor<16x16x1x1xf32>, %v: tensor<24x16x3x3xf32>) -> tensor<1x24x6x6xf32> {
  // CHECK-NEXT:    %[[X:.*]] = graph.relayout %x : tensor<1x16x6x6xf32> -> tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  // CHECK-NEXT:    %[[C:.*]] = graph.conv2d %[[X]], %w : {{.*}} -> tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  // CHECK-NEXT:    %[[R:.*]] = graph.relu %[[C]] : tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  // CHECK-NEXT:    %[[B:.*]] = graph.relayout %[[R]] : {{.*}} -> tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [1, 1]>>>
  // CHECK-NEXT:    %[[D:.*]] = graph.conv2d %[[B]], %v padding [1, 1, 1, 1] : {{.*}} -> tensor<1x24x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  // CHECK-NEXT:    %[[Y:.*]] = graph.relayout %[[D]] : {{.*}} -> tensor<1x24x6x6xf32>
  // CHECK-NEXT:    func.return %[[Y]]
  // WIDE:          graph.relayout %x : {{.*}}block = [1, 16]
  // LOC:           %{{.*}} = graph.relayout %x {{.*}} loc("{{.*}}":13:27)
  // LOC:           %[[R:.*]] = graph.relu {{.*}} loc([[RELU:".*":[0-9:]+]])
  // LOC-NEXT:      graph.relayout %[[R]] {{.*}} loc([[RELU]])
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xf32>, tensor<16x16x1x1xf32> -> tensor<1x16x6x6xf32>
  %r = graph.relu %c : tensor<1x16x6x6xf32>
  %y = graph.conv2d %r, %v padding [1, 1, 1, 1] : tensor<1x16x6x6xf32>, tensor<24x16x3x3xf32> -> tensor<1x24x6x6xf32>
  func.return %y : tensor<1x24x6x6xf32>
}

// What is stored with a border is read without it by an element-wise op, each by itself.
// CHECK-LABEL: @residual
func.func @residual(%x: tensor<1x8x6x6xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32> {
  // CHECK:         %[[C:.*]] = graph.conv2d
  // CHECK-NEXT:    %[[A:.*]] = graph.relu %[[C]]
  // CHECK-NEXT:    %[[B:.*]] = graph.relayout %[[A]] : {{.*}} -> {{.*}}border = [1, 1]
  // CHECK-NEXT:    %[[D:.*]] = graph.conv2d %[[B]]
  // CHECK-NEXT:    %[[F:.*]] = graph.relayout %[[B]] : {{.*}} -> tensor<1x8x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  // CHECK-NEXT:    graph.add %[[D]], %[[F]] : tensor<1x8x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  %c = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32> -> tensor<1x8x6x6xf32>
  %a = graph.relu %c : tensor<1x8x6x6xf32>
  %d = graph.conv2d %a, %w padding [1, 1, 1, 1] : tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32> -> tensor<1x8x6x6xf32>
  %t = graph.add %d, %a : tensor<1x8x6x6xf32>
  func.return %t : tensor<1x8x6x6xf32>
}

// An image of few channels gets a border only. A reduction of rows and columns reads
// blocks, and gives none.
// CHECK-LABEL: @first_layer
func.func @first_layer(%x: tensor<1x3x8x8xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x1x1xf32> {
  // CHECK-NEXT:    %[[X:.*]] = graph.relayout %x : tensor<1x3x8x8xf32> -> tensor<1x3x8x8xf32, #graph.desc<layout = #graph.layout<border = [1, 2]>>>
  // CHECK-NEXT:    %[[C:.*]] = graph.conv2d %[[X]]
  // CHECK-NEXT:    %[[P:.*]] = graph.max_pool2d %[[C]] {{.*}} -> tensor<1x16x2x2xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  // CHECK-NEXT:    %[[M:.*]] = graph.reduce mean %[[P]] axes [2, 3] keepdims : tensor<1x16x2x2xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>> -> tensor<1x16x1x1xf32>
  // CHECK-NEXT:    func.return %[[M]]
  %c = graph.conv2d %x, %w strides [2, 2] padding [0, 2, 1, 0] : tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32> -> tensor<1x16x4x4xf32>
  %p = graph.max_pool2d %c kernel [2, 2] strides [2, 2] : tensor<1x16x4x4xf32> -> tensor<1x16x2x2xf32>
  %m = graph.reduce mean %p axes [2, 3] keepdims : tensor<1x16x2x2xf32> -> tensor<1x16x1x1xf32>
  func.return %m : tensor<1x16x1x1xf32>
}

// Whole blocks are concatenated; two readers share one change of the layout.
// CHECK-LABEL: @concat
func.func @concat(%x: tensor<1x16x6x6xf32>, %w: tensor<16x16x1x1xf32>) -> tensor<1x32x6x6xf32> {
  // CHECK-NEXT:    %[[X:.*]] = graph.relayout %x
  // CHECK-NEXT:    %[[C:.*]] = graph.conv2d %[[X]]
  // CHECK-NEXT:    graph.concat %[[C]], %[[X]] axis 1
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xf32>, tensor<16x16x1x1xf32> -> tensor<1x16x6x6xf32>
  %y = graph.concat %c, %x axis 1 : tensor<1x16x6x6xf32>, tensor<1x16x6x6xf32> -> tensor<1x32x6x6xf32>
  func.return %y : tensor<1x32x6x6xf32>
}

// The parts of a concatenation have the border of the whole, also of a larger one.
// CHECK-LABEL: @border_of_parts
func.func @border_of_parts(%x: tensor<1x16x6x6xf32>, %w: tensor<16x16x1x1xf32>, %v: tensor<16x48x3x3xf32>) -> tensor<1x16x6x6xf32> {
  // CHECK:         %[[C:.*]] = graph.conv2d {{.*}} -> tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [1, 1]>>>
  // CHECK-NEXT:    %[[D:.*]] = graph.conv2d {{.*}} -> tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [1, 1]>>>
  // CHECK-NEXT:    %[[Y:.*]] = graph.concat %[[C]], %[[D]] axis 1 : {{.*}} -> tensor<1x32x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [1, 1]>>>
  // CHECK-NEXT:    graph.concat %[[Y]], %[[C]] axis 1 : {{.*}} -> tensor<1x48x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [1, 1]>>>
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xf32>, tensor<16x16x1x1xf32> -> tensor<1x16x6x6xf32>
  %d = graph.conv2d %c, %w : tensor<1x16x6x6xf32>, tensor<16x16x1x1xf32> -> tensor<1x16x6x6xf32>
  %y = graph.concat %c, %d axis 1 : tensor<1x16x6x6xf32>, tensor<1x16x6x6xf32> -> tensor<1x32x6x6xf32>
  %z = graph.concat %y, %c axis 1 : tensor<1x32x6x6xf32>, tensor<1x16x6x6xf32> -> tensor<1x48x6x6xf32>
  %e = graph.conv2d %z, %v padding [1, 1, 1, 1] : tensor<1x48x6x6xf32>, tensor<16x48x3x3xf32> -> tensor<1x16x6x6xf32>
  func.return %e : tensor<1x16x6x6xf32>
}

// A part of a block is no block: the concatenation is of plain tensors.
// CHECK-LABEL: @concat_of_parts
func.func @concat_of_parts(%x: tensor<1x16x6x6xf32>, %w: tensor<16x16x1x1xf32>, %z: tensor<1x4x6x6xf32>) -> tensor<1x20x6x6xf32> {
  // CHECK:         %[[C:.*]] = graph.conv2d
  // CHECK-NEXT:    %[[P:.*]] = graph.relayout %[[C]] : {{.*}} -> tensor<1x16x6x6xf32>
  // CHECK-NEXT:    graph.concat %[[P]], %z axis 1
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xf32>, tensor<16x16x1x1xf32> -> tensor<1x16x6x6xf32>
  %y = graph.concat %c, %z axis 1 : tensor<1x16x6x6xf32>, tensor<1x4x6x6xf32> -> tensor<1x20x6x6xf32>
  func.return %y : tensor<1x20x6x6xf32>
}

// What broadcasts stays as it is.
// CHECK-LABEL: @bias
func.func @bias(%x: tensor<1x16x6x6xf32>, %w: tensor<16x16x1x1xf32>, %b: tensor<16x1x1xf32>, %s: tensor<16xf32>) -> tensor<1x16x6x6xf32> {
  // CHECK:         %[[C:.*]] = graph.conv2d
  // CHECK-NEXT:    %[[A:.*]] = graph.add %[[C]], %b : {{.*}}, tensor<16x1x1xf32> -> tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  // CHECK-NEXT:    graph.batch_norm %[[A]], %s, %s, %s, %s {{.*}} -> tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xf32>, tensor<16x16x1x1xf32> -> tensor<1x16x6x6xf32>
  %a = graph.add %c, %b : tensor<1x16x6x6xf32>, tensor<16x1x1xf32> -> tensor<1x16x6x6xf32>
  %n = graph.batch_norm %a, %s, %s, %s, %s epsilon 1.0e-05 : tensor<1x16x6x6xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32> -> tensor<1x16x6x6xf32>
  func.return %n : tensor<1x16x6x6xf32>
}

// Groups of whole blocks, and of one channel each.
// CHECK-LABEL: @groups
func.func @groups(%x: tensor<1x16x6x6xf32>, %w: tensor<16x8x1x1xf32>, %d: tensor<16x1x3x3xf32>) -> tensor<1x16x4x4xf32> {
  // CHECK:         %[[C:.*]] = graph.conv2d {{.*}} groups 2 : {{.*}} -> tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  // CHECK-NEXT:    graph.conv2d %[[C]], %d groups 16 : {{.*}} -> tensor<1x16x4x4xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  %c = graph.conv2d %x, %w groups 2 : tensor<1x16x6x6xf32>, tensor<16x8x1x1xf32> -> tensor<1x16x6x6xf32>
  %y = graph.conv2d %c, %d groups 16 : tensor<1x16x6x6xf32>, tensor<16x1x3x3xf32> -> tensor<1x16x4x4xf32>
  func.return %y : tensor<1x16x4x4xf32>
}

// Little of the last block is left over.
// CHECK-LABEL: @rest
func.func @rest(%x: tensor<1x15x6x6xf32>, %w: tensor<15x15x1x1xf32>) -> tensor<1x15x6x6xf32> {
  // CHECK:         graph.conv2d {{.*}} -> tensor<1x15x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  %c = graph.conv2d %x, %w : tensor<1x15x6x6xf32>, tensor<15x15x1x1xf32> -> tensor<1x15x6x6xf32>
  func.return %c : tensor<1x15x6x6xf32>
}

// Nothing happens below.

// Most of a block would be left over.
// CHECK-LABEL: @few_filters
func.func @few_filters(%x: tensor<1x16x6x6xf32>, %w: tensor<9x16x1x1xf32>) -> tensor<1x9x6x6xf32> {
  // CHECK-NEXT:    graph.conv2d %x, %w
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xf32>, tensor<9x16x1x1xf32> -> tensor<1x9x6x6xf32>
  func.return %c : tensor<1x9x6x6xf32>
}

// The channels of a group are no whole blocks.
// CHECK-LABEL: @small_groups
func.func @small_groups(%x: tensor<1x16x6x6xf32>, %w: tensor<16x4x1x1xf32>) -> tensor<1x16x6x6xf32> {
  // CHECK-NEXT:    graph.conv2d %x, %w
  %c = graph.conv2d %x, %w groups 4 : tensor<1x16x6x6xf32>, tensor<16x4x1x1xf32> -> tensor<1x16x6x6xf32>
  func.return %c : tensor<1x16x6x6xf32>
}

// A size under a border must be known; how many images there are need not.
// CHECK-LABEL: @open_rows
func.func @open_rows(%x: tensor<1x16x?x6xf32>, %w: tensor<16x16x1x1xf32>) -> tensor<1x16x?x6xf32> {
  // CHECK-NEXT:    graph.conv2d %x, %w
  %c = graph.conv2d %x, %w : tensor<1x16x?x6xf32>, tensor<16x16x1x1xf32> -> tensor<1x16x?x6xf32>
  func.return %c : tensor<1x16x?x6xf32>
}

// CHECK-LABEL: @open_batch
func.func @open_batch(%x: tensor<?x16x6x6xf32>, %w: tensor<16x16x1x1xf32>) -> tensor<?x16x6x6xf32> {
  // CHECK:         graph.conv2d {{.*}} -> tensor<?x16x6x6xf32, #graph.desc<layout
  %c = graph.conv2d %x, %w : tensor<?x16x6x6xf32>, tensor<16x16x1x1xf32> -> tensor<?x16x6x6xf32>
  func.return %c : tensor<?x16x6x6xf32>
}

// A weight of open size.
// CHECK-LABEL: @open_weight
func.func @open_weight(%x: tensor<1x16x6x6xf32>, %w: tensor<16x?x1x1xf32>) -> tensor<1x16x6x6xf32> {
  // CHECK-NEXT:    graph.conv2d %x, %w
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xf32>, tensor<16x?x1x1xf32> -> tensor<1x16x6x6xf32>
  func.return %c : tensor<1x16x6x6xf32>
}

// Bytes are images as well; a border holds what the window is padded with, that of the
// first one.
// CHECK-LABEL: @bytes
func.func @bytes(%x: tensor<1x16x6x6xi8>, %w: tensor<16x16x3x3xi8>) -> (tensor<1x16x6x6xi32>, tensor<1x16x6x6xi32>) {
  // CHECK-NEXT:    %[[X:.*]] = graph.relayout %x : tensor<1x16x6x6xi8> -> tensor<1x16x6x6xi8, #graph.desc<layout = #graph.layout<block = [1, 8], border = [1, 1], fill = -5.000000e+00>>>
  // CHECK-NEXT:    graph.conv2d %[[X]], %w padding [1, 1, 1, 1] fill -5
  // CHECK:         graph.conv2d %[[X]], %w padding [1, 1, 1, 1] :
  %c = graph.conv2d %x, %w padding [1, 1, 1, 1] fill -5 : tensor<1x16x6x6xi8>, tensor<16x16x3x3xi8> -> tensor<1x16x6x6xi32>
  %d = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x16x6x6xi8>, tensor<16x16x3x3xi8> -> tensor<1x16x6x6xi32>
  func.return %c, %d : tensor<1x16x6x6xi32>, tensor<1x16x6x6xi32>
}

// CHECK-LABEL: @long_integers
func.func @long_integers(%x: tensor<1x16x6x6xi64>, %w: tensor<16x16x1x1xi64>) -> tensor<1x16x6x6xi64> {
  // CHECK-NEXT:    graph.conv2d %x, %w
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xi64>, tensor<16x16x1x1xi64> -> tensor<1x16x6x6xi64>
  func.return %c : tensor<1x16x6x6xi64>
}

// Somebody has chosen already.
// CHECK-LABEL: @chosen
func.func @chosen(%x: tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 4]>>>, %w: tensor<16x16x1x1xf32>) -> tensor<1x16x6x6xf32> {
  // CHECK-NEXT:    graph.conv2d %x, %w
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xf32, #graph.desc<layout = #graph.layout<block = [1, 4]>>>, tensor<16x16x1x1xf32> -> tensor<1x16x6x6xf32>
  func.return %c : tensor<1x16x6x6xf32>
}

// Indices of a pool are places in the plain tensor.
// CHECK-LABEL: @indices
func.func @indices(%x: tensor<1x16x6x6xf32>, %w: tensor<16x16x1x1xf32>) -> tensor<1x16x3x3xi64> {
  // CHECK:         %[[C:.*]] = graph.conv2d
  // CHECK-NEXT:    %[[P:.*]] = graph.relayout %[[C]] : {{.*}} -> tensor<1x16x6x6xf32>
  // CHECK-NEXT:    graph.max_pool2d %[[P]]
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xf32>, tensor<16x16x1x1xf32> -> tensor<1x16x6x6xf32>
  %p, %i = graph.max_pool2d %c kernel [2, 2] strides [2, 2] : tensor<1x16x6x6xf32> -> tensor<1x16x3x3xf32>, tensor<1x16x3x3xi64>
  func.return %i : tensor<1x16x3x3xi64>
}

// No convolution, no layouts.
// CHECK-LABEL: @elementwise
func.func @elementwise(%x: tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32> {
  // CHECK-NEXT:    graph.relu %x
  %y = graph.relu %x : tensor<1x16x6x6xf32>
  func.return %y : tensor<1x16x6x6xf32>
}

// What a loop reads is read as it is.
// CHECK-LABEL: @read_in_a_loop
func.func @read_in_a_loop(%x: tensor<1x16x6x6xf32>, %w: tensor<16x16x1x1xf32>, %n: index, %i: index) -> tensor<1x16x6x6xf32> {
  // CHECK-NEXT:    graph.conv2d %x, %w
  %c = graph.conv2d %x, %w : tensor<1x16x6x6xf32>, tensor<16x16x1x1xf32> -> tensor<1x16x6x6xf32>
  %y = scf.for %k = %i to %n step %n iter_args(%a = %x) -> (tensor<1x16x6x6xf32>) {
    %s = graph.add %a, %c : tensor<1x16x6x6xf32>
    scf.yield %s : tensor<1x16x6x6xf32>
  }
  func.return %y : tensor<1x16x6x6xf32>
}

// Vectors that there are not.
// RUN: not transom-opt -p 'graph-choose-layouts{vector-bytes=-4}' %s 2>&1 | filecheck %s --check-prefix=BYTES
// BYTES: transom-opt: error: pass 'graph-choose-layouts': expected 'vector-bytes' to be 0 or a power of two from 4 to 256, but got -4; the nearest is 0

// Where channels do not meet, a large window reads each pixel often enough for a relayout.
// CHECK-LABEL: @large_windows
func.func @large_windows(%x: tensor<1x16x9x9xf32>, %w: tensor<16x1x5x5xf32>) -> (tensor<1x16x9x9xf32>, tensor<1x16x5x5xf32>) {
  // CHECK:         graph.relayout %x : {{.*}} -> tensor<1x16x9x9xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [2, 2]>>>
  // CHECK:         graph.conv2d {{.*}} -> tensor<1x16x9x9xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  // CHECK:         graph.max_pool2d {{.*}} -> tensor<1x16x5x5xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>
  %y = graph.conv2d %x, %w padding [2, 2, 2, 2] groups 16 : tensor<1x16x9x9xf32>, tensor<16x1x5x5xf32> -> tensor<1x16x9x9xf32>
  %z = graph.max_pool2d %x kernel [5, 5] : tensor<1x16x9x9xf32> -> tensor<1x16x5x5xf32>
  func.return %y, %z : tensor<1x16x9x9xf32>, tensor<1x16x5x5xf32>
}

// Smaller ones do not, nor does a pool of channels that are no whole blocks.
// CHECK-LABEL: @small_windows
func.func @small_windows(%x: tensor<1x16x9x9xf32>, %w: tensor<16x1x5x3xf32>, %v: tensor<1x15x9x9xf32>) -> (tensor<1x16x9x9xf32>, tensor<1x15x5x5xf32>) {
  // CHECK-NOT:     graph.relayout
  // CHECK:         func.return
  %y = graph.conv2d %x, %w padding [2, 1, 2, 1] groups 16 : tensor<1x16x9x9xf32>, tensor<16x1x5x3xf32> -> tensor<1x16x9x9xf32>
  %z = graph.max_pool2d %v kernel [5, 5] : tensor<1x15x9x9xf32> -> tensor<1x15x5x5xf32>
  func.return %y, %z : tensor<1x16x9x9xf32>, tensor<1x15x5x5xf32>
}
