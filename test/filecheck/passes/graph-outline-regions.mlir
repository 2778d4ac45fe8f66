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

// What one place gets is a function of that place, with its attributes.
// CHECK-LABEL: func.func @places
func.func @places(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    %[[A:.*]] = func.call @places_region_0
  // CHECK-NEXT:    %[[B:.*]], %{{.*}} = func.call @places_region_1(%[[A]])
  // CHECK-NEXT:    %[[C:.*]] = func.call @places_region_2(%[[B]])
  // CHECK-NEXT:    func.return %[[C]]
  %a = graph.relu %x : tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %b, %unused = graph.region #target.place<@npu, ?, @sram> (%p = %a : tensor<4xf32>, %q = %two : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {test.label = "conv"} {
    %s = graph.mul %p, %q : tensor<4xf32>
    graph.yield %s, %p : tensor<4xf32>, tensor<4xf32>
  }
  %c = graph.exp %b : tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// A place that is not said is that of the function.
// CHECK-LABEL: func.func @open_place
func.func @open_place(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, @dram>} {
  // CHECK-NEXT:    func.call @open_place_region_0
  %b = graph.region #target.place<@cpu, ?, ?> (%p = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %s = graph.relu %p : tensor<4xf32>
    graph.yield %s : tensor<4xf32>
  }
  func.return %b : tensor<4xf32>
}

// Control flow in a region has runs of its own.
// CHECK-LABEL: func.func @control_flow
func.func @control_flow(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  // CHECK-NEXT:    func.call @control_flow_region_0
  %b = graph.region #target.place<@npu, ?, ?> (%p = %x : tensor<4xf32>, %q = %c : tensor<i1>) -> (tensor<4xf32>) {
    %i = tensor.extract %q[] : tensor<i1>
    %s = scf.if %i -> (tensor<4xf32>) {
      %r = graph.relu %p : tensor<4xf32>
      scf.yield %r : tensor<4xf32>
    } else {
      scf.yield %p : tensor<4xf32>
    }
    graph.yield %s : tensor<4xf32>
  }
  func.return %b : tensor<4xf32>
}

// Copies between places and marks stay in main, and end a run that they read.
// CHECK-LABEL: func.func @copies
func.func @copies(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    %[[A:.*]] = func.call @copies_region_0
  // CHECK-NEXT:    %[[C:.*]] = graph.copy %[[A]]
  // CHECK-NEXT:    %[[M:.*]] = graph.on_device %[[C]]
  // CHECK-NEXT:    func.call @copies_region_1(%[[M]])
  %a = graph.relu %x : tensor<4xf32>
  %c = graph.copy %a : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@cpu, ?, @sram>>>
  %m = graph.on_device %c hint #target.place<@cpu, ?, ?> : tensor<4xf32, #graph.desc<place = #target.place<@cpu, ?, @sram>>>
  %b = graph.exp %m : tensor<4xf32, #graph.desc<place = #target.place<@cpu, ?, @sram>>> -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// A constant that is read by what moves in front moves as well.
// CHECK-LABEL: func.func @constant_in_a_run
func.func @constant_in_a_run(%x: tensor<4xf32>, %i: index) -> (tensor<4xf32>, f32) attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    %[[C:.*]] = graph.constant
  // CHECK-NEXT:    tensor.extract %[[C]]
  // CHECK-NEXT:    func.call @constant_in_a_run_region_0
  // CHECK-NEXT:    func.return
  %a = graph.relu %x : tensor<4xf32>
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = tensor.extract %c[%i] : tensor<4xf32>
  %b = graph.add %a, %c : tensor<4xf32>
  func.return %b, %e : tensor<4xf32>, f32
}

// CHECK-LABEL: func.func private @one_run_region_0
// CHECK-SAME:    attributes {target.for = #target.place<@cpu, ?, ?>}
// CHECK-NEXT:    graph.weight_ref @w
// CHECK-NEXT:    graph.add
// CHECK-NEXT:    graph.add
// CHECK-NEXT:    func.return
// CHECK:       func.func private @places_region_1(%[[P:.*]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-SAME:    target.for = #target.place<@npu, ?, @sram>, test.label = "conv"
// CHECK:         %[[TWO:.*]] = graph.constant
// CHECK-NEXT:    %[[S:.*]] = graph.mul %[[P]], %[[TWO]]
// CHECK-NEXT:    func.return %[[S]], %[[P]]
// CHECK:       func.func private @open_place_region_0
// CHECK-SAME:    target.for = #target.place<@cpu, ?, @dram>
// CHECK:       func.func private @control_flow_region_0
// CHECK:         scf.if
// CHECK-NEXT:      func.call @control_flow_region_0_region_0
