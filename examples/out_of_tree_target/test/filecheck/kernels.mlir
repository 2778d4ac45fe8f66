// RUN: transom-opt %s --to=tensor | filecheck %s
// RUN: transom-opt %s --to=planned | filecheck %s --check-prefix=PLANNED

module attributes {target.config = #target.config<host = @cpu>} {
  target.device @cpu {targets = [#woofles.target<lanes = 16>, #llvm_cpu.target<cpu = "x86-64-v2">]}

  // The product is a call of the library, with room for 1000 x 16 numbers.
  // CHECK:      tir.func @matmul_{{.*}}#target.place<@cpu, #woofles.target<lanes = 16>, ?>
  // CHECK-NEXT:   %[[PANEL:.*]] = tir.alloc : memref<16000xf32>
  // CHECK:        tir.extern "woofles_matmul"({{.*}}, scratch %[[PANEL]]) status 0
  //
  // What the target does not claim is for the other one.
  // CHECK:      tir.func @tanh_{{.*}}#target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v2">, ?>
  //
  // CHECK:      tir.func @rsqrt_{{.*}}#target.place<@cpu, #woofles.target<lanes = 16>, ?>
  // CHECK:        math.sqrt
  // CHECK-NEXT:   arith.divf

  // The room is planned as all buffers are.
  // PLANNED: executor.pool @main.workspace {size = {{[0-9]+}}, alignment = 64}
  // PLANNED: %[[WORK:.*]] = tir.alloc {pool = @main.workspace, offset = {{[0-9]+}}} : memref<16000xf32>
  // PLANNED: tir.call @matmul_{{.*}}%[[WORK]]
  func.func @main(%a: tensor<4x1000xf32>, %b: tensor<1000x20xf32>) -> tensor<4x20xf32> {
    %p = graph.matmul %a, %b : tensor<4x1000xf32>, tensor<1000x20xf32> -> tensor<4x20xf32>
    %t = graph.tanh %p : tensor<4x20xf32>
    %r = graph.rsqrt %t : tensor<4x20xf32>
    func.return %r : tensor<4x20xf32>
  }
}
