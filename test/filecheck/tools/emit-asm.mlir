// RUN: transom-opt --to=machine -t asm %s | filecheck %s
// RUN: transom-opt --to=machine -t 'asm{kernel=matmul}' %s | filecheck %s --check-prefix=KERNEL
// RUN: transom-opt --to=machine -t 'asm{kernel=matmul opt-level=3}' %s | filecheck %s --check-prefix=KERNEL

// Main, then each kernel under its name, for the CPU of the module.
// CHECK-LABEL: main:
// CHECK:         callq [[MATMUL:matmul_[0-9a-f]+]]
// CHECK:       [[MATMUL]]:
// CHECK:         vfmadd

// KERNEL-NOT:  main:
// KERNEL:      {{^}}matmul_{{[0-9a-f]+}}:
// KERNEL:        vfmadd
// KERNEL:        retq
target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = graph.matmul %x, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  func.return %y : tensor<8x8xf32>
}
