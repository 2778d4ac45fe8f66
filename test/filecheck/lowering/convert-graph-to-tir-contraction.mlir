// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s
// RUN: transom-opt -p graph-fuse,convert-graph-to-tir,tir-fuse-nests %s | filecheck %s --check-prefix=FUSED

// Batches broadcast; the sum is in f32.
// CHECK-LABEL: tir.func @matmul_
func.func private @matmul(%a: tensor<2x1x4x8xf16>, %b: tensor<3x8x5xf16>) -> tensor<2x3x4x5xf16> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 2, parallel 3, parallel 4, parallel 5, reduction 8]
  // CHECK-NEXT:      ins(%{{.*}}[d0, 0, d2, d4] : memref<2x1x4x8xf16>, %{{.*}}[d1, d4, d3] : memref<3x8x5xf16>)
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1, d2, d3] : memref<2x3x4x5xf16>)
  // CHECK:         body (%{{.*}}: f16, %{{.*}}: f16, %[[SUM:.*]]: f32) {
  // CHECK:           %[[P:.*]] = arith.mulf {{.*}} fastmath<contract> : f32
  // CHECK-NEXT:      arith.addf %[[SUM]], %[[P]] fastmath<contract> : f32
  // CHECK:         finish (%{{.*}}: f32) {
  // CHECK-NEXT:      arith.truncf
  %y = graph.matmul %a, %b : tensor<2x1x4x8xf16>, tensor<3x8x5xf16> -> tensor<2x3x4x5xf16>
  func.return %y : tensor<2x3x4x5xf16>
}

// Bytes are added up in i32, with the sign of each operand.
// CHECK-LABEL: tir.func @matmul_
func.func private @bytes(%a: tensor<2x4xui8>, %b: tensor<4x2xi8>) -> tensor<2x2xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           arith.extui %{{.*}} : i8 to i32
  // CHECK-NEXT:      arith.extsi %{{.*}} : i8 to i32
  // CHECK-NEXT:      arith.muli
  // CHECK-NEXT:      arith.addi
  %y = graph.matmul %a, %b : tensor<2x4xui8>, tensor<4x2xi8> -> tensor<2x2xi32>
  func.return %y : tensor<2x2xi32>
}

// CHECK-LABEL: tir.func @conv2d_
func.func private @conv(%x: tensor<1x3x9x9xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x5x5xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 1, parallel 4, parallel 5, parallel 5, reduction 3, reduction 3, reduction 3]
  // CHECK-NEXT:      ins(%{{.*}}[d0, d4, d2 * 2 + d5 - 1, d3 * 2 + d6 - 1] pad 0.000000e+00 : f32 : memref<1x3x9x9xf32>, %{{.*}}[d1, d4, d5, d6] : memref<4x3x3x3xf32>)
  %y = graph.conv2d %x, %w strides [2, 2] padding [1, 1, 1, 1] : tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x5x5xf32>
  func.return %y : tensor<1x4x5x5xf32>
}

// No padding, no test of where an element lies.
// CHECK-LABEL: tir.func @conv2d_
func.func private @inside(%x: tensor<1x3x9x9xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x3x3xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NOT:     pad
  // CHECK:         ins(%{{.*}}[d0, d4, d2 + d5 * 3, d3 + d6 * 3] :
  %y = graph.conv2d %x, %w dilations [3, 3] : tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x3x3xf32>
  func.return %y : tensor<1x4x3x3xf32>
}

// Each output channel of a group reads the group's channels.
// CHECK-LABEL: tir.func @conv2d_
func.func private @groups(%x: tensor<1x4x3x3xf32>, %w: tensor<6x2x1x1xf32>) -> tensor<1x6x3x3xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         ins(%{{.*}}[d0, d4 + (d1 floordiv 3) * 2, d2 + d5, d3 + d6] :
  %y = graph.conv2d %x, %w groups 2 : tensor<1x4x3x3xf32>, tensor<6x2x1x1xf32> -> tensor<1x6x3x3xf32>
  func.return %y : tensor<1x6x3x3xf32>
}

// CHECK-LABEL: tir.func @conv2d_
func.func private @depthwise(%x: tensor<1x4x3x3xf32>, %w: tensor<4x1x1x1xf32>) -> tensor<1x4x3x3xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         ins(%{{.*}}[d0, d1 + d4, d2 + d5, d3 + d6] :
  %y = graph.conv2d %x, %w groups 4 : tensor<1x4x3x3xf32>, tensor<4x1x1x1xf32> -> tensor<1x4x3x3xf32>
  func.return %y : tensor<1x4x3x3xf32>
}

// Bias, residual and activation are computed where the sum is complete.
// FUSED-LABEL: tir.func @conv2d_add_relu_
func.func private @epilogue(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4x1x1xf32>, %r: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // FUSED-NEXT:    tir.nest dims [parallel 1, parallel 4, parallel 8, parallel 8, reduction 3, reduction 3, reduction 3]
  // FUSED-NEXT:      ins(%{{.*}} pad 0.000000e+00 : f32 : memref<1x3x8x8xf32>, %{{.*}}[d1, d4, d5, d6] : memref<4x3x3x3xf32>, %{{.*}}[d1, 0, 0] : memref<4x1x1xf32>, %{{.*}}[d0, d1, d2, d3] : memref<1x4x8x8xf32>)
  // FUSED-NEXT:      outs(%{{.*}}[d0, d1, d2, d3] : memref<1x4x8x8xf32>)
  // FUSED:         finish (%[[SUM:.*]]: f32, %[[B:.*]]: f32, %[[R:.*]]: f32) {
  // FUSED-NEXT:      %[[SB:.*]] = arith.addf %[[SUM]], %[[B]]
  // FUSED-NEXT:      %[[SBR:.*]] = arith.addf %[[SB]], %[[R]]
  // FUSED-NEXT:      %[[ZERO:.*]] = arith.constant 0.0
  // FUSED-NEXT:      %[[Y:.*]] = arith.maximumf %[[SBR]], %[[ZERO]]
  // FUSED-NEXT:      tir.yield %[[Y]]
  // FUSED-NOT:     tir.nest
  // FUSED:         tir.return
  %c = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x8x8xf32>
  %cb = graph.add %c, %b : tensor<1x4x8x8xf32>, tensor<4x1x1xf32> -> tensor<1x4x8x8xf32>
  %cr = graph.add %cb, %r : tensor<1x4x8x8xf32>
  %y = graph.relu %cr : tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// What is added may be computed there as well.
// FUSED-LABEL: tir.func @{{conv2d_relu_add|relu_conv2d_add}}_
func.func private @computed_residual(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %r: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // FUSED-NOT:     tir.alloc
  // FUSED:         finish (%[[SUM:.*]]: f32, %[[R:.*]]: f32) {
  // FUSED:           arith.maximumf %[[R]]
  // FUSED-NOT:     tir.nest
  // FUSED:         tir.return
  %c = graph.conv2d %x, %w : tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32> -> tensor<1x4x8x8xf32>
  %rr = graph.relu %r : tensor<1x4x8x8xf32>
  %y = graph.add %c, %rr : tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// The result of a product may be read twice inside (SiLU).
// FUSED-LABEL: tir.func @matmul_sigmoid_mul_
func.func private @silu(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // FUSED-NEXT:    tir.nest
  // FUSED:         finish (%[[SUM:.*]]: f32) {
  // FUSED:           arith.mulf %[[SUM]]
  // FUSED-NOT:     tir.nest
  // FUSED:         tir.return
  %m = graph.matmul %a, %b : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %s = graph.sigmoid %m : tensor<4x4xf32>
  %y = graph.mul %m, %s : tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
