// RUN: transom-opt -p tir-outline-parallel-loops %s | filecheck %s

// The part of each thread, by the size of the team; what is only read says so, constants
// and views are made again.
// CHECK-LABEL: tir.func @rows.team0
// CHECK-SAME:    (read %[[W:.*]]: index, read %[[T:.*]]: index, read %[[N:.*]]: index, read %[[X:.*]]: memref<8x8xf32>, read_write %[[Y:.*]]: memref<8xf32>)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[ROW:.*]] = memref.subview %[[X]]
// CHECK:         %[[FIRST:.*]] = arith.muli %[[W]], %[[C1]] : index
// CHECK:         %[[STEP:.*]] = arith.muli %[[T]], %[[C1]] : index
// CHECK:         %[[FROM:.*]] = arith.addi %[[C0]], %[[FIRST]] : index
// CHECK:         scf.for %[[I:.*]] = %[[FROM]] to %[[N]] step %[[STEP]] {
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[ROW]][%[[I]]]
// CHECK-NEXT:      memref.store %[[V]], %[[Y]][%[[I]]]
// CHECK-LABEL: tir.func @rows
// CHECK:         tir.fork @rows.team0(%{{.*}}, %{{.*}}, %{{.*}} : index, memref<8x8xf32>, memref<8xf32>) threads 4
// CHECK-NEXT:    tir.return
tir.func @rows(read %x: memref<8x8xf32>, write %y: memref<8xf32>, read %n: index) attributes {tir.threads = 4} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %row = memref.subview %x[0, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32>
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %v = memref.load %row[%i] : memref<8xf32>
    memref.store %v, %y[%i] : memref<8xf32>
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  tir.return
}

// Vectors are passed by value.
// CHECK-LABEL: tir.func @vectors.team0
// CHECK-SAME:    read %{{.*}}: vector<4xf32>
tir.func @vectors(read %x: memref<4xf32>, write %y: memref<8x4xf32>) attributes {tir.threads = 2} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
  "scf.parallel"(%c0, %c8, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    vector.store %v, %y[%i, %c0] : memref<8x4xf32>, vector<4xf32>
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  tir.return
}

// Memory that may be any of two is not passed beside them.
// CHECK-LABEL: tir.func @unknown
// CHECK:         "scf.parallel"(
tir.func @unknown(read %c: i1, read %a: memref<4xf32>, write %b: memref<4xf32>) attributes {tir.threads = 2} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %m = scf.if %c -> (memref<4xf32>) {
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %b : memref<4xf32>
  }
  "scf.parallel"(%c0, %c4, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %v = memref.load %m[%i] : memref<4xf32>
    memref.store %v, %b[%i] : memref<4xf32>
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  tir.return
}

// CHECK-LABEL: tir.func @serial
// CHECK:         "scf.parallel"(
tir.func @serial(write %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %f = arith.constant 1.0 : f32
  "scf.parallel"(%c0, %c8, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    memref.store %f, %y[%i] : memref<8xf32>
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  tir.return
}
