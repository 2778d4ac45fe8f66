// RUN: %diagnose -p 'target-bind-devices{device=npu targets=[#toy_npu.target] memories=[dram]}'

// expected-error @+1 {{cannot bind device '@npu': there is another '@npu'; remove its declaration from the module or edit it, or take another name}}
module {
  target.memory @dram
  // expected-note @+1 {{target.device @npu {targets = [#toy_npu.target<lanes = 8>], memories = [@dram]}}}
  target.device @npu {targets = [#toy_npu.target<lanes = 8>], memories = [@dram]}
}

// -----

// expected-error @+1 {{cannot bind device '@npu': there is another '@npu'; remove its declaration from the module or edit it, or take another name}}
module {
  target.memory @dram
  // expected-note @+1 {{func.func private @npu()}}
  func.func private @npu()
}

// -----

// expected-error @+1 {{unknown memory '@dram' of device '@npu'; did you mean '@ram'?}}
module {
  target.memory @ram
}

// -----

// expected-error @+1 {{unknown memory '@dram' of device '@npu'}}
module {}

// -----

// A place that the device cannot be at is found when it is declared.
target.memory @dram
// expected-note @+2 {{found after pass 'target-bind-devices'}}
// expected-error @+1 {{expected a target of device '@npu' ('#toy_npu.target'), but got '#toy_npu.target<lanes = 8>'}}
func.func private @f() attributes {target.for = #target.place<@npu, #toy_npu.target<lanes = 8>, ?>}
