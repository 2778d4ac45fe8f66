// RUN: %roundtrip

// What xDSL does not read or print as MLIR does.

// CHECK-LABEL: @short_bodies
func.func @short_bodies(%a: tensor<4x8xf32>, %o: tensor<4x8xf32>, %s: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %m = linalg.map { arith.mulf {fastmath = #arith.fastmath<contract>} } ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {test.hint}
  %m = linalg.map { arith.mulf {fastmath = #arith.fastmath<contract>} } ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {test.hint}
  // The output comes first.
  // CHECK:      %r = linalg.reduce ins(%m : tensor<4x8xf32>) outs(%s : tensor<4xf32>) dimensions = [1] {test.hint} (%[[X:.*]]: f32, %[[SUM:.*]]: f32) {
  // CHECK-NEXT:   arith.subf %[[SUM]], %[[X]] : f32
  %r = linalg.reduce { arith.subf } ins(%m : tensor<4x8xf32>) outs(%s : tensor<4xf32>) dimensions = [1] {test.hint}
  func.return %m, %r : tensor<4x8xf32>, tensor<4xf32>
}

func.func private @halve(f64) -> f64

// A body of `linalg.map` has an argument for the output, as in MLIR from 22 on, or has none.
// CHECK-LABEL: @maps
func.func @maps(%a: tensor<4xf32>, %b: tensor<4xf32>, %o: tensor<4xf64>) -> tensor<4xf64> {
  // CHECK-NEXT: linalg.map ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) (%x: f32, %old: f32) {
  // CHECK-NEXT:   arith.addf %x, %old : f32
  %c = linalg.map ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) (%x: f32, %old: f32) {
    %s = arith.addf %x, %old : f32
    linalg.yield %s : f32
  }
  // The operands are in another order: no short form.
  // CHECK:      linalg.map ins(%a, %c : tensor<4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) (%{{.*}}: f32, %{{.*}}: f32) {
  // CHECK-NEXT:   arith.subf
  %d = linalg.map ins(%a, %c : tensor<4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) (%x: f32, %y: f32) {
    %s = arith.subf %y, %x : f32
    linalg.yield %s : f32
  }
  // CHECK:      linalg.map { arith.extf } ins(%d : tensor<4xf32>) outs(%o : tensor<4xf64>)
  %e = linalg.map ins(%d : tensor<4xf32>) outs(%o : tensor<4xf64>) (%x: f32, %old: f64) {
    %s = arith.extf %x : f32 to f64
    linalg.yield %s : f64
  }
  // CHECK-NEXT: linalg.map outs(%o : tensor<4xf64>) (%{{.*}}: f64) {
  %f = linalg.map outs(%o : tensor<4xf64>) (%old: f64) {
    %s = arith.negf %old : f64
    linalg.yield %s : f64
  }
  // Operands in groups have no short form.
  // CHECK:      linalg.map ins(%e : tensor<4xf64>) outs(%o : tensor<4xf64>) (%{{.*}}: f64) {
  // CHECK-NEXT:   func.call @halve
  %g = linalg.map ins(%e : tensor<4xf64>) outs(%o : tensor<4xf64>) (%x: f64) {
    %s = func.call @halve(%x) : (f64) -> f64
    linalg.yield %s : f64
  }
  %h = arith.addf %g, %f : tensor<4xf64>
  func.return %h : tensor<4xf64>
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
