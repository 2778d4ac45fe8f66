// RUN: %diagnose -p convert-tir-to-scf

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
