// RUN: transom-opt --allow-unregistered-dialect -p graph-fuse %s | filecheck %s
// RUN: transom-opt --allow-unregistered-dialect -p graph-fuse --print-debuginfo %s | filecheck %s --check-prefix=LOC
// RUN: transom-opt --allow-unregistered-dialect -p graph-fuse,graph-fuse %s | filecheck %s

// Element-wise ops follow the convolution that they read.
// CHECK-LABEL: @conv_bias_residual_relu
func.func @conv_bias_residual_relu(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4x1x1xf32>, %r: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK:         %[[Y:.*]] = graph.fused (%[[XI:.*]] = %{{.*}} : tensor<1x3x8x8xf32>, %[[WI:.*]] = %{{.*}}, %[[BI:.*]] = %{{.*}}, %[[RI:.*]] = %{{.*}}) -> (tensor<1x4x8x8xf32>) {
  // CHECK-NEXT:      %[[C:.*]] = graph.conv2d %[[XI]], %[[WI]]
  // CHECK-NEXT:      %[[A:.*]] = graph.add %[[C]], %[[BI]]
  // CHECK-NEXT:      %[[S:.*]] = graph.add %[[A]], %[[RI]]
  // CHECK-NEXT:      %[[R:.*]] = graph.relu %[[S]]
  // CHECK-NEXT:      graph.yield %[[R]]
  // CHECK:         func.return %[[Y]]
  %c = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x8x8xf32>
  %cb = graph.add %c, %b : tensor<1x4x8x8xf32>, tensor<4x1x1xf32> -> tensor<1x4x8x8xf32>
  %cr = graph.add %cb, %r : tensor<1x4x8x8xf32>
  %y = graph.relu %cr : tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// What two ops read stays a tensor, so that no convolution is computed twice.
// CHECK-LABEL: @contraction_with_two_readers
func.func @contraction_with_two_readers(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK:         %[[M:.*]] = graph.matmul
  // CHECK:         graph.relu %[[M]]
  // CHECK:         graph.matmul %[[M]]
  %m = graph.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %a = graph.relu %m : tensor<4x4xf32>
  %b = graph.matmul %m, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// Reductions and element-wise ops on the same rows are one group; so is a value per row.
// CHECK-LABEL: @centre_rows
func.func @centre_rows(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK:         graph.fused
  // CHECK-NEXT:      graph.reduce mean
  // CHECK-NEXT:      graph.exp {{.*}} : tensor<4x1xf32>
  // CHECK-NEXT:      graph.sub
  // CHECK-NEXT:      graph.yield
  %m = graph.reduce mean %x axes [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>
  %e = graph.exp %m : tensor<4x1xf32>
  %d = graph.sub %x, %e : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
  func.return %d : tensor<4x8xf32>
}

// Rows of different dims have no block in common.
// CHECK-LABEL: @rows_and_columns
func.func @rows_and_columns(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT:     graph.fused
  // CHECK:         func.return
  %a = graph.softmax %x axis 0 : tensor<4x8xf32>
  %b = graph.softmax %a axis 1 : tensor<4x8xf32>
  func.return %b : tensor<4x8xf32>
}

// A scalar constant is copied into the group; the original goes when nobody reads it.
// CHECK-LABEL: @scalar_constant
func.func @scalar_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT:     graph.constant
  // CHECK:         graph.fused (%{{.*}} = %{{.*}} : tensor<4xf32>) ->
  // CHECK-NEXT:      graph.constant dense<2.000000e+00>
  %two = graph.constant dense<2.0> : tensor<f32>
  %a = graph.mul %x, %two : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %b = graph.relu %a : tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// A group of the first and the last op would depend on itself through the product.
// CHECK-LABEL: @path_through_another_op
func.func @path_through_another_op(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NOT:     graph.fused
  // CHECK:         func.return
  %a = graph.relu %x : tensor<4x4xf32>
  %m = graph.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s = graph.add %m, %a : tensor<4x4xf32>
  func.return %s, %m : tensor<4x4xf32>, tensor<4x4xf32>
}

// Ops that stand between two of a group, and depend on it, move behind it.
// CHECK-LABEL: @reader_in_between
func.func @reader_in_between(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK:         %[[F:.*]], %{{.*}} = graph.fused
  // CHECK:         graph.matmul %[[F]]
  %a = graph.relu %x : tensor<4x4xf32>
  %m = graph.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = graph.exp %a : tensor<4x4xf32>
  func.return %m, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// Sizes without a name are equal where one is made of the other.
// CHECK-LABEL: @unnamed_sizes
func.func @unnamed_sizes(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK:         graph.fused
  // CHECK-NEXT:      graph.relu
  // CHECK-NEXT:      graph.exp
  %a = graph.relu %x : tensor<?xf32>
  %b = graph.exp %a : tensor<?xf32>
  func.return %b : tensor<?xf32>
}

// Two sizes without a name may differ.
// CHECK-LABEL: @different_sizes
func.func @different_sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NOT:     graph.fused
  // CHECK:         func.return
  %a = graph.relu %x : tensor<?xf32>
  %b = graph.add %a, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  func.return %b : tensor<?xf32>
}

// The arms of a branch have groups of their own.
// CHECK-LABEL: @in_regions
func.func @in_regions(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // CHECK:         scf.if
  // CHECK-NEXT:      graph.fused
  %y = scf.if %c -> (tensor<4xf32>) {
    %a = graph.relu %x : tensor<4xf32>
    %b = graph.exp %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// All readers of a product are in one group, though it has two.
// CHECK-LABEL: @read_twice_inside
func.func @read_twice_inside(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK:         graph.fused
  // CHECK-NEXT:      graph.matmul
  // CHECK-NEXT:      graph.sigmoid
  // CHECK-NEXT:      graph.mul
  // CHECK-NEXT:      graph.yield
  %m = graph.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s = graph.sigmoid %m : tensor<4x4xf32>
  %y = graph.mul %m, %s : tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// What the tail of a product reads may be computed with it.
// CHECK-LABEL: @computed_residual
func.func @computed_residual(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %r: tensor<1x4xf32>) -> tensor<4x4xf32> {
  // CHECK:         graph.fused
  // CHECK-NEXT:      graph.matmul
  // CHECK-NEXT:      graph.broadcast
  // CHECK-NEXT:      graph.add
  // CHECK-NEXT:      graph.yield
  %m = graph.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = graph.broadcast %r : tensor<1x4xf32> -> tensor<4x4xf32>
  %y = graph.add %m, %b : tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// The operand of a product is no part of its tail, though it has the product's shape.
// CHECK-LABEL: @operand_of_a_product
func.func @operand_of_a_product(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NOT:     graph.fused
  // CHECK:         func.return
  %t = graph.relu %w : tensor<4x4xf32>
  %y = graph.matmul %x, %t : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// A product reads a transposed matrix where it is.
// CHECK-LABEL: @transposed_matrices
func.func @transposed_matrices(%x: tensor<2x8x4xf32>, %w: tensor<2x6x8xf32>, %b: tensor<6xf32>) -> tensor<2x4x6xf32> {
  // CHECK:         graph.fused
  // CHECK-NEXT:      %[[XT:.*]] = graph.transpose
  // CHECK-NEXT:      %[[WT:.*]] = graph.transpose
  // CHECK-NEXT:      graph.matmul %[[XT]], %[[WT]]
  // CHECK-NEXT:      graph.add
  // CHECK-NEXT:      graph.yield
  %xt = graph.transpose %x permutation [0, 2, 1] : tensor<2x8x4xf32> -> tensor<2x4x8xf32>
  %wt = graph.transpose %w permutation [0, 2, 1] : tensor<2x6x8xf32> -> tensor<2x8x6xf32>
  %m = graph.matmul %xt, %wt : tensor<2x4x8xf32>, tensor<2x8x6xf32> -> tensor<2x4x6xf32>
  %y = graph.add %m, %b : tensor<2x4x6xf32>, tensor<6xf32> -> tensor<2x4x6xf32>
  func.return %y : tensor<2x4x6xf32>
}

// One that something else reads as well is made once.
// CHECK-LABEL: @transposed_for_two
func.func @transposed_for_two(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NOT:     graph.fused
  // CHECK:         func.return
  %t = graph.transpose %w permutation [1, 0] : tensor<4x4xf32>
  %a = graph.matmul %x, %t : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = graph.matmul %a, %t : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// Rows and columns would both be scattered over the memory.
// CHECK-LABEL: @matrices_side_by_side
func.func @matrices_side_by_side(%x: tensor<2x4x8xf32>, %w: tensor<8x6x2xf32>) -> tensor<2x4x6xf32> {
  // CHECK-NOT:     graph.fused
  // CHECK:         func.return
  %wt = graph.transpose %w permutation [2, 0, 1] : tensor<8x6x2xf32> -> tensor<2x8x6xf32>
  %y = graph.matmul %x, %wt : tensor<2x4x8xf32>, tensor<2x8x6xf32> -> tensor<2x4x6xf32>
  func.return %y : tensor<2x4x6xf32>
}

// Of two groups that each would be convex the second would close a cycle.
// CHECK-LABEL: @crossed
func.func @crossed(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK:         graph.neg
  // CHECK:         graph.cumulate
  // CHECK:         graph.fused
  // CHECK-NEXT:      graph.exp
  // CHECK-NEXT:      graph.add
  // CHECK-NOT:     graph.fused
  // CHECK:         graph.cumulate
  // CHECK:         graph.mul
  %a1 = graph.exp %x : tensor<4xf32>
  %b1 = graph.neg %y : tensor<4xf32>
  %p = graph.cumulate sum %a1 axis 0 : tensor<4xf32>
  %s = graph.cumulate sum %b1 axis 0 : tensor<4xf32>
  %a2 = graph.add %a1, %s : tensor<4xf32>
  %b2 = graph.mul %b1, %p : tensor<4xf32>
  func.return %a2, %b2 : tensor<4xf32>, tensor<4xf32>
}

// Effects keep their order: a group over them would have to be before and behind.
// CHECK-LABEL: @effects
func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT:     graph.fused
  // CHECK:         "test.first"
  // CHECK:         "test.second"
  // CHECK:         func.return
  %a = graph.relu %x : tensor<4xf32>
  "test.first"(%a) : (tensor<4xf32>) -> ()
  %e = "test.second"() : () -> tensor<4xf32>
  %b = graph.add %a, %e : tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// What an op with regions reads counts as its own.
// CHECK-LABEL: @read_in_a_region
func.func @read_in_a_region(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // CHECK-NOT:     graph.fused
  // CHECK:         func.return
  %a = graph.relu %x : tensor<4xf32>
  %i = scf.if %c -> (tensor<4xf32>) {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %b = graph.add %a, %i : tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// What is one kernel already stays so, and what one place gets is grouped inside.
// CHECK-LABEL: @groups
func.func @groups(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:         graph.composite "acme.op"
  // CHECK-NEXT:      graph.relu
  // CHECK-NEXT:      graph.exp
  // CHECK:         graph.region
  // CHECK-NEXT:      graph.fused
  %y = graph.composite "acme.op" (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %b = graph.relu %a : tensor<4xf32>
    %c = graph.exp %b : tensor<4xf32>
    graph.yield %c : tensor<4xf32>
  }
  %z = graph.region #target.place<@npu, ?, ?> (%a = %y : tensor<4xf32>) -> (tensor<4xf32>) {
    %b = graph.relu %a : tensor<4xf32>
    %c = graph.exp %b : tensor<4xf32>
    graph.yield %c : tensor<4xf32>
  }
  func.return %z : tensor<4xf32>
}

// What is padded is computed in the middle of the result, unless it is read elsewhere or
// its end is not known; nothing follows in the same kernel.
// CHECK-LABEL: @padded
func.func @padded(%x: tensor<4x5xf32>, %u: tensor<?xf32>) -> (tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x5xf32>, tensor<?xf32>) {
  // CHECK-NEXT:    %{{.*}} = graph.fused
  // CHECK-NEXT:      graph.exp
  // CHECK-NEXT:      graph.pad
  // CHECK-NEXT:      graph.yield
  // CHECK-NEXT:    }
  // CHECK-NEXT:    graph.relu
  // CHECK-NEXT:    %c = graph.exp
  // CHECK-NEXT:    graph.pad %c
  // CHECK-NEXT:    %f = graph.exp
  // CHECK-NEXT:    graph.pad %f
  %a = graph.exp %x : tensor<4x5xf32>
  %b = graph.pad %a low [0, 1] high [0, 1] value 0.0 : f32 : tensor<4x5xf32> -> tensor<4x7xf32>
  %r = graph.relu %b : tensor<4x7xf32>
  %c = graph.exp %x : tensor<4x5xf32>
  %d = graph.pad %c low [0, 1] high [0, 1] value 0.0 : f32 : tensor<4x5xf32> -> tensor<4x7xf32>
  %f = graph.exp %u : tensor<?xf32>
  %g = graph.pad %f low [1] high [0] value 0.0 : f32 : tensor<?xf32> -> tensor<?xf32>
  func.return %r, %d, %c, %g : tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x5xf32>, tensor<?xf32>
}

// A group has the places of its ops.
// LOC-LABEL: @locations
func.func @locations(%x: tensor<4xf32>) -> tensor<4xf32> {
  // LOC:           graph.fused
  // LOC:           } loc(fused["m.onnx":1:1, "m.onnx":2:1])
  %a = graph.relu %x : tensor<4xf32> loc("m.onnx":1:1)
  %b = graph.exp %a : tensor<4xf32> loc("m.onnx":2:1)
  func.return %b : tensor<4xf32>
}

// The number of a point costs nothing where it is read.
// CHECK-LABEL: @iota
func.func @iota(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT:    graph.fused (%{{.*}} = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  // CHECK:           graph.iota
  // CHECK-NEXT:      graph.iota
  // CHECK-NEXT:      graph.compare
  // CHECK-NEXT:      graph.select
  %z = graph.constant dense<0.0> : tensor<f32>
  %i = graph.iota %x axis 0 : tensor<4x8xf32> -> tensor<4x8xi64>
  %j = graph.iota %x axis 1 : tensor<4x8xf32> -> tensor<4x8xi64>
  %c = graph.compare le %j, %i : tensor<4x8xi64>, tensor<4x8xi64> -> tensor<4x8xi1>
  %y = graph.select %c, %x, %z : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32> -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
