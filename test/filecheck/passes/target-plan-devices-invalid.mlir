// RUN: %diagnose -p target-plan-devices

// expected-error @+1 {{expected a device; 'target-resolve-devices' adds that of the host}}
module {}

// -----

// expected-error @+1 {{expected 'default_place' in 'target.config' to name one of the devices '@big', '@little'}}
module {
  target.device @big {targets = [#llvm_cpu.target<cpu = "cortex-a72">]}
  target.device @little {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
  func.func @f() {
    func.return
  }
}

// -----

// A device that is named has to be declared by now; all places that name one are shown.
// expected-error @+1 {{device '@cpo' of '#target.place<@cpo, ?, ?>' is not declared; did you mean '@cpu'?; '--device' or 'target-bind-devices' declares it}}
module attributes {target.config = #target.config<default_place = #target.place<@cpo, ?, ?>>} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
  // expected-note @+1 {{nor is '@npu' of '#target.place<@npu, ?, ?>'}}
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@npu, ?, ?>} {
    // One of several is enough.
    %y = graph.on_device %x hint #target.any_of<[#target.place<@gpu, ?, ?>, #target.place<@cpu, ?, ?>]> : tensor<4xf32>
    // expected-note @+1 {{nor is '@gpu' of '#target.place<@gpu, ?, ?>'}}
    %z = graph.on_device %x hint #target.any_of<[#target.place<@gpu, ?, ?>]> : tensor<4xf32>
    func.return %z : tensor<4xf32>
  }
}

// -----

// Without any device it is the promise that matters.
// expected-error @+1 {{device '@npu' of '#target.place<@npu, ?, ?>' is not declared; '--device' or 'target-bind-devices' declares it}}
func.func @f() attributes {target.for = #target.place<@npu, ?, ?>} {
  func.return
}

// -----

module attributes {target.config = #target.config<default_place = #target.place<@cpu, ?, ?>>} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
  target.device @npu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{expected 'graph.region' where it reaches the values of '#target.place<@cpu, #llvm_cpu.target<cpu = "cortex-a53">, ?>', but it is to be at '#target.place<@npu, ?, ?>'; '@cpu' and '@npu' share no memory that is named}}
    %y = graph.region #target.place<@npu, ?, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      graph.yield %a : tensor<4xf32>
    }
    func.return %y : tensor<4xf32>
  }
}

// -----

module attributes {target.config = #target.config<default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @dram
  target.memory @sram
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@dram]}
  target.device @npu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@sram]}
  // expected-note @+1 {{it is stored in '@dram'}}
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{expected operand 0 in memory '@sram', but it is in '@dram', and no 'target.link' leads from there}}
    %y = graph.region #target.place<@npu, ?, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      graph.yield %a : tensor<4xf32>
    }
    func.return %y : tensor<4xf32>
  }
}

// -----

module attributes {target.config = #target.config<default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @dram
  target.memory @sram
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@dram]}
  target.device @npu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@sram]}
  // expected-note @+1 {{it is stored in '@dram'}}
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{expected operand 0 in memory '@sram', but it is in '@dram', and no 'target.link' leads from there}}
    %y = graph.copy %x : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@npu, ?, @sram>>>
    func.return %x : tensor<4xf32>
  }
}

// -----

target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #llvm_cpu.target<cpu = "cortex-a35">]}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : tensor<4xf32>
  // expected-error @+1 {{expected the value to be computed at '#target.place<?, #llvm_cpu.target<cpu = "cortex-a35">, ?>', but it is at '#target.place<@cpu, #llvm_cpu.target<cpu = "cortex-a53">, ?>'}}
  %z = graph.on_device %y pinned #target.place<?, #llvm_cpu.target<cpu = "cortex-a35">, ?> : tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// -----

target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #llvm_cpu.target<cpu = "cortex-a35">]}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : tensor<4xf32>
  // expected-warning @+1 {{the value was to be computed at '#target.place<?, #llvm_cpu.target<cpu = "cortex-a35">, ?>', but it is at '#target.place<@cpu, #llvm_cpu.target<cpu = "cortex-a53">, ?>'}}
  %z = graph.on_device %y hint #target.place<?, #llvm_cpu.target<cpu = "cortex-a35">, ?> : tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// -----

// What a loop carries is where its iterations leave it.
module attributes {target.config = #target.config<default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @dram
  target.memory @sram
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@dram]}
  target.device @npu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@sram]}
  target.link @sram -> @dram {bandwidth = 1.0e+09}
  // expected-note @+1 {{it is stored in '@dram'}}
  func.func @f(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
    // expected-error @+1 {{expected operand 3 in memory '@sram', but it is in '@dram', and no 'target.link' leads from there}}
    %r = scf.for %i = %n to %n step %n iter_args(%v = %x) -> (tensor<4xf32>) {
      %m = graph.region #target.place<@npu, ?, ?> (%a = %v : tensor<4xf32>) -> (tensor<4xf32>) {
        %e = graph.relu %a : tensor<4xf32>
        graph.yield %e : tensor<4xf32>
      }
      scf.yield %m : tensor<4xf32>
    }
    func.return %r : tensor<4xf32>
  }
}
