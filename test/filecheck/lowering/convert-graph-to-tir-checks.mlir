// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s

// What types leave open about sizes is checked when main runs, in front of the kernel.

!v = tensor<?xf32>
!m = tensor<?x?xf32>
!n = tensor<?xf32, #graph.desc<dims = ["N"]>>

// CHECK-LABEL: func.func @equal_names
// CHECK-NOT:     cf.assert
// CHECK:         func.return
func.func @equal_names(%x: !n, %y: !n) -> !n {
  %z = func.call @add(%x, %y) : (!n, !n) -> !n
  func.return %z : !n
}

// CHECK-LABEL: func.func @depth
func.func @depth(%x: !m, %y: !m) -> !m {
  // CHECK:         %[[K:.*]] = tensor.dim %x
  // CHECK:         %[[L:.*]] = tensor.dim %y
  // CHECK:         %[[EQ:.*]] = arith.cmpi eq, %[[K]], %[[L]]
  // CHECK-NEXT:    cf.assert %[[EQ]], "'graph.matmul': dimension 1 of operand 0 is not that of dimension 0 of operand 1"
  // CHECK-NOT:     cf.assert
  // CHECK:         tir.call @matmul_
  %z = func.call @matmul(%x, %y) : (!m, !m) -> !m
  func.return %z : !m
}

// CHECK-LABEL: func.func @window
func.func @window(%x: tensor<1x3x?x8xf32>, %w: tensor<4x?x3x3xf32>) -> tensor<1x4x?x6xf32> {
  // CHECK:         cf.assert %{{.*}}, "'graph.conv2d': the channels are not those of the weight"
  // CHECK:         %[[FITS:.*]] = arith.cmpi sle
  // CHECK-NEXT:    cf.assert %[[FITS]], "'graph.conv2d': dimension 2 of operand 0 is below the window"
  // CHECK-NOT:     cf.assert
  // CHECK:         tir.call @conv2d_
  %z = func.call @conv(%x, %w) : (tensor<1x3x?x8xf32>, tensor<4x?x3x3xf32>) -> tensor<1x4x?x6xf32>
  func.return %z : tensor<1x4x?x6xf32>
}

// CHECK-LABEL: func.func @concat_other_sizes
func.func @concat_other_sizes(%x: tensor<2x?xf32>, %y: tensor<3x?xf32>) -> tensor<5x?xf32> {
  // CHECK:         cf.assert %{{.*}}, "'graph.concat': dimension 1 of operand 1 is not that of dimension 1 of operand 0"
  %z = func.call @concat(%x, %y) : (tensor<2x?xf32>, tensor<3x?xf32>) -> tensor<5x?xf32>
  func.return %z : tensor<5x?xf32>
}

// CHECK-LABEL: func.func @slice_outside
func.func @slice_outside(%x: !v) -> tensor<3xf32> {
  // CHECK:         cf.assert %{{.*}}, "'graph.slice': the slice leaves dimension 0"
  %z = func.call @slice(%x) : (!v) -> tensor<3xf32>
  func.return %z : tensor<3xf32>
}

// CHECK-LABEL: func.func @nothing_to_gather
func.func @nothing_to_gather(%x: !v, %i: tensor<2xi64>) -> tensor<2xf32> {
  // CHECK:         cf.assert %{{.*}}, "'graph.gather': there is nothing along axis 0"
  %z = func.call @gather(%x, %i) : (!v, tensor<2xi64>) -> tensor<2xf32>
  func.return %z : tensor<2xf32>
}

// CHECK-LABEL: func.func @scatter_sizes
func.func @scatter_sizes(%x: !m, %i: tensor<?x?xi64>, %u: !m) -> !m {
  // CHECK:         cf.assert %{{.*}}, "'graph.scatter': dimension 0 of operand 2 is not that of dimension 0 of operand 1"
  // CHECK:         cf.assert %{{.*}}, "'graph.scatter': dimension 1 of the indices is too large"
  %z = func.call @scatter(%x, %i, %u) : (!m, tensor<?x?xi64>, !m) -> !m
  func.return %z : !m
}

// CHECK-LABEL: func.func @shape_of_other_elements
func.func @shape_of_other_elements(%x: !v) -> tensor<2x?xf32> {
  // CHECK:         cf.assert %{{.*}}, "'graph.reshape': the elements do not fill the shape"
  // CHECK:         tensor.expand_shape
  %z = func.call @reshape(%x) : (!v) -> tensor<2x?xf32>
  func.return %z : tensor<2x?xf32>
}

// A type may say more than is known.
// CHECK-LABEL: func.func @declared
func.func @declared(%x: !v) -> tensor<4xf32> {
  // CHECK:         cf.assert %{{.*}}, "'graph.relu': dimension 0 of result 0 is not 4"
  %z = func.call @four(%x) : (!v) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @channels
func.func @channels(%x: tensor<1x?x4xf32>, %p: !v) -> tensor<1x?x4xf32> {
  // CHECK:         cf.assert %{{.*}}, "'graph.batch_norm': dimension 0 of operand 1 is not that of dimension 1 of operand 0"
  %z = func.call @batch_norm(%x, %p) : (tensor<1x?x4xf32>, !v) -> tensor<1x?x4xf32>
  func.return %z : tensor<1x?x4xf32>
}

func.func private @add(%x: !n, %y: !n) -> !n attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.add %x, %y : !n
  func.return %z : !n
}

func.func private @matmul(%x: !m, %y: !m) -> !m attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.matmul %x, %y : !m, !m -> !m
  func.return %z : !m
}

func.func private @conv(%x: tensor<1x3x?x8xf32>, %w: tensor<4x?x3x3xf32>) -> tensor<1x4x?x6xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.conv2d %x, %w : tensor<1x3x?x8xf32>, tensor<4x?x3x3xf32> -> tensor<1x4x?x6xf32>
  func.return %z : tensor<1x4x?x6xf32>
}

func.func private @concat(%x: tensor<2x?xf32>, %y: tensor<3x?xf32>) -> tensor<5x?xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.concat %x, %y axis 0 : tensor<2x?xf32>, tensor<3x?xf32> -> tensor<5x?xf32>
  func.return %z : tensor<5x?xf32>
}

func.func private @slice(%x: !v) -> tensor<3xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.slice %x starts [1] sizes [3] steps [1] : !v -> tensor<3xf32>
  func.return %z : tensor<3xf32>
}

func.func private @gather(%x: !v, %i: tensor<2xi64>) -> tensor<2xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.gather %x, %i axis 0 : !v, tensor<2xi64> -> tensor<2xf32>
  func.return %z : tensor<2xf32>
}

func.func private @scatter(%x: !m, %i: tensor<?x?xi64>, %u: !m) -> !m attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.scatter none %x, %i, %u axis 0 : !m, tensor<?x?xi64>, !m -> !m
  func.return %z : !m
}

func.func private @reshape(%x: !v) -> tensor<2x?xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.reshape %x to [2, -1] : !v -> tensor<2x?xf32>
  func.return %z : tensor<2x?xf32>
}

func.func private @four(%x: !v) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.relu %x : !v -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

func.func private @batch_norm(%x: tensor<1x?x4xf32>, %p: !v) -> tensor<1x?x4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.batch_norm %x, %p, %p, %p, %p epsilon 1.0e-5 : tensor<1x?x4xf32>, !v, !v, !v, !v -> tensor<1x?x4xf32>
  func.return %z : tensor<1x?x4xf32>
}
