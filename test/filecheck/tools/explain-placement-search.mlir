// RUN: transom-opt -p graph-search-partition --to=placed --explain-placement=%t.txt %s -o /dev/null
// RUN: filecheck %s --input-file=%t.txt

target.device @cpu {targets = [#toy_npu.target<features = ["matmul"]>, #llvm_cpu.target<cpu = "x86-64-v3">], flops = 1.0e+10, bandwidth = 1.0e+10, launch = 1.0e-06}

// Each op is told once, by the search, whatever pass comes after it. A part of a pattern
// that was not chosen says so.
// CHECK:      @main: llvm_cpu 4/4 ops
// CHECK-NEXT:   graph.matmul x1: #llvm_cpu.target<cpu = "x86-64-v3"> on @cpu: takes what is left; all together cost least
// CHECK-NEXT:     #toy_npu.target<features = ["matmul"]> on @cpu: takes it at {{.*}} for all of 'toy_npu.matmul_add_relu', but all together cost less elsewhere
// CHECK:        graph.add x1
// CHECK:        graph.relu x1
// CHECK:        graph.exp x1
// CHECK-NOT:    graph.
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = graph.matmul %x, %x : tensor<4x4xf32>
  %a = graph.add %m, %x : tensor<4x4xf32>
  %r = graph.relu %a : tensor<4x4xf32>
  %e = graph.exp %r : tensor<4x4xf32>
  func.return %e : tensor<4x4xf32>
}
