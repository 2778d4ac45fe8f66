// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s

// CHECK-LABEL: tir.func @transpose_
func.func private @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 4, parallel 2, parallel 3]
  // CHECK-NEXT:      ins(%{{.*}}[d1, d2, d0] : memref<2x3x4xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1, d2] : memref<4x2x3xf32>)
  %y = graph.transpose %x permutation [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  func.return %y : tensor<4x2x3xf32>
}

// CHECK-LABEL: tir.func @slice_
func.func private @slice(%x: tensor<8x6xf32>) -> tensor<3x2xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           ins(%{{.*}}[d0 * 2 + 1, -d1 + 5] : memref<8x6xf32>)
  %y = graph.slice %x starts [1, -1] sizes [3, 2] steps [2, -1] : tensor<8x6xf32> -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// A start from the end of a size that is not known is a symbol.
// CHECK-LABEL: tir.func @slice_
func.func private @from_the_end(%x: tensor<?xf32>) -> tensor<1xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         %[[N:.*]] = memref.dim
  // CHECK:         tir.nest dims [parallel 1] at (%[[N]])
  // CHECK-NEXT:      ins(%{{.*}}[d0 + s0 - 1] : memref<?xf32>)
  %y = graph.slice %x starts [-1] sizes [1] steps [1] : tensor<?xf32> -> tensor<1xf32>
  func.return %y : tensor<1xf32>
}

// CHECK-LABEL: tir.func @pad_
func.func private @pad(%x: tensor<4xi1>) -> tensor<7xi1> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 1]
  // CHECK-NEXT:      outs(%[[O:.*]][d0] : memref<7xi1>)
  // CHECK-NEXT:      finish {
  // CHECK-NEXT:        %{{.*}} = arith.constant true
  // CHECK:         tir.nest dims [parallel 2]
  // CHECK-NEXT:      outs(%[[O]][d0 + 5] : memref<7xi1>)
  // CHECK:         tir.nest dims [parallel 4]
  // CHECK-NEXT:      ins(%{{.*}}[d0] : memref<4xi1>)
  // CHECK-NEXT:      outs(%[[O]][d0 + 1] : memref<7xi1>)
  %y = graph.pad %x low [1] high [2] value true : tensor<4xi1> -> tensor<7xi1>
  func.return %y : tensor<7xi1>
}

// Where the end is not known, what is read outside is the value.
// CHECK-LABEL: tir.func @pad_
func.func private @pad_unknown(%x: tensor<?xf32>) -> tensor<?xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         tir.nest dims [parallel %{{.*}}]
  // CHECK-NEXT:      ins(%{{.*}}[d0 - 1] pad 5.000000e-01 : f32 : memref<?xf32>)
  %y = graph.pad %x low [1] high [2] value 0.5 : f32 : tensor<?xf32> -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// Each operand is written where it belongs.
// CHECK-LABEL: tir.func @concat_
func.func private @concat(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<2x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 2, parallel 3]
  // CHECK:           outs(%[[O:.*]][d0, d1] : memref<2x8xf32>)
  // CHECK:         tir.nest dims [parallel 2, parallel 5]
  // CHECK:           outs(%[[O]][d0, d1 + 3] : memref<2x8xf32>)
  %z = graph.concat %x, %y axis 1 : tensor<2x3xf32>, tensor<2x5xf32> -> tensor<2x8xf32>
  func.return %z : tensor<2x8xf32>
}

// The place is computed in the region: from the end if negative, then clamped.
// CHECK-LABEL: tir.func @gather_
func.func private @gather(%x: tensor<10x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         tir.nest dims [parallel 3, parallel 4]
  // CHECK-NEXT:      ins(%{{.*}}[d0] : memref<3xi64>, %{{.*}}[*] : memref<10x4xf32>)
  // CHECK:         finish (%[[I:.*]]: i64, %[[X:.*]]: memref<10x4xf32>) {
  // CHECK:           arith.cmpi slt
  // CHECK:           arith.minsi
  // CHECK-NEXT:      %[[AT:.*]] = arith.maxsi
  // CHECK-NEXT:      memref.load %[[X]][%[[AT]], %{{.*}}]
  %y = graph.gather %x, %i axis 0 : tensor<10x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// A copy of the data, and updates one after the other, which combine with what is there.
// CHECK-LABEL: tir.func @scatter_
func.func private @scatter_add(%x: tensor<8xf32>, %i: tensor<3xi32>, %u: tensor<3xf32>) -> tensor<8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         tir.nest dims [parallel 8]
  // CHECK:           outs(%[[O:.*]][d0] : memref<8xf32>)
  // CHECK:         tir.nest dims [sequential 3]
  // CHECK-NEXT:      ins(%{{.*}}[d0] : memref<3xi32>, %{{.*}}[d0] : memref<3xf32>)
  // CHECK-NEXT:      outs(%[[O]][*] combine add : memref<8xf32>)
  // CHECK:         finish (%{{.*}}: i32, %[[U:.*]]: f32) {
  // CHECK:           tir.yield %[[U]], %{{.*}} : f32, index
  %y = graph.scatter add %x, %i, %u axis 0 : tensor<8xf32>, tensor<3xi32>, tensor<3xf32> -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// The larger one of unsigned numbers.
// CHECK-LABEL: tir.func @scatter_
func.func private @scatter_max(%x: tensor<8xui8>, %i: tensor<3xi32>, %u: tensor<3xui8>) -> tensor<8xui8> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           [*] combine umax : memref<8xi8>
  %y = graph.scatter max %x, %i, %u axis 0 : tensor<8xui8>, tensor<3xi32>, tensor<3xui8> -> tensor<8xui8>
  func.return %y : tensor<8xui8>
}

