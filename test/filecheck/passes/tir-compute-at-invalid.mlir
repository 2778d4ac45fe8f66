// RUN: transom-opt -p tir-compute-at %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a number of loops of at least 0, but got -1}}
builtin.module attributes {a = #tir.schedule<compute_at = -1>} {}

// -----

// Two nests read it.
tir.func @two_readers(read %x: memref<8xf32>, write %o: memref<8xf32>, write %p: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected 'compute_at' where all outputs are allocated in the kernel, and one other nest reads them, and nothing else}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%p[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

// It is a result of the kernel.
tir.func @output(read %x: memref<8xf32>, write %o: memref<8xf32>, write %p: memref<8xf32>) {
  // expected-error @+1 {{expected 'compute_at' where all outputs are allocated in the kernel, and one other nest reads them, and nothing else}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8] ins(%o[d0] : memref<8xf32>) outs(%p[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

// Nobody reads it.
tir.func @unread(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected 'compute_at' where all outputs are allocated in the kernel, and one other nest reads them, and nothing else}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.return
}

// -----

// One of two outputs is read.
tir.func @half_read(read %x: memref<8xf32>, write %o: memref<8xf32>, write %p: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected 'compute_at' where all outputs are allocated in the kernel, and one other nest reads them, and nothing else}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>, %o[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e, %e : f32, f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%p[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

// The reader writes there, too.
tir.func @in_place(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected 'compute_at' where all outputs are allocated in the kernel, and one other nest reads them, and nothing else}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

// Sums into the buffer would begin with nothing.
tir.func @combines(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected outputs with a map that combine nothing, for 'compute_at'}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] combine add : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

// What it reads is another thing by then.
tir.func @written_after(read_write %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected inputs that are not written after it, for 'compute_at'}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%x[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

// Loops that there are not.
tir.func @too_deep(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected at most 1 as 'compute_at', for so many loops are around what reads it, but got 2}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 2>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

// Steps of a block are apart.
tir.func @reader_combines(read %x: memref<8xf32>, read_write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected a reader whose outputs have a map and combine nothing, for 'compute_at' under its loops}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%o[d0] combine add : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

// Tiles of tiles have to be whole.
tir.func @parts(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 2>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  // expected-error @+1 {{expected whole tiles of 'd0' for a 'compute_at' inside of two loops of it, but 3 does not divide 8; a smaller 'compute_at' is outside of the second}}
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>) schedule #tir.schedule<cache = [d0 : 3]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

// No step of the loops moves what is read.
tir.func @whole(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected each step of the loops to read a part of it, for 'compute_at', but all of it may be read in each; with 0 it stays}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8, reduction 8] ins(%t[d1] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
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

// Where a pad is read, the part would have another.
tir.func @padded(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected each step of the loops to read a part of it, for 'compute_at', but all of it may be read in each; with 0 it stays}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0 - 1] pad 0.0 : f32 : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @divided(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected each step of the loops to read a part of it, for 'compute_at', but all of it may be read in each; with 0 it stays}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0 floordiv 2] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @indirect(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected each step of the loops to read a part of it, for 'compute_at', but all of it may be read in each; with 0 it stays}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  tir.nest dims [parallel 8] ins(%t[*] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%m: memref<8xf32>) {
      %i = tir.index 0 : index
      %v = memref.load %m[%i] : memref<8xf32>
      tir.yield %v : f32
    }
  tir.return
}

// -----

// What reads it is in a loop that is no block.
tir.func @branch(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc : memref<8xf32>
  // expected-error @+1 {{expected the nest that reads it in the same block of ops, or in a 'tir.block' of it, for 'compute_at'}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      %e = arith.mulf %v, %v : f32
      tir.yield %e : f32
    }
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %one step %one {
    tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
      finish (%v: f32) {
        tir.yield %v : f32
      }
  }
  tir.return
}

// -----

// A block is not parted.
tir.func @parted(read %x: memref<4x2xf32>, write %o: memref<4x2xf32>) {
  %t = tir.alloc : memref<4x2xf32>
  // expected-error @+1 {{expected 'compute_at' not to part the loops of a 'tir.block': 1 is none of 0, 2}}
  tir.nest dims [parallel 4, parallel 2] ins(%x[d0, d1] : memref<4x2xf32>) outs(%t[d0, d1] : memref<4x2xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.block (%i: index, %j: index) in dims [parallel 4, parallel 2] {
    tir.nest dims [] at (%i, %j) ins(%t[s0, s1] : memref<4x2xf32>) outs(%o[s0, s1] : memref<4x2xf32>)
      finish (%v: f32) {
        tir.yield %v : f32
      }
  }
  tir.return
}

// -----

// Rows that were computed at other points of the loop are read, too.
tir.func @other_points(read %x: memref<4x8xf32>, write %o: memref<4x8xf32>) {
  %t = tir.alloc : memref<4x8xf32>
  %one = arith.constant 1 : index
  tir.block (%i: index) in dims [sequential 4] {
    %n = arith.addi %i, %one : index
    // expected-error @+1 {{expected outputs that are allocated in the same block of ops, for 'compute_at': others hold what was computed before}}
    tir.nest dims [parallel 8] at (%i) ins(%x[s0, d0] : memref<4x8xf32>) outs(%t[s0, d0] : memref<4x8xf32>) schedule #tir.schedule<compute_at = 1>
      finish (%v: f32) {
        tir.yield %v : f32
      }
    tir.nest dims [parallel 8, reduction %n] at (%i) ins(%t[d1, d0] : memref<4x8xf32>) outs(%o[s0, d0] : memref<4x8xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%v: f32, %s: f32) {
        %r = arith.addf %s, %v : f32
        tir.yield %r : f32
      }
      finish (%s: f32) {
        tir.yield %s : f32
      }
  }
  tir.return
}

// -----

// Threads would share the place.
tir.func @planned(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %t = tir.alloc {pool = @p, offset = 64} : memref<8xf32>
  // expected-error @+1 {{expected outputs without a place in a pool, for 'compute_at'; 'tir-plan-memory' gives one to what is left of them}}
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%t[d0] : memref<8xf32>) schedule #tir.schedule<compute_at = 1>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}
