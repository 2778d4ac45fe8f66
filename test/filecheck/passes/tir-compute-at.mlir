// RUN: transom-opt -p tir-compute-at,canonicalize %s | filecheck %s
// RUN: transom-opt -p tir-compute-at,tir-compute-at,canonicalize %s | filecheck %s
// RUN: transom-opt -p tir-compute-at,convert-tir-to-scf %s | filecheck %s --check-prefix=LOOPS
// RUN: transom-opt -p tir-compute-at --print-debuginfo %s | filecheck %s --check-prefix=LOC

// The loop over tiles of rows is that of a block: the first nest computes the rows that
// the second reads there, and what schedules say of other loops stays.
// CHECK-LABEL: tir.func @tiles(
// CHECK-NEXT:    tir.block (%[[I:.*]]: index) in dims [parallel 4] schedule #tir.schedule<parallel = [d0]> {
// CHECK-NEXT:      %[[T:.*]] = tir.alloc : memref<4x32xf32>
// CHECK-NEXT:      tir.nest dims [parallel 4, parallel 32] at (%[[I]])
// CHECK-NEXT:          ins(%x[d0 + s0 * 4, d1] : memref<16x32xf32>)
// CHECK-NEXT:          outs(%[[T]][d0, d1] : memref<4x32xf32>)
// CHECK-NEXT:          schedule #tir.schedule<vector = d1 : 8>
// CHECK:           tir.nest dims [parallel 4, parallel 8, reduction 32] at (%[[I]])
// CHECK-NEXT:          ins(%[[T]][d0, d2] : memref<4x32xf32>, %w[d2, d1] : memref<32x8xf32>)
// CHECK-NEXT:          outs(%o[d0 + s0 * 4, d1] : memref<16x8xf32>)
// CHECK-NEXT:          schedule #tir.schedule<register = [d0 : 2], vector = d1 : 8, unroll = [d2 : 2], prefetch = [in1 : 64]>
// LOOPS-LABEL: tir.func @tiles(
// LOOPS:         scf.parallel
// LOOPS:           tir.alloc : memref<4x32xf32>
// LOOPS:           vector.store {{.*}} : memref<4x32xf32>, vector<8xf32>
// LOOPS:           memref.load {{.*}} : memref<4x32xf32>
tir.func @tiles(read %x: memref<16x32xf32>, read %w: memref<32x8xf32>, write %o: memref<16x8xf32>) attributes {tir.threads = 2} {
  %t = tir.alloc : memref<16x32xf32>
  tir.nest dims [parallel 16, parallel 32] ins(%x[d0, d1] : memref<16x32xf32>) outs(%t[d0, d1] : memref<16x32xf32>)
      schedule #tir.schedule<vector = d1 : 8, compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 16, parallel 8, reduction 32]
      ins(%t[d0, d2] : memref<16x32xf32>, %w[d2, d1] : memref<32x8xf32>) outs(%o[d0, d1] : memref<16x8xf32>)
      schedule #tir.schedule<cache = [d0 : 4], register = [d0 : 2], vector = d1 : 8, unroll = [d2 : 2], parallel = [d0], prefetch = [in1 : 64]>
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

// Rows that windows have in common are computed again; the number of a row is that which
// it had.
// CHECK-LABEL: tir.func @windows(
// CHECK-NEXT:    tir.block (%[[I:.*]]: index) in dims [parallel 4] {
// CHECK-NEXT:      %[[T:.*]] = tir.alloc : memref<3x8xi64>
// CHECK-NEXT:      tir.nest dims [parallel 3, parallel 8] at (%[[I]])
// CHECK-NEXT:          ins(%x[d0 + s0 * 2, d1] : memref<10x8xi64>)
// CHECK-NEXT:          outs(%[[T]][d0, d1] : memref<3x8xi64>)
// CHECK-NEXT:          schedule #tir.schedule<>
// CHECK-NEXT:        finish (%v: i64) {
// CHECK-NEXT:          %[[D:.*]] = tir.index 0 : index
// CHECK-NEXT:          %[[TWO:.*]] = arith.constant 2 : index
// CHECK-NEXT:          %[[START:.*]] = arith.muli %[[I]], %[[TWO]] : index
// CHECK-NEXT:          %[[ROW:.*]] = arith.addi %[[D]], %[[START]] : index
// CHECK-NEXT:          arith.index_cast %[[ROW]]
// CHECK:           tir.nest dims [parallel 8, reduction 3] at (%[[I]])
// CHECK-NEXT:          ins(%[[T]][d1, d0] : memref<3x8xi64>)
// CHECK-NEXT:          outs(%o[s0, d0] : memref<4x8xi64>)
tir.func @windows(read %x: memref<10x8xi64>, write %o: memref<4x8xi64>) {
  %t = tir.alloc : memref<10x8xi64>
  tir.nest dims [parallel 10, parallel 8] ins(%x[d0, d1] : memref<10x8xi64>) outs(%t[d0, d1] : memref<10x8xi64>)
      schedule #tir.schedule<compute_at = 1>
    finish (%v: i64) {
      %i = tir.index 0 : index
      %n = arith.index_cast %i : index to i64
      %e = arith.muli %v, %n : i64
      tir.yield %e : i64
    }
  tir.nest dims [parallel 4, parallel 8, reduction 3]
      ins(%t[d0 * 2 + d2, d1] : memref<10x8xi64>) outs(%o[d0, d1] : memref<4x8xi64>)
    init {
      %zero = arith.constant 0 : i64
      tir.yield %zero : i64
    }
    body (%a: i64, %acc: i64) {
      %s = arith.addi %acc, %a : i64
      tir.yield %s : i64
    }
    finish (%acc: i64) {
      tir.yield %acc : i64
    }
  tir.return
}

// A tile that is not whole at the end: as many rows as are left.
// LOC-LABEL: tir.func @rest(
// LOC:           arith.constant 4 : index loc("{{.*}}.mlir":
// LOC:           arith.minui {{.*}} loc("{{.*}}.mlir":
// LOC:           arith.minui {{.*}} loc("{{.*}}.mlir":
// CHECK-LABEL: tir.func @rest(
// CHECK:         tir.block (%[[I:.*]]: index) in dims [parallel 3] {
// CHECK:           %[[REST:.*]] = arith.minui
// CHECK:           %[[MINE:.*]] = arith.minui
// CHECK-NEXT:      %[[T:.*]] = tir.alloc : memref<4xf32>
// CHECK-NEXT:      tir.nest dims [parallel %[[MINE]]] at (%[[I]])
// CHECK:           tir.nest dims [parallel %[[REST]]] at (%[[I]])
tir.func @rest(read %x: memref<10xf32>, write %o: memref<10xf32>) {
  %t = tir.alloc : memref<10xf32>
  tir.nest dims [parallel 10] ins(%x[d0] : memref<10xf32>) outs(%t[d0] : memref<10xf32>)
      schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 10] ins(%t[d0] : memref<10xf32>) outs(%o[d0] : memref<10xf32>)
      schedule #tir.schedule<cache = [d0 : 4]>
    finish (%v: f32) {
      %e = arith.addf %v, %v : f32
      tir.yield %e : f32
    }
  tir.return
}

