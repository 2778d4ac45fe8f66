// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s

target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}

// Places in order are merged by twos, each time twice as many. NaN is the largest.
// CHECK-LABEL: tir.func @argsort_
func.func private @rising(%x: tensor<8xf32>) -> tensor<8xi64> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         %[[ORDER:.*]] = tir.alloc : memref<8xi64>
  // CHECK:         %[[BEFORE:.*]] = tir.alloc : memref<8xi64>
  // CHECK:         scf.while (%[[WIDTH:.*]] = %{{.*}}) : (index) -> index {
  // CHECK-NEXT:      arith.cmpi slt, %[[WIDTH]], %{{.*}} : index
  // CHECK:           arith.addi %[[W:.*]], %[[W]] : index
  // CHECK:           memref.store %{{.*}}, %[[BEFORE]]
  // CHECK:           scf.for %{{.*}} iter_args(%{{.*}}, %{{.*}}) -> (index, index) {
  // CHECK:             %[[A:.*]] = memref.load %[[X:.*]][%{{.*}}] : memref<8xf32>
  // CHECK:             %[[B:.*]] = memref.load %[[X]][%{{.*}}] : memref<8xf32>
  // CHECK:             arith.cmpf ult, %[[B]], %[[A]] : f32
  // CHECK-NEXT:        arith.cmpf ord, %[[B]], %[[B]] : f32
  %y = graph.argsort %x axis 0 : tensor<8xf32> -> tensor<8xi64>
  func.return %y : tensor<8xi64>
}

// The other way round, a loop per row, and numbers without a sign.
// CHECK-LABEL: tir.func @argsort_
func.func private @falling(%x: tensor<?x8xui8>) -> tensor<?x8xi64> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         scf.for
  // CHECK:           scf.while
  // CHECK:             %[[A:.*]] = memref.load %[[X:.*]][%{{.*}}, %{{.*}}] : memref<?x8xi8>
  // CHECK:             %[[B:.*]] = memref.load %[[X]][%{{.*}}, %{{.*}}] : memref<?x8xi8>
  // CHECK:             arith.cmpi ult, %[[A]], %[[B]] : i8
  %y = graph.argsort %x axis 1 descending : tensor<?x8xui8> -> tensor<?x8xi64>
  func.return %y : tensor<?x8xi64>
}

// Few are kept in order: most elements are compared with the last of them only.
// CHECK-LABEL: tir.func @argsort_
func.func private @first(%x: tensor<100xf32>) -> tensor<4xi64> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NOT:     tir.alloc
  // CHECK:         scf.for %[[AT:.*]] = %{{.*}} to %[[FOUR:.*]] step
  // CHECK:           scf.while
  // CHECK:         scf.for %[[AT:.*]] = %[[FOUR]] to %[[SIZE:.*]] step
  // CHECK:           memref.load %{{.*}}[%[[AT]]] : memref<100xf32>
  // CHECK:           scf.if
  // CHECK:             scf.while
  %y = graph.argsort %x axis 0 first 4 : tensor<100xf32> -> tensor<4xi64>
  func.return %y : tensor<4xi64>
}

// Many are the first of all.
// CHECK-LABEL: tir.func @argsort_
func.func private @many(%x: tensor<100xf32>) -> tensor<40xi64> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-COUNT-2: tir.alloc : memref<100xi64>
  // CHECK:         scf.while
  // CHECK:         memref.store %{{.*}} : memref<40xi64>
  %y = graph.argsort %x axis 0 first 40 : tensor<100xf32> -> tensor<40xi64>
  func.return %y : tensor<40xi64>
}
