// RUN: transom-opt -p tir-bufferize-main %s | filecheck %s

!n = tensor<?xf32, #graph.desc<dims = ["N" : 2 to 8]>>
!nm = tensor<?x?xf32, #graph.desc<dims = ["N", "M" : ? to 16]>>
tir.func @k(read memref<?xf32>, write memref<?xf32>)

// CHECK-LABEL: @checks
func.func @checks(%x: !n {graph.name = "x"}, %y: !nm {graph.name = "y"}) -> !n {
  // CHECK:         %[[N:.*]] = memref.dim %x, %{{.*}} : memref<?xf32>
  // CHECK:         %[[LOW:.*]] = arith.cmpi sge, %[[N]], %{{.*}} : index
  // CHECK-NEXT:    cf.assert %[[LOW]], "expected dimension 0 of 'x' to be N, at least 2"
  // CHECK:         %[[HIGH:.*]] = arith.cmpi sle, %[[N]], %{{.*}} : index
  // CHECK-NEXT:    cf.assert %[[HIGH]], "expected dimension 0 of 'x' to be N, at most 8"
  // CHECK-NEXT:    %[[Y:.*]] = memref.dim %y, %{{.*}} : memref<?x?xf32>
  // CHECK-NEXT:    %[[SAME:.*]] = arith.cmpi eq, %[[Y]], %[[N]] : index
  // CHECK-NEXT:    cf.assert %[[SAME]], "expected dimension 0 of 'y' to be N, as dimension 0 of 'x' is"
  // CHECK:         cf.assert %{{.*}}, "expected dimension 1 of 'y' to be M, at most 16"
  // CHECK-NEXT:    tir.copy %x, %0
  func.return %x : !n
}
// The size of the result has the name of an input's.
// CHECK-NOT:   @checks.shapes

// A size that nobody has named is computed before the call. Sizes that are equal are
// seen to be, so that the view of the result is one of the caller's memory.
// CHECK-LABEL: @computed
func.func @computed(%x: tensor<?x3xf32>) -> (tensor<?xf32>, tensor<?x3xf32>) {
  // CHECK:         %[[X:.*]] = memref.collapse_shape %x
  // CHECK-NOT:     tir.alloc
  // CHECK:         %[[Y:.*]] = memref.collapse_shape %1
  // CHECK-NEXT:    tir.call @k(%[[X]] : memref<?xf32>) outs(%[[Y]] : memref<?xf32>)
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %flat = tensor.collapse_shape %x [[0 : i64, 1 : i64]] : tensor<?x3xf32> into tensor<?xf32>
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %half = arith.ceildivsi %n, %c2 : index
  %e = tensor.empty(%half) : tensor<?xf32>
  %size = tensor.dim %flat, %c0 : tensor<?xf32>
  %d = tensor.empty(%size) : tensor<?xf32>
  %y = tir.call @k(%flat : tensor<?xf32>) outs(%d : tensor<?xf32>)
  %r = tensor.expand_shape %y [[0 : i64, 1 : i64]] output_shape [%n, 3] : tensor<?xf32> into tensor<?x3xf32>
  func.return %e, %r : tensor<?xf32>, tensor<?x3xf32>
}
// CHECK-LABEL: func.func @computed.shapes
// CHECK-SAME:    (%[[N:.*]]: index) -> (index, index)
// CHECK-NEXT:    %[[TWO:.*]] = arith.constant 2 : index
// CHECK-NEXT:    %[[HALF:.*]] = arith.ceildivsi %[[N]], %[[TWO]] : index
// CHECK-NEXT:    func.return %[[HALF]], %[[N]] : index, index

// Memory of a dynamic size is taken where the size is known; equal sizes share.
// CHECK-LABEL: @dynamic
func.func @dynamic(%x: tensor<?xf32>) -> tensor<f32> {
  // CHECK:         %[[N:.*]] = memref.dim %x, %c0 : memref<?xf32>
  // CHECK-NEXT:    %[[A:.*]] = tir.alloc(%[[N]]) : memref<?xf32>
  // CHECK-NEXT:    tir.copy %x, %[[A]]
  // CHECK-NEXT:    scf.for
  // CHECK-NEXT:      %[[B:.*]] = tir.alloc(%[[N]]) : memref<?xf32>
  // CHECK-NEXT:      tir.call @k(%[[A]] : memref<?xf32>) outs(%[[B]] : memref<?xf32>)
  // CHECK-NEXT:      tir.copy %[[B]], %[[A]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    %n = tensor.dim %a, %c0 : tensor<?xf32>
    %d = tensor.empty(%n) : tensor<?xf32>
    %y = tir.call @k(%a : tensor<?xf32>) outs(%d : tensor<?xf32>)
    scf.yield %y : tensor<?xf32>
  }
  %f = tensor.extract %r[%c0] : tensor<?xf32>
  %g = tensor.from_elements %f : tensor<f32>
  func.return %g : tensor<f32>
}

