// RUN: transom-opt -p tir-reshape-dims --split-input-file %s | filecheck %s

// Groups become a dim, and so do rows and columns; of the windows of one element, nothing
// is left in the accesses.

// CHECK-LABEL: tir.func @grouped
// CHECK-NEXT:    %x_1 = memref.collapse_shape %x {{\[\[}}0 : i64], [1 : i64], [2 : i64, 3 : i64]] : memref<2x24x7x5xf32> into memref<2x24x35xf32>
// CHECK-NEXT:    %o_1 = memref.collapse_shape %o {{.*}} : memref<2x12x7x5xf32> into memref<2x12x35xf32>
// CHECK-NEXT:    tir.nest dims [parallel 2, parallel 4, parallel 3, parallel 35, reduction 6, reduction 1, reduction 1]
// CHECK-NEXT:      ins(%x_1[d0, d1 * 6 + d4, d3] : memref<2x24x35xf32>, %w[d1 * 3 + d2, d4, 0, 0] : memref<12x6x1x1xf32>, %b[d1 * 3 + d2] : memref<12xf32>)
// CHECK-NEXT:      outs(%o_1[d0, d1 * 3 + d2, d3] : memref<2x12x35xf32>)
tir.func @grouped(read %x: memref<2x24x7x5xf32>, read %w: memref<12x6x1x1xf32>, read %b: memref<12xf32>, write %o: memref<2x12x7x5xf32>) {
  tir.nest dims [parallel 2, parallel 12, parallel 7, parallel 5, reduction 6, reduction 1, reduction 1]
      ins(%x[d0, d4 + (d1 floordiv 3) * 6, d2 + d5, d3 + d6] : memref<2x24x7x5xf32>, %w[d1, d4, d5, d6] : memref<12x6x1x1xf32>, %b[d1] : memref<12xf32>)
      outs(%o[d0, d1, d2, d3] : memref<2x12x7x5xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %c: f32, %bias: f32, %acc: f32) {
      %p = arith.mulf %a, %c : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32, %bias: f32) {
      %r = arith.addf %acc, %bias : f32
      tir.yield %r : f32
    }
  tir.return
}

// -----

// Dims of a sum are collapsed as well: the mean of each image.

