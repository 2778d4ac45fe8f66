// RUN: transom-opt -p tir-fuse-nests %s | filecheck %s
// RUN: transom-opt -p tir-fuse-nests,tir-fuse-nests %s | filecheck %s

// An element-wise nest joins the finish of the nest that it reads.
// CHECK-LABEL: @epilogue
tir.func @epilogue(read %x: memref<4x8xf32>, read %b: memref<4xf32>, write %o: memref<4xf32>) {
  // CHECK-NOT:     tir.alloc
  // CHECK:         tir.nest dims [parallel 4, reduction 8]
  // CHECK-NEXT:      ins(%{{.*}}[d0, d1] : memref<4x8xf32>, %{{.*}}[d0] : memref<4xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d0] : memref<4xf32>)
  // CHECK:         finish (%[[ACC:.*]]: f32, %[[B:.*]]: f32) {
  // CHECK-NEXT:      %[[S:.*]] = arith.addf %[[ACC]], %[[B]]
  // CHECK-NEXT:      tir.yield %[[S]]
  // CHECK-NOT:     tir.nest
  // CHECK:         tir.return
  %t = tir.alloc : memref<4xf32>
  tir.nest dims [parallel 4, reduction 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%t[d0] : memref<4xf32>)
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
  tir.nest dims [parallel 4] ins(%t[d0] : memref<4xf32>, %b[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32, %w: f32) {
      %s = arith.addf %v, %w : f32
      tir.yield %s : f32
    }
  tir.return
}

// An element-wise nest is computed where a reduction reads its result once.
// CHECK-LABEL: @prologue
tir.func @prologue(read %x: memref<4x8xf32>, write %o: memref<4xf32>) {
  // CHECK-NOT:     tir.alloc
  // CHECK:         tir.nest dims [parallel 4, reduction 8]
  // CHECK:         body (%[[V:.*]]: f32, %[[ACC:.*]]: f32) {
  // CHECK-NEXT:      %[[SQ:.*]] = arith.mulf %[[V]], %[[V]]
  // CHECK-NEXT:      arith.addf %[[ACC]], %[[SQ]]
  // CHECK-NOT:     tir.nest
  // CHECK:         tir.return
  %t = tir.alloc : memref<4x8xf32>
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%t[d0, d1] : memref<4x8xf32>)
    finish (%v: f32) {
      %s = arith.mulf %v, %v : f32
      tir.yield %s : f32
    }
  tir.nest dims [parallel 4, reduction 8] ins(%t[d0, d1] : memref<4x8xf32>) outs(%o[d0] : memref<4xf32>)
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
  tir.return
}

// Each element would be computed 8 times: the nests stay apart.
// CHECK-LABEL: @read_often
tir.func @read_often(read %x: memref<4xf32>, write %o: memref<8xf32>) {
  // CHECK:         tir.alloc
  // CHECK:         math.exp
  // CHECK:         tir.nest dims [parallel 8, reduction 4]
  %t = tir.alloc : memref<4xf32>
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%t[d0] : memref<4xf32>)
    finish (%v: f32) {
      %s = math.exp %v : f32
      tir.yield %s : f32
    }
  tir.nest dims [parallel 8, reduction 4] ins(%t[d1] : memref<4xf32>) outs(%o[d0] : memref<8xf32>)
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
  tir.return
}

// A value outside of the extent is the consumer's, not what the producer makes of it.
// CHECK-LABEL: @padded_reader
tir.func @padded_reader(read %x: memref<4xf32>, write %o: memref<6xf32>) {
  // CHECK:         %[[T:.*]] = tir.alloc
  // CHECK:         outs(%[[T]][d0]
  // CHECK:         ins(%[[T]][d0 - 1] pad
  %t = tir.alloc : memref<4xf32>
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%t[d0] : memref<4xf32>)
    finish (%v: f32) {
      %s = math.exp %v : f32
      tir.yield %s : f32
    }
  tir.nest dims [parallel 6] ins(%t[d0 - 1] pad 0.0 : f32 : memref<4xf32>) outs(%o[d0] : memref<6xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// A result of the kernel that another nest reads stays a result.
// CHECK-LABEL: @two_results
tir.func @two_results(read %x: memref<4xf32>, write %o: memref<4xf32>, write %p: memref<4xf32>) {
  // CHECK:         outs(%{{.*}}[d0] : memref<4xf32>, %{{.*}}[d0] : memref<4xf32>)
  // CHECK-NEXT:    finish (%[[V:.*]]: f32) {
  // CHECK-NEXT:      %[[E:.*]] = math.exp %[[V]]
  // CHECK-NEXT:      %[[N:.*]] = arith.negf %[[E]]
  // CHECK-NEXT:      tir.yield %[[E]], %[[N]]
  %t = tir.alloc : memref<4xf32>
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%t[d0] : memref<4xf32>, %o[d0] : memref<4xf32>)
    finish (%v: f32) {
      %s = math.exp %v : f32
      tir.yield %s, %s : f32, f32
    }
  tir.nest dims [parallel 4] ins(%t[d0] : memref<4xf32>) outs(%p[d0] : memref<4xf32>)
    finish (%v: f32) {
      %s = arith.negf %v : f32
      tir.yield %s : f32
    }
  tir.return
}

