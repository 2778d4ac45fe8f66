// RUN: transom-opt -p tir-fuse-nests %s | filecheck %s
// RUN: transom-opt -p tir-fuse-nests,tir-fuse-nests %s | filecheck %s

// What several dims number is one dim of the reader: what was in blocks meets what is not.
// CHECK-LABEL: @blocks
tir.func @blocks(read %x: memref<5x2x4x8xf32>, read %r: memref<8x5xf32>, write %o: memref<8x5xf32>) {
  // CHECK-NOT:     tir.alloc
  // CHECK:         tir.nest dims [parallel 5, parallel 2, parallel 4, reduction 8]
  // CHECK-NEXT:      ins(%{{.*}}[d0, d1, d2, d3] : memref<5x2x4x8xf32>, %{{.*}}[d1 * 4 + d2, d0] : memref<8x5xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d1 * 4 + d2, d0] : memref<8x5xf32>)
  // CHECK-NOT:     tir.nest
  // CHECK:         tir.return
  %t = tir.alloc : memref<8x5xf32>
  tir.nest dims [parallel 5, parallel 2, parallel 4, reduction 8] ins(%x[d0, d1, d2, d3] : memref<5x2x4x8xf32>) outs(%t[d1 * 4 + d2, d0] : memref<8x5xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 8, parallel 5] ins(%t[d0, d1] : memref<8x5xf32>, %r[d0, d1] : memref<8x5xf32>) outs(%o[d0, d1] : memref<8x5xf32>)
    finish (%v: f32, %w: f32) {
      %s = arith.addf %v, %w : f32
      tir.yield %s : f32
    }
  tir.return
}

// The dims leave elements out, which the reader reads.
// CHECK-LABEL: @gaps
tir.func @gaps(read %x: memref<2x3xf32>, write %t: memref<8xf32>, write %o: memref<8xf32>) {
  // CHECK-COUNT-2: tir.nest
  // CHECK:         tir.return
  tir.nest dims [parallel 2, parallel 3] ins(%x[d0, d1] : memref<2x3xf32>) outs(%t[d0 * 4 + d1] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      %n = arith.negf %v : f32
      tir.yield %n : f32
    }
  tir.return
}

// The reader asks for its index, which has no op for several dims.
// CHECK-LABEL: @index
tir.func @index(read %x: memref<2x4xindex>, write %t: memref<8xindex>, write %o: memref<8xindex>) {
  // CHECK-COUNT-2: tir.nest
  // CHECK:         tir.return
  tir.nest dims [parallel 2, parallel 4] ins(%x[d0, d1] : memref<2x4xindex>) outs(%t[d0 * 4 + d1] : memref<8xindex>)
    finish (%v: index) {
      tir.yield %v : index
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xindex>) outs(%o[d0] : memref<8xindex>)
    finish (%v: index) {
      %i = tir.index 0 : index
      %s = arith.addi %v, %i : index
      tir.yield %s : index
    }
  tir.return
}

// A part of the dims is another dim of the reader too: it would run along a diagonal.
// CHECK-LABEL: @twice
tir.func @twice(read %x: memref<2x4xf32>, write %t: memref<8x2xf32>, write %o: memref<8x2xf32>) {
  // CHECK-COUNT-2: tir.nest
  // CHECK:         tir.return
  tir.nest dims [parallel 2, parallel 4] ins(%x[d0, d1] : memref<2x4xf32>) outs(%t[d0 * 4 + d1, d0] : memref<8x2xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.nest dims [parallel 8, parallel 2] ins(%t[d0, d1] : memref<8x2xf32>) outs(%o[d0, d1] : memref<8x2xf32>)
    finish (%v: f32) {
      %n = arith.negf %v : f32
      tir.yield %n : f32
    }
  tir.return
}

// Columns are neighbours, and what is summed lies apart: the columns stay lanes.
// CHECK-LABEL: @columns
tir.func @columns(read %x: memref<2x9x16xf32>, write %o: memref<2x9x16xf32>) {
  // CHECK-NEXT:    tir.block (%[[ROW:.*]]: index) in dims [parallel 2] {
  // CHECK-NEXT:      %[[M:.*]] = tir.alloc : memref<16xf32>
  // CHECK-NEXT:      tir.nest dims [parallel 16, reduction 9] at (%[[ROW]])
  // CHECK:           tir.nest dims [parallel 9, parallel 16] at (%[[ROW]])
  // CHECK:         tir.return
  %m = tir.alloc : memref<2x16xf32>
  tir.nest dims [parallel 2, parallel 16, reduction 9] ins(%x[d0, d2, d1] : memref<2x9x16xf32>) outs(%m[d0, d1] : memref<2x16xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 2, parallel 9, parallel 16] ins(%x[d0, d1, d2] : memref<2x9x16xf32>, %m[d0, d2] : memref<2x16xf32>) outs(%o[d0, d1, d2] : memref<2x9x16xf32>)
    finish (%v: f32, %w: f32) {
      %s = arith.divf %v, %w : f32
      tir.yield %s : f32
    }
  tir.return
}

// So few of them are no lanes.
// CHECK-LABEL: @few_columns
tir.func @few_columns(read %x: memref<2x9x3xf32>, write %o: memref<2x9x3xf32>) {
  // CHECK-NEXT:    tir.block (%{{.*}}: index, %{{.*}}: index) in dims [parallel 2, parallel 3] {
  // CHECK-NEXT:      %{{.*}} = tir.alloc : memref<f32>
  // CHECK-NEXT:      tir.nest dims [reduction 9]
  // CHECK:           tir.nest dims [parallel 9]
  // CHECK:         tir.return
  %m = tir.alloc : memref<2x3xf32>
  tir.nest dims [parallel 2, parallel 3, reduction 9] ins(%x[d0, d2, d1] : memref<2x9x3xf32>) outs(%m[d0, d1] : memref<2x3xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 2, parallel 9, parallel 3] ins(%x[d0, d1, d2] : memref<2x9x3xf32>, %m[d0, d2] : memref<2x3xf32>) outs(%o[d0, d1, d2] : memref<2x9x3xf32>)
    finish (%v: f32, %w: f32) {
      %s = arith.divf %v, %w : f32
      tir.yield %s : f32
    }
  tir.return
}
