// RUN: transom-opt -p canonicalize %s | filecheck %s

// CHECK-LABEL: tir.func @constant_bounds(
tir.func @constant_bounds(read %x: memref<4x?xf32>, write %o: memref<4x?xf32>, read %n: index) {
  %zero = arith.constant 0 : index
  %rows = memref.dim %x, %zero : memref<4x?xf32>
  %one = arith.constant 1 : index
  // The second extent is not known.
  %columns = memref.dim %x, %one : memref<4x?xf32>
  // CHECK: tir.nest dims [parallel 4, parallel %columns, parallel 1]
  tir.nest dims [parallel %rows, parallel %columns, parallel %one]
      ins(%x[d0, d1] : memref<4x?xf32>) outs(%o[d0, d1 + d2] : memref<4x?xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  // CHECK: tir.block (%i: index) in dims [parallel 1]
  tir.block (%i: index) in dims [parallel %one] {
    tir.nest dims [parallel 4] at (%i) ins(%x[d0, s0] : memref<4x?xf32>) outs(%o[d0, s0] : memref<4x?xf32>)
      finish (%v: f32) {
        tir.yield %v : f32
      }
  }
  tir.return
}

// CHECK-LABEL: tir.func @symbols(
tir.func @symbols(read %x: memref<?x8xf32>, write %o: memref<8xf32>, read %i: index, read %unused: index) {
  %two = arith.constant 2 : index
  // CHECK:      tir.nest dims [parallel 8] at (%i)
  // CHECK-NEXT:   ins(%x[d0 * 2 + s0 + 2, d0] : memref<?x8xf32>)
  tir.nest dims [parallel 8] at (%unused, %two, %i, %i, %two)
      ins(%x[d0 * s1 + s2 * 2 - s3 + s4, d0] : memref<?x8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// Division by zero stays a fault of the run, not of the map.
// CHECK-LABEL: tir.func @zero_divisor(
tir.func @zero_divisor(read %x: memref<?xf32>, write %o: memref<8xf32>) {
  %zero = arith.constant 0 : index
  // CHECK:      tir.nest dims [parallel 8] at (%zero)
  // CHECK-NEXT:   ins(%x[d0 floordiv s0] : memref<?xf32>)
  tir.nest dims [parallel 8] at (%zero) ins(%x[d0 floordiv s0] : memref<?xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// A schedule follows the inputs that are left.
// CHECK-LABEL: tir.func @scheduled_inputs(
tir.func @scheduled_inputs(read %x: memref<8xf32>, read %y: memref<8xf32>, read %z: memref<8xf32>, write %o: memref<8xf32>) {
  // CHECK:      ins(%y[d0] : memref<8xf32>, %z[d0] : memref<8xf32>)
  // CHECK:      schedule #tir.schedule<vector = d0 : 4, pack = [in0], widen = [in1, in0], prefetch = [in1 : 16]>
  tir.nest dims [parallel 8]
      ins(%x[d0] : memref<8xf32>, %y[d0] : memref<8xf32>, %y[d0] : memref<8xf32>, %z[d0] : memref<8xf32>)
      outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<vector = d0 : 4, pack = [in1, in2], widen = [in3, in1, in0], prefetch = [in0 : 4, in3 : 16]>
    finish (%a: f32, %b: f32, %c: f32, %d: f32) {
      %s = arith.addf %b, %c : f32
      %t = arith.addf %s, %d : f32
      tir.yield %t : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @inputs(
tir.func @inputs(read %x: memref<8xf32>, read %y: memref<8xf32>, write %o: memref<8xf32>) {
  // The first and the third are one; the second is not used; the last is padded.
  // CHECK:      ins(%x[d0] : memref<8xf32>, %x[d0 - 1] pad 0.000000e+00 : f32 : memref<8xf32>)
  // CHECK:      finish (%a: f32, %d: f32) {
  // CHECK-NEXT:   %s = arith.addf %a, %a : f32
  // CHECK-NEXT:   %t = arith.addf %s, %d : f32
  tir.nest dims [parallel 8]
      ins(%x[d0] : memref<8xf32>, %y[d0] : memref<8xf32>, %x[d0] : memref<8xf32>, %x[d0 - 1] pad 0.0 : f32 : memref<8xf32>)
      outs(%o[d0] : memref<8xf32>)
    finish (%a: f32, %b: f32, %c: f32, %d: f32) {
      %s = arith.addf %a, %c : f32
      %t = arith.addf %s, %d : f32
      tir.yield %t : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @accumulators(
tir.func @accumulators(read %x: memref<8xf32>, write %o: memref<f32>) {
  // The first feeds the last, which is the result; the second feeds only itself.
  // CHECK:      tir.yield %one, %two : f32, f32
  // CHECK:      body (%v: f32, %a: f32, %c: f32) {
  // CHECK-NEXT:   %na = arith.addf %a, %v : f32
  // CHECK-NEXT:   %nc = arith.mulf %c, %a : f32
  // CHECK-NEXT:   tir.yield %na, %nc : f32, f32
  // CHECK:      finish (%{{.*}}: f32, %c{{.*}}: f32) {
  tir.nest dims [reduction 8] ins(%x[d0] : memref<8xf32>) outs(%o[] : memref<f32>)
    init {
      %one = arith.constant 1.0 : f32
      %three = arith.constant 3.0 : f32
      %two = arith.constant 2.0 : f32
      tir.yield %one, %three, %two : f32, f32, f32
    }
    body (%v: f32, %a: f32, %b: f32, %c: f32) {
      %na = arith.addf %a, %v : f32
      %nb = arith.addf %b, %v : f32
      %nc = arith.mulf %c, %a : f32
      tir.yield %na, %nb, %nc : f32, f32, f32
    }
    finish (%a: f32, %b: f32, %c: f32) {
      tir.yield %c : f32
    }
  // Without accumulators there is no body.
  // CHECK:      tir.nest dims [parallel 8]
  // CHECK-NEXT:     ins(%x[d0] : memref<8xf32>)
  // CHECK-NOT:    init
  // CHECK:        finish
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[] combine add : memref<f32>)
    init {
      %one = arith.constant 1.0 : f32
      tir.yield %one : f32
    }
    body (%v: f32, %a: f32) {
      %na = arith.addf %a, %v : f32
      tir.yield %na : f32
    }
    finish (%a: f32, %v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// A reduction needs an accumulator, be it of no use.
// CHECK-LABEL: tir.func @reduction_keeps_one(
tir.func @reduction_keeps_one(read %x: memref<8xf32>, write %o: memref<f32>, read %z: f32) {
  // CHECK: body (%a: f32) {
  tir.nest dims [reduction 8] ins(%x[d0] : memref<8xf32>) outs(%o[] : memref<f32>)
    init {
      tir.yield %z, %z : f32, f32
    }
    body (%v: f32, %a: f32, %b: f32) {
      %s = arith.addf %v, %b : f32
      tir.yield %a, %s : f32, f32
    }
    finish (%a: f32, %b: f32) {
      tir.yield %z : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @padding(
tir.func @padding(read %x: memref<10xf32>, read %y: memref<?xf32>, write %o: memref<8xf32>) {
  // Inside the extent; one element too far; an unknown extent.
  // CHECK: ins(%x[d0 + 2] : memref<10xf32>, %x[d0 + 3] pad 0.000000e+00 : f32 : memref<10xf32>, %y[d0] pad 0.000000e+00 : f32 : memref<?xf32>)
  tir.nest dims [parallel 8]
      ins(%x[d0 + 2] pad 0.0 : f32 : memref<10xf32>, %x[d0 + 3] pad 0.0 : f32 : memref<10xf32>, %y[d0] pad 0.0 : f32 : memref<?xf32>)
      outs(%o[d0] : memref<8xf32>)
    finish (%a: f32, %b: f32, %c: f32) {
      %s = arith.addf %a, %b : f32
      %t = arith.addf %s, %c : f32
      tir.yield %t : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @nothing_to_do(
// CHECK-NEXT:    tir.return
tir.func @nothing_to_do(read %x: memref<0x8xf32>, read_write %o: memref<0x8xf32>) {
  %unused = tir.alloc : memref<8xf32>
  tir.nest dims [parallel 0, parallel 8] ins(%x[d0, d1] : memref<0x8xf32>) outs(%o[d0, d1] : memref<0x8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.block (%i: index) in dims [parallel 0] {
    tir.extern "f"() : () -> ()
  }
  tir.block (%i: index) in dims [parallel 4] {
  }
  tir.copy %o, %o : memref<0x8xf32>, memref<0x8xf32>
  tir.return
}

// The sum over nothing is what init gives.
// CHECK-LABEL: tir.func @empty_sum(
tir.func @empty_sum(read %x: memref<0xf32>, write %o: memref<f32>) {
  // CHECK: tir.nest dims [reduction 0]
  tir.nest dims [reduction 0] ins(%x[d0] : memref<0xf32>) outs(%o[] : memref<f32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %a: f32) {
      %s = arith.addf %v, %a : f32
      tir.yield %s : f32
    }
    finish (%a: f32) {
      tir.yield %a : f32
    }
  tir.return
}
