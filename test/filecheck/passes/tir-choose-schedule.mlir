// RUN: transom-opt -p 'tir-choose-schedule{vector-bytes=64 register-count=32}' %s | filecheck %s
// RUN: transom-opt -p 'tir-choose-schedule' %s | filecheck %s --check-prefix=DEFAULT
// RUN: not transom-opt -p 'tir-choose-schedule{vector-bytes=24}' %s 2>&1 | filecheck %s --check-prefix=BYTES
// RUN: not transom-opt -p 'tir-choose-schedule{register-count=0}' %s 2>&1 | filecheck %s --check-prefix=COUNT

// BYTES: transom-opt: error: pass 'tir-choose-schedule': expected 'vector-bytes' to be 0 or a power of two from 4 to 256, but got 24; the nearest is 16
// COUNT: transom-opt: error: pass 'tir-choose-schedule': expected 'register-count' to be from 1 to 64, but got 0; the nearest is 1

// CHECK-LABEL:   tir.func @element_wise(
// DEFAULT-LABEL: tir.func @element_wise(
tir.func @element_wise(read %a: memref<64x64xf32>, write %o: memref<64x64xf32>, read %t: memref<64x64xf64>, write %p: memref<64x64xf64>) {
  // CHECK:   schedule #tir.schedule<vector = d1 : 16>
  // DEFAULT: schedule #tir.schedule<vector = d1 : 8>
  tir.nest dims [parallel 64, parallel 64] ins(%a[d0, d1] : memref<64x64xf32>) outs(%o[d0, d1] : memref<64x64xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  // The widest element counts.
  // CHECK:   schedule #tir.schedule<vector = d1 : 8>
  tir.nest dims [parallel 64, parallel 64] ins(%a[d0, d1] : memref<64x64xf32>) outs(%p[d0, d1] : memref<64x64xf64>)
    finish (%v: f32) {
      %w = arith.extf %v : f32 to f64
      tir.yield %w : f64
    }
  tir.return
}

// A sum of nothing: there is nothing to pack.
// CHECK-LABEL: tir.func @nothing(
tir.func @nothing(read %a: memref<4x0xf32>, read %b: memref<0x64xf32>, write %o: memref<4x64xf32>) {
  // CHECK-NOT: schedule
  tir.nest dims [parallel 4, parallel 64, reduction 0]
      ins(%a[d0, d2] : memref<4x0xf32>, %b[d2, d1] : memref<0x64xf32>) outs(%o[d0, d1] : memref<4x64xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%sum: f32) {
      tir.yield %sum : f32
    }
  // CHECK: tir.return
  tir.return
}

// Sums that go on from row to row wait for each other: those of several vectors do not.
// CHECK-LABEL: tir.func @sums_of_columns(
tir.func @sums_of_columns(read %a: memref<9x64xf32>, write %o: memref<9x64xf32>) {
  // CHECK: schedule #tir.schedule<register = [d0 : 64], vector = d0 : 16>
  tir.nest dims [parallel 64, sequential 9] ins(%a[d1, d0] : memref<9x64xf32>) outs(%o[d1, d0] : memref<9x64xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %acc: f32) {
      %s = arith.addf %acc, %x : f32
      tir.yield %s : f32
    }
    finish (%sum: f32, %x: f32) {
      tir.yield %sum : f32
    }
  tir.return
}

// Squares are read along one dim, transposed, and written along the other.
// CHECK-LABEL: tir.func @transpose(
tir.func @transpose(read %a: memref<64x64xf32>, write %o: memref<64x64xf32>) {
  // CHECK: schedule #tir.schedule<register = [d1 : 16, d0 : 16], vector = d1 : 16>
  tir.nest dims [parallel 64, parallel 64] ins(%a[d1, d0] : memref<64x64xf32>) outs(%o[d0, d1] : memref<64x64xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// What lies apart is gathered once for all rows, so that nothing has to be transposed.
// CHECK-LABEL: tir.func @gathered_once(
tir.func @gathered_once(read %a: memref<4x32x16xf32>, read %b: memref<64x1xf32>, write %o: memref<4x32x16xf32>) {
  // CHECK: schedule #tir.schedule<vector = d2 : 16>
  tir.nest dims [parallel 4, parallel 32, parallel 16]
      ins(%a[d0, d1, d2] : memref<4x32x16xf32>, %b[d0 * 16 + d2, 0] : memref<64x1xf32>) outs(%o[d0, d1, d2] : memref<4x32x16xf32>)
    finish (%v: f32, %w: f32) {
      %s = arith.addf %v, %w : f32
      tir.yield %s : f32
    }
  tir.return
}

// Gathered lanes gain nothing when elements only move, and there is no square to read.
// CHECK-LABEL: tir.func @gather(
tir.func @gather(read %a: memref<192x192xf32>, write %o: memref<64x64xf32>) {
  // CHECK-NOT: schedule
  tir.nest dims [parallel 64, parallel 64] ins(%a[d1 * 3, d0 * 3] : memref<192x192xf32>) outs(%o[d0, d1] : memref<64x64xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @matmul(
tir.func @matmul(read %a: memref<21x8xf32>, read %b: memref<8x64xf32>, write %o: memref<21x64xf32>) {
  // 21 rows are seven tiles of three, by four vectors of 8 lanes.
  // CHECK:   schedule #tir.schedule<register = [d0 : 6, d1 : 64], vector = d1 : 16, order = [d1, d0, d2], edges = masked>
  // DEFAULT: schedule #tir.schedule<register = [d0 : 3, d1 : 32], vector = d1 : 8, order = [d1, d0, d2], edges = masked>
  tir.nest dims [parallel 21, parallel 64, reduction 8]
      ins(%a[d0, d2] : memref<21x8xf32>, %b[d2, d1] : memref<8x64xf32>) outs(%o[d0, d1] : memref<21x64xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// Steps are written out until there are twelve multiply-adds.
// CHECK-LABEL: tir.func @one_row(
tir.func @one_row(read %a: memref<1x12xf32>, read %b: memref<12x64xf32>, write %o: memref<1x64xf32>) {
  // CHECK:   schedule #tir.schedule<register = [d1 : 64], vector = d1 : 16, unroll = [d2 : 3]
  tir.nest dims [parallel 1, parallel 64, reduction 12]
      ins(%a[d0, d2] : memref<1x12xf32>, %b[d2, d1] : memref<12x64xf32>) outs(%o[d0, d1] : memref<1x64xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// Four divide the sum, three do not.
// CHECK-LABEL: tir.func @one_row_even(
tir.func @one_row_even(read %a: memref<1x16xf32>, read %b: memref<16x64xf32>, write %o: memref<1x64xf32>) {
  // CHECK:   schedule #tir.schedule<register = [d1 : 64], vector = d1 : 16, unroll = [d2 : 4]
  tir.nest dims [parallel 1, parallel 64, reduction 16]
      ins(%a[d0, d2] : memref<1x16xf32>, %b[d2, d1] : memref<16x64xf32>) outs(%o[d0, d1] : memref<1x64xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// Nothing near divides it.
// CHECK-LABEL: tir.func @one_row_odd(
tir.func @one_row_odd(read %a: memref<1x13xf32>, read %b: memref<13x64xf32>, write %o: memref<1x64xf32>) {
  // CHECK:   schedule #tir.schedule<register = [d1 : 64], vector = d1 : 16, unroll = [d2 : 3]
  tir.nest dims [parallel 1, parallel 64, reduction 13]
      ins(%a[d0, d2] : memref<1x13xf32>, %b[d2, d1] : memref<13x64xf32>) outs(%o[d0, d1] : memref<1x64xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// A sum of unknown length.
// CHECK-LABEL: tir.func @one_row_open(
tir.func @one_row_open(read %a: memref<1x?xf32>, read %b: memref<?x64xf32>, write %o: memref<1x64xf32>) {
  %one = arith.constant 1 : index
  %k = memref.dim %a, %one : memref<1x?xf32>
  // CHECK:   schedule #tir.schedule<register = [d1 : 64], vector = d1 : 16, unroll = [d2 : 3]
  tir.nest dims [parallel 1, parallel 64, reduction %k]
      ins(%a[d0, d2] : memref<1x?xf32>, %b[d2, d1] : memref<?x64xf32>) outs(%o[d0, d1] : memref<1x64xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// A batch may be of one: the tile is along what is known.
// CHECK-LABEL: tir.func @batches(
tir.func @batches(read %a: memref<?x12x8xf32>, read %b: memref<8x64xf32>, write %o: memref<?x12x64xf32>) {
  %zeroth = arith.constant 0 : index
  %n = memref.dim %a, %zeroth : memref<?x12x8xf32>
  // CHECK:   schedule #tir.schedule<register = [d1 : 6, d2 : 64], vector = d2 : 16
  tir.nest dims [parallel %n, parallel 12, parallel 64, reduction 8]
      ins(%a[d0, d1, d3] : memref<?x12x8xf32>, %b[d3, d2] : memref<8x64xf32>) outs(%o[d0, d1, d2] : memref<?x12x64xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// Even two are more than one.
// CHECK-LABEL: tir.func @short_rows(
tir.func @short_rows(read %a: memref<?x2x8xf32>, read %b: memref<8x64xf32>, write %o: memref<?x2x64xf32>) {
  %zeroth = arith.constant 0 : index
  %n = memref.dim %a, %zeroth : memref<?x2x8xf32>
  // CHECK:   schedule #tir.schedule<register = [d1 : 2, d2 : 64], vector = d2 : 16
  tir.nest dims [parallel %n, parallel 2, parallel 64, reduction 8]
      ins(%a[d0, d1, d3] : memref<?x2x8xf32>, %b[d3, d2] : memref<8x64xf32>) outs(%o[d0, d1, d2] : memref<?x2x64xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// There is nothing else.
// CHECK-LABEL: tir.func @only_batches(
tir.func @only_batches(read %a: memref<?x1x8xf32>, read %b: memref<8x64xf32>, write %o: memref<?x1x64xf32>) {
  %zeroth = arith.constant 0 : index
  %n = memref.dim %a, %zeroth : memref<?x1x8xf32>
  // CHECK:   schedule #tir.schedule<register = [d0 : 6, d2 : 64], vector = d2 : 16
  tir.nest dims [parallel %n, parallel 1, parallel 64, reduction 8]
      ins(%a[d0, d1, d3] : memref<?x1x8xf32>, %b[d3, d2] : memref<8x64xf32>) outs(%o[d0, d1, d2] : memref<?x1x64xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @conv(
tir.func @conv(read %x: memref<1x8x14x14xf32>, read %w: memref<16x8x3x3xf32>, write %o: memref<1x16x14x14xf32>) {
  // Output channels share pixels; a row of 14 is one vector of 16 lanes, so that
  // several rows are a tile, or two of 8.
  // CHECK:   schedule #tir.schedule<register = [d1 : 6, d2 : 4], vector = d3 : 16, order = [d0, d2, d3, d1, d4, d5, d6], edges = masked>
  // DEFAULT: schedule #tir.schedule<register = [d1 : 6, d3 : 16], vector = d3 : 8, order = [d0, d2, d3, d1, d4, d5, d6], edges = masked>
  tir.nest dims [parallel 1, parallel 16, parallel 14, parallel 14, reduction 8, reduction 3, reduction 3]
      ins(%x[d0, d4, d2 + d5 - 1, d3 + d6 - 1] pad 0.0 : f32 : memref<1x8x14x14xf32>, %w[d1, d4, d5, d6] : memref<16x8x3x3xf32>)
      outs(%o[d0, d1, d2, d3] : memref<1x16x14x14xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %b: f32, %acc: f32) {
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @row_sum(
tir.func @row_sum(read %x: memref<8x256xf32>, write %o: memref<8xf32>) {
  // Along the rows, which lie in memory as they are summed; four sums at once.
  // CHECK: schedule #tir.schedule<register = [d1 : 64], vector = d1 : 16>
  tir.nest dims [parallel 8, reduction 256] ins(%x[d0, d1] : memref<8x256xf32>) outs(%o[d0] : memref<8xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @kept(
tir.func @kept(read %a: memref<64xf32>, write %o: memref<64xf32>) {
  // CHECK: schedule #tir.schedule<vector = d0 : 2>
  tir.nest dims [parallel 64] ins(%a[d0] : memref<64xf32>) outs(%o[d0] : memref<64xf32>)
      schedule #tir.schedule<vector = d0 : 2>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// Control flow is not shared by lanes.
// CHECK-LABEL: tir.func @branch(
tir.func @branch(read %c: memref<64xi1>, write %o: memref<64xf32>, read %x: f32, read %y: f32) {
  // CHECK-NOT: schedule
  tir.nest dims [parallel 64] ins(%c[d0] : memref<64xi1>) outs(%o[d0] : memref<64xf32>)
    finish (%b: i1) {
      %r = scf.if %b -> (f32) {
        scf.yield %x : f32
      } else {
        scf.yield %y : f32
      }
      tir.yield %r : f32
    }
  tir.return
}

// Functions are long chains: several vectors are computed side by side.
// CHECK-LABEL: tir.func @chain(
tir.func @chain(read %x: memref<128xf32>, write %o: memref<128xf32>, write %p: memref<24xf32>) {
  // CHECK: schedule #tir.schedule<register = [d0 : 64], vector = d0 : 16>
  tir.nest dims [parallel 128] ins(%x[d0] : memref<128xf32>) outs(%o[d0] : memref<128xf32>)
    finish (%v: f32) {
      %e = math.exp %v : f32
      tir.yield %e : f32
    }
  // There is only one vector.
  // CHECK: schedule #tir.schedule<vector = d0 : 16>
  tir.nest dims [parallel 24] ins(%x[d0] : memref<128xf32>) outs(%p[d0] : memref<24xf32>)
    finish (%v: f32) {
      %e = math.exp %v : f32
      tir.yield %e : f32
    }
  tir.return
}

// Channels in blocks are one vector: points beside each other are summed together, and
// a small window is unrolled. Where results go to planar channels, points make squares.
// CHECK-LABEL: tir.func @depthwise(
tir.func @depthwise(read %x: memref<2x16x58x16xf32>, read %w: memref<32x3x3xf32>, write %o: memref<2x14x56x16xf32>, write %p: memref<32x14x56xf32>) {
  // CHECK: schedule #tir.schedule<register = [d3 : 16, d2 : 8], vector = d3 : 16, unroll = [d4 : 3, d5 : 3]>
  tir.nest dims [parallel 2, parallel 14, parallel 56, parallel 16, reduction 3, reduction 3]
      ins(%x[d0, d1 + d4, d2 + d5, d3] : memref<2x16x58x16xf32>, %w[d0 * 16 + d3, d4, d5] : memref<32x3x3xf32>)
      outs(%o[d0, d1, d2, d3] : memref<2x14x56x16xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %b: f32, %acc: f32) {
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %m : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  // CHECK: schedule #tir.schedule<register = [d3 : 16, d2 : 16], vector = d3 : 16, unroll = [d4 : 3, d5 : 3]>
  tir.nest dims [parallel 2, parallel 14, parallel 56, parallel 16, reduction 3, reduction 3]
      ins(%x[d0, d1 + d4, d2 + d5, d3] : memref<2x16x58x16xf32>, %w[d0 * 16 + d3, d4, d5] : memref<32x3x3xf32>)
      outs(%p[d0 * 16 + d3, d1, d2] : memref<32x14x56xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %b: f32, %acc: f32) {
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %m : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// Sums over windows of channels in blocks, whose results lie apart: as many points at once
// as divide a row, which are transposed when they are written. A row need not fill a square.
// CHECK-LABEL: tir.func @strips_of_a_short_row(
tir.func @strips_of_a_short_row(read %x: memref<18x18x16xf32>, write %o: memref<16x14x14xf32>) {
  // CHECK: schedule #tir.schedule<register = [d2 : 16, d1 : 7], vector = d2 : 16>
  tir.nest dims [parallel 14, parallel 14, parallel 16, reduction 5, reduction 5]
      ins(%x[d0 + d3, d1 + d4, d2] : memref<18x18x16xf32>) outs(%o[d2, d0, d1] : memref<16x14x14xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%sum: f32) {
      tir.yield %sum : f32
    }
  tir.return
}
