// RUN: transom-opt -p graph-infer-types %s | filecheck %s

// CHECK-LABEL: @numbers
// CHECK-SAME:    (%x: tensor<4x3xf32>) -> tensor<4x12xf32>
func.func @numbers(%x: tensor<4x3xf32>) -> tensor<?x?xf32> {
  // CHECK-NEXT:  %[[A:.*]] = graph.relu %x : tensor<4x3xf32>
  // CHECK-NEXT:  %[[B:.*]] = graph.concat %[[A]], %{{.*}} axis 1 : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x6xf32>
  // CHECK-NEXT:  %[[C:.*]] = graph.broadcast %[[B]] : tensor<4x6xf32> -> tensor<2x4x6xf32>
  // CHECK-NEXT:  graph.reshape %[[C]] to [dim(1), -1] : tensor<2x4x6xf32> -> tensor<4x12xf32>
  %a = graph.relu %x : tensor<4x3xf32> -> tensor<?x3xf32>
  %b = graph.concat %a, %x axis 1 : tensor<?x3xf32>, tensor<4x3xf32> -> tensor<?x?xf32>
  %c = graph.broadcast %b : tensor<?x?xf32> -> tensor<2x?x?xf32>
  %d = graph.reshape %c to [dim(1), -1] : tensor<2x?x?xf32> -> tensor<?x?xf32>
  func.return %d : tensor<?x?xf32>
}

// CHECK-LABEL: @names
// CHECK-SAME:    -> tensor<?x4x16x16xf32, #graph.desc<dims = ["N" : 1 to 8]>>
func.func @names(%x: tensor<?x3x16x16xf32, #graph.desc<dims = ["N" : 1 to 8]>>, %w: tensor<4x3x3x3xf32>) -> tensor<?x4x16x16xf32> {
  // CHECK-NEXT:  graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<?x3x16x16xf32, #graph.desc<dims = ["N" : 1 to 8]>>, tensor<4x3x3x3xf32> -> tensor<?x4x16x16xf32, #graph.desc<dims = ["N" : 1 to 8]>>
  %y = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<?x3x16x16xf32, #graph.desc<dims = ["N" : 1 to 8]>>, tensor<4x3x3x3xf32> -> tensor<?x4x16x16xf32>
  func.return %y : tensor<?x4x16x16xf32>
}

// A name survives a padded convolution, and bounds are narrowed.
// CHECK-LABEL: @bounds
// CHECK-SAME:    -> tensor<?xf32, #graph.desc<dims = ["N" : 2 to 4]>>
func.func @bounds(%x: tensor<?xf32, #graph.desc<dims = ["N" : 1 to 4]>>) -> tensor<?xf32, #graph.desc<dims = ["N" : 2 to 8]>> {
  %y = graph.neg %x : tensor<?xf32, #graph.desc<dims = ["N" : 1 to 4]>> -> tensor<?xf32, #graph.desc<dims = ["N" : 2 to 8]>>
  func.return %y : tensor<?xf32, #graph.desc<dims = ["N" : 2 to 8]>>
}

// What a result type says already stays: a size, layout and place.
// CHECK-LABEL: @more_precise
func.func @more_precise(%x: tensor<?x8xf32>) {
  // CHECK-NEXT:  graph.neg %x : tensor<?x8xf32> -> tensor<2x8xf32>
  %y = graph.neg %x : tensor<?x8xf32> -> tensor<2x?xf32>
  // CHECK-NEXT:  graph.relayout %{{.*}} : tensor<2x8xf32> -> tensor<2x8xf32, #graph.desc<layout = #graph.layout<block = [1, 4]>>>
  %z = graph.relayout %y : tensor<2x?xf32> -> tensor<?x?xf32, #graph.desc<layout = #graph.layout<block = [1, 4]>>>
  // CHECK-NEXT:  graph.on_device %{{.*}} : tensor<2x8xf32>
  %d = graph.on_device %y hint #target.place<@npu, ?, ?> : tensor<2x?xf32>
  func.return
}

