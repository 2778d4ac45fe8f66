// RUN: %diagnose -p toy-npu-plan-scratchpad

target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}
target.device @npu {targets = [#toy_npu.target<scratchpad = 1024>], memories = [@toy_sram]}
func.func @main(%x: tensor<512xf32>) -> tensor<512xf32> {
  %e = tensor.empty() : tensor<512xf32>
  // expected-error @+1 {{expected at most 1024 bytes of scratchpad, but '@k' needs 2048}}
  %y = tir.call @k(%x : tensor<512xf32>) outs(%e : tensor<512xf32>)
  func.return %y : tensor<512xf32>
}
tir.func @k(read %x: memref<512xf32>, write %y: memref<512xf32>)
    attributes {target.for = #target.place<@npu, ?, ?>} {
  %a = tir.alloc {memory = @toy_sram} : memref<512xf32, @toy_sram>
  tir.copy %x, %a : memref<512xf32>, memref<512xf32, @toy_sram>
  tir.copy %a, %y : memref<512xf32, @toy_sram>, memref<512xf32>
  tir.return
}
