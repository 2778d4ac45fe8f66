// RUN: %diagnose -p tir-pack-operands

tir.func @nothing_is_read(read %a: memref<0x8xf32>, write %o: memref<0x8xf32>) {
  // expected-error @+1 {{expected 'in0' to be read, but 'd0' has no points}}
  tir.nest dims [parallel 0, parallel 8] ins(%a[d0, d1] : memref<0x8xf32>) outs(%o[d0, d1] : memref<0x8xf32>)
      schedule #tir.schedule<vector = d1 : 8, pack = [in0]>
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}

// -----

tir.func @symbol(read %a: memref<16xf32>, write %o: memref<8xf32>, read %n: index) {
  // expected-error @+1 {{expected an access without symbols to pack 'in0'}}
  tir.nest dims [parallel 8] at (%n) ins(%a[d0 + s0] : memref<16xf32>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<vector = d0 : 8, pack = [in0]>
    finish (%x: f32) {
      tir.yield %x : f32
    }
  tir.return
}

// -----

tir.func @not_extended(read %x: memref<8xf16>, write %o: memref<8xf16>) {
  // expected-error @+1 {{expected all uses of 'in0' to extend it, to widen it}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf16>) outs(%o[d0] : memref<8xf16>)
      schedule #tir.schedule<widen = [in0]>
    finish (%v: f16) {
      tir.yield %v : f16
    }
  tir.return
}

// -----

tir.func @unknown_size(read %x: memref<?xf16>, write %o: memref<8xf32>) {
  // expected-error @+1 {{expected a static shape to widen 'in0', but got 'memref<?xf16>'}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<?xf16>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<widen = [in0]>
    finish (%v: f16) {
      %w = arith.extf %v : f16 to f32
      tir.yield %w : f32
    }
  tir.return
}

// -----

tir.func @own_result(read_write %x: memref<8xf16>) {
  // expected-error @+1 {{expected 'in0' to be no output, to copy it}}
  tir.nest dims [sequential 8] ins(%x[d0] : memref<8xf16>) outs(%x[d0] : memref<8xf16>)
      schedule #tir.schedule<widen = [in0]>
    finish (%v: f16) {
      %w = arith.extf %v : f16 to f32
      %s = arith.addf %w, %w : f32
      %r = arith.truncf %s : f32 to f16
      tir.yield %r : f16
    }
  tir.return
}
