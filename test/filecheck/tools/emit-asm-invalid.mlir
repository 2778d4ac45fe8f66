// RUN: %diagnose -t 'asm{kernel=matmull}'

// expected-error @-2 {{expected a module at phase 'machine', but got none; '--to=machine' leads there}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected a module at phase 'machine', but got 'tensor'; '--to=machine' leads there}}
builtin.module attributes {target.config = #target.config<phase = "tensor">} {
}

// -----
// expected-error {{expected '#llvm_cpu.target' among the targets of a device, to compile main}}
llvm.func @f() {
  llvm.return
}

// -----
// expected-error {{no kernel 'matmull'}}
target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a72">]}
llvm.func @f() {
  llvm.return
}