// Nests over the same rows are one block, with a buffer for one row.
// CHECK-LABEL: @rows
tir.func @rows(read %x: memref<4x8xf32>, write %o: memref<4x8xf32>) {
  // CHECK:         tir.block (%[[I:.*]]: index) in dims [parallel 4] {
  // CHECK-NEXT:      %[[M:.*]] = tir.alloc : memref<1xf32>
  // CHECK-NEXT:      tir.nest dims [reduction 8] at (%[[I]])
  // CHECK-NEXT:        ins(%{{.*}}[s0, d0] : memref<4x8xf32>)
  // CHECK-NEXT:        outs(%[[M]][0] : memref<1xf32>)
  // CHECK:           tir.nest dims [parallel 8] at (%[[I]])
  // CHECK-NEXT:        ins(%{{.*}}[s0, d0] : memref<4x8xf32>, %[[M]][0] : memref<1xf32>)
  // CHECK-NEXT:        outs(%{{.*}}[s0, d0] : memref<4x8xf32>)
  %t = tir.alloc : memref<4x1xf32>
  tir.nest dims [parallel 4, reduction 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%t[d0, 0] : memref<4x1xf32>)
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
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>, %t[d0, 0] : memref<4x1xf32>) outs(%o[d0, d1] : memref<4x8xf32>)
    finish (%v: f32, %m: f32) {
      %s = arith.subf %v, %m : f32
      tir.yield %s : f32
    }
  tir.return
}

// What is left of a buffer stays in its memory.
// CHECK-LABEL: @rows_in_memory
// CHECK:           tir.alloc {memory = @sram} : memref<1xf32, @sram>
tir.func @rows_in_memory(read %x: memref<4x8xf32>, write %o: memref<4x8xf32>) {
  %t = tir.alloc {memory = @sram} : memref<4x1xf32, @sram>
  tir.nest dims [parallel 4, reduction 8] ins(%x[d0, d1] : memref<4x8xf32>) outs(%t[d0, 0] : memref<4x1xf32, @sram>)
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
  tir.nest dims [parallel 4, parallel 8] ins(%x[d0, d1] : memref<4x8xf32>, %t[d0, 0] : memref<4x1xf32, @sram>) outs(%o[d0, d1] : memref<4x8xf32>)
    finish (%v: f32, %m: f32) {
      %s = arith.subf %v, %m : f32
      tir.yield %s : f32
    }
  tir.return
}

// The second nest reads columns of what the first wrote in rows: there is no common row.
// CHECK-LABEL: @transposed_reader
tir.func @transposed_reader(read %x: memref<4x4xf32>, write %o: memref<4xf32>) {
  // CHECK-NOT:     tir.block
  // CHECK:         tir.return
  %t = tir.alloc : memref<4x4xf32>
  %m = tir.alloc : memref<4xf32>
  tir.nest dims [parallel 4, sequential 4] ins(%x[d0, d1] : memref<4x4xf32>) outs(%t[d0, d1] : memref<4x4xf32>)
    init {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%acc: f32, %v: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 4, reduction 4] ins(%t[d1, d0] : memref<4x4xf32>) outs(%o[d0] : memref<4xf32>)
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
  tir.return
}

// What the producer reads is written before its consumer runs: it can not move there.
// CHECK-LABEL: @overwritten
tir.func @overwritten(read_write %x: memref<4xf32>, write %o: memref<4xf32>) {
  // CHECK:         tir.alloc
  // CHECK:         tir.copy
  // CHECK:         tir.nest
  %t = tir.alloc : memref<4xf32>
  %c = tir.alloc : memref<4xf32>
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%t[d0] : memref<4xf32>)
    finish (%v: f32) {
      %s = arith.negf %v : f32
      tir.yield %s : f32
    }
  tir.copy %c, %x : memref<4xf32>, memref<4xf32>
  tir.nest dims [parallel 4] ins(%t[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) {
      %s = math.exp %v : f32
      tir.yield %s : f32
    }
  tir.return
}

