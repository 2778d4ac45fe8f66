// RUN: transom-run %s --input 4xf32=1,1,1,1 | filecheck %s
// RUN: transom-opt %s --to=planned | transom-run - --input 4xf32=1,1,1,1 --interpret | filecheck %s

// A copy in the background of main: done at once by code, when it is waited for by the
// interpreter, and in memory that is planned for it.
// CHECK: result0: 4xfloat32 = [3, 5, 7, 9]

module attributes {target.config = #target.config<host = @cpu, phase = "tensor">} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "host">]}
  graph.weight @w = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  tir.func @add(read %a: memref<4xf32>, read %b: memref<4xf32>, write %y: memref<4xf32>)
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    tir.nest dims [parallel 4] ins(%a[d0] : memref<4xf32>, %b[d0] : memref<4xf32>) outs(%y[d0] : memref<4xf32>)
      finish (%u: f32, %v: f32) {
        %s = arith.addf %u, %v : f32
        tir.yield %s : f32
      }
    tir.return
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
      attributes {target.for = #target.place<@cpu, ?, ?>} {
    %w = executor.constant @w : memref<4xf32>
    %b = tir.alloc : memref<4xf32>
    %t = tir.copy_async %w, %b : memref<4xf32>, memref<4xf32>
    %d = tensor.empty() : tensor<4xf32>
    %a = tir.call @add(%x : tensor<4xf32>, %w : memref<4xf32>) outs(%d : tensor<4xf32>)
    tir.wait %t
    %e = tensor.empty() : tensor<4xf32>
    %y = tir.call @add(%a : tensor<4xf32>, %b : memref<4xf32>) outs(%e : tensor<4xf32>)
    func.return %y : tensor<4xf32>
  }
}
