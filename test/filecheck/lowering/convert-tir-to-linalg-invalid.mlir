// RUN: %diagnose -p convert-tir-to-linalg

tir.func @pad(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{expected no pad value of input 0}}
  tir.nest dims [parallel 4] ins(%x[d0 - 1] pad 0.0 : f32 : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @indirect(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{expected an affine access of input 0, not indirect}}
  tir.nest dims [parallel 4] ins(%x[*] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%m: memref<4xf32>) {
      %i = tir.index 0 : index
      %v = memref.load %m[%i] : memref<4xf32>
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @combine(read %x: memref<4xf32>, read_write %o: memref<4xf32>) {
  // expected-error @+1 {{expected no 'combine' of output 0}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%o[d0] combine add : memref<4xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @sequential(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{expected parallel and reduction dims, but 'd0' is sequential}}
  tir.nest dims [sequential 4] ins(%x[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %sum: f32) {
      %s = arith.addf %sum, %v : f32
      tir.yield %s : f32
    }
    finish (%sum: f32, %v: f32) {
      tir.yield %sum : f32
    }
  tir.return
}

// -----

tir.func @schedule(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  // expected-error @+1 {{expected no schedule, which 'linalg' cannot say}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<vector = d0 : 8>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @narrow_output(read %x: memref<4x8xf32>, write %o: memref<4xbf16>) {
  // expected-error @+1 {{expected an accumulator of the type of each output, 'bf16', but got 'f32'}}
  tir.nest dims [parallel 4, reduction 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%o[d0] : memref<4xbf16>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %sum: f32) {
      %s = arith.addf %sum, %v : f32
      tir.yield %s : f32
    }
    finish (%sum: f32) {
      %r = arith.truncf %sum : f32 to bf16
      tir.yield %r : bf16
    }
  tir.return
}

// -----

tir.func @part(read %x: memref<8xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{expected 'd0' to run along a whole axis of each operand}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @block(read %x: memref<4x8xf32>, write %o: memref<4x8xf32>) {
  // expected-error @+1 {{expected nests without common rows, which 'linalg' cannot say}}
  tir.block (%i: index) in dims [parallel 4] {
    // expected-note @+1 {{expected accesses without operands of 'at'}}
    tir.nest dims [parallel 8] at (%i) ins(%x[s0, d0] : memref<4x8xf32>) outs(%o[s0, d0] : memref<4x8xf32>)
      finish (%v: f32) {
        tir.yield %v : f32
      }
  }
  tir.return
}
