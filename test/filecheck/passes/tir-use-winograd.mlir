// RUN: transom-opt -p tir-use-winograd --split-input-file %s | filecheck %s
// RUN: transom-opt -p tir-use-winograd{l2-bytes=100000} --split-input-file %s | filecheck %s --check-prefix=BLOCKS
// RUN: transom-opt -p tir-use-winograd --split-input-file %s | transom-opt --split-input-file | filecheck %s

// Whole tiles of 4 x 4 results cover 32 x 8: 36 pixels of each are transformed, 36 products
// taken, and 16 results written, with what follows the sum.

// CHECK:       graph.weight @w.winograd : tensor<32x32x6x6xf32> {
// CHECK-NEXT:    %0 = graph.weight_ref @w
// CHECK-NEXT:    %[[G:.*]] = graph.constant dense<{{.*}}> : tensor<3x6xf64>
// CHECK-NEXT:    %[[WIDE:.*]] = graph.cast %0 : tensor<32x32x3x3xf32> -> tensor<32x32x3x3xf64>
// CHECK-NEXT:    %[[FLAT:.*]] = graph.reshape %[[WIDE]] to [3072, 3]
// CHECK-NEXT:    %[[GROWN:.*]] = graph.matmul %[[FLAT]], %[[G]]
// CHECK-NEXT:    %[[COLUMNS:.*]] = graph.reshape %[[GROWN]] to [1024, 3, 6]
// CHECK-NEXT:    %[[ACROSS:.*]] = graph.transpose %[[COLUMNS]] permutation [0, 2, 1]
// CHECK-NEXT:    %[[ROWS:.*]] = graph.reshape %[[ACROSS]] to [6144, 3]
// CHECK-NEXT:    %[[BOTH:.*]] = graph.matmul %[[ROWS]], %[[G]]
// CHECK-NEXT:    graph.cast %[[BOTH]] : tensor<6144x6xf64> -> tensor<6144x6xf32>
// CHECK:         tir.call @conv(%x : tensor<2x34x10x16xf32>, %{{.*}} : tensor<32x32x6x6xf32>, %bias

// CHECK-LABEL: tir.func @conv
// CHECK-NEXT:    %[[PIXELS:.*]] = tir.alloc : memref<6x6x2x17x16xf32>
// CHECK-NEXT:    %[[PRODUCTS:.*]] = tir.alloc : memref<6x6x2x17x16xf32>
// CHECK-NEXT:    tir.nest dims [parallel 2, parallel 8, parallel 2, parallel 16]
// CHECK-NEXT:      ins(%x[d0, d1 * 4, d2 * 4, d3] : {{.*}}, %x[d0, d1 * 4 + 5, d2 * 4 + 5, d3] : memref<2x34x10x16xf32>)
// CHECK-NEXT:      outs(%[[PIXELS]][0, 0, d0, d1 * 2 + d2, d3] : {{.*}}, %[[PIXELS]][5, 5, d0, d1 * 2 + d2, d3] : memref<6x6x2x17x16xf32>)
// CHECK:         tir.nest dims [parallel 6, parallel 6, parallel 2, parallel 16, parallel 16, reduction 2, reduction 16]
// CHECK-NEXT:      ins(%[[PIXELS]][d0, d1, d5, d3, d6] : memref<6x6x2x17x16xf32>, %w[d2 * 16 + d4, d5 * 16 + d6, d1, d0] : memref<32x32x6x6xf32>)
// CHECK-NEXT:      outs(%[[PRODUCTS]][d0, d1, d2, d3, d4] : memref<6x6x2x17x16xf32>)
// CHECK:         tir.nest dims [parallel 2, parallel 8, parallel 2, parallel 16]
// CHECK-NEXT:      ins(%[[PRODUCTS]][0, 0, d0, d1 * 2 + d2, d3] : {{.*}}, %bias[d0 * 16 + d3] : memref<32xf32>)
// CHECK-NEXT:      outs(%y[d0, d1 * 4, d2 * 4, d3] : {{.*}}, %y[d0, d1 * 4 + 3, d2 * 4 + 3, d3] : memref<2x32x8x16xf32>)
// CHECK-COUNT-16:  arith.maximumf
// CHECK:         tir.return

// With a smaller cache rows of tiles are computed one after the other.

// BLOCKS-LABEL: tir.func @conv
// BLOCKS:         tir.block (%[[ROW:.*]]: index) in dims [sequential 2] {
// BLOCKS-NEXT:      tir.alloc : memref<6x6x2x9x16xf32>
// BLOCKS:           tir.nest dims [parallel 2, parallel 4, parallel 2, parallel 16] at (%[[ROW]])
// BLOCKS-NEXT:        ins(%x[d0, d1 * 4 + s0 * 16, d2 * 4, d3]
module attributes {target.config = #target.config<options = {winograd = true}>} {
graph.weight @w = dense<1.5> : tensor<32x32x3x3xf32>
graph.weight @b = dense<0.5> : tensor<32xf32>
func.func @main(%x: tensor<2x34x10x16xf32>, %d: tensor<2x32x8x16xf32>) -> tensor<2x32x8x16xf32> {
  %w = graph.weight_ref @w : tensor<32x32x3x3xf32>
  %bias = graph.weight_ref @b : tensor<32xf32>
  %y = tir.call @conv(%x : tensor<2x34x10x16xf32>, %w : tensor<32x32x3x3xf32>, %bias : tensor<32xf32>) outs(%d : tensor<2x32x8x16xf32>)
  func.return %y : tensor<2x32x8x16xf32>
}
tir.func @conv(read %x: memref<2x34x10x16xf32>, read %w: memref<32x32x3x3xf32>, read %bias: memref<32xf32>, write %y: memref<2x32x8x16xf32>) {
  tir.nest dims [parallel 2, parallel 32, parallel 8, parallel 16, reduction 2, reduction 3, reduction 3, reduction 16]
      ins(%x[d4, d1 + d5, d2 + d6, d7] : memref<2x34x10x16xf32>, %w[d0 * 16 + d3, d4 * 16 + d7, d5, d6] : memref<32x32x3x3xf32>, %bias[d0 * 16 + d3] : memref<32xf32>)
      outs(%y[d0, d1, d2, d3] : memref<2x32x8x16xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %u: f32, %t: f32, %acc: f32) {
      %p = arith.mulf %a, %u : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32, %v: f32) {
      %sum = arith.addf %acc, %v : f32
      %zero = arith.constant 0.0 : f32
      %r = arith.maximumf %sum, %zero : f32
      tir.yield %r : f32
    }
  tir.return
}
}