// Equal inputs and symbols of both nests become one.
// CHECK-LABEL: @shared_inputs
tir.func @shared_inputs(read %x: memref<8xf32>, write %o: memref<4xf32>, read %s: index) {
  // CHECK:         tir.nest dims [parallel 4] at (%[[S:.*]])
  // CHECK-NEXT:      ins(%{{.*}}[d0 + s0] : memref<8xf32>)
  // CHECK:         finish (%[[V:.*]]: f32) {
  // CHECK-NEXT:      %[[N:.*]] = arith.negf %[[V]]
  // CHECK-NEXT:      arith.addf %[[N]], %[[V]]
  %t = tir.alloc : memref<4xf32>
  tir.nest dims [parallel 4] at (%s) ins(%x[d0 + s0] : memref<8xf32>) outs(%t[d0] : memref<4xf32>)
    finish (%v: f32) {
      %n = arith.negf %v : f32
      tir.yield %n : f32
    }
  tir.nest dims [parallel 4] at (%s) ins(%t[d0] : memref<4xf32>, %x[d0 + s0] : memref<8xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32, %w: f32) {
      %a = arith.addf %v, %w : f32
      tir.yield %a : f32
    }
  tir.return
}

// The index that a nest asks for is the one of the nest that it goes to.
// CHECK-LABEL: @indices
tir.func @indices(write %o: memref<4x8xindex>) {
  // CHECK:         tir.nest dims [parallel 8, parallel 4]
  // CHECK:           outs(%{{.*}}[d1, d0] : memref<4x8xindex>)
  // CHECK:           %[[D:.*]] = tir.index 1 : index
  // CHECK-NEXT:      arith.addi %{{.*}}, %[[D]]
  %t = tir.alloc : memref<8x4xindex>
  tir.nest dims [parallel 8, parallel 4] outs(%t[d0, d1] : memref<8x4xindex>)
    finish {
      %i = tir.index 0 : index
      tir.yield %i : index
    }
  tir.nest dims [parallel 4, parallel 8] ins(%t[d1, d0] : memref<8x4xindex>) outs(%o[d0, d1] : memref<4x8xindex>)
    finish (%v: index) {
      %i = tir.index 0 : index
      %s = arith.addi %v, %i : index
      tir.yield %s : index
    }
  tir.return
}

// The buffer is read through a view: the second nest sees other elements.
// CHECK-LABEL: @view
tir.func @view(read %x: memref<4x2xf32>, write %o: memref<8xf32>) {
  // CHECK:         tir.alloc
  // CHECK:         tir.nest
  // CHECK:         tir.nest
  %t = tir.alloc : memref<4x2xf32>
  tir.nest dims [parallel 4, parallel 2] ins(%x[d0, d1] : memref<4x2xf32>) outs(%t[d0, d1] : memref<4x2xf32>)
    finish (%v: f32) {
      %n = arith.negf %v : f32
      tir.yield %n : f32
    }
  %w = memref.reinterpret_cast %t to offset: [0], sizes: [8], strides: [1] : memref<4x2xf32> to memref<8xf32>
  tir.nest dims [parallel 8] ins(%w[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      %e = math.exp %v : f32
      tir.yield %e : f32
    }
  tir.return
}

// What the first nest reads is written through a view before the second runs.
// CHECK-LABEL: @overwritten_view
tir.func @overwritten_view(read_write %x: memref<4x1xf32>, write %o: memref<4x1xf32>) {
  // CHECK:         tir.nest
  // CHECK:         tir.nest
  // CHECK:         tir.nest
  %w = memref.reinterpret_cast %x to offset: [0], sizes: [4], strides: [1] : memref<4x1xf32> to memref<4xf32>
  %t = tir.alloc : memref<4x1xf32>
  tir.nest dims [parallel 4, parallel 1] ins(%x[d0, d1] : memref<4x1xf32>) outs(%t[d0, d1] : memref<4x1xf32>)
    finish (%v: f32) {
      %n = arith.negf %v : f32
      tir.yield %n : f32
    }
  tir.nest dims [parallel 4] outs(%w[d0] : memref<4xf32>)
    finish {
      %z = arith.constant 0.0 : f32
      tir.yield %z : f32
    }
  tir.nest dims [parallel 4, parallel 1] ins(%t[d0, d1] : memref<4x1xf32>) outs(%o[d0, d1] : memref<4x1xf32>)
    finish (%v: f32) {
      %e = math.exp %v : f32
      tir.yield %e : f32
    }
  tir.return
}

// A loop in between reads the first nest's other result: the nest stays in front.
// CHECK-LABEL: @read_in_a_loop
tir.func @read_in_a_loop(read %x: memref<4xf32>, write %o: memref<4xf32>, write %p: memref<4xf32>, write %q: memref<4xf32>) {
  // CHECK:         tir.nest
  // CHECK:         scf.for
  // CHECK:         tir.nest dims [parallel 4]
  // CHECK-NEXT:      ins(%{{.*}}[d0] : memref<4xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d0] : memref<4xf32>)
  // CHECK-NEXT:    finish (%{{.*}}: f32) {
  // CHECK-NEXT:      math.exp
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>, %p[d0] : memref<4xf32>)
    finish (%v: f32) {
      %n = arith.negf %v : f32
      tir.yield %n, %v : f32, f32
    }
  scf.for %i = %zero to %two step %one {
    tir.copy %p, %q : memref<4xf32>, memref<4xf32>
  }
  tir.nest dims [parallel 4] ins(%o[d0] : memref<4xf32>) outs(%q[d0] : memref<4xf32>)
    finish (%v: f32) {
      %e = math.exp %v : f32
      tir.yield %e : f32
    }
  tir.return
}

