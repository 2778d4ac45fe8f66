// RUN: %diagnose

func.func @kind(%x: memref<4xf32>) {
  // expected-error @+1 {{expected one of 'add', 'fill', 'gelu', 'matmul', 'mul', 'relu', 'sum', but got 'sqrt'}}
  toy_npu.compute "sqrt"(%x) to %x : (memref<4xf32>) -> memref<4xf32>
  func.return
}