// The loops of a block count first. What no loop moves with is computed as a whole, and
// with 0 nothing moves.
// CHECK-LABEL: tir.func @block(
// CHECK-NEXT:    %u = tir.alloc : memref<4x8xf32>
// CHECK-NEXT:    tir.nest dims [parallel 4, parallel 8]
// CHECK:             schedule #tir.schedule<>
// CHECK:         tir.block (%[[I:.*]]: index, %{{.*}}: index) in dims [parallel 4, parallel 1] {
// CHECK-NEXT:      %[[T:.*]] = tir.alloc : memref<1x8xf32>
// CHECK-NEXT:      tir.nest dims [parallel 8] at (%[[I]])
// CHECK-NEXT:          ins(%x[s0, d0] : memref<4x8xf32>)
// CHECK-NEXT:          outs(%[[T]][0, d0] : memref<1x8xf32>)
// CHECK:           tir.nest dims [parallel 8] at (%[[I]])
// CHECK-NEXT:          ins(%[[T]][0, -d0 + 7] : memref<1x8xf32>
tir.func @block(read %x: memref<4x8xf32>, write %o: memref<4x8xf32>) {
  %t = tir.alloc : memref<4x8xf32>
  %u = tir.alloc : memref<4x8xf32>
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%u[d0, d1] : memref<4x8xf32>)
      schedule #tir.schedule<compute_at = 0>
    finish (%v: f32) {
      %e = arith.addf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%t[d0, d1] : memref<4x8xf32>)
      schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.block (%i: index, %j: index) in dims [parallel 4, parallel 1] {
    tir.nest dims [parallel 8] at (%i)
        ins(%t[s0, 7 - d0] : memref<4x8xf32>, %u[s0, d0] : memref<4x8xf32>) outs(%o[s0, d0] : memref<4x8xf32>)
      finish (%v: f32, %w: f32) {
        %e = arith.addf %v, %w : f32
        tir.yield %e : f32
      }
  }
  tir.return
}

