// RUN: %diagnose -p target-assign-places

// expected-error @+1 {{expected a device; 'target-resolve-devices' adds that of the host}}
module {}

// -----

// expected-error @+1 {{expected 'default_place' in 'target.config' to name one of the devices '@big', '@little'}}
module {
  target.device @big {targets = [#llvm_cpu.target<cpu = "cortex-a72">]}
  target.device @little {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
}

// -----

// expected-error @+1 {{unknown device '@cpo'; did you mean '@cpu'?}}
module attributes {target.config = #target.config<default_place = #target.place<@cpo, ?, ?>>} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
}

// -----

target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
// expected-error @+1 {{expected all of the module on one device, at '#target.place<@cpu, #llvm_cpu.target<cpu = "cortex-a53">, ?>', but function '@f' is to be at '#target.place<@npu, ?, ?>'; placement on several is not available}}
func.func @f() attributes {target.for = #target.place<@npu, ?, ?>} {
  func.return
}

// -----

target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{but 'graph.on_device' is to be at '#target.place<@npu, ?, ?>'}}
  %y = graph.on_device %x hint #target.place<@npu, ?, ?> : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{but 'graph.region' is to be at '#target.place<@npu, ?, ?>'}}
  %y = graph.region #target.place<@npu, ?, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    graph.yield %a : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{but 'graph.copy' is to be at '#target.place<@npu, ?, ?>'}}
  %y = graph.copy %x : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@npu, ?, ?>>>
  func.return %x : tensor<4xf32>
}
