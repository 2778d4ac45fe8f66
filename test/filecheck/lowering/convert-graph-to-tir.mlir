// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s
// RUN: transom-opt -p convert-graph-to-tir,convert-graph-to-tir %s | filecheck %s
// RUN: transom-opt -p convert-graph-to-tir --print-debuginfo %s | filecheck %s --check-prefix=LOC

// The call becomes a call of the kernel; location and discardable attributes are on it.
// CHECK-LABEL: func.func @main
// LOC-LABEL:   func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[D:.*]] = tensor.empty() : tensor<4xf32>
  // CHECK-NEXT:    %[[Y:.*]] = tir.call @relu_[[HASH:[0-9a-f]+]](%{{.*}} : tensor<4xf32>) outs(%[[D]] : tensor<4xf32>) {test.hint}
  // CHECK-NEXT:    func.return %[[Y]]
  // LOC:           tir.call @relu_{{.*}} loc("m.onnx":3:1)
  %y = func.call @region(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// A second call, and equal content elsewhere, use the same kernel.
// CHECK-LABEL: func.func @twice
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:         tir.call @relu_[[HASH]]
  // CHECK:         tir.call @relu_[[HASH]]
  %y = func.call @region(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @same(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// Views and sizes are main's: the size of the result is computed from the input's.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  // CHECK:         %[[N:.*]] = tensor.dim %{{.*}} : tensor<?x4xf32>
  // CHECK:         %[[D:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
  // CHECK:         %[[Y:.*]] = tir.call @exp_{{.*}} outs(%[[D]] : tensor<?x4xf32>)
  // CHECK:         tensor.collapse_shape %[[Y]] {{.*}} : tensor<?x4xf32> into tensor<?xf32>
  %y = func.call @flat(%x) : (tensor<?x4xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// That sizes broadcast which no name says to be equal is checked at run time.
// CHECK-LABEL: func.func @checked
func.func @checked(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK:         cf.assert %{{.*}}, "'graph.add': dimension 0 of operand 0 does not broadcast"
  // CHECK:         cf.assert %{{.*}}, "'graph.add': dimension 0 of operand 1 does not broadcast"
  // CHECK:         tir.call @add_
  %z = func.call @sum(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}

// Only private functions with a place are owned.
// CHECK-LABEL: func.func @public_function
func.func @public_function(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    graph.relu
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// Constants and weights in a group are main's, and inputs of the kernel; attributes of
// the group and of its ops are on the call.
// CHECK-LABEL: func.func @constants_in_a_group
func.func @constants_in_a_group(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-DAG:     %[[C:.*]] = graph.weight_ref @constant_0
  // CHECK-DAG:     %[[W:.*]] = graph.weight_ref @w
  // CHECK:         tir.call @add_mul_{{.*}}(%x : {{.*}}, %[[C]] : {{.*}}, %[[W]] : {{.*}}) outs({{.*}}) {test.group, test.member}
  %y = func.call @group(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// A copy between places is main's.
// CHECK-LABEL: func.func @copied
func.func @copied(%x: tensor<4xf32>) -> tensor<4xf32, #graph.desc<place = #target.place<@cpu, ?, @sram>>> {
  // CHECK:         %[[Y:.*]] = tir.call @relu_[[HASH]]
  // CHECK-NEXT:    graph.copy %[[Y]]
  %y = func.call @region(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = graph.copy %y : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@cpu, ?, @sram>>>
  func.return %z : tensor<4xf32, #graph.desc<place = #target.place<@cpu, ?, @sram>>>
}

// A scalar becomes a tensor, and back.
// CHECK-LABEL: func.func @scalar_views
func.func @scalar_views(%x: tensor<f32>) -> (tensor<1x1xf32>, tensor<f32>) {
  // CHECK:         %[[V:.*]] = tensor.reshape %x
  // CHECK:         %[[S:.*]] = tensor.collapse_shape %[[V]] [] : tensor<1x1xf32> into tensor<f32>
  // CHECK:         func.return %[[V]], %[[S]]
  %v, %s = func.call @scalars(%x) : (tensor<f32>) -> (tensor<1x1xf32>, tensor<f32>)
  func.return %v, %s : tensor<1x1xf32>, tensor<f32>
}

// A region may return what it gets, and one value twice.
// CHECK-LABEL: func.func @passed_through
func.func @passed_through(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK:         %[[Y:.*]] = tir.call @relu_[[HASH]]
  // CHECK-NEXT:    func.return %x, %[[Y]], %[[Y]]
  %a, %b, %c = func.call @pass(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A kernel that returns an input, and one result twice, copies them.
// CHECK-LABEL: func.func @copying_kernel
func.func @copying_kernel(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK:         %[[A:.*]], %[[B:.*]], %[[C:.*]] = tir.call @relu_[[COPYING:[0-9a-f]+]](%x : tensor<4xf32>)
  // CHECK-NEXT:    func.return %[[A]], %[[B]], %[[C]]
  %a, %b, %c = func.call @copying(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

graph.weight @w = dense<[1.0, 2.0]> : tensor<2xf32>

func.func private @group(%x: tensor<2xf32>) -> tensor<2xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.composite "acme.affine" (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) attributes {test.group} {
    %c = graph.constant dense<[3.0, 4.0]> : tensor<2xf32>
    %s = graph.add %a, %c {test.member} : tensor<2xf32>
    %p = graph.fused (%b = %s : tensor<2xf32>) -> (tensor<2xf32>) {
      %w = graph.weight_ref @w : tensor<2xf32>
      %m = graph.mul %b, %w : tensor<2xf32>
      graph.yield %m : tensor<2xf32>
    }
    graph.yield %p : tensor<2xf32>
  }
  func.return %y : tensor<2xf32>
}

func.func private @scalars(%x: tensor<f32>) -> (tensor<1x1xf32>, tensor<f32>) attributes {target.for = #target.place<@cpu, ?, ?>} {
  %v = graph.reshape %x to [1, 1] : tensor<f32> -> tensor<1x1xf32>
  %s = graph.reshape %v to [] : tensor<1x1xf32> -> tensor<f32>
  func.return %v, %s : tensor<1x1xf32>, tensor<f32>
}

func.func private @pass(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.relu %x : tensor<4xf32>
  func.return %x, %y, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

func.func private @copying(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {target.for = #target.place<@cpu, ?, ?>} {
  %a, %b, %c = graph.fused (%p = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %r = graph.relu %p : tensor<4xf32>
    graph.yield %p, %r, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The function is kept, and says what it was lowered to.
// CHECK-LABEL: func.func private @region
// CHECK-SAME:    target.lowered_to = [@relu_[[HASH]]]
func.func private @region(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.relu %x {test.hint} : tensor<4xf32> loc("m.onnx":3:1)
  func.return %y : tensor<4xf32>
}

func.func private @same(%a: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %b = graph.relu %a : tensor<4xf32>
  func.return %b : tensor<4xf32>
}

func.func private @flat(%x: tensor<?x4xf32>) -> tensor<?xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.exp %x : tensor<?x4xf32>
  %z = graph.reshape %y to [-1] : tensor<?x4xf32> -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}

func.func private @sum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %z = graph.add %x, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}

// CHECK:       tir.func @relu_[[HASH]](read %[[X:.*]]: memref<4xf32>, write %[[O:.*]]: memref<4xf32>)
// CHECK-SAME:    target.for = #target.place<@cpu, ?, ?>
// CHECK-NEXT:    tir.nest dims [parallel 4]
// CHECK-NEXT:      ins(%[[X]][d0] : memref<4xf32>)
// CHECK-NEXT:      outs(%[[O]][d0] : memref<4xf32>)
// CHECK-NEXT:    finish (%[[V:.*]]: f32) {
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0.000000e+00
// CHECK-NEXT:      %[[M:.*]] = arith.maximumf %[[V]], %[[ZERO]]
// CHECK-NEXT:      tir.yield %[[M]]

// CHECK:       tir.func @relu_[[COPYING]](read %[[X:.*]]: memref<4xf32>, write %[[A:.*]]: memref<4xf32>, write %[[B:.*]]: memref<4xf32>, write %[[C:.*]]: memref<4xf32>)
// CHECK-NEXT:    tir.nest
// CHECK:           outs(%[[B]][d0] : memref<4xf32>)
// CHECK:         tir.copy %[[X]], %[[A]]
// CHECK-NEXT:    tir.copy %[[B]], %[[C]]
