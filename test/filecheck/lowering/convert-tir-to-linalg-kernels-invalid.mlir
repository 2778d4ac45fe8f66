// RUN: %diagnose --to=tensor -p convert-tir-to-linalg

// Kernels have no place of their own: the op that calls them has.
target.device @cpu {targets = [#llvm_cpu.target<cpu = "haswell">]}
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{no legal form for 'tir.nest' x1 (ConvertNest: expected no schedule, which 'linalg' cannot say)}}
  %y = graph.relu %x : tensor<4x16xf32>
  func.return %y : tensor<4x16xf32>
}
