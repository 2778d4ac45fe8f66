// RUN: transom-opt -p graph-outline-regions %s | filecheck %s
// RUN: transom-opt -p graph-outline-regions,graph-outline-regions %s | filecheck %s

graph.weight @w = dense<1.0> : tensor<4xf32>

// Inputs are in the order of first use; the weight is read inside.
// CHECK-LABEL: func.func @one_run
func.func @one_run(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    %[[S:.*]] = func.call @one_run_region_0(%y, %x)
  // CHECK-NEXT:    func.return %[[S]]
  %w = graph.weight_ref @w : tensor<4xf32>
  %a = graph.add %y, %w : tensor<4xf32>
  %s = graph.add %a, %x : tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// The arithmetic of shapes moves in front of a run that it does not need.
// CHECK-LABEL: func.func @shape_arithmetic
func.func @shape_arithmetic(%x: tensor<?xf32>) -> (tensor<?xf32>, index) attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         tensor.dim
  // CHECK:         func.call @shape_arithmetic_region_0
  // CHECK-NOT:     func.call
  // CHECK:         func.return
  %a = graph.relu %x : tensor<?xf32>
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %b = graph.exp %a : tensor<?xf32>
  func.return %b, %n : tensor<?xf32>, index
}

// Control flow stays; each arm has its own runs.
// CHECK-LABEL: func.func @branch
func.func @branch(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         scf.if
  // CHECK-NEXT:      func.call @branch_region_0
  // CHECK:         } else {
  // CHECK-NEXT:      func.call @branch_region_1
  %y = scf.if %c -> (tensor<4xf32>) {
    %a = graph.relu %x : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    %b = graph.exp %x : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// A function without a place is nobody's.
// CHECK-LABEL: func.func @without_place
func.func @without_place(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    graph.relu
  %a = graph.relu %x : tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func private @one_run_region_0
// CHECK-SAME:    attributes {target.for = #target.place<@cpu, ?, ?>}
// CHECK-NEXT:    graph.weight_ref @w
// CHECK-NEXT:    graph.add
// CHECK-NEXT:    graph.add
// CHECK-NEXT:    func.return
