// RUN: transom-opt -p 'tir-choose-schedule{vector-bytes=64 register-count=32 mask-bytes=1}' %s | filecheck %s
// RUN: transom-opt -p 'tir-choose-schedule{mask-bytes=4}' %s | filecheck %s --check-prefix=AVX2

// What is read often is extended once: the scalars, and the vectors if many rows take
// them.

// CHECK-LABEL: tir.func @many_rows
// CHECK:         schedule {{.*}}pack = [in0, in1], widen = [in0, in1]
tir.func @many_rows(read %a: memref<512x1024xf16>, read %b: memref<1024x512xf16>, write %o: memref<512x512xf32>) {
  tir.nest dims [parallel 512, parallel 512, reduction 1024]
      ins(%a[d0, d2] : memref<512x1024xf16>, %b[d2, d1] : memref<1024x512xf16>) outs(%o[d0, d1] : memref<512x512xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f16, %y: f16, %acc: f32) {
      %xw = arith.extf %x : f16 to f32
      %yw = arith.extf %y : f16 to f32
      %p = arith.mulf %xw, %yw : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// The vectors of one row are read once, and take half of the memory as they are.

// CHECK-LABEL: tir.func @one_row
// CHECK:         schedule {{.*}}, widen = [in0]
tir.func @one_row(read %a: memref<1x1024xf16>, read %b: memref<1024x512xf16>, write %o: memref<1x512xf32>) {
  tir.nest dims [parallel 1, parallel 512, reduction 1024]
      ins(%a[d0, d2] : memref<1x1024xf16>, %b[d2, d1] : memref<1024x512xf16>) outs(%o[d0, d1] : memref<1x512xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f16, %y: f16, %acc: f32) {
      %xw = arith.extf %x : f16 to f32
      %yw = arith.extf %y : f16 to f32
      %p = arith.mulf %xw, %yw : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// The size of a copy has to be known.

// CHECK-LABEL: tir.func @unknown_rows
// CHECK-NOT:     widen = [in0
tir.func @unknown_rows(read %a: memref<?x1024xf16>, read %b: memref<1024x512xf16>, write %o: memref<?x512xf32>, read %n: index) {
  tir.nest dims [parallel %n, parallel 512, reduction 1024]
      ins(%a[d0, d2] : memref<?x1024xf16>, %b[d2, d1] : memref<1024x512xf16>) outs(%o[d0, d1] : memref<?x512xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f16, %y: f16, %acc: f32) {
      %xw = arith.extf %x : f16 to f32
      %yw = arith.extf %y : f16 to f32
      %p = arith.mulf %xw, %yw : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// One column of vectors reads each scalar once.

// CHECK-LABEL: tir.func @few_columns
// CHECK-NOT:     widen = [in0
tir.func @few_columns(read %a: memref<512x1024xf16>, read %b: memref<1024x16xf16>, write %o: memref<512x16xf32>) {
  tir.nest dims [parallel 512, parallel 16, reduction 1024]
      ins(%a[d0, d2] : memref<512x1024xf16>, %b[d2, d1] : memref<1024x16xf16>) outs(%o[d0, d1] : memref<512x16xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f16, %y: f16, %acc: f32) {
      %xw = arith.extf %x : f16 to f32
      %yw = arith.extf %y : f16 to f32
      %p = arith.mulf %xw, %yw : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// Windows that overlap much.

// CHECK-LABEL: tir.func @pool
// CHECK:         schedule {{.*}}, widen = [in0]>
tir.func @pool(read %x: memref<4x56x56xf16>, write %o: memref<4x56x56xf32>) {
  tir.nest dims [parallel 4, parallel 56, parallel 56, reduction 3, reduction 3]
      ins(%x[d0, d1 + d3 - 1, d2 + d4 - 1] pad 0.0 : f16 : memref<4x56x56xf16>) outs(%o[d0, d1, d2] : memref<4x56x56xf32>)
    init {
      %low = arith.constant 0xFF800000 : f32
      tir.yield %low : f32
    }
    body (%v: f16, %m: f32) {
      %w = arith.extf %v : f16 to f32
      %n = arith.maximumf %m, %w : f32
      tir.yield %n : f32
    }
    finish (%m: f32) {
      tir.yield %m : f32
    }
  tir.return
}

// Each number is read twice, and again where that is part of a padded vector: one of f16
// cannot be loaded in part by all machines.

// CHECK-LABEL: tir.func @strided
// CHECK-NOT:     widen
// AVX2-LABEL:  tir.func @strided
// AVX2:          schedule {{.*}}, widen = [in0]>
tir.func @strided(read %x: memref<4x55x55xf16>, write %o: memref<4x28x28xf32>) {
  tir.nest dims [parallel 4, parallel 28, parallel 28, reduction 3, reduction 3]
      ins(%x[d0, d1 * 2 + d3 - 1, d2 * 2 + d4 - 1] pad 0.0 : f16 : memref<4x55x55xf16>) outs(%o[d0, d1, d2] : memref<4x28x28xf32>)
    init {
      %low = arith.constant 0xFF800000 : f32
      tir.yield %low : f32
    }
    body (%v: f16, %m: f32) {
      %w = arith.extf %v : f16 to f32
      %n = arith.maximumf %m, %w : f32
      tir.yield %n : f32
    }
    finish (%m: f32) {
      tir.yield %m : f32
    }
  tir.return
}
