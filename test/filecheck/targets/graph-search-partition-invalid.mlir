// RUN: %diagnose -p 'graph-search-partition{explain}'

// The note tells cost, bound and gap.
module attributes {target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>>} {
  target.device @cpu {targets = [#toy_npu.target<lanes = 1>, #toy_npu.target<lanes = 64>, #llvm_cpu.target<cpu = "x86-64-v3">]}
  // expected-note @+1 {{1 group, 2.2e-08 s; at least 2.2e-08 s, gap 0.0%, 13 steps}}
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %a = graph.add %x, %x : tensor<64xf32>
    %r = graph.relu %a : tensor<64xf32>
    func.return %r : tensor<64xf32>
  }
}

// -----

// Ops of unknown cost are counted.
target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">, #toy_npu.target]}
// expected-note @+1 {{1 group, 0 s and 1 op of unknown cost; at least 0 s, gap 0.0%, 3 steps}}
func.func @unknown(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = graph.exp %x : tensor<64xf32>
  func.return %a : tensor<64xf32>
}

// -----

target.device @cpu {targets = [#toy_npu.target]}
func.func @untaken(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{no target takes 'graph.exp' x1 ('#toy_npu.target': no claim is for it)}}
  %a = graph.exp %x : tensor<64xf32>
  func.return %a : tensor<64xf32>
}

// -----

// No way leads to where the op has to be.
module attributes {target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @dram
  target.memory @sram
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">], memories = [@dram]}
  target.device @npu {targets = [#toy_npu.target], memories = [@sram]}
  // expected-error @+1 {{expected a target for each op with links for what it reads, but there is no such choice}}
  func.func @no_link(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = graph.add %x, %x : tensor<4xf32>
    %p = graph.on_device %a pinned #target.place<@npu, ?, ?> : tensor<4xf32>
    func.return %p : tensor<4xf32>
  }
}
