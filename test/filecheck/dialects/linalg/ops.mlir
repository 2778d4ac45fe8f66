// RUN: %roundtrip

// What xDSL does not read or print as MLIR does.

// CHECK-LABEL: @short_bodies
func.func @short_bodies(%a: tensor<4x8xf32>, %o: tensor<4x8xf32>, %s: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %m = linalg.map ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) (%{{.*}}: f32, %{{.*}}: f32) {
  // CHECK-NEXT:   arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
  // CHECK-NEXT:   linalg.yield
  %m = linalg.map { arith.mulf {fastmath = #arith.fastmath<contract>} } ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%o : tensor<4x8xf32>)
  // The output comes first.
  // CHECK:      %r = linalg.reduce ins(%m : tensor<4x8xf32>) outs(%s : tensor<4xf32>) dimensions = [1] {test.hint} (%[[X:.*]]: f32, %[[SUM:.*]]: f32) {
  // CHECK-NEXT:   arith.subf %[[SUM]], %[[X]] : f32
  %r = linalg.reduce { arith.subf } ins(%m : tensor<4x8xf32>) outs(%s : tensor<4xf32>) dimensions = [1] {test.hint}
  func.return %m, %r : tensor<4x8xf32>, tensor<4xf32>
}

// CHECK-LABEL: @several_reductions
func.func @several_reductions(%a: memref<4x8xf32>, %b: memref<4x8xi32>, %s: memref<8xf32>, %t: memref<8xi32>) {
  // CHECK-NEXT: linalg.reduce ins(%a, %b : memref<4x8xf32>, memref<4x8xi32>) outs(%s, %t : memref<8xf32>, memref<8xi32>) dimensions = [0] (%x: f32, %y: i32, %u: f32, %v: i32) {
  linalg.reduce ins(%a, %b : memref<4x8xf32>, memref<4x8xi32>) outs(%s, %t : memref<8xf32>, memref<8xi32>) dimensions = [0] (%x: f32, %y: i32, %u: f32, %v: i32) {
    %p = arith.addf %u, %x : f32
    %q = arith.addi %v, %y : i32
    linalg.yield %p, %q : f32, i32
  }
  func.return
}

// CHECK-LABEL: @shapes
func.func @shapes(%a: tensor<4xf32>, %b: tensor<4x8xf32>, %o: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %c = linalg.broadcast ins(%a : tensor<4xf32>) outs(%b : tensor<4x8xf32>) dimensions = [1] {test.hint}
  %c = linalg.broadcast ins(%a : tensor<4xf32>) outs(%b : tensor<4x8xf32>) dimensions = [1] {test.hint}
  // CHECK-NEXT: %t = linalg.transpose ins(%c : tensor<4x8xf32>) outs(%o : tensor<8x4xf32>) permutation = [1, 0] {test.hint}
  %t = linalg.transpose ins(%c : tensor<4x8xf32>) outs(%o : tensor<8x4xf32>) permutation = [1, 0] {test.hint}
  func.return %t : tensor<8x4xf32>
}

// CHECK-LABEL: @products
func.func @products(%a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>, %o: tensor<2x4x16xf32>, %t: memref<8x4xi8>, %u: memref<8x16xi8>, %p: memref<4x16xi32>) -> tensor<2x4x16xf32> {
  // CHECK-NEXT: linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x16xf32>) outs(%o : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x16xf32>) outs(%o : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  // Elements are widened, and maps say what is transposed.
  // CHECK-NEXT: linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%t, %u : memref<8x4xi8>, memref<8x16xi8>) outs(%p : memref<4x16xi32>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t, %u : memref<8x4xi8>, memref<8x16xi8>) outs(%p : memref<4x16xi32>)
  func.return %c : tensor<2x4x16xf32>
}

// CHECK-LABEL: @windows
func.func @windows(%x: memref<1x8x8x4xf32>, %w: memref<3x3x4xf32>, %o: memref<1x6x6x4xf32>, %s: memref<3x3xf32>) {
  // Strides and dilations are 1 where nothing is said.
  // CHECK-NEXT: linalg.depthwise_conv_2d_nhwc_hwc {{{.*}}strides = dense<1> : tensor<2xi64>{{.*}}} ins(%x, %w : memref<1x8x8x4xf32>, memref<3x3x4xf32>) outs(%o : memref<1x6x6x4xf32>)
  linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %w : memref<1x8x8x4xf32>, memref<3x3x4xf32>) outs(%o : memref<1x6x6x4xf32>)
  // CHECK-NEXT: linalg.pooling_nhwc_min
  linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %s : memref<1x8x8x4xf32>, memref<3x3xf32>) outs(%o : memref<1x6x6x4xf32>)
  func.return
}
