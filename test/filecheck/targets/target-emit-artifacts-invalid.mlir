// RUN: %diagnose -p target-emit-artifacts

target.device @npu {targets = [#toy_npu.target]}
tir.func @no_command(read %x: memref<4xf32>) attributes {target.for = #target.place<@npu, ?, ?>} {
  // expected-error @+2 {{no command for 'tir.prefetch'}}
  %c0 = arith.constant 0 : index
  tir.prefetch %x[%c0] : memref<4xf32>
  tir.return
}
