// RUN: transom-opt -p tir-fuse-nests %s | filecheck %s
// RUN: transom-opt -p tir-fuse-nests,tir-fuse-nests %s | filecheck %s

// The difference from what is one number for a row is computed by each reader.
// CHECK-LABEL: @two_readers
tir.func @two_readers(read %x: memref<4x8xf32>, read %m: memref<4xf32>, write %s: memref<4xf32>, write %o: memref<4x8xf32>) {
  // CHECK-NOT:     tir.alloc
  // CHECK:         body
  // CHECK-NEXT:      arith.subf
  // CHECK-NEXT:      arith.addf
  // CHECK:           arith.subf
  // CHECK-NEXT:      arith.mulf
  // CHECK-NOT:     tir.nest
  // CHECK:         tir.return
  %d = tir.alloc : memref<4x8xf32>
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>, %m[d0] : memref<4xf32>) outs(%d[d0, d1] : memref<4x8xf32>)
    finish (%v: f32, %w: f32) {
      %r = arith.subf %v, %w : f32
      tir.yield %r : f32
    }
  tir.nest dims [parallel 4, reduction 8] ins(%d[d0, d1] : memref<4x8xf32>) outs(%s[d0] : memref<4xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %acc: f32) {
      %r = arith.addf %acc, %v : f32
      tir.yield %r : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 4, parallel 8] ins(%d[d0, d1] : memref<4x8xf32>, %s[d0] : memref<4xf32>) outs(%o[d0, d1] : memref<4x8xf32>)
    finish (%v: f32, %w: f32) {
      %r = arith.mulf %v, %w : f32
      tir.yield %r : f32
    }
  tir.return
}

// A function takes longer than a store and a load.
// CHECK-LABEL: @expensive
tir.func @expensive(read %x: memref<4x8xf32>, write %s: memref<4xf32>, write %o: memref<4x8xf32>) {
  // CHECK-COUNT-1: math.exp
  // CHECK-NOT:     math.exp
  // CHECK:         tir.return
  %d = tir.alloc : memref<4x8xf32>
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%d[d0, d1] : memref<4x8xf32>)
    finish (%v: f32) {
      %r = math.exp %v : f32
      tir.yield %r : f32
    }
  tir.nest dims [parallel 4, reduction 8] ins(%d[d0, d1] : memref<4x8xf32>) outs(%s[d0] : memref<4xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %acc: f32) {
      %r = arith.addf %acc, %v : f32
      tir.yield %r : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 4, parallel 8] ins(%d[d0, d1] : memref<4x8xf32>, %s[d0] : memref<4xf32>) outs(%o[d0, d1] : memref<4x8xf32>)
    finish (%v: f32, %w: f32) {
      %r = arith.mulf %v, %w : f32
      tir.yield %r : f32
    }
  tir.return
}

// Two inputs of that size would be read twice each.
// CHECK-LABEL: @two_sources
tir.func @two_sources(read %x: memref<4x8xf32>, read %y: memref<4x8xf32>, write %s: memref<4xf32>, write %o: memref<4x8xf32>) {
  // CHECK-COUNT-1: arith.subf
  // CHECK-NOT:     arith.subf
  // CHECK:         tir.return
  %d = tir.alloc : memref<4x8xf32>
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>, %y[d0, d1] : memref<4x8xf32>) outs(%d[d0, d1] : memref<4x8xf32>)
    finish (%v: f32, %w: f32) {
      %r = arith.subf %v, %w : f32
      tir.yield %r : f32
    }
  tir.nest dims [parallel 4, reduction 8] ins(%d[d0, d1] : memref<4x8xf32>) outs(%s[d0] : memref<4xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %acc: f32) {
      %r = arith.addf %acc, %v : f32
      tir.yield %r : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 4, parallel 8] ins(%d[d0, d1] : memref<4x8xf32>, %s[d0] : memref<4xf32>) outs(%o[d0, d1] : memref<4x8xf32>)
    finish (%v: f32, %w: f32) {
      %r = arith.mulf %v, %w : f32
      tir.yield %r : f32
    }
  tir.return
}

// What is read in another order is stored in that which is written.
// CHECK-LABEL: @transposed
tir.func @transposed(read %x: memref<8x4xf32>, write %s: memref<4xf32>, write %o: memref<4x8xf32>) {
  // CHECK-COUNT-1: arith.negf
  // CHECK-NOT:     arith.negf
  // CHECK:         tir.return
  %d = tir.alloc : memref<4x8xf32>
  tir.nest dims [parallel 4, parallel 8] ins(%x[d1, d0] : memref<8x4xf32>) outs(%d[d0, d1] : memref<4x8xf32>)
    finish (%v: f32) {
      %r = arith.negf %v : f32
      tir.yield %r : f32
    }
  tir.nest dims [parallel 4, reduction 8] ins(%d[d0, d1] : memref<4x8xf32>) outs(%s[d0] : memref<4xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %acc: f32) {
      %r = arith.addf %acc, %v : f32
      tir.yield %r : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 4, parallel 8] ins(%d[d0, d1] : memref<4x8xf32>, %s[d0] : memref<4xf32>) outs(%o[d0, d1] : memref<4x8xf32>)
    finish (%v: f32, %w: f32) {
      %r = arith.mulf %v, %w : f32
      tir.yield %r : f32
    }
  tir.return
}

// A product reads each element many times.
// CHECK-LABEL: @read_often
tir.func @read_often(read %x: memref<4x8xf32>, read %w: memref<8x4xf32>, write %s: memref<4x4xf32>, write %o: memref<4xf32>) {
  // CHECK-COUNT-1: arith.negf
  // CHECK-NOT:     arith.negf
  // CHECK:         tir.return
  %d = tir.alloc : memref<4x8xf32>
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%d[d0, d1] : memref<4x8xf32>)
    finish (%v: f32) {
      %r = arith.negf %v : f32
      tir.yield %r : f32
    }
  tir.nest dims [parallel 4, parallel 4, reduction 8] ins(%d[d0, d2] : memref<4x8xf32>, %w[d2, d1] : memref<8x4xf32>) outs(%s[d0, d1] : memref<4x4xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %u: f32, %acc: f32) {
      %p = arith.mulf %v, %u : f32
      %r = arith.addf %acc, %p : f32
      tir.yield %r : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 4, reduction 8] ins(%d[d0, d1] : memref<4x8xf32>) outs(%o[d0] : memref<4xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %acc: f32) {
      %r = arith.addf %acc, %v : f32
      tir.yield %r : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}