// Sizes of what a function returns follow from those of what it is given.
// CHECK-LABEL: func.func private @callee
func.func private @callee(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.addi %n, %n : index
  %d = tensor.empty(%m) : tensor<?xf32>
  %y = tir.call @k(%x : tensor<?xf32>) outs(%d : tensor<?xf32>)
  func.return %y : tensor<?xf32>
}
// CHECK-LABEL: @caller
func.func @caller(%x: tensor<6xf32>) -> tensor<f32> {
  // CHECK:         %[[TWELVE:.*]] = arith.constant 12 : index
  // CHECK-NEXT:    %[[A:.*]] = tir.alloc(%[[TWELVE]]) : memref<?xf32>
  // CHECK-NEXT:    func.call @callee(%{{.*}}, %[[A]])
  %c0 = arith.constant 0 : index
  %d = tensor.cast %x : tensor<6xf32> to tensor<?xf32>
  %y = func.call @callee(%d) : (tensor<?xf32>) -> tensor<?xf32>
  %f = tensor.extract %y[%c0] : tensor<?xf32>
  %g = tensor.from_elements %f : tensor<f32>
  func.return %g : tensor<f32>
}

// How large the result is depends on data, but it has a bound: the caller gives memory
// for so much, and is told the sizes of the last dimensions of both results.
// CHECK-LABEL: @bounded
// CHECK-SAME:    (%x: memref<?xf32>, %[[Y:.*]]: memref<?xi64> {graph.name = "y", tir.result = 0 : i64},
// CHECK-SAME:     %[[Z:.*]]: memref<?xi64> {tir.result = 1 : i64},
// CHECK-SAME:     %[[SIZES:.*]]: memref<2xindex> {tir.result = 2 : i64})
// CHECK-SAME:    -> (y : tensor<?xi64>, result1 : tensor<2x?xi64>)>, executor.bounded = array<i64: 0, 1>
func.func @bounded(%x: tensor<?xf32>) -> (tensor<?xi64> {graph.name = "y"}, tensor<2x?xi64>) {
  // CHECK:         %[[ROOM:.*]] = memref.subview %[[Y]][0] [%most] [1]
  // CHECK-NEXT:    tir.copy %y, %[[ROOM]]
  // CHECK:         %[[FLAT:.*]] = memref.collapse_shape %z
  // CHECK:         %[[ROOM:.*]] = memref.subview %[[Z]][0] [%{{.*}}] [1]
  // CHECK-NEXT:    tir.copy %[[FLAT]], %[[ROOM]]
  // CHECK-NEXT:    memref.store %most, %[[SIZES]]
  // CHECK-NEXT:    memref.store %most, %[[SIZES]]
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %count = func.call @count(%x) : (tensor<?xf32>) -> index
  %most = arith.minsi %count, %n : index
  %d = tensor.empty(%most) : tensor<?xi64>
  %y = tir.call @select(%x : tensor<?xf32>) outs(%d : tensor<?xi64>)
  %e = tensor.empty(%most) : tensor<2x?xi64>
  %z = tir.call @pairs(%x : tensor<?xf32>) outs(%e : tensor<2x?xi64>)
  func.return %y, %z : tensor<?xi64>, tensor<2x?xi64>
}
func.func private @count(tensor<?xf32>) -> index
tir.func @select(read memref<?xf32>, write memref<?xi64>)
tir.func @pairs(read memref<?xf32>, write memref<2x?xi64>)
// CHECK-LABEL: func.func @bounded.shapes
// CHECK-SAME:    (%[[N:.*]]: index) -> (index, index)
// CHECK-NEXT:    %[[TWO:.*]] = arith.constant 2 : index
// CHECK-NEXT:    %[[TWICE:.*]] = arith.muli %[[N]], %[[TWO]] : index
// CHECK-NEXT:    func.return %[[N]], %[[TWICE]] : index, index
