// RUN: transom-opt -p convert-tir-to-scf %s | filecheck %s
// RUN: transom-opt -p convert-tir-to-scf,lower-scf-to-cf,convert-to-llvm %s | filecheck %s --check-prefix=LLVM

// Next to each load of a loop, memory is asked for as many elements ahead.
// CHECK-LABEL: @vectors
// CHECK:         %[[AHEAD:.*]] = arith.constant 100 : index
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT:      vector.load %a[%[[I]]] : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:      %[[N:.*]] = arith.addi %[[I]], %[[AHEAD]] : index
// CHECK-NEXT:      tir.prefetch %a[%[[N]]] : memref<64xf32>
// CHECK-NEXT:      vector.store
// LLVM-LABEL:  @vectors
// LLVM:            llvm.intr.prefetch %{{.*}} {rw = 0 : i32, hint = 3 : i32, cache = 1 : i32} : !llvm.ptr
tir.func @vectors(read %a: memref<64xf32>, write %o: memref<64xf32>) {
  tir.nest dims [parallel 64] ins(%a[d0] : memref<64xf32>) outs(%o[d0] : memref<64xf32>)
      schedule #tir.schedule<vector = d0 : 16, prefetch = [in0 : 100]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// A line has 64 bytes, and is asked for once: two vectors of 8 share it.
// CHECK-LABEL: @lines
// CHECK:         %[[SECOND:.*]] = arith.constant 80 : index
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[END:.*]] step
// CHECK:           vector.load %a[%[[I]]] : memref<64xf32>, vector<8xf32>
// CHECK-NEXT:      %[[N:.*]] = arith.addi %[[I]], %[[END]] : index
// CHECK-NEXT:      tir.prefetch %a[%[[N]]] : memref<64xf32>
// CHECK-NOT:       tir.prefetch
// CHECK:           vector.load
// CHECK-NOT:       tir.prefetch
// CHECK:           vector.load
// CHECK-NEXT:      %[[M:.*]] = arith.addi %[[I]], %[[SECOND]] : index
// CHECK-NEXT:      tir.prefetch %a[%[[M]]] : memref<64xf32>
// CHECK-NOT:     tir.prefetch
// CHECK:         tir.return
tir.func @lines(read %a: memref<64xf32>, write %o: memref<64xf32>) {
  tir.nest dims [parallel 64] ins(%a[d0] : memref<64xf32>) outs(%o[d0] : memref<64xf32>)
      schedule #tir.schedule<vector = d0 : 8, register = [d0 : 32], prefetch = [in0 : 64]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// A vector that is longer than a line, or lies in two, asks for both.
// CHECK-LABEL: @long
// CHECK:         %[[FIRST:.*]] = arith.constant 16 : index
// CHECK-NEXT:    tir.prefetch %a[%[[FIRST]]] : memref<32xf64>
// CHECK-NEXT:    %[[NEXT:.*]] = arith.constant 24 : index
// CHECK-NEXT:    tir.prefetch %a[%[[NEXT]]] : memref<32xf64>
// CHECK-NOT:     tir.prefetch
// CHECK:         tir.return
tir.func @long(read %a: memref<32xf64>, write %o: memref<16xf64>) {
  tir.nest dims [parallel 16] ins(%a[d0] : memref<32xf64>) outs(%o[d0] : memref<16xf64>)
      schedule #tir.schedule<vector = d0 : 16, prefetch = [in0 : 16]>
    finish (%v: f64) {
      tir.yield %v : f64
    }
  tir.return
}

// The next row, within a block. What is read before the loops, and what no entry names,
// is not asked for.
// CHECK-LABEL: @rows
// CHECK:         scf.for %[[R:.*]] =
// CHECK:           memref.load %s[%{{.*}}] : memref<1xf32>
// CHECK-NOT:       tir.prefetch %s
// CHECK:           scf.for %[[I:.*]] = %{{.*}} to %[[ROW:.*]] step
// CHECK-NEXT:        vector.load %a[%[[R]], %[[I]]] : memref<4x32xf32>, vector<16xf32>
// CHECK-NEXT:        %[[N:.*]] = arith.addi %[[I]], %[[ROW]] : index
// CHECK-NEXT:        tir.prefetch %a[%[[R]], %[[N]]] : memref<4x32xf32>
// CHECK-NOT:       tir.prefetch
// CHECK:         tir.return
tir.func @rows(read %a: memref<4x32xf32>, read %s: memref<1xf32>, read %b: memref<4x32xf32>, write %o: memref<4x32xf32>) {
  tir.block (%i: index) in dims [parallel 4] {
    tir.nest dims [parallel 32] at (%i)
        ins(%s[0] : memref<1xf32>, %a[s0, d0] : memref<4x32xf32>, %b[s0, d0] : memref<4x32xf32>) outs(%o[s0, d0] : memref<4x32xf32>)
        schedule #tir.schedule<vector = d0 : 16, prefetch = [in0 : 1, in1 : 32]>
      finish (%f: f32, %v: f32, %w: f32) {
        %x = arith.mulf %f, %v : f32
        %y = arith.addf %x, %w : f32
        tir.yield %y : f32
      }
  }
  tir.return
}

// What all lanes share, in two rows; where there is no index, there is nothing ahead.
// CHECK-LABEL: @scalars
// CHECK:           memref.load %a[%[[ROW:.*]], %{{.*}}] : memref<4x4xf32>
// CHECK:           tir.prefetch %a[%[[ROW]], %{{.*}}] : memref<4x4xf32>
// CHECK:           memref.load %a[%[[ROW:.*]], %{{.*}}] : memref<4x4xf32>
// CHECK-NEXT:      tir.prefetch %a[%[[ROW]], %{{.*}}] : memref<4x4xf32>
// CHECK-NOT:       tir.prefetch
// CHECK:         tir.return
tir.func @scalars(read %a: memref<4x4xf32>, read %z: memref<f32>, write %o: memref<4x8xf32>) {
  tir.nest dims [parallel 4, parallel 8, reduction 4]
      ins(%a[d0, d2] : memref<4x4xf32>, %z[] : memref<f32>) outs(%o[d0, d1] : memref<4x8xf32>)
      schedule #tir.schedule<vector = d1 : 8, register = [d0 : 2], prefetch = [in0 : 64, in1 : 64]>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %sum: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %sum, %p : f32
      tir.yield %s : f32
    }
    finish (%sum: f32, %y: f32) {
      tir.yield %sum : f32
    }
  tir.return
}

