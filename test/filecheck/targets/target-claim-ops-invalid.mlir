// RUN: %diagnose -p target-claim-ops

// Each target has its reason; the same reasons are told once, and where else they apply.
target.device @soc {targets = [#toy_npu.target, #toy_npu.target<features = ["bf16"]>]}
func.func @main(%x: tensor<4xf32>, %b: tensor<?xbf16>) -> tensor<4xf32> {
  // expected-error @+1 {{no target takes 'graph.exp' x2 ('#toy_npu.target': no claim is for it; '#toy_npu.target<features = ["bf16"]>': no claim is for it)}}
  %e = graph.exp %x : tensor<4xf32>
  // expected-note @+1 {{also here}}
  %f = graph.exp %e : tensor<4xf32>
  // expected-note @+1 {{no target takes 'graph.relu' x1 ('#toy_npu.target': expected a static shape, but got 'tensor<?xbf16>'; '#toy_npu.target<features = ["bf16"]>': expected a static shape, but got 'tensor<?xbf16>')}}
  %r = graph.relu %b : tensor<?xbf16>
  func.return %f : tensor<4xf32>
}

// -----

// A place that names a target leaves no other.
target.device @soc {targets = [#toy_npu.target, #llvm_cpu.target<cpu = "cortex-a53">]}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.region #target.place<@soc, #toy_npu.target, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @+1 {{no target takes 'graph.exp' x1 ('#toy_npu.target': no claim is for it)}}
    %e = graph.exp %a : tensor<4xf32>
    graph.yield %e : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

target.device @soc {targets = [#toy_npu.target, #llvm_cpu.target<cpu = "cortex-a53">]}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{no target takes 'graph.exp' x1 ('#toy_npu.target': no claim is for it)}}
  %e = graph.exp %x : tensor<4xf32>
  %p = graph.on_device %e pinned #target.place<?, #toy_npu.target, ?> : tensor<4xf32>
  func.return %p : tensor<4xf32>
}

// -----

target.device @soc {targets = [#toy_npu.target, #llvm_cpu.target<cpu = "cortex-a53">]}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.add %x, %x : tensor<4xf32>
  // expected-note @+1 {{pinned here}}
  %p = graph.on_device %s pinned #target.place<?, #toy_npu.target, ?> : tensor<4xf32>
  // expected-error @+1 {{expected 'graph.add' to be computed at '#target.place<?, #llvm_cpu.target<cpu = "cortex-a53">, ?>', but it is pinned to '#target.place<?, #toy_npu.target, ?>' as well}}
  %q = graph.on_device %p pinned #target.place<?, #llvm_cpu.target<cpu = "cortex-a53">, ?> : tensor<4xf32>
  func.return %q : tensor<4xf32>
}

// -----

// A hint that its target refuses is not granted.
target.device @soc {targets = [#llvm_cpu.target<cpu = "cortex-a53">, #toy_npu.target]}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = graph.exp %x : tensor<4xf32>
  // expected-warning @+1 {{the value was to be computed at '#target.place<?, #toy_npu.target, ?>', but it is at '#target.place<@soc, #llvm_cpu.target<cpu = "cortex-a53">, ?>'}}
  %h = graph.on_device %e hint #target.place<?, #toy_npu.target, ?> : tensor<4xf32>
  func.return %h : tensor<4xf32>
}

// -----

module attributes {target.config = #target.config<default_place = #target.place<@cpu, ?, ?>>} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
  target.device @npu {targets = [#toy_npu.target]}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %s = graph.add %x, %x : tensor<4xf32>
    // expected-error @+1 {{expected 'graph.on_device' where it reaches the values of '#target.place<@cpu, ?, ?>', but it is to be at '#target.place<@npu, ?, ?>'; '@cpu' and '@npu' share no memory that is named}}
    %p = graph.on_device %s pinned #target.place<@npu, ?, ?> : tensor<4xf32>
    func.return %p : tensor<4xf32>
  }
}

// -----

// Out of reach is no place for a hint.
module attributes {target.config = #target.config<default_place = #target.place<@cpu, ?, ?>>} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
  target.device @npu {targets = [#toy_npu.target]}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %s = graph.add %x, %x : tensor<4xf32>
    // expected-warning @+1 {{the value was to be computed at '#target.place<@npu, ?, ?>', but it is at '#target.place<@cpu, #llvm_cpu.target<cpu = "cortex-a53">, ?>'}}
    %h = graph.on_device %s hint #target.place<@npu, ?, ?> : tensor<4xf32>
    func.return %h : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{expected a device; 'target-resolve-devices' adds that of the host}}
module {}

// -----

target.device @soc {targets = [#toy_npu.target, #llvm_cpu.target<cpu = "cortex-a53">]}
// expected-error @+1 {{device '@npu' of '#target.place<@npu, ?, ?>' is not declared; '--device' or 'target-bind-devices' declares it}}
func.func @main() attributes {target.for = #target.place<@npu, ?, ?>} {
  func.return
}
