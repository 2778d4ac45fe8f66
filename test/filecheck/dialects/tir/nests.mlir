// RUN: transom-opt %s | filecheck %s
// RUN: %roundtrip

// Every kind of nest that lowering makes.

// CHECK-LABEL: tir.func @element_wise(
tir.func @element_wise(read %a: memref<4x?xf32>, read %b: memref<?xf32>, write %o: memref<4x?xf32>, read %n: index) {
  // CHECK:      tir.nest dims [parallel 4, parallel %n]
  // CHECK-NEXT:     ins(%a[d0, d1] : memref<4x?xf32>, %b[d1] : memref<?xf32>)
  // CHECK-NEXT:     outs(%o[d0, d1] : memref<4x?xf32>)
  // CHECK-NEXT:   finish (%x: f32, %y: f32) {
  tir.nest dims [parallel 4, parallel %n]
      ins(%a[d0, d1] : memref<4x?xf32>, %b[d1] : memref<?xf32>)
      outs(%o[d0, d1] : memref<4x?xf32>)
    finish (%x: f32, %y: f32) {
      %sum = arith.addf %x, %y : f32
      tir.yield %sum : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @matmul_bias_gelu(
tir.func @matmul_bias_gelu(read %a: memref<8x16xf32>, read %w: memref<16x32xf32>, read %bias: memref<32xf32>, write %o: memref<8x32xf32>) {
  // CHECK:      tir.nest dims [parallel 8, parallel 32, reduction 16]
  // CHECK:          outs(%o[d0, d1] : memref<8x32xf32>)
  // CHECK-NEXT:     schedule #tir.schedule<register = [d0 : 4], vector = d1 : 16>
  // CHECK-NEXT:   init {
  // CHECK:        body (%x: f32, %y: f32, %unused: f32, %acc: f32) {
  // The bias does not depend on the reduction dim, so finish sees it; a and w do.
  // CHECK:        finish (%sum: f32, %b: f32) {
  tir.nest dims [parallel 8, parallel 32, reduction 16]
      ins(%a[d0, d2] : memref<8x16xf32>, %w[d2, d1] : memref<16x32xf32>, %bias[d1] : memref<32xf32>)
      outs(%o[d0, d1] : memref<8x32xf32>)
      schedule #tir.schedule<vector = d1 : 16, register = [d0 : 4]>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %unused: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %next = arith.addf %acc, %p : f32
      tir.yield %next : f32
    }
    finish (%sum: f32, %b: f32) {
      %v = arith.addf %sum, %b : f32
      %half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %scale = arith.constant 0.707106769 : f32
      %t = arith.mulf %v, %scale : f32
      %e = math.erf %t : f32
      %e1 = arith.addf %e, %one : f32
      %h = arith.mulf %v, %half : f32
      %y = arith.mulf %h, %e1 : f32
      tir.yield %y : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @conv_residual_relu(
tir.func @conv_residual_relu(read %x: memref<1x8x6x6xf32>, read %w: memref<4x8x3x3xf32>, read %r: memref<1x4x6x6xf32>, write %o: memref<1x4x6x6xf32>) {
  // CHECK: %x[d0, d4, d2 + d5 - 1, d3 + d6 - 1] pad 0.000000e+00 : f32 : memref<1x8x6x6xf32>
  tir.nest dims [parallel 1, parallel 4, parallel 6, parallel 6, reduction 8, reduction 3, reduction 3]
      ins(%x[d0, d4, d2 + d5 - 1, d3 + d6 - 1] pad 0.0 : f32 : memref<1x8x6x6xf32>,
          %w[d1, d4, d5, d6] : memref<4x8x3x3xf32>, %r[d0, d1, d2, d3] : memref<1x4x6x6xf32>)
      outs(%o[d0, d1, d2, d3] : memref<1x4x6x6xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %b: f32, %c: f32, %acc: f32) {
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32, %res: f32) {
      %zero = arith.constant 0.0 : f32
      %s = arith.addf %acc, %res : f32
      %y = arith.maximumf %s, %zero : f32
      tir.yield %y : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @max_pool_with_indices(
tir.func @max_pool_with_indices(read %x: memref<8x8xf32>, write %o: memref<4x4xf32>, write %at: memref<4x4xi64>) {
  // CHECK:       init {
  // CHECK:         tir.yield %low, %none : f32, i64
  // CHECK:       body (%v: f32, %best: f32, %where: i64) {
  // CHECK-NEXT:    %i = tir.index 0 : index
  tir.nest dims [parallel 4, parallel 4, reduction 2, reduction 2]
      ins(%x[d0 * 2 + d2, d1 * 2 + d3] : memref<8x8xf32>)
      outs(%o[d0, d1] : memref<4x4xf32>, %at[d0, d1] : memref<4x4xi64>)
    init {
      %low = arith.constant 0xFF800000 : f32
      %none = arith.constant 0 : i64
      tir.yield %low, %none : f32, i64
    }
    body (%v: f32, %best: f32, %where: i64) {
      %i = tir.index 0 : index
      %j = tir.index 1 : index
      %k = tir.index 2 : index
      %l = tir.index 3 : index
      %two = arith.constant 2 : index
      %eight = arith.constant 8 : index
      %i2 = arith.muli %i, %two : index
      %row = arith.addi %i2, %k : index
      %j2 = arith.muli %j, %two : index
      %column = arith.addi %j2, %l : index
      %start = arith.muli %row, %eight : index
      %flat = arith.addi %start, %column : index
      %here = arith.index_cast %flat : index to i64
      %more = arith.cmpf ogt, %v, %best : f32
      %b = arith.select %more, %v, %best : f32
      %w = arith.select %more, %here, %where : i64
      tir.yield %b, %w : f32, i64
    }
    finish (%best: f32, %where: i64) {
      tir.yield %best, %where : f32, i64
    }
  tir.return
}

// CHECK-LABEL: tir.func @cumsum(
tir.func @cumsum(read %x: memref<4x9xf32>, write %o: memref<4x9xf32>) {
  // CHECK: tir.nest dims [parallel 4, sequential 9]
  tir.nest dims [parallel 4, sequential 9]
      ins(%x[d0, d1] : memref<4x9xf32>) outs(%o[d0, d1] : memref<4x9xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%acc: f32, %v: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @gather(
tir.func @gather(read %data: memref<10x4xf32>, read %which: memref<3xi64>, write %o: memref<3x4xf32>) {
  // CHECK:      ins(%data[*] : memref<10x4xf32>, %which[d0] : memref<3xi64>)
  // CHECK:      finish (%table: memref<10x4xf32>, %row: i64) {
  tir.nest dims [parallel 3, parallel 4]
      ins(%data[*] : memref<10x4xf32>, %which[d0] : memref<3xi64>)
      outs(%o[d0, d1] : memref<3x4xf32>)
    finish (%table: memref<10x4xf32>, %row: i64) {
      %i = arith.index_cast %row : i64 to index
      %j = tir.index 1 : index
      %v = memref.load %table[%i, %j] : memref<10x4xf32>
      tir.yield %v : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @scatter_add(
tir.func @scatter_add(read %values: memref<6xf32>, read %which: memref<6xi64>, read_write %o: memref<4xf32>) {
  // CHECK: outs(%o[*] combine add : memref<4xf32>)
  tir.nest dims [parallel 6]
      ins(%values[d0] : memref<6xf32>, %which[d0] : memref<6xi64>)
      outs(%o[*] combine add : memref<4xf32>)
    finish (%v: f32, %at: i64) {
      %i = arith.index_cast %at : i64 to index
      tir.yield %v, %i : f32, index
    }
  tir.return
}

// CHECK-LABEL: tir.func @quantised_matmul(
tir.func @quantised_matmul(read %a: memref<8x16xi8>, read %w: memref<16x4xi8>, write %o: memref<8x4xi8>, read %shift: i32) {
  // CHECK: body (%x: i8, %y: i8, %acc: i32) {
  tir.nest dims [parallel 8, parallel 4, reduction 16]
      ins(%a[d0, d2] : memref<8x16xi8>, %w[d2, d1] : memref<16x4xi8>) outs(%o[d0, d1] : memref<8x4xi8>)
    init {
      %zero = arith.constant 0 : i32
      tir.yield %zero : i32
    }
    body (%x: i8, %y: i8, %acc: i32) {
      %x32 = arith.extsi %x : i8 to i32
      %y32 = arith.extsi %y : i8 to i32
      %p = arith.muli %x32, %y32 : i32
      %s = arith.addi %acc, %p : i32
      tir.yield %s : i32
    }
    finish (%acc: i32) {
      %low = arith.constant -128 : i32
      %high = arith.constant 127 : i32
      // A number from outside the nest.
      %r = arith.shrsi %acc, %shift : i32
      %l = arith.maxsi %r, %low : i32
      %h = arith.minsi %l, %high : i32
      %q = arith.trunci %h : i32 to i8
      tir.yield %q : i8
    }
  tir.return
}

// Symbols are enclosing indices and strides known at run time.
// CHECK-LABEL: tir.func @strided_row(
tir.func @strided_row(read %x: memref<?x?xf32>, write %o: memref<?xf32>, read %row: index, read %stride: index, read %n: index) {
  // CHECK:      tir.nest dims [parallel %n] at (%row, %stride)
  // CHECK-NEXT:     ins(%x[s0, d0 * s1 - 1] pad 0.000000e+00 : f32 : memref<?x?xf32>)
  tir.nest dims [parallel %n] at (%row, %stride)
      ins(%x[s0, s1 * d0 - 1] pad 0.0 : f32 : memref<?x?xf32>) outs(%o[d0] : memref<?xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// An output that is an input too, and an attribute of the user's.
// CHECK-LABEL: tir.func @in_place(
tir.func @in_place(read_write %x: memref<7xf32>) {
  // CHECK: outs(%x[-d0 + 6] : memref<7xf32>) attributes {test.hint = 1 : i32}
  tir.nest dims [parallel 7]
      ins(%x[6 - d0] : memref<7xf32>) outs(%x[6 - d0] : memref<7xf32>) attributes {test.hint = 1 : i32}
    finish (%v: f32) {
      %y = arith.negf %v : f32
      tir.yield %y : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @no_dims(
tir.func @no_dims(read %x: memref<f32>, write %o: memref<1xf32>) {
  // CHECK:      tir.nest dims []
  // CHECK-NEXT:     ins(%x[] : memref<f32>)
  // CHECK-NEXT:     outs(%o[0] : memref<1xf32>)
  tir.nest dims [] ins(%x[] : memref<f32>) outs(%o[0] : memref<1xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}
