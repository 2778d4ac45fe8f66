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
