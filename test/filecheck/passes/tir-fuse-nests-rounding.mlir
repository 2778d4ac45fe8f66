// RUN: transom-opt -p tir-fuse-nests %s | filecheck %s

// What a relu is taken of is not rounded, but its result.

// CHECK-LABEL: @relu
// CHECK:         finish (%[[V:.*]]: f32) {
// CHECK:           %[[M:.*]] = arith.maximumf %[[V]], %{{.*}} : f32
// CHECK-NEXT:      %[[R:.*]] = arith.truncf %[[M]] : f32 to f16
// CHECK-NEXT:      tir.yield %[[R]] : f16
tir.func @relu(read %x: memref<8xf32>, write %o: memref<8xf16>) {
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf16>)
    finish (%v: f32) {
      %zero = arith.constant 0.0 : f32
      %r = arith.truncf %v : f32 to f16
      %w = arith.extf %r : f16 to f32
      %m = arith.maximumf %w, %zero : f32
      %y = arith.truncf %m : f32 to f16
      tir.yield %y : f16
    }
  tir.return
}

// Two limits, and the larger of two numbers one of which is a bf16.

// CHECK-LABEL: @limits
// CHECK:         finish (%[[V:.*]]: f32, %[[B:.*]]: bf16) {
// CHECK-DAG:       %[[W:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK-DAG:       %[[M:.*]] = arith.maximumf %[[V]], %[[W]] : f32
// CHECK:           %[[N:.*]] = arith.minimumf %[[M]], %{{.*}} : f32
// CHECK-NEXT:      %[[R:.*]] = arith.truncf %[[N]] : f32 to bf16
// CHECK-NEXT:      tir.yield %[[R]] : bf16
tir.func @limits(read %x: memref<8xf32>, read %b: memref<8xbf16>, write %o: memref<8xbf16>) {
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>, %b[d0] : memref<8xbf16>) outs(%o[d0] : memref<8xbf16>)
    finish (%v: f32, %u: bf16) {
      %six = arith.constant 6.0 : f32
      %r = arith.truncf %v : f32 to bf16
      %w = arith.extf %r : bf16 to f32
      %t = arith.extf %u : bf16 to f32
      %m = arith.maximumf %w, %t : f32
      %n = arith.minimumf %m, %six : f32
      %y = arith.truncf %n : f32 to bf16
      tir.yield %y : bf16
    }
  tir.return
}

// A limit that is no f16 rounds otherwise; so does what is rounded to another type; and
// what is needed as it is stays.

// CHECK-LABEL: @keep
// CHECK:         finish (%[[V:.*]]: f32) {
// CHECK-COUNT-6:   arith.truncf
// CHECK-NOT:       arith.truncf
tir.func @keep(read %x: memref<8xf32>, write %o: memref<8xf16>, write %p: memref<8xf16>, write %q: memref<8xf16>, write %k: memref<8xf32>) {
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>)
      outs(%o[d0] : memref<8xf16>, %p[d0] : memref<8xf16>, %q[d0] : memref<8xf16>, %k[d0] : memref<8xf32>)
    finish (%v: f32) {
      %limit = arith.constant 0.1 : f32
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %r = arith.truncf %v : f32 to f16
      %w = arith.extf %r : f16 to f32
      %m = arith.maximumf %w, %limit : f32
      %y = arith.truncf %m : f32 to f16
      %s = arith.truncf %v : f32 to bf16
      %t = arith.extf %s : bf16 to f32
      %n = arith.maximumf %t, %zero : f32
      %z = arith.truncf %n : f32 to f16
      %g = arith.addf %v, %one : f32
      %h = arith.truncf %g : f32 to f16
      %i = arith.extf %h : f16 to f32
      %j = arith.maximumf %i, %zero : f32
      %l = arith.truncf %j : f32 to f16
      tir.yield %y, %z, %l, %j : f16, f16, f16, f32
    }
  tir.return
}

// What is rounded in the same way by then is rounded once.

// CHECK-LABEL: @equal
// CHECK:         finish (%[[V:.*]]: f32) {
// CHECK-NEXT:      %[[R:.*]] = arith.truncf %[[V]] : f32 to f16
// CHECK-NEXT:      tir.yield %[[R]], %[[R]] : f16, f16
tir.func @equal(read %x: memref<8xf32>, write %o: memref<8xf16>, write %p: memref<8xf16>) {
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf16>, %p[d0] : memref<8xf16>)
    finish (%v: f32) {
      %r = arith.truncf %v : f32 to f16
      %w = arith.extf %r : f16 to f32
      %y = arith.truncf %w : f32 to f16
      tir.yield %r, %y : f16, f16
    }
  tir.return
}