// Groups of bytes that `tir.dot` takes: 64 of them are a line.
// CHECK-LABEL: @bytes
// CHECK:           vector.load %b[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<2x2x16x4xi8>, vector<16x4xi8>
// CHECK-NEXT:      tir.prefetch %b[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<2x2x16x4xi8>
// CHECK-NEXT:      tir.dot
// CHECK-NOT:     tir.prefetch
tir.func @bytes(read %a: memref<8x8xi8>, read %b: memref<2x2x16x4xi8>, write %c: memref<8x32xi32>) {
  tir.nest dims [parallel 8, parallel 32, reduction 8]
      ins(%a[d0, d2] : memref<8x8xi8>, %b[d1 floordiv 16, d2 floordiv 4, d1 mod 16, d2 mod 4] : memref<2x2x16x4xi8>)
      outs(%c[d0, d1] : memref<8x32xi32>)
      schedule #tir.schedule<vector = d1 : 16, dot = d2 : 4, prefetch = [in1 : 512]>
    init {
      %zero = arith.constant 0 : i32
      tir.yield %zero : i32
    }
    body (%x: i8, %y: i8, %sum: i32) {
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %sum, %p : i32
      tir.yield %s : i32
    }
    finish (%sum: i32) {
      tir.yield %sum : i32
    }
  tir.return
}