// CHECK-LABEL: tir.func @broadcast_
func.func private @broadcast(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           ins(%{{.*}}[d1, 0] : memref<3x1xf32>)
  %y = graph.broadcast %x : tensor<3x1xf32> -> tensor<2x3x4xf32>
  func.return %y : tensor<2x3x4xf32>
}

// In a kernel a reshape is a view, and moves nothing.
// CHECK-LABEL: tir.func @relu_reshape_add_
func.func private @reshape_in_a_group(%x: tensor<4x2xf32>, %b: tensor<8xf32>) -> tensor<8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         %[[V:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [8], strides: [1] : memref<4x2xf32> to memref<8xf32>
  // CHECK-NEXT:    tir.nest dims [parallel 8]
  // CHECK-NEXT:      ins(%[[V]][d0]
  %y = graph.fused (%a = %x : tensor<4x2xf32>, %c = %b : tensor<8xf32>) -> (tensor<8xf32>) {
    %r = graph.relu %a : tensor<4x2xf32>
    %v = graph.reshape %r to [-1] : tensor<4x2xf32> -> tensor<8xf32>
    %s = graph.add %v, %c : tensor<8xf32>
    graph.yield %s : tensor<8xf32>
  }
  func.return %y : tensor<8xf32>
}

// The type of a reshape may leave open what is known.
// CHECK-LABEL: tir.func @relu_reshape_
func.func private @open_type(%x: tensor<4x2xf32>) -> tensor<?xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         %[[N:.*]] = arith.constant 8 : index
  // CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[N]]], strides: [1] : memref<4x2xf32> to memref<?xf32>
  %y = graph.fused (%a = %x : tensor<4x2xf32>) -> (tensor<?xf32>) {
    %r = graph.relu %a : tensor<4x2xf32>
    %v = graph.reshape %r to [-1] : tensor<4x2xf32> -> tensor<?xf32>
    graph.yield %v : tensor<?xf32>
  }
  func.return %y : tensor<?xf32>
}

// Each place is its own, along one axis.
// CHECK-LABEL: tir.func @gather_elements_
func.func private @gather_elements(%x: tensor<4x8xf32>, %i: tensor<4x3xi64>) -> tensor<4x3xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         tir.nest dims [parallel 4, parallel 3]
  // CHECK-NEXT:      ins(%{{.*}}[d0, d1] : memref<4x3xi64>, %{{.*}}[*] : memref<4x8xf32>)
  // CHECK:         finish (%[[I:.*]]: i64, %[[X:.*]]: memref<4x8xf32>) {
  // CHECK-NEXT:      %[[ROW:.*]] = tir.index 0
  // CHECK:           arith.minsi
  // CHECK-NEXT:      %[[AT:.*]] = arith.maxsi
  // CHECK-NEXT:      memref.load %[[X]][%[[ROW]], %[[AT]]]
  %y = graph.gather_elements %x, %i axis 1 : tensor<4x8xf32>, tensor<4x3xi64> -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// Nothing is read.
// CHECK-LABEL: tir.func @iota_
func.func private @iota(%x: tensor<4x8xf32>) -> tensor<4x8xi64> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 4, parallel 8]
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1] : memref<4x8xi64>)
  // CHECK-NEXT:    finish {
  // CHECK-NEXT:      %[[AT:.*]] = tir.index 1
  // CHECK-NEXT:      arith.index_cast %[[AT]] : index to i64
  %y = graph.iota %x axis 1 : tensor<4x8xf32> -> tensor<4x8xi64>
  func.return %y : tensor<4x8xi64>
}
