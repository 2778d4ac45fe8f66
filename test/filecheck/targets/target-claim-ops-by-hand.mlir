// RUN: transom-opt -p target-claim-ops --split-input-file %s | filecheck %s
// RUN: transom-opt -p target-claim-ops,target-plan-devices --split-input-file %s | filecheck %s --check-prefix=PLACED
// RUN: transom-opt -p target-claim-ops,target-plan-devices,target-claim-ops,target-plan-devices --split-input-file %s | filecheck %s --check-prefix=PLACED

// Where ops are placed by hand.

target.device @soc {targets = [#toy_npu.target<features = ["matmul"]>, #llvm_cpu.target<cpu = "cortex-a53">]}

// A region that names a target is its alone, with its patterns; neighbours stay outside.
// CHECK-LABEL: @region_for_target
func.func @region_for_target(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT:    graph.region #target.place<?, #toy_npu.target<features = ["matmul"]>, ?>
  // CHECK-NEXT:      graph.composite "toy_npu.matmul_add_relu"
  // CHECK:         graph.region #target.place<@soc, #toy_npu.target<features = ["matmul"]>, ?>
  // CHECK-NEXT:      graph.mul
  %y = graph.region #target.place<?, #toy_npu.target<features = ["matmul"]>, ?> (%a = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %m = graph.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %s = graph.add %m, %a : tensor<4x4xf32>
    %r = graph.relu %s : tensor<4x4xf32>
    graph.yield %r : tensor<4x4xf32>
  }
  %z = graph.mul %y, %y : tensor<4x4xf32>
  func.return %z : tensor<4x4xf32>
}

// CHECK-LABEL: @region_for_cpu
func.func @region_for_cpu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    graph.region #target.place<?, #llvm_cpu.target<cpu = "cortex-a53">, ?>
  // CHECK-NEXT:      graph.add
  %y = graph.region #target.place<?, #llvm_cpu.target<cpu = "cortex-a53">, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %s = graph.add %a, %a : tensor<4xf32>
    graph.yield %s : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// One that leaves the target open has claims of its own in it.
// CHECK-LABEL: @open_region
// PLACED-LABEL: @open_region
func.func @open_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    graph.region #target.place<@soc, #llvm_cpu.target<cpu = "cortex-a53">, ?>
  // CHECK-NEXT:      graph.region #target.place<@soc, #toy_npu.target<features = ["matmul"]>, ?>
  // CHECK-NEXT:        graph.add
  // CHECK:           graph.exp
  // PLACED-NEXT:   graph.region #target.place<@soc, #toy_npu.target<features = ["matmul"]>, ?>
  // PLACED-NEXT:     graph.add
  // PLACED:        graph.exp
  // PLACED-NEXT:   func.return
  %y = graph.region #target.place<@soc, ?, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %s = graph.add %a, %a : tensor<4xf32>
    %e = graph.exp %s : tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// A pin leaves its target; one with a hint is asked first; the mark is gone, and ops that
// it was between are neighbours.
// CHECK-LABEL: @marks
// PLACED-LABEL: @marks
func.func @marks(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    graph.add
  // CHECK-NEXT:    graph.mul
  // CHECK-NEXT:    graph.region #target.place<@soc, #toy_npu.target<features = ["matmul"]>, ?>
  // CHECK-NEXT:      graph.relu
  // CHECK-NEXT:      graph.add
  // CHECK-NEXT:      graph.yield
  // CHECK-NEXT:    }
  // CHECK-NEXT:    func.return
  // PLACED-NEXT:   graph.add
  // PLACED-NEXT:   graph.mul
  // PLACED-NEXT:   graph.region
  %a = graph.add %x, %x : tensor<4xf32>
  %p = graph.on_device %a pinned #target.place<@soc, #llvm_cpu.target<cpu = "cortex-a53">, ?> : tensor<4xf32>
  %b = graph.mul %p, %p : tensor<4xf32>
  %h = graph.on_device %b hint #target.any_of<[#target.place<@gpu, ?, ?>, #target.place<?, #llvm_cpu.target<cpu = "cortex-a53">, ?>]> : tensor<4xf32>
  %c = graph.relu %h : tensor<4xf32>
  %q = graph.on_device %c pinned #target.any_of<[#target.place<@soc, ?, ?>]> : tensor<4xf32>
  %d = graph.add %q, %q : tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// A hint within what is pinned decides.
// CHECK-LABEL: @hint_and_pin
func.func @hint_and_pin(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    graph.add
  // CHECK-NEXT:    func.return
  %a = graph.add %x, %x : tensor<4xf32>
  %h = graph.on_device %a hint #target.place<@soc, #llvm_cpu.target<cpu = "cortex-a53">, ?> : tensor<4xf32>
  %p = graph.on_device %h pinned #target.place<@soc, ?, ?> : tensor<4xf32>
  func.return %p : tensor<4xf32>
}

// A mark on what no target computes is left to the next pass.
// CHECK-LABEL: @mark_of_argument
// PLACED-LABEL: @mark_of_argument
func.func @mark_of_argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    graph.on_device
  // PLACED-NEXT:   func.return
  %h = graph.on_device %x hint #target.place<@soc, ?, ?> : tensor<4xf32>
  func.return %h : tensor<4xf32>
}

// -----

// Another device that reaches the memory: by a region, whose ops its targets are asked
// for, or by a mark.
module attributes {target.config = #target.config<default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @dram
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@dram]}
  target.device @npu {targets = [#toy_npu.target, #llvm_cpu.target<cpu = "cortex-m55">], memories = [@dram]}
  // CHECK-LABEL: @second_device
  // PLACED-LABEL: @second_device
  // PLACED-SAME:   target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "cortex-a53">, @dram>
  func.func @second_device(%x: tensor<4xf32>) -> tensor<4xf32> {
    // PLACED-NEXT:   graph.add
    // PLACED-NEXT:   graph.region #target.place<@npu, #llvm_cpu.target<cpu = "cortex-m55">, @dram>
    // PLACED-NEXT:     graph.region #target.place<@npu, #toy_npu.target, @dram>
    // PLACED-NEXT:       graph.add
    // PLACED:          graph.exp
    // PLACED:        graph.region #target.place<@npu, #toy_npu.target, @dram>
    // PLACED-NEXT:     graph.relu
    %s = graph.add %x, %x : tensor<4xf32>
    %y = graph.region #target.place<@npu, ?, ?> (%a = %s : tensor<4xf32>) -> (tensor<4xf32>) {
      %b = graph.add %a, %a : tensor<4xf32>
      %e = graph.exp %b : tensor<4xf32>
      graph.yield %e : tensor<4xf32>
    }
    %r = graph.relu %y : tensor<4xf32>
    %p = graph.on_device %r pinned #target.place<@npu, ?, ?> : tensor<4xf32>
    func.return %p : tensor<4xf32>
  }
}