// The first nest leaves half of the buffer as it is: inside of the second its reads
// would be outside of what they read.
// CHECK-LABEL: @half_filled
tir.func @half_filled(read %x: memref<4xf32>, write %o: memref<8xf32>) {
  // CHECK:         tir.nest dims [parallel 4]
  // CHECK:         tir.nest dims [parallel 8]
  %t = tir.alloc : memref<8xf32>
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%t[d0] : memref<8xf32>)
    finish (%v: f32) {
      %n = arith.negf %v : f32
      tir.yield %n : f32
    }
  tir.nest dims [parallel 8] ins(%t[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// A schedule is about the dims and the work of its nest: it is not lost.
// CHECK-LABEL: @scheduled
tir.func @scheduled(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // CHECK:         tir.nest dims [parallel 4]
  // CHECK:           schedule #tir.schedule<vector = d0 : 2>
  // CHECK:         tir.nest dims [parallel 4]
  // CHECK:           schedule #tir.schedule<vector = d0 : 4>
  %t = tir.alloc : memref<4xf32>
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%t[d0] : memref<4xf32>)
    schedule #tir.schedule<vector = d0 : 2>
    finish (%v: f32) {
      %n = arith.negf %v : f32
      tir.yield %n : f32
    }
  tir.nest dims [parallel 4] ins(%t[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    schedule #tir.schedule<vector = d0 : 4>
    finish (%v: f32) {
      %e = math.exp %v : f32
      tir.yield %e : f32
    }
  tir.return
}

// Sizes that are asked of a buffer of the kernel are those that it was made with.
// CHECK-LABEL: @sizes
tir.func @sizes(read %x: memref<?xf32>, write %o: memref<?xf32>, read %n: index) {
  // CHECK:         tir.nest dims [parallel %[[N:.*]]]
  // CHECK:           arith.negf
  // CHECK-NEXT:      math.exp
  // CHECK-NOT:     tir.nest
  // CHECK:         tir.return
  %t = tir.alloc (%n) : memref<?xf32>
  tir.nest dims [parallel %n] ins(%x[d0] : memref<?xf32>) outs(%t[d0] : memref<?xf32>)
    finish (%v: f32) {
      %e = arith.negf %v : f32
      tir.yield %e : f32
    }
  %zero = arith.constant 0 : index
  %m = memref.dim %t, %zero : memref<?xf32>
  tir.nest dims [parallel %m] ins(%t[d0] : memref<?xf32>) outs(%o[d0] : memref<?xf32>)
    finish (%v: f32) {
      %e = math.exp %v : f32
      tir.yield %e : f32
    }
  tir.return
}

// So are those of a view.
// CHECK-LABEL: @sizes_of_view
tir.func @sizes_of_view(read %x: memref<?xf32>, write %o: memref<2x?xf32>, read %n: index) {
  // CHECK-NOT:     memref.dim
  // CHECK:         tir.nest dims [parallel 2, parallel %n]
  // CHECK-NOT:     memref.dim
  // CHECK:         tir.return
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [2, %n], strides: [%n, 1] : memref<?xf32> to memref<2x?xf32>
  %one = arith.constant 1 : index
  %m = memref.dim %v, %one : memref<2x?xf32>
  tir.nest dims [parallel 2, parallel %m] ins(%v[d0, d1] : memref<2x?xf32>) outs(%o[d0, d1] : memref<2x?xf32>)
    finish (%e: f32) {
      tir.yield %e : f32
    }
  tir.return
}
