// RUN: %diagnose -p lower-executor-to-func

target.device @npu {targets = [#llvm_cpu.target<cpu = "znver4">]}
func.func @wait() {
  // expected-error @+1 {{'executor.sync' x1 (LowerSync: expected the host device, but got '@npu')}}
  executor.sync @npu
  func.return
}
