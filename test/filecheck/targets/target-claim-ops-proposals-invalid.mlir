// RUN: %diagnose -p target-claim-ops

target.device @soc {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #toy_npu.target]}
func.func @required(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{candidate 'c' is required, but no target takes it ('#toy_npu.target': 'graph.exp' in it: no claim is for it)}}
  %e = graph.exp %x {target.candidates = [#target.candidate<name = "c", place = #target.place<?, #toy_npu.target, ?>, required = true>]} : tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// -----

// Two that are required and share an op.
target.device @soc {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #toy_npu.target]}
func.func @both(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.add %x, %x {target.candidates = [#target.candidate<name = "c", place = #target.place<@soc, ?, ?>, required = true>]} : tensor<4xf32>
  // expected-error @+1 {{candidate 'd' is required, but cannot be had beside others that are}}
  %b = graph.add %a, %a {target.candidates = [#target.candidate<name = "c", place = #target.place<@soc, ?, ?>, required = true>, #target.candidate<name = "d", place = #target.place<@soc, ?, ?>, required = true>]} : tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----

target.device @soc {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #toy_npu.target]}
func.func @constant() -> tensor<4xf32> {
  // expected-error @+1 {{'graph.constant', a part of candidate "c", is not for a target to compute}}
  %c = graph.constant {target.candidates = [#target.candidate<name = "c", place = #target.place<@soc, ?, ?>>]} dense<1.0> : tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// -----

target.device @soc {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #toy_npu.target]}
func.func @differs(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{here it is}}
  %a = graph.add %x, %x {target.candidates = [#target.candidate<name = "c", place = #target.place<@soc, ?, ?>>]} : tensor<4xf32>
  // expected-error @+1 {{expected candidate 'c' to be '#target.candidate<name = "c", place = #target.place<@soc, ?, ?>>' everywhere, but got '#target.candidate<name = "c", place = #target.place<@soc, ?, ?>, required = true>'}}
  %b = graph.add %a, %a {target.candidates = [#target.candidate<name = "c", place = #target.place<@soc, ?, ?>, required = true>]} : tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----

target.device @soc {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #toy_npu.target]}
func.func @hint(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = graph.region hint #target.place<?, #toy_npu.target, ?> (%i = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-warning @+1 {{the op was to be computed at '#target.place<?, #toy_npu.target, ?>', but it is at '#target.place<@soc, #llvm_cpu.target<cpu = "cortex-a53">, ?>'}}
    %e = graph.exp %i : tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  }
  func.return %b : tensor<4xf32>
}

// -----

target.device @soc {targets = [#toy_npu.target]}
// expected-error @+1 {{expected a place or seconds >= 0 as arguments of the rewrite, but got 'true'}}
pdl.pattern @p : benefit(1) {
  %x = pdl.operand
  %relu = pdl.operation "graph.relu" (%x : !pdl.value)
  %wrong = pdl.attribute = true
  pdl.rewrite %relu with "acme.relu"(%wrong : !pdl.attribute)
}

// -----

target.device @soc {targets = [#toy_npu.target]}
pdl.pattern @p : benefit(1) {
  %x = pdl.operand
  %relu = pdl.operation "graph.relu" (%x : !pdl.value)
  // expected-error @+1 {{expected 'pdl.rewrite' with the name of what is found, such as 'pdl.rewrite %root with "acme.conv"', but it has a body}}
  pdl.rewrite %relu {
    pdl.replace %relu with (%x : !pdl.value)
  }
}

// -----

target.device @soc {targets = [#toy_npu.target]}
pdl.pattern @p : benefit(1) {
  %x = pdl.operand
  // expected-error @+1 {{expected the name of the op}}
  %relu = pdl.operation (%x : !pdl.value)
  pdl.rewrite %relu with "acme.relu"
}

// -----

target.device @soc {targets = [#toy_npu.target]}
pdl.pattern @p : benefit(1) {
  %x = pdl.operand
  %relu = pdl.operation "graph.relu" (%x : !pdl.value)
  // expected-error @+1 {{unknown constraint 'large'}}
  pdl.apply_native_constraint "large"(%x : !pdl.value)
  pdl.rewrite %relu with "acme.relu"
}

// -----

// expected-error @+1 {{expected a list of '#target.candidate' for 'target.candidates', but got '1 : i64'}}
func.func @attribute() attributes {target.candidates = 1} {
  func.return
}

// -----

// expected-error @+1 {{expected seconds >= 0, but got -1.0}}
func.func @seconds() attributes {target.candidates = [#target.candidate<name = "c", place = #target.place<@soc, ?, ?>, seconds = -1.0 : f64>]} {
  func.return
}