// A part of a buffer is in the memory of the whole.
// CHECK-LABEL: tir.func @memory(
// CHECK:           tir.alloc {alignment = 64, memory = @sram} : memref<1x8xf32, @sram>
tir.func @memory(read %x: memref<4x8xf32>, write %o: memref<4x8xf32>) {
  %t = tir.alloc {alignment = 64, memory = @sram} : memref<4x8xf32, @sram>
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%t[d0, d1] : memref<4x8xf32, @sram>)
      schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.nest dims [parallel 4, parallel 8] ins(%t[d0, d1] : memref<4x8xf32, @sram>) outs(%o[d0, d1] : memref<4x8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// Where no lanes are left there are no dots; with lanes they stay.
// CHECK-LABEL: tir.func @dots(
// CHECK:             tir.nest dims [reduction 8] at
// CHECK:                 schedule #tir.schedule<>
// CHECK-LABEL: tir.func @dots_in_lanes(
// CHECK:             tir.nest dims [parallel 4, reduction 8] at
// CHECK:                 schedule #tir.schedule<vector = d0 : 4, dot = d1 : 4>
tir.func @dots(read %x: memref<2x4x8xi8>, read %w: memref<8x4xi8>, write %o: memref<2x4xi32>) {
  %t = tir.alloc : memref<2x4xi32>
  tir.nest dims [parallel 2, parallel 4, reduction 8]
      ins(%x[d0, d1, d2] : memref<2x4x8xi8>, %w[d2, d1] : memref<8x4xi8>) outs(%t[d0, d1] : memref<2x4xi32>)
      schedule #tir.schedule<vector = d1 : 4, dot = d2 : 4, compute_at = 2>
    init {
      %z = arith.constant 0 : i32
      tir.yield %z : i32
    }
    body (%a: i8, %b: i8, %s: i32) {
      %c = arith.extsi %a : i8 to i32
      %d = arith.extsi %b : i8 to i32
      %p = arith.muli %c, %d : i32
      %q = arith.addi %s, %p : i32
      tir.yield %q : i32
    }
    finish (%s: i32) {
      tir.yield %s : i32
    }
  tir.nest dims [parallel 2, parallel 4] ins(%t[d0, d1] : memref<2x4xi32>) outs(%o[d0, d1] : memref<2x4xi32>)
    finish (%v: i32) {
      tir.yield %v : i32
    }
  tir.return
}

tir.func @dots_in_lanes(read %x: memref<2x4x8xi8>, read %w: memref<8x4xi8>, write %o: memref<2x4xi32>) {
  %t = tir.alloc : memref<2x4xi32>
  tir.nest dims [parallel 2, parallel 4, reduction 8]
      ins(%x[d0, d1, d2] : memref<2x4x8xi8>, %w[d2, d1] : memref<8x4xi8>) outs(%t[d0, d1] : memref<2x4xi32>)
      schedule #tir.schedule<vector = d1 : 4, dot = d2 : 4, compute_at = 1>
    init {
      %z = arith.constant 0 : i32
      tir.yield %z : i32
    }
    body (%a: i8, %b: i8, %s: i32) {
      %c = arith.extsi %a : i8 to i32
      %d = arith.extsi %b : i8 to i32
      %p = arith.muli %c, %d : i32
      %q = arith.addi %s, %p : i32
      tir.yield %q : i32
    }
    finish (%s: i32) {
      tir.yield %s : i32
    }
  tir.nest dims [parallel 2, parallel 4] ins(%t[d0, d1] : memref<2x4xi32>) outs(%o[d0, d1] : memref<2x4xi32>)
    finish (%v: i32) {
      tir.yield %v : i32
    }
  tir.return
}
