// RUN: transom-opt -p 'func.func(linalg-group-kernels)' %s | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// A product with what it is filled with before and what follows; constants and
// destinations go with them.

// CHECK-LABEL: @epilogue
func.func @epilogue(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  // CHECK-NEXT: %y = graph.fused (%{{.*}} = %x : tensor<4x8xf32>, %{{.*}} = %w : tensor<8x16xf32>, %{{.*}} = %b : tensor<16xf32>) -> (tensor<4x16xf32>) {
  // CHECK-NEXT:   arith.constant
  // CHECK-NEXT:   tensor.empty
  // CHECK-NEXT:   linalg.fill
  // CHECK-NEXT:   linalg.matmul
  // CHECK-NEXT:   linalg.generic
  // CHECK:        graph.yield
  // CHECK:      func.return %y
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %m = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<4x16xf32>, tensor<16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x16xf32>
  func.return %y : tensor<4x16xf32>
}

// One fill for two products: each gets its own.

// CHECK-LABEL: @shared_fill
func.func @shared_fill(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK:      %a = graph.fused
  // CHECK:        linalg.fill
  // CHECK-NEXT:   linalg.matmul
  // CHECK:      %b = graph.fused
  // CHECK:        linalg.fill
  // CHECK-NEXT:   linalg.matmul
  %a = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// The ops on the same rows.

// CHECK-LABEL: @rows
func.func @rows(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  // CHECK-NEXT: %y = graph.fused (%{{.*}} = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  // CHECK:        linalg.reduce
  // CHECK:        linalg.broadcast
  // CHECK:        linalg.sub
  %f = linalg.fill ins(%zero : f32) outs(%es : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %y = linalg.sub ins(%x, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// A border goes with the convolution that reads it; sizes and numbers are inputs.

// CHECK-LABEL: @border
func.func @border(%x: tensor<1x1x?x8xf32>, %w: tensor<1x1x3x3xf32>, %n: index, %s: f32) -> tensor<1x1x?x8xf32> {
  %zero = arith.constant 0.0 : f32
  // CHECK-NEXT: %y = graph.fused (%{{.*}} = %n : index, %{{.*}} = %x : tensor<1x1x?x8xf32>, %{{.*}} = %s : f32, %{{.*}} = %w : tensor<1x1x3x3xf32>) -> (tensor<1x1x?x8xf32>) {
  // CHECK:        tensor.pad
  // CHECK:        linalg.conv_2d_nchw_fchw
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x1x?x8xf32> to tensor<1x1x?x10xf32>
  %e = tensor.empty(%n) : tensor<1x1x?x8xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<1x1x?x10xf32>, tensor<1x1x3x3xf32>) outs(%f : tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32>
  func.return %y : tensor<1x1x?x8xf32>
}

// A value that somebody else needs ends a group, and what moves elements begins one.

// CHECK-LABEL: @two_readers
func.func @two_readers(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  // CHECK-NEXT: %m = graph.fused
  // CHECK:      %t = graph.fused
  // CHECK:        linalg.transpose
  %m = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = linalg.transpose ins(%m : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  func.return %m, %t : tensor<4x4xf32>, tensor<4x4xf32>
}
