// RUN: transom-opt -p convert-tir-to-scf %s | filecheck %s
// RUN: transom-opt -p convert-tir-to-scf --print-debuginfo %s | filecheck %s --check-prefix=LOC

// CHECK-NOT: tir.nest
// CHECK-NOT: tir.block

// CHECK-LABEL: tir.func @element_wise(
tir.func @element_wise(read %a: memref<4x?xf32>, read %b: memref<4xf32>, write %o: memref<4x?xf32>, read %n: index) {
  // What does not depend on the inner loop is read outside, if the loop surely runs.
  // CHECK:      scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
  // CHECK-NEXT:   scf.for %[[J:.*]] = %{{.*}} to %n step
  // CHECK-NEXT:     %[[A:.*]] = memref.load %a[%[[I]], %[[J]]]
  // CHECK-NEXT:     %[[B:.*]] = memref.load %b[%[[I]]]
  // CHECK-NEXT:     %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK-NEXT:     memref.store %[[SUM]], %o[%[[I]], %[[J]]]
  tir.nest dims [parallel 4, parallel %n]
      ins(%a[d0, d1] : memref<4x?xf32>, %b[d0] : memref<4xf32>) outs(%o[d0, d1] : memref<4x?xf32>)
    finish (%x: f32, %y: f32) {
      %sum = arith.addf %x, %y : f32
      tir.yield %sum : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @hoisted(
tir.func @hoisted(read %b: memref<4xf32>, write %o: memref<4x8xf32>) {
  // CHECK:      scf.for %[[I:.*]] = %{{.*}} to
  // CHECK-NEXT:   %[[B:.*]] = memref.load %b[%[[I]]]
  // CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[B]], %[[B]]
  // CHECK-NEXT:   scf.for
  tir.nest dims [parallel 4, parallel 8] ins(%b[d0] : memref<4xf32>) outs(%o[d0, d1] : memref<4x8xf32>)
    finish (%y: f32) {
      %sum = arith.addf %y, %y : f32
      tir.yield %sum : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @reduction(
tir.func @reduction(read %a: memref<4x8xf32>, write %o: memref<4xf32>) {
  // The accumulator stays in a register.
  // CHECK:      scf.for %[[I:.*]] =
  // CHECK-NEXT:   %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (f32) {
  // CHECK-NEXT:     %[[A:.*]] = memref.load %a[%[[I]], %[[K]]]
  // CHECK-NEXT:     %[[NEXT:.*]] = arith.addf %[[ACC]], %[[A]]
  // CHECK-NEXT:     scf.yield %[[NEXT]]
  // CHECK:        memref.store %[[SUM]], %o[%[[I]]]
  tir.nest dims [parallel 4, reduction 8] ins(%a[d0, d1] : memref<4x8xf32>) outs(%o[d0] : memref<4xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %acc: f32) {
      %s = arith.addf %acc, %x : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @sequential(
tir.func @sequential(read %a: memref<8xi32>, write %o: memref<8xi32>) {
  // Each step writes, and carries the accumulator on.
  // CHECK:      scf.for %[[I:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (i32) {
  // CHECK-NEXT:   %[[A:.*]] = memref.load %a[%[[I]]]
  // CHECK-NEXT:   %[[NEXT:.*]] = arith.addi %[[ACC]], %[[A]]
  // CHECK-NEXT:   memref.store %[[NEXT]], %o[%[[I]]]
  // CHECK-NEXT:   scf.yield %[[NEXT]]
  tir.nest dims [sequential 8] ins(%a[d0] : memref<8xi32>) outs(%o[d0] : memref<8xi32>)
    init {
      %zero = arith.constant 0 : i32
      tir.yield %zero : i32
    }
    body (%x: i32, %acc: i32) {
      %s = arith.addi %acc, %x : i32
      tir.yield %s : i32
    }
    finish (%acc: i32, %x: i32) {
      tir.yield %acc : i32
    }
  tir.return
}

// CHECK-LABEL: tir.func @padded(
tir.func @padded(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  // The first and the last point are guarded, those between are not.
  // CHECK:      arith.cmpi ult
  // CHECK:      arith.select
  // CHECK:      memref.load %x[%{{.*}}]
  // CHECK:      arith.select
  // CHECK:      memref.store %{{.*}}, %o
  // CHECK:      scf.for %[[I:.*]] =
  // CHECK-NOT:    arith.cmpi
  // CHECK:        memref.store %{{.*}}, %o[%[[I]]]
  // CHECK:      arith.cmpi ult
  // CHECK:      memref.store %{{.*}}, %o
  tir.nest dims [parallel 8, reduction 3] ins(%x[d0 + d1 - 1] pad 0.0 : f32 : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
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

// Where there may be no element at all, none is read.
// CHECK-LABEL: tir.func @padded_dynamic(
tir.func @padded_dynamic(read %x: memref<?xf32>, write %o: memref<8xf32>) {
  // CHECK:      %[[PAD:.*]] = arith.constant 2.000000e+00 : f32
  // CHECK:      %[[SIZE:.*]] = memref.dim %x
  // CHECK:      scf.for %[[I:.*]] =
  // CHECK-NEXT:   %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %[[SIZE]]
  // CHECK-NEXT:   %[[V:.*]] = scf.if %[[INSIDE]] -> (f32) {
  // CHECK-NEXT:     %[[X:.*]] = memref.load %x[%[[I]]]
  // CHECK-NEXT:     scf.yield %[[X]]
  // CHECK-NEXT:   } else {
  // CHECK-NEXT:     scf.yield %[[PAD]]
  tir.nest dims [parallel 8] ins(%x[d0] pad 2.0 : f32 : memref<?xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @indirect(
tir.func @indirect(read %t: memref<9xf32>, read %which: memref<4xi64>, read_write %o: memref<5xf32>) {
  // CHECK:      %[[W:.*]] = memref.load %which[%{{.*}}]
  // CHECK-NEXT: %[[AT:.*]] = arith.index_cast %[[W]] : i64 to index
  // CHECK-NEXT: %[[V:.*]] = memref.load %t[%[[AT]]]
  // CHECK-NEXT: %[[OLD:.*]] = memref.load %o[%[[AT]]]
  // CHECK-NEXT: %[[NEW:.*]] = arith.maximumf %[[OLD]], %[[V]]
  // CHECK-NEXT: memref.store %[[NEW]], %o[%[[AT]]]
  tir.nest dims [parallel 4] ins(%t[*] : memref<9xf32>, %which[d0] : memref<4xi64>) outs(%o[*] combine max : memref<5xf32>)
    finish (%table: memref<9xf32>, %w: i64) {
      %i = arith.index_cast %w : i64 to index
      %v = memref.load %table[%i] : memref<9xf32>
      tir.yield %v, %i : f32, index
    }
  tir.return
}

// CHECK-LABEL: tir.func @block(
tir.func @block(read %x: memref<?x8xf32>, write %o: memref<?x8xf32>, read %n: index) {
  // CHECK:      scf.for %[[I:.*]] = %{{.*}} to %n step
  // CHECK-NEXT:   %[[ROW:.*]] = tir.alloc : memref<8xf32>
  // CHECK:        scf.for %[[J:.*]] =
  // CHECK-NEXT:     %[[V:.*]] = memref.load %x[%[[I]], %[[J]]]
  // CHECK-NEXT:     memref.store %[[V]], %[[ROW]][%[[J]]]
  // CHECK:        memref.load %[[ROW]]
  tir.block (%i: index) in dims [parallel %n] {
    %row = tir.alloc : memref<8xf32>
    tir.nest dims [parallel 8] at (%i) ins(%x[s0, d0] : memref<?x8xf32>) outs(%row[d0] : memref<8xf32>)
      finish (%v: f32) {
        tir.yield %v : f32
      }
    tir.nest dims [parallel 8] at (%i) ins(%row[d0] : memref<8xf32>) outs(%o[s0, d0] : memref<?x8xf32>)
      finish (%v: f32) {
        tir.yield %v : f32
      }
  }
  tir.return
}

// CHECK-LABEL: tir.func @threads(
tir.func @threads(read %x: memref<8x4xf32>, write %o: memref<8x4xf32>) {
  // CHECK:      "scf.parallel"
  // CHECK:        scf.for
  // CHECK:        scf.reduce
  tir.nest dims [parallel 8, parallel 4] ins(%x[d0, d1] : memref<8x4xf32>) outs(%o[d0, d1] : memref<8x4xf32>)
      schedule #tir.schedule<parallel = [d0]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  // CHECK:      "scf.parallel"
  // CHECK:        memref.load
  tir.block (%i: index) in dims [parallel 8] schedule #tir.schedule<parallel = [d0]> {
    tir.nest dims [parallel 4] at (%i) ins(%x[s0, d0] : memref<8x4xf32>) outs(%o[s0, d0] : memref<8x4xf32>)
      finish (%v: f32) {
        tir.yield %v : f32
      }
  }
  tir.return
}

// Control flow in a region is kept as it is, on scalars.
// CHECK-LABEL: tir.func @branch(
tir.func @branch(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  // CHECK:      scf.for %[[I:.*]] =
  // CHECK:        scf.if %{{.*}} -> (index) {
  // CHECK-NEXT:     scf.yield %[[I]]
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<vector = d0 : 4>
    finish (%v: f32) {
      %zero = arith.constant 0.0 : f32
      %none = arith.constant 0 : index
      %positive = arith.cmpf ogt, %v, %zero : f32
      %r = scf.if %positive -> (index) {
        %i = tir.index 0 : index
        scf.yield %i : index
      } else {
        scf.yield %none : index
      }
      %j = arith.index_cast %r : index to i32
      %f = arith.sitofp %j : i32 to f32
      tir.yield %f : f32
    }
  tir.return
}

// The location and the discardable attributes of ops survive.
// LOC-LABEL: tir.func @keep(
tir.func @keep(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  // LOC: memref.load {{.*}} loc("m.onnx":3:1)
  // LOC: arith.negf {{.*}} {test.hint} : f32 loc("m.onnx":4:1)
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
    finish (%v: f32) {
      %y = arith.negf %v {test.hint} : f32 loc("m.onnx":4:1)
      tir.yield %y : f32
    } loc("m.onnx":3:1)
  tir.return
}

// Nothing is known of the quotient of an index without bound.
// CHECK-LABEL: tir.func @quotient(
tir.func @quotient(read %x: memref<?xf32>, write %o: memref<?xf32>, read %n: index) {
  // CHECK:      scf.for %[[I:.*]] =
  // CHECK:      %[[SUM:.*]] = arith.addi %[[I]], %{{.*}} : index
  // CHECK:      %[[QUOTIENT:.*]] = arith.divui %[[SUM]]
  // CHECK:      memref.load %x[%[[QUOTIENT]]]
  tir.nest dims [sequential %n] ins(%x[(d0 + 2) floordiv 3] : memref<?xf32>) outs(%o[d0] : memref<?xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}
