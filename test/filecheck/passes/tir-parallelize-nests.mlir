// RUN: transom-opt -p tir-parallelize-nests %s | filecheck %s
// RUN: transom-opt -p 'tir-parallelize-nests{grain=100000000}' %s | filecheck %s --check-prefix=COARSE

// With work for no thread nothing changes.
// COARSE-NOT: parallel =
// COARSE-NOT: tir.threads
// COARSE:     tir.func @by_hand

module attributes {target.config = #target.config<threads = 4>} {

// Of loops that are balanced the outermost, which starts one team.
// CHECK-LABEL: tir.func @outermost
// CHECK-SAME:    tir.threads = 4 : i64
// CHECK:         schedule #tir.schedule<vector = d1 : 8, parallel = [d0]>
tir.func @outermost(read %a: memref<64x65536xf32>, write %o: memref<64x65536xf32>) {
  tir.nest dims [parallel 64, parallel 65536]
      ins(%a[d0, d1] : memref<64x65536xf32>) outs(%o[d0, d1] : memref<64x65536xf32>)
      schedule #tir.schedule<vector = d1 : 8>
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}

// Five rows are not balanced on four threads; their columns are.
// CHECK-LABEL: tir.func @balanced
// CHECK:         schedule #tir.schedule<parallel = [d1]>
tir.func @balanced(read %a: memref<5x65536xf32>, write %o: memref<5x65536xf32>) {
  tir.nest dims [parallel 5, parallel 65536]
      ins(%a[d0, d1] : memref<5x65536xf32>) outs(%o[d0, d1] : memref<5x65536xf32>)
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}

// A kernel uses as many threads as have work.
// CHECK-LABEL: tir.func @two
// CHECK-SAME:    tir.threads = 2 : i64
tir.func @two(read %a: memref<64x300xf32>, write %o: memref<64x300xf32>) {
  tir.nest dims [parallel 64, parallel 300]
      ins(%a[d0, d1] : memref<64x300xf32>) outs(%o[d0, d1] : memref<64x300xf32>)
      schedule #tir.schedule<vector = d1 : 4>
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}

// Little work stays serial.
// CHECK-LABEL: tir.func @little
// CHECK-NOT:     tir.threads
// CHECK-NOT:     schedule
tir.func @little(read %a: memref<64xf32>, write %o: memref<64xf32>) {
  tir.nest dims [parallel 64] ins(%a[d0] : memref<64xf32>) outs(%o[d0] : memref<64xf32>)
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}

// Points of d0 are added into the same elements: only d1 tells them apart.
// CHECK-LABEL: tir.func @colliding
// CHECK:         schedule #tir.schedule<parallel = [d1]>
tir.func @colliding(read %a: memref<4x65536xf32>, read_write %o: memref<65536xf32>) {
  tir.nest dims [parallel 4, parallel 65536] ins(%a[d0, d1] : memref<4x65536xf32>)
      outs(%o[d1] combine add : memref<65536xf32>)
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}

// Windows that overlap may meet in an element.
// CHECK-LABEL: tir.func @overlapping
// CHECK-NOT:     schedule
tir.func @overlapping(read %a: memref<512x512xf32>, read_write %o: memref<1023xf32>) {
  tir.nest dims [parallel 512, parallel 512] ins(%a[d0, d1] : memref<512x512xf32>)
      outs(%o[d0 + d1] combine add : memref<1023xf32>)
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}

// Blocks of channels do not.
// CHECK-LABEL: tir.func @blocked
// CHECK:         schedule #tir.schedule<parallel = [d0]>
tir.func @blocked(read %a: memref<64x4096xf32>, write %o: memref<262144xf32>) {
  tir.nest dims [parallel 64, parallel 4096] ins(%a[d0, d1] : memref<64x4096xf32>)
      outs(%o[d0 * 4096 + d1] : memref<262144xf32>)
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}

// Where an indirect output goes is not known.
// CHECK-LABEL: tir.func @indirect
// CHECK-NOT:     schedule
tir.func @indirect(read %a: memref<65536xf32>, read %at: memref<65536xindex>, read_write %o: memref<512xf32>) {
  tir.nest dims [parallel 65536]
      ins(%a[d0] : memref<65536xf32>, %at[d0] : memref<65536xindex>)
      outs(%o[*] combine add : memref<512xf32>)
    finish (%x: f32, %i: index) {
      tir.yield %x, %i : f32, index
    }
  tir.return
}

// A sum is not split, nor are the steps of a running sum.
// CHECK-LABEL: tir.func @sum
// CHECK-NOT:     schedule
tir.func @sum(read %a: memref<65536xf32>, write %o: memref<f32>) {
  tir.nest dims [reduction 65536] ins(%a[d0] : memref<65536xf32>) outs(%o[] : memref<f32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %acc: f32) {
      %s = arith.addf %acc, %x : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// The tiles for caches are the outermost loops.
// CHECK-LABEL: tir.func @tiles
// CHECK:         schedule #tir.schedule<cache = [d1 : 4096], parallel = [d1]>
tir.func @tiles(read %a: memref<16x65536xf32>, write %o: memref<16x65536xf32>) {
  tir.nest dims [parallel 16, parallel 65536]
      ins(%a[d0, d1] : memref<16x65536xf32>) outs(%o[d0, d1] : memref<16x65536xf32>)
      schedule #tir.schedule<cache = [d1 : 4096]>
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}

// Rows of a block, which are computed apart.
// CHECK-LABEL: tir.func @rows
// CHECK:         tir.block (%{{.*}}: index) in dims [parallel 512] schedule #tir.schedule<parallel = [d0]>
// CHECK:         tir.nest dims [parallel 512] at
// CHECK-NOT:     schedule
tir.func @rows(read %a: memref<512x512xf32>, write %o: memref<512x512xf32>) {
  tir.block (%i: index) in dims [parallel 512] {
    tir.nest dims [parallel 512] at (%i)
        ins(%a[s0, d0] : memref<512x512xf32>) outs(%o[s0, d0] : memref<512x512xf32>)
      finish (%x: f32) {
        tir.yield %x : f32
      }
  }
  tir.return
}

// What a schedule says is kept.
// CHECK-LABEL: tir.func @by_hand
// CHECK-SAME:    tir.threads = 4 : i64
// CHECK:         schedule #tir.schedule<parallel = [d0]>
tir.func @by_hand(read %a: memref<4xf32>, write %o: memref<4xf32>) {
  tir.nest dims [parallel 4]
      ins(%a[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
      schedule #tir.schedule<parallel = [d0]>
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}
}
