// RUN: %diagnose -p convert-tir-to-scf

tir.func @unroll(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  // expected-error @+1 {{expected no parallel dim in 'unroll', but got 'd0'; 'register' computes its points together}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<unroll = [d0 : 4]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @compute_at(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  // expected-error @+1 {{expected no 'compute_at' any more; 'tir-compute-at' has not run}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @pack(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  // expected-error @+1 {{expected no 'pack' any more; 'tir-pack-operands', in phase 'tensor', makes the copies}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<vector = d0 : 4, pack = [in0]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @widen(read %x: memref<8xf16>, write %o: memref<8xf32>) {
  // expected-error @+1 {{expected no 'widen' any more; 'tir-pack-operands', in phase 'tensor', makes the copies}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf16>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<vector = d0 : 4, widen = [in0]>
    finish (%v: f16) {
      %w = arith.extf %v : f16 to f32
      tir.yield %w : f32
    }
  tir.return
}

// -----

tir.func @order(read %x: memref<8x4xf32>, write %o: memref<8x4xf32>) {
  // expected-error @+1 {{expected parallel dims first in 'order', then the others as they are}}
  tir.nest dims [sequential 8, parallel 4] ins(%x[d0, d1] : memref<8x4xf32>) outs(%o[d0, d1] : memref<8x4xf32>)
      schedule #tir.schedule<order = [d0, d1]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @block(write %o: memref<8xf32>, read %v: f32) {
  // expected-error @+1 {{expected only 'parallel' in the schedule of a block}}
  tir.block (%i: index) in dims [parallel 8] schedule #tir.schedule<cache = [d0 : 4]> {
    memref.store %v, %o[%i] : memref<8xf32>
  }
  tir.return
}

// -----

tir.func @cache_of_sum(read %x: memref<8xf32>, write %o: memref<f32>) {
  // expected-error @+1 {{no legal form for 'tir.nest' x1 (ConvertNest: expected cache tiles of parallel dims, but 'd0' is reduction)}}
  tir.nest dims [reduction 8] ins(%x[d0] : memref<8xf32>) outs(%o[] : memref<f32>)
      schedule #tir.schedule<cache = [d0 : 4]>
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

// -----

tir.func @dot_of_a_rest(read %a: memref<8x6xi8>, read %b: memref<6x8xi8>, write %o: memref<8x8xi32>) {
  // expected-error @+1 {{expected a multiple of 4 as bound of 'd2' for 'dot'}}
  tir.nest dims [parallel 8, parallel 8, reduction 6] ins(%a[d0, d2] : memref<8x6xi8>, %b[d2, d1] : memref<6x8xi8>) outs(%o[d0, d1] : memref<8x8xi32>)
      schedule #tir.schedule<vector = d1 : 8, dot = d2 : 4>
    init {
      %zero = arith.constant 0 : i32
      tir.yield %zero : i32
    }
    body (%x: i8, %y: i8, %acc: i32) {
      %u = arith.extsi %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %acc, %p : i32
      tir.yield %s : i32
    }
    finish (%acc: i32) {
      tir.yield %acc : i32
    }
  tir.return
}

// -----

tir.func @dot_of_floats(read %a: memref<8x8xf32>, read %b: memref<8x8xf32>, write %o: memref<8x8xf32>) {
  // expected-error @+1 {{expected a body that adds a product of i8 or i16 to i32 for 'dot'}}
  tir.nest dims [parallel 8, parallel 8, reduction 8] ins(%a[d0, d2] : memref<8x8xf32>, %b[d2, d1] : memref<8x8xf32>) outs(%o[d0, d1] : memref<8x8xf32>)
      schedule #tir.schedule<vector = d1 : 8, dot = d2 : 4>
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
