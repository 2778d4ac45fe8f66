// RUN: %diagnose --to=planned -t c-source

// Kernels have no place of their own: the op that calls them has.
target.device @cpu {targets = [#llvm_cpu.target<cpu = "haswell">]}
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{no C form for 'vector.broadcast'; kernels are for '#llvm_cpu.target<cpu = "haswell">': declare a device for C, as '--device c=#c_source.target' does}}
  %y = graph.relu %x : tensor<4x16xf32>
  func.return %y : tensor<4x16xf32>
}
