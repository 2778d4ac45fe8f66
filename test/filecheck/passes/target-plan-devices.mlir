// RUN: transom-opt -p target-plan-devices --split-input-file %s | filecheck %s
// RUN: transom-opt -p target-plan-devices,target-plan-devices --split-input-file %s | filecheck %s

target.memory @dram
target.device @cpu {
  targets = [#llvm_cpu.target<cpu = "znver4">, #llvm_cpu.target<cpu = "x86-64-v3">],
  memories = [@dram]
}

// The preferred target and memory of the only device.
// CHECK-LABEL: @plain
// CHECK-SAME:    attributes {target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "znver4">, @dram>}
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[Y:.*]] = graph.relu
  // CHECK-NEXT:    func.return %[[Y]]
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// What a function says itself is completed.
// CHECK-LABEL: @second_target
// CHECK-SAME:    attributes {target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "znver4">, @dram>}
func.func @second_target() attributes {target.for = #target.place<?, ?, @dram>} {
  func.return
}

// Marks for the place are granted, the first of several that fits.
// CHECK-LABEL: @marks
func.func @marks(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[Y:.*]] = graph.relu
  // CHECK-NEXT:    %[[Z:.*]] = graph.abs %[[Y]]
  // CHECK-NEXT:    func.return %[[Z]]
  %y = graph.relu %x : tensor<4xf32>
  %p = graph.on_device %y pinned #target.place<@cpu, ?, ?> : tensor<4xf32>
  %z = graph.abs %p : tensor<4xf32>
  %h = graph.on_device %z hint #target.any_of<[#target.place<@npu, ?, ?>, #target.place<?, ?, @dram>]> : tensor<4xf32>
  func.return %h : tensor<4xf32>
}

// Regions at the place are dissolved, nested ones too.
// CHECK-LABEL: @regions
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>)
func.func @regions(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:    %[[A:.*]] = graph.add %[[X]], %[[X]]
  // CHECK-NEXT:    %[[B:.*]] = graph.relu %[[A]]
  // CHECK-NEXT:    func.return %[[B]], %[[A]]
  %r, %s = graph.region #target.place<@cpu, ?, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %b = graph.add %a, %a : tensor<4xf32>
    %c = graph.region #target.place<?, ?, ?> (%d = %b : tensor<4xf32>) -> (tensor<4xf32>) {
      %e = graph.relu %d : tensor<4xf32>
      graph.yield %e : tensor<4xf32>
    }
    graph.yield %c, %b : tensor<4xf32>, tensor<4xf32>
  }
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// A region for another target of the device stays, with a complete place; one inside it
// that is at its place is dissolved.
// CHECK-LABEL: @other_target
// CHECK-SAME:    attributes {target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "znver4">, @dram>}
func.func @other_target(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[Y:.*]] = graph.region #target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, @dram>
  // CHECK-NEXT:      %[[E:.*]] = graph.relu
  // CHECK-NEXT:      graph.yield %[[E]]
  // CHECK-NEXT:    }
  // CHECK-NEXT:    func.return %[[Y]]
  %r = graph.region #target.place<?, #llvm_cpu.target<cpu = "x86-64-v3">, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %c = graph.region #target.place<?, ?, ?> (%d = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      %e = graph.relu %d : tensor<4xf32>
      graph.yield %e : tensor<4xf32>
    }
    graph.yield %c : tensor<4xf32>
  }
  // What computes the value is where the mark wants it.
  %p = graph.on_device %r pinned #target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, ?> : tensor<4xf32>
  func.return %p : tensor<4xf32>
}

// So does a target that is more generic than that of the device: its code runs there.
// CHECK-LABEL: @generic_target
func.func @generic_target(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    graph.region #target.place<@cpu, #llvm_cpu.target<cpu = "x86-64">, @dram>
  %r = graph.region #target.place<?, #llvm_cpu.target<cpu = "x86-64">, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %e = graph.relu %a : tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// A function for another target; a region in it that says nothing is for that one too.
// CHECK-LABEL: @function_of_other_target
// CHECK-SAME:    attributes {target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, @dram>}
func.func @function_of_other_target(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, ?>} {
  // CHECK-NEXT:    graph.relu
  // CHECK-NEXT:    graph.region #target.place<@cpu, #llvm_cpu.target<cpu = "znver4">, @dram>
  %r = graph.region #target.place<@cpu, ?, @dram> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %e = graph.relu %a : tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  }
  %s = graph.region #target.place<?, #llvm_cpu.target<cpu = "znver4">, ?> (%a = %r : tensor<4xf32>) -> (tensor<4xf32>) {
    %e = graph.abs %a : tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  }
  func.return %s : tensor<4xf32>
}

// Declarations and functions that are lowered already are left alone.
// CHECK:         func.func private @declared()
func.func private @declared()
// CHECK-LABEL: @lowered
// CHECK-SAME:    attributes {target.lowered_to = [@k]}
func.func private @lowered() attributes {target.lowered_to = [@k]} {
  func.return
}

// -----

// The default place of the configuration decides between devices that are declared.
// CHECK-LABEL: @on_little
// CHECK-SAME:    target.for = #target.place<@little, #llvm_cpu.target<cpu = "cortex-a53">, ?>
module attributes {target.config = #target.config<default_place = #target.place<@little, ?, ?>>} {
  target.device @big {targets = [#llvm_cpu.target<cpu = "cortex-a72">]}
  target.device @little {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
  func.func @on_little() {
    func.return
  }
}

// -----

// A device that reaches the memory of the values gets its regions, functions and values,
// with its own preferred target; a memory that a target plans is nobody's default.
module attributes {target.config = #target.config<default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @tcm {planned_by = target}
  target.memory @dram
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a72">], memories = [@tcm, @dram]}
  target.device @dsp {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #llvm_cpu.target<cpu = "cortex-a35">], memories = [@dram]}
  // CHECK-LABEL: @shared_memory
  // CHECK-SAME:    target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "cortex-a72">, @dram>
  func.func @shared_memory(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT:    graph.region #target.place<@dsp, #llvm_cpu.target<cpu = "cortex-a53">, @dram>
    // CHECK:         graph.copy
    %r = graph.region #target.place<@dsp, ?, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %e = graph.relu %a : tensor<4xf32>
      graph.yield %e : tensor<4xf32>
    }
    %c = graph.copy %r : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@dsp, ?, @dram>>>
    func.return %r : tensor<4xf32>
  }
  // CHECK-LABEL: @on_dsp
  // CHECK-SAME:    target.for = #target.place<@dsp, #llvm_cpu.target<cpu = "cortex-a53">, @dram>
  func.func private @on_dsp() attributes {target.for = #target.place<@dsp, ?, ?>} {
    func.return
  }
}

// -----

// Where the device names no memory, a function may name its own.
// CHECK-LABEL: @own_memory
// CHECK-SAME:    target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "cortex-a72">, @tcm>
target.memory @tcm {planned_by = target}
target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a72">], memories = [@tcm]}
func.func @own_memory() attributes {target.for = #target.place<?, ?, @tcm>} {
  func.return
}
