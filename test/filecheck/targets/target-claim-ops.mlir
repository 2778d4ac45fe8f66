// RUN: transom-opt -p target-claim-ops --split-input-file %s | filecheck %s
// RUN: transom-opt -p target-claim-ops,target-claim-ops --split-input-file %s | filecheck %s

target.device @soc {targets = [#toy_npu.target<features = ["matmul"]>, #llvm_cpu.target<cpu = "cortex-a53">]}

// Neighbouring claims make one region; the target without claims takes the rest, and the
// place of the function names it.
// CHECK-LABEL: @rest
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>)
// CHECK-SAME:    target.for = #target.place<@soc, #llvm_cpu.target<cpu = "cortex-a53">, ?>
func.func @rest(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[E:.*]] = graph.exp %[[X]]
  // CHECK-NEXT:    %[[R:.*]] = graph.region #target.place<@soc, #toy_npu.target<features = ["matmul"]>, ?> (%[[A:.*]] = %[[E]] : tensor<4xf32>)
  // CHECK-NEXT:      %[[S:.*]] = graph.add %[[A]], %[[A]]
  // CHECK-NEXT:      %[[T:.*]] = graph.relu %[[S]]
  // CHECK-NEXT:      graph.yield %[[T]]
  // CHECK-NEXT:    }
  // CHECK-NEXT:    func.return %[[R]]
  %e = graph.exp %x : tensor<4xf32>
  %s = graph.add %e, %e : tensor<4xf32>
  %r = graph.relu %s : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// What nobody is asked for keeps its place; a function without ops has one too.
// CHECK-LABEL: @nothing_to_compute
// CHECK-SAME:    target.for = #target.place<@soc, #llvm_cpu.target<cpu = "cortex-a53">, ?>
func.func @nothing_to_compute(%x: tensor<?xf32>) -> index {
  // CHECK-NEXT:    arith.constant
  // CHECK-NEXT:    tensor.dim
  %c = arith.constant 0 : index
  %d = tensor.dim %x, %c : tensor<?xf32>
  func.return %d : index
}

// A value that is read outside, too, is a result.
// CHECK-LABEL: @tap
func.func @tap(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:    %[[S:.*]], %[[R:.*]] = graph.region
  // CHECK:         %[[E:.*]] = graph.exp %[[S]]
  // CHECK-NEXT:    func.return %[[R]], %[[E]]
  %s = graph.add %x, %x : tensor<4xf32>
  %e = graph.exp %s : tensor<4xf32>
  %r = graph.relu %s : tensor<4xf32>
  func.return %r, %e : tensor<4xf32>, tensor<4xf32>
}

// Ops with another target's between them stay apart: a region is left once.
// CHECK-LABEL: @convex
func.func @convex(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    graph.region
  // CHECK-NEXT:      graph.add
  // CHECK-NEXT:      graph.yield
  // CHECK:         graph.exp
  // CHECK-NEXT:    graph.region
  // CHECK-NEXT:      graph.mul
  %a = graph.add %x, %x : tensor<4xf32>
  %e = graph.exp %a : tensor<4xf32>
  %m = graph.mul %a, %e : tensor<4xf32>
  func.return %m : tensor<4xf32>
}

// A pattern is a composite under its label, with what it reads as inputs.
// CHECK-LABEL: @pattern
// CHECK-SAME:    (%[[X:.*]]: tensor<4x4xf32>, %[[W:.*]]: tensor<4x4xf32>)
func.func @pattern(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT:    %[[B:.*]] = graph.constant
  // CHECK-NEXT:    graph.region {{.*}} (%[[X1:.*]] = %[[X]] : tensor<4x4xf32>, %[[W1:.*]] = %[[W]] : tensor<4x4xf32>, %[[B1:.*]] = %[[B]] : tensor<4x4xf32>)
  // CHECK-NEXT:      %[[R:.*]] = graph.composite "toy_npu.matmul_add_relu" (%[[X2:.*]] = %[[X1]] : tensor<4x4xf32>, %[[W2:.*]] = %[[W1]] : tensor<4x4xf32>, %[[B2:.*]] = %[[B1]] : tensor<4x4xf32>)
  // CHECK-NEXT:        %[[M:.*]] = graph.matmul %[[X2]], %[[W2]]
  // CHECK-NEXT:        %[[S:.*]] = graph.add %[[M]], %[[B2]]
  // CHECK-NEXT:        graph.relu %[[S]]
  // CHECK:           graph.mul %[[R]], %[[R]]
  %m = graph.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = graph.constant dense<1.0> : tensor<4x4xf32>
  %s = graph.add %m, %b : tensor<4x4xf32>
  %r = graph.relu %s : tensor<4x4xf32>
  %t = graph.mul %r, %r : tensor<4x4xf32>
  func.return %t : tensor<4x4xf32>
}

// An inner value of a pattern that is read outside is a result of it.
// CHECK-LABEL: @pattern_with_tap
func.func @pattern_with_tap(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT:    %[[S:.*]], %[[R:.*]] = graph.region
  // CHECK-NEXT:      %[[S1:.*]], %[[R1:.*]] = graph.composite
  // CHECK:           graph.yield %[[S1]], %[[R1]]
  // CHECK:         func.return %[[R]], %[[S]]
  %m = graph.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s = graph.add %m, %x : tensor<4x4xf32>
  %r = graph.relu %s : tensor<4x4xf32>
  func.return %r, %s : tensor<4x4xf32>, tensor<4x4xf32>
}

// A pattern with another target's op between its own is taken op by op.
// CHECK-LABEL: @pattern_that_is_not_convex
// CHECK-NOT:     graph.composite
func.func @pattern_that_is_not_convex(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK:           graph.matmul
  // CHECK:         graph.exp
  // CHECK:           graph.add
  // CHECK-NEXT:      graph.relu
  %m = graph.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %e = graph.exp %m : tensor<4x4xf32>
  %s = graph.add %m, %e : tensor<4x4xf32>
  %r = graph.relu %s : tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

// Blocks inside are places of their own; constants stay where they are.
// CHECK-LABEL: @control_flow
func.func @control_flow(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[C:.*]] = graph.constant
  // CHECK-NEXT:    scf.if
  // CHECK-NEXT:      graph.region {{.*}} = %[[C]] : tensor<4xf32>)
  // CHECK-NEXT:        graph.add
  // CHECK:         } else {
  // CHECK-NEXT:      graph.exp
  %k = graph.constant dense<2.0> : tensor<4xf32>
  %y = scf.if %c -> (tensor<4xf32>) {
    %s = graph.add %x, %k : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    %e = graph.exp %x : tensor<4xf32>
    scf.yield %e : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// Groups made by hand are taken if all in them is, and as a whole.
// CHECK-LABEL: @groups
func.func @groups(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    graph.region
  // CHECK-NEXT:      graph.fused
  // CHECK-NEXT:        graph.add
  // CHECK:         graph.composite "acme.exp"
  // CHECK-NEXT:      graph.exp
  %f = graph.fused (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %s = graph.add %a, %a : tensor<4xf32>
    graph.yield %s : tensor<4xf32>
  }
  %c = graph.composite "acme.exp" (%a = %f : tensor<4xf32>) -> (tensor<4xf32>) {
    %e = graph.exp %a : tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  }
  func.return %c : tensor<4xf32>
}

// CHECK-LABEL: @for_cpu
// CHECK-NOT:     graph.region
func.func @for_cpu(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@soc, #llvm_cpu.target<cpu = "cortex-a53">, ?>} {
  // A place with a target leaves no choice.
  %s = graph.add %x, %x : tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// For a place with a target that has patterns, these are found; no region is needed.
// CHECK-LABEL: @for_npu
func.func @for_npu(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {target.for = #target.place<@soc, #toy_npu.target<features = ["matmul"]>, ?>} {
  // CHECK-NEXT:    graph.composite "toy_npu.matmul_add_relu"
  %m = graph.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s = graph.add %m, %x : tensor<4x4xf32>
  %r = graph.relu %s : tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

// CHECK-LABEL: @lowered
// CHECK-NOT:     graph.region
func.func private @lowered(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.lowered_to = [@k]} {
  %s = graph.add %x, %x : tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// -----

// Each of two crossed pairs would be fine; both together would depend on each other.
// CHECK-LABEL: @crossed
// CHECK-COUNT-3: graph.region
// CHECK-NOT:     graph.region
target.device @soc {targets = [#toy_npu.target<lanes = 8>, #toy_npu.target<features = ["matmul"]>]}
func.func @crossed(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a1 = graph.add %x, %x : tensor<4x4xf32>
  %b1 = graph.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %a2 = graph.add %a1, %b1 : tensor<4x4xf32>
  %b2 = graph.matmul %b1, %a1 : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %a2, %b2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The first target takes all if it claims nothing.
// CHECK-LABEL: @cpu_first
// CHECK-SAME:    target.for = #target.place<@soc, #llvm_cpu.target<cpu = "cortex-a53">, ?>
// CHECK-NOT:     graph.region
target.device @soc {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #toy_npu.target]}
func.func @cpu_first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.add %x, %x : tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// -----

// A lower cost wins where both are known; the cost of the CPU is not.
target.device @soc {targets = [#toy_npu.target<lanes = 1>, #toy_npu.target<lanes = 64>, #llvm_cpu.target<cpu = "cortex-a53">]}
// CHECK-LABEL: @costs
func.func @costs(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // CHECK-NEXT:    graph.region #target.place<@soc, #toy_npu.target<lanes = 64>, ?>
  // CHECK-NEXT:      graph.add
  // CHECK-NEXT:      graph.relu
  // CHECK:         graph.exp
  %s = graph.add %x, %x : tensor<64xf32>
  %r = graph.relu %s : tensor<64xf32>
  %e = graph.exp %s : tensor<64xf32>
  func.return %r, %e : tensor<64xf32>, tensor<64xf32>
}
// Equal costs leave the preferred one.
// CHECK-LABEL: @equal_costs
func.func @equal_costs(%x: tensor<0xf32>) -> tensor<0xf32> {
  // CHECK-NEXT:    graph.region #target.place<@soc, #toy_npu.target<lanes = 1>, ?>
  %s = graph.add %x, %x : tensor<0xf32>
  func.return %s : tensor<0xf32>
}

// -----

// A device with one target needs no regions, but has its patterns found.
target.device @npu {targets = [#toy_npu.target<features = ["matmul"]>]}
// CHECK-LABEL: @one_target
// CHECK-NOT:     graph.region
// CHECK-NOT:     target.for
func.func @one_target(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK:         graph.composite "toy_npu.matmul_add_relu"
  %m = graph.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s = graph.add %m, %x : tensor<4x4xf32>
  %r = graph.relu %s : tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}
