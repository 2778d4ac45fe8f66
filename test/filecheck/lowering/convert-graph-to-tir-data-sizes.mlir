// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s

// A size that depends on elements is computed by a function that main calls before it
// provides the memory; that it is at most the bound is said for those who plan memory.

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[COUNT:.*]] = func.call @[[KERNEL:nonzero_[0-9a-f]*]].sizes(%x) : (tensor<4x?xf32>) -> index
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[N:.*]] = tensor.dim %x, %[[ONE]] : tensor<4x?xf32>
// CHECK-NEXT:    %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-NEXT:    %[[MOST:.*]] = arith.muli %[[N]], %[[FOUR]] : index
// CHECK-NEXT:    %[[SIZE:.*]] = arith.minsi %[[COUNT]], %[[MOST]] : index
// CHECK-NEXT:    %[[D:.*]] = tensor.empty(%[[SIZE]]) : tensor<2x?xi64>
// CHECK-NEXT:    tir.call @[[KERNEL]](%x : tensor<4x?xf32>) outs(%[[D]] : tensor<2x?xi64>)
func.func @main(%x: tensor<4x?xf32>) -> tensor<2x?xi64> {
  %y = func.call @region(%x) : (tensor<4x?xf32>) -> tensor<2x?xi64>
  func.return %y : tensor<2x?xi64>
}

// CHECK-LABEL: func.func private @region
// CHECK-SAME:    target.lowered_to = [@{{nonzero_[0-9a-f]*}}]
func.func private @region(%x: tensor<4x?xf32>) -> tensor<2x?xi64>
    attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.nonzero %x : tensor<4x?xf32> -> tensor<2x?xi64>
  func.return %y : tensor<2x?xi64>
}

// The kernel writes nowhere else, and fails if it finds another number.
// CHECK-LABEL: tir.func @nonzero_
// CHECK-SAME:    (read %[[X:.*]]: memref<4x?xf32>, write %[[Y:.*]]: memref<2x?xi64>)
// CHECK:         %[[ROOM:.*]] = memref.dim %[[Y]]
// CHECK:         scf.for {{.*}} iter_args
// CHECK-NEXT:      scf.for {{.*}} iter_args(%[[FOUND:.*]] =
// CHECK-NEXT:        %[[V:.*]] = memref.load %[[X]]
// CHECK-NEXT:        %[[IS:.*]] = arith.cmpf une, %[[V]]
// CHECK-NEXT:        %[[FITS:.*]] = arith.cmpi slt, %[[FOUND]], %[[ROOM]] : index
// CHECK-NEXT:        %[[BOTH:.*]] = arith.andi %[[IS]], %[[FITS]] : i1
// CHECK-NEXT:        scf.if %[[BOTH]] {
// CHECK-COUNT-2:       memref.store {{.*}}, %[[Y]]
// CHECK:         cf.assert %{{.*}}, "'graph.nonzero': the shape function gives another number of elements"

// What the op says of the size is a kernel like others.
// CHECK-LABEL: tir.func @compare_cast_reduce_
// CHECK-SAME:    write %{{.*}}: memref<i64>
// CHECK-LABEL: func.func private @nonzero_
// CHECK-SAME:    .sizes(%[[X:.*]]: tensor<4x?xf32>) -> index
// CHECK-NEXT:    %[[D:.*]] = tensor.empty() : tensor<i64>
// CHECK-NEXT:    %[[S:.*]] = tir.call @compare_cast_reduce_{{.*}}(%[[X]] : tensor<4x?xf32>) outs(%[[D]] : tensor<i64>)
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %[[S]][] : tensor<i64>
// CHECK-NEXT:    %[[SIZE:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK-NEXT:    func.return %[[SIZE]] : index