// CHECK-LABEL: tir.func @images
// CHECK:         tir.nest dims [parallel 6, reduction 28]
// CHECK-NEXT:      ins(%x_1[d0, d1] : memref<6x28xf32>)
tir.func @images(read %x: memref<6x4x7xf32>, write %o: memref<6xf32>) {
  tir.nest dims [parallel 6, reduction 4, reduction 7]
      ins(%x[d0, d1, d2] : memref<6x4x7xf32>) outs(%o[d0] : memref<6xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %acc: f32) {
      %s = arith.addf %acc, %a : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// What stays: rows that do not lie behind each other, those that a window moves over,
// padded ones, dims that are used in another order, and unequal kinds.

// CHECK-LABEL: tir.func @strided
// CHECK-NEXT:    tir.nest dims [parallel 4, parallel 7, reduction 3]
tir.func @strided(read %x: memref<3x4x7xf32, strided<[40, 10, 1]>>, write %o: memref<4x7xf32>) {
  tir.nest dims [parallel 4, parallel 7, reduction 3]
      ins(%x[d2, d0, d1] : memref<3x4x7xf32, strided<[40, 10, 1]>>) outs(%o[d0, d1] : memref<4x7xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %acc: f32) {
      %s = arith.addf %acc, %a : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// CHECK-LABEL: tir.func @part_of_rows
// CHECK-NEXT:    tir.nest dims [parallel 4, parallel 7, reduction 3]
tir.func @part_of_rows(read %x: memref<3x4x8xf32>, write %o: memref<4x7xf32>) {
  tir.nest dims [parallel 4, parallel 7, reduction 3]
      ins(%x[d2, d0, d1] : memref<3x4x8xf32>) outs(%o[d0, d1] : memref<4x7xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %acc: f32) {
      %s = arith.addf %acc, %a : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// CHECK-LABEL: tir.func @window
// CHECK-NEXT:    tir.nest dims [parallel 4, parallel 7, reduction 3]
// CHECK-NEXT:      ins(%x[d0, d1 + d2] pad 0.000000e+00 : f32
tir.func @window(read %x: memref<4x7xf32>, write %o: memref<4x7xf32>) {
  tir.nest dims [parallel 4, parallel 7, reduction 3]
      ins(%x[d0, d1 + d2] pad 0.0 : f32 : memref<4x7xf32>) outs(%o[d0, d1] : memref<4x7xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %acc: f32) {
      %s = arith.addf %acc, %a : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// CHECK-LABEL: tir.func @transposed
// CHECK-NEXT:    tir.nest dims [parallel 4, parallel 7, reduction 3]
tir.func @transposed(read %x: memref<3x7x4xf32>, write %o: memref<4x7xf32>) {
  tir.nest dims [parallel 4, parallel 7, reduction 3]
      ins(%x[d2, d1, d0] : memref<3x7x4xf32>) outs(%o[d0, d1] : memref<4x7xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %acc: f32) {
      %s = arith.addf %acc, %a : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// Groups that an input sees point by point as well, or that are not whole; and a dim whose
// only sum has one step, which must still be read with it.

// CHECK-LABEL: tir.func @mixed
// CHECK-NEXT:    tir.nest dims [parallel 12, reduction 3]
tir.func @mixed(read %x: memref<16x3xf32>, write %o: memref<12xf32>) {
  tir.nest dims [parallel 12, reduction 3]
      ins(%x[d0 + d0 floordiv 3, d1] : memref<16x3xf32>) outs(%o[d0] : memref<12xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %acc: f32) {
      %s = arith.addf %acc, %a : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// CHECK-LABEL: tir.func @broken_groups
// CHECK-NEXT:    tir.nest dims [parallel 11, reduction 3]
tir.func @broken_groups(read %x: memref<4x3xf32>, write %o: memref<11xf32>) {
  tir.nest dims [parallel 11, reduction 3]
      ins(%x[d0 floordiv 3, d1] : memref<4x3xf32>) outs(%o[d0] : memref<11xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %acc: f32) {
      %s = arith.addf %acc, %a : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// CHECK-LABEL: tir.func @one_step
// CHECK-NEXT:    tir.nest dims [parallel 4, parallel 7, reduction 1]
// CHECK-NEXT:      ins(%x[d0, d1, d2] : memref<4x7x1xf32>)
tir.func @one_step(read %x: memref<4x7x1xf32>, write %o: memref<4x7xf32>) {
  tir.nest dims [parallel 4, parallel 7, reduction 1]
      ins(%x[d0, d1, d2] : memref<4x7x1xf32>) outs(%o[d0, d1] : memref<4x7xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %acc: f32) {
      %s = arith.addf %acc, %a : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// A schedule that was written by hand speaks of the dims as they are; a nest without a sum
// is collapsed as well.

// CHECK-LABEL: tir.func @scheduled
// CHECK-NEXT:    tir.nest dims [parallel 4, parallel 7, reduction 3]
// CHECK:         tir.nest dims [parallel 28]
tir.func @scheduled(read %x: memref<3x4x7xf32>, write %o: memref<4x7xf32>, write %p: memref<4x7xf32>) {
  tir.nest dims [parallel 4, parallel 7, reduction 3]
      ins(%x[d2, d0, d1] : memref<3x4x7xf32>) outs(%o[d0, d1] : memref<4x7xf32>)
      schedule #tir.schedule<vector = d1 : 4>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %acc: f32) {
      %s = arith.addf %acc, %a : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 4, parallel 7] ins(%o[d0, d1] : memref<4x7xf32>) outs(%p[d0, d1] : memref<4x7xf32>)
    finish (%a: f32) {
      tir.yield %a : f32
    }
  tir.return
}

// -----

// Without a sum: pixels, but not what another input tells apart.

// CHECK-LABEL: tir.func @channels
// CHECK:         tir.nest dims [parallel 2, parallel 3, parallel 35]
// CHECK-NEXT:      ins(%x_1[d0, d1, d2] : memref<2x3x35xf32>, %b[d0, d1] : memref<2x3xf32>)
// CHECK-NEXT:      outs(%o_1[d0, d1, d2] : memref<2x3x35xf32>)
tir.func @channels(read %x: memref<2x3x7x5xf32>, read %b: memref<2x3xf32>, write %o: memref<2x3x7x5xf32>) {
  tir.nest dims [parallel 2, parallel 3, parallel 7, parallel 5]
      ins(%x[d0, d1, d2, d3] : memref<2x3x7x5xf32>, %b[d0, d1] : memref<2x3xf32>)
      outs(%o[d0, d1, d2, d3] : memref<2x3x7x5xf32>)
    finish (%v: f32, %w: f32) {
      %s = arith.addf %v, %w : f32
      tir.yield %s : f32
    }
  tir.return
}

// -----

// Whole vectors are left alone: 32 bytes are eight of f32, and not one of i8.

// CHECK-LABEL: tir.func @whole
// CHECK-NEXT:    tir.nest dims [parallel 4, parallel 8]
// CHECK:         tir.nest dims [parallel 32]
tir.func @whole(read %x: memref<4x8xf32>, read %y: memref<4x8xi8>, write %o: memref<4x8xf32>, write %p: memref<4x8xi8>) {
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%o[d0, d1] : memref<4x8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.nest dims [parallel 4, parallel 8] ins(%y[d0, d1] : memref<4x8xi8>) outs(%p[d0, d1] : memref<4x8xi8>)
    finish (%v: i8) {
      tir.yield %v : i8
    }
  tir.return
}

// -----

// Groups are the business of sums; a point that is asked for is one of these dims.

// CHECK-LABEL: tir.func @twice
// CHECK-NEXT:    tir.nest dims [parallel 6, parallel 3]
// CHECK-NEXT:      ins(%x[d0 floordiv 2, d1] : memref<3x3xindex>)
// CHECK:         tir.nest dims [parallel 6, parallel 3]
// CHECK-NEXT:      ins(%t[d0, d1] : memref<6x3xindex>)
tir.func @twice(read %x: memref<3x3xindex>, write %t: memref<6x3xindex>, write %o: memref<6x3xindex>) {
  tir.nest dims [parallel 6, parallel 3] ins(%x[d0 floordiv 2, d1] : memref<3x3xindex>) outs(%t[d0, d1] : memref<6x3xindex>)
    finish (%v: index) {
      tir.yield %v : index
    }
  tir.nest dims [parallel 6, parallel 3] ins(%t[d0, d1] : memref<6x3xindex>) outs(%o[d0, d1] : memref<6x3xindex>)
    finish (%v: index) {
      %i = tir.index 1 : index
      %s = arith.addi %v, %i : index
      tir.yield %s : index
    }
  tir.return
}
