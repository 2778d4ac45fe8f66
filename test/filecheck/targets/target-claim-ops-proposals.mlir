// RUN: transom-opt -p target-claim-ops --split-input-file %s | filecheck %s
// RUN: transom-opt --to=executable --split-input-file %s | filecheck %s --check-prefix=LOWERED

// What passes, regions that are hints, and patterns in the module propose.

#npu = #toy_npu.target<features = ["matmul"]>
target.device @soc {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #toy_npu.target<features = ["matmul"]>]}

// A candidate of a pass comes before what is claimed.
// CHECK-LABEL: @proposed
func.func @proposed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT:    graph.region #target.place<@soc, #toy_npu.target<features = ["matmul"]>, ?>
  // CHECK-NEXT:      graph.add
  // CHECK-NEXT:      graph.relu
  // CHECK-NEXT:      graph.yield
  // CHECK:         graph.exp
  // CHECK-NOT:     target.candidates
  %a = graph.add %x, %x {target.candidates = [#target.candidate<name = "c", place = #target.place<?, #npu, ?>>]} : tensor<4x4xf32>
  %r = graph.relu %a {target.candidates = [#target.candidate<name = "c", place = #target.place<?, #npu, ?>>]} : tensor<4x4xf32>
  %e = graph.exp %r : tensor<4x4xf32>
  func.return %e : tensor<4x4xf32>
}

// Under a label that the target knows it becomes a composite, whatever is in it.
// CHECK-LABEL: @labelled
func.func @labelled(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT:    graph.region
  // CHECK-NEXT:      graph.composite "toy_npu.matmul_add_relu"
  // CHECK-NEXT:        graph.matmul
  // CHECK-NEXT:        graph.add
  // CHECK-NEXT:        graph.yield
  // CHECK:         graph.relu
  %m = graph.matmul %x, %x {target.candidates = [#target.candidate<name = "c", place = #target.place<?, #npu, ?>, label = "toy_npu.matmul_add_relu">]} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %a = graph.add %m, %x {target.candidates = [#target.candidate<name = "c", place = #target.place<?, #npu, ?>, label = "toy_npu.matmul_add_relu">]} : tensor<4x4xf32>
  %r = graph.relu %a : tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

// One that the target cannot run is not taken.
// CHECK-LABEL: @refused
// CHECK-NOT:     graph.region
func.func @refused(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = graph.exp %x {target.candidates = [#target.candidate<name = "c", place = #target.place<?, #npu, ?>>]} : tensor<4x4xf32>
  func.return %e : tensor<4x4xf32>
}

// A region that is a hint is a candidate; one that is not met leaves its ops to others.
// CHECK-LABEL: @hints
func.func @hints(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT:    graph.region #target.place<@soc, #toy_npu.target<features = ["matmul"]>, ?>
  // CHECK-NEXT:      graph.add
  // CHECK-NEXT:      graph.yield
  // CHECK:         graph.exp
  // CHECK-NEXT:    func.return
  %a = graph.region hint #target.place<?, #npu, ?> (%i = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %s = graph.add %i, %i : tensor<4x4xf32>
    graph.yield %s : tensor<4x4xf32>
  }
  %b = graph.region hint #target.place<?, #npu, ?> (%i = %a : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %e = graph.exp %i : tensor<4x4xf32>
    graph.yield %e : tensor<4x4xf32>
  }
  func.return %b : tensor<4x4xf32>
}

// -----

// A pattern of the module, found twice; then it is gone.
// CHECK-NOT: pdl.
target.device @soc {targets = [#llvm_cpu.target<cpu = "x86-64-v3">, #toy_npu.target]}
pdl.pattern @twice : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %mul = pdl.operation "graph.mul" (%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %m = pdl.result 0 of %mul
  %relu = pdl.operation "graph.relu" (%m : !pdl.value) -> (%t : !pdl.type)
  %place = pdl.attribute = #target.place<?, #toy_npu.target, ?>
  pdl.rewrite %relu with "toy_npu.square"(%place : !pdl.attribute)
}
// CHECK-LABEL: @pattern
// LOWERED-LABEL: @pattern
func.func @pattern(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-2: graph.region #target.place<@soc, #toy_npu.target, ?>
  // CHECK-NOT:     graph.region
  %a = graph.mul %x, %x : tensor<4xf32>
  %b = graph.relu %a : tensor<4xf32>
  %e = graph.exp %b : tensor<4xf32>
  %c = graph.mul %e, %e : tensor<4xf32>
  %d = graph.relu %c : tensor<4xf32>
  // The operands differ.
  %f = graph.mul %x, %y : tensor<4xf32>
  %g = graph.relu %f : tensor<4xf32>
  func.return %d, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// What is required leaves no choice, also against what is preferred.
target.device @soc {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #toy_npu.target]}
// CHECK-LABEL: @required
func.func @required(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    graph.add
  // CHECK-NEXT:    graph.region #target.place<@soc, #toy_npu.target, ?>
  // CHECK-NEXT:      graph.add
  // CHECK-NEXT:      graph.yield
  %a = graph.add %x, %x : tensor<4xf32>
  %b = graph.add %a, %a {target.candidates = [#target.candidate<name = "c", place = #target.place<?, #toy_npu.target, ?>, required = true>]} : tensor<4xf32>
  func.return %b : tensor<4xf32>
}