// -----

// Ten rows are two whole tiles and one that ends with the last row, of which two are
// written. Each image of a batch is a step of a block.

// CHECK-LABEL: tir.func @overlapping
// CHECK:         tir.block (%[[IMAGE:.*]]: index) in dims [sequential 3] {
// CHECK:           tir.alloc : memref<6x6x2x7x16xf32>
// CHECK:           tir.nest dims [parallel 2, parallel 2, parallel 2, parallel 16] at (%[[IMAGE]])
// CHECK-NEXT:        ins(%x[s0, d0, d1 * 4, d2 * 4, d3]
// CHECK:           tir.nest dims [parallel 2, parallel 1, parallel 2, parallel 16] at (%[[IMAGE]])
// CHECK-NEXT:        ins(%x[s0, d0, d1 * 4 + 6, d2 * 4, d3]
// CHECK:           tir.nest dims [parallel 6, parallel 6, parallel 2, parallel 6, parallel 16, reduction 2, reduction 16] at (%[[IMAGE]])
// CHECK:             outs(%y[s0, d0, d1 * 4, d2 * 4, d3]
// CHECK:             outs(%y[s0, d0, d1 * 4 + 8, d2 * 4, d3] : {{.*}}, %y[s0, d0, d1 * 4 + 9, d2 * 4 + 3, d3] : memref<3x2x10x8x16xf32>)

module attributes {target.config = #target.config<options = {winograd = true}>} {
graph.weight @w = dense<1.5> : tensor<32x32x3x3xf32>
func.func @main(%x: tensor<3x2x12x10x16xf32>, %d: tensor<3x2x10x8x16xf32>) -> tensor<3x2x10x8x16xf32> {
  %w = graph.weight_ref @w : tensor<32x32x3x3xf32>
  %y = tir.call @overlapping(%x : tensor<3x2x12x10x16xf32>, %w : tensor<32x32x3x3xf32>) outs(%d : tensor<3x2x10x8x16xf32>)
  func.return %y : tensor<3x2x10x8x16xf32>
}
tir.func @overlapping(read %x: memref<3x2x12x10x16xf32>, read %w: memref<32x32x3x3xf32>, write %y: memref<3x2x10x8x16xf32>) {
  tir.nest dims [parallel 3, parallel 2, parallel 10, parallel 8, parallel 16, reduction 2, reduction 3, reduction 3, reduction 16]
      ins(%x[d0, d5, d2 + d6, d3 + d7, d8] : memref<3x2x12x10x16xf32>, %w[d1 * 16 + d4, d5 * 16 + d8, d6, d7] : memref<32x32x3x3xf32>)
      outs(%y[d0, d1, d2, d3, d4] : memref<3x2x10x8x16xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %u: f32, %acc: f32) {
      %p = arith.mulf %a, %u : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}
}

// -----

// Results whose filters lie apart are stored as sums first, and finished by a nest.

// CHECK-LABEL: tir.func @apart
// CHECK-NEXT:    %[[SUMS:.*]] = tir.alloc : memref<2x8x8x16xf32>
// CHECK:           outs(%[[SUMS]][d0, d1 * 4, d2 * 4, d3]
// CHECK:         tir.nest dims [parallel 2, parallel 8, parallel 8, parallel 16]
// CHECK-NEXT:      ins(%[[SUMS]][d0, d1, d2, d3] : memref<2x8x8x16xf32>)
// CHECK-NEXT:      outs(%y[d0 * 16 + d3, d1, d2] : memref<32x8x8xf32>)

module attributes {target.config = #target.config<options = {winograd = true}>} {
graph.weight @w = dense<1.5> : tensor<32x32x3x3xf32>
func.func @main(%x: tensor<2x10x10x16xf32>, %d: tensor<32x8x8xf32>) -> tensor<32x8x8xf32> {
  %w = graph.weight_ref @w : tensor<32x32x3x3xf32>
  %y = tir.call @apart(%x : tensor<2x10x10x16xf32>, %w : tensor<32x32x3x3xf32>) outs(%d : tensor<32x8x8xf32>)
  func.return %y : tensor<32x8x8xf32>
}
tir.func @apart(read %x: memref<2x10x10x16xf32>, read %w: memref<32x32x3x3xf32>, write %y: memref<32x8x8xf32>) {
  tir.nest dims [parallel 2, parallel 8, parallel 8, parallel 16, reduction 2, reduction 3, reduction 3, reduction 16]
      ins(%x[d4, d1 + d5, d2 + d6, d7] : memref<2x10x10x16xf32>, %w[d0 * 16 + d3, d4 * 16 + d7, d5, d6] : memref<32x32x3x3xf32>)
      outs(%y[d0 * 16 + d3, d1, d2] : memref<32x8x8xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %u: f32, %acc: f32) {
      %p = arith.mulf %a, %u : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}
}