// CHECK-LABEL: @groups
func.func @groups(%x: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK:       graph.fused (%[[B:.*]] = %{{.*}} : tensor<4xf32>) -> (tensor<4xf32>) {
  // CHECK-NEXT:    graph.neg %[[B]] : tensor<4xf32>
  // CHECK-NEXT:    graph.yield %{{.*}} : tensor<4xf32>
  %a = graph.relu %x : tensor<4xf32> -> tensor<?xf32>
  %f = graph.fused (%b = %a : tensor<?xf32>) -> (tensor<?xf32>) {
    %n = graph.neg %b : tensor<?xf32>
    graph.yield %n : tensor<?xf32>
  }
  func.return %f : tensor<?xf32>
}

// CHECK-LABEL: @if
func.func @if(%c: i1, %x: tensor<4x?xf32>) -> tensor<?x?xf32> {
  // CHECK:       scf.if %c -> (tensor<4x?xf32>) {
  // CHECK:         scf.yield %{{.*}} : tensor<4x?xf32>
  // CHECK:         %[[D:.*]] = tensor.cast %{{.*}} : tensor<4x8xf32> to tensor<4x?xf32>
  // CHECK-NEXT:    scf.yield %[[D]] : tensor<4x?xf32>
  %r = scf.if %c -> (tensor<?x?xf32>) {
    %a = graph.relu %x : tensor<4x?xf32> -> tensor<?x?xf32>
    scf.yield %a : tensor<?x?xf32>
  } else {
    %b = graph.constant dense<1.0> : tensor<4x8xf32>
    %d = tensor.cast %b : tensor<4x8xf32> to tensor<?x?xf32>
    scf.yield %d : tensor<?x?xf32>
  }
  func.return %r : tensor<?x?xf32>
}

// The first value grows in the loop, the second one does not.
// CHECK-LABEL: @for
// CHECK-SAME:    -> (tensor<?xf32>, tensor<4xf32>)
func.func @for(%n: index, %x: tensor<4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = graph.relu %x : tensor<4xf32> -> tensor<?xf32>
  // CHECK:       %[[C:.*]] = tensor.cast %{{.*}} : tensor<4xf32> to tensor<?xf32>
  // CHECK-NEXT:  scf.for {{.*}} iter_args(%[[P:.*]] = %[[C]], %[[Q:.*]] = %{{.*}}) -> (tensor<?xf32>, tensor<4xf32>) {
  // CHECK-NEXT:    graph.concat %[[P]], %[[Q]] axis 0 : tensor<?xf32>, tensor<4xf32> -> tensor<?xf32>
  // CHECK-NEXT:    graph.neg %[[Q]] : tensor<4xf32>
  // CHECK-NEXT:    scf.yield %{{.*}}, %{{.*}} : tensor<?xf32>, tensor<4xf32>
  %r, %s = scf.for %i = %zero to %n step %one iter_args(%p = %a, %q = %a) -> (tensor<?xf32>, tensor<?xf32>) {
    %u = graph.concat %p, %q axis 0 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
    %v = graph.neg %q : tensor<?xf32>
    scf.yield %u, %v : tensor<?xf32>, tensor<?xf32>
  }
  func.return %r, %s : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @while
// CHECK-SAME:    -> tensor<4x?xf32>
func.func @while(%x: tensor<4x4xf32>) -> tensor<?x?xf32> {
  %a = graph.relu %x : tensor<4x4xf32> -> tensor<?x?xf32>
  // CHECK:       scf.while (%[[B:.*]] = %{{.*}}) : (tensor<4x?xf32>) -> tensor<4x?xf32> {
  // CHECK:         scf.condition(%{{.*}}) %[[B]] : tensor<4x?xf32>
  // CHECK:       ^bb0(%[[E:.*]]: tensor<4x?xf32>):
  // CHECK-NEXT:    graph.slice %[[E]] starts [0, 1] sizes [-1, -1] steps [1, 1] : tensor<4x?xf32>
  %r = scf.while (%b = %a) : (tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c = "test.op"() : () -> i1
    scf.condition(%c) %b : tensor<?x?xf32>
  } do {
  ^bb0(%e: tensor<?x?xf32>):
    %d = graph.slice %e starts [0, 1] sizes [-1, -1] steps [1, 1] : tensor<?x?xf32>
    scf.yield %d : tensor<?x?xf32>
  }
  func.return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @caller
// CHECK-SAME:    -> tensor<4xf32>
func.func @caller(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK-NEXT:  %[[Y:.*]] = graph.neg %y : tensor<4xf32>
  // CHECK-NEXT:  %[[CAST:.*]] = tensor.cast %[[Y]] : tensor<4xf32> to tensor<?xf32>
  // CHECK-NEXT:  func.call @callee(%[[CAST]]) : (tensor<?xf32>) -> tensor<4xf32>
  // CHECK-NEXT:  graph.neg %r : tensor<4xf32>
  %z = graph.neg %y : tensor<4xf32> -> tensor<?xf32>
  %r = func.call @callee(%z) : (tensor<?xf32>) -> tensor<?xf32>
  %n = graph.neg %r : tensor<?xf32>
  func.return %n : tensor<?xf32>
}

// CHECK-LABEL: func.func private @callee
// CHECK-SAME:    -> tensor<4xf32>
func.func private @callee(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = graph.constant dense<1.0> : tensor<4xf32>
  %r = graph.add %x, %c : tensor<?xf32>, tensor<4xf32> -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}

// An op of another dialect sees the type that it had.
// CHECK-LABEL: @others
func.func @others(%x: tensor<4xf32>) -> index {
  // CHECK:       %[[C:.*]] = tensor.cast %[[A:.*]] : tensor<4xf32> to tensor<?xf32>
  // CHECK-NEXT:  "test.op"(%[[C]]) : (tensor<?xf32>) -> ()
  // CHECK:       tensor.dim %[[A]], %{{.*}} : tensor<4xf32>
  %a = graph.neg %x : tensor<4xf32> -> tensor<?xf32>
  "test.op"(%a) : (tensor<?xf32>) -> ()
  %zero = arith.constant 0 : index
  %d = tensor.dim %a, %zero : tensor<?xf32>
  func.return %d : index
}
