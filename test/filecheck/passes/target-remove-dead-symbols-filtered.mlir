// RUN: transom-opt -p 'builtin.module{without=[#llvm_cpu.target<cpu = "znver4">]}(target-remove-dead-symbols)' %s | filecheck %s

// What a pipeline does not show uses symbols all the same.
// CHECK:         graph.weight @used
// CHECK-NOT:     @dead
// CHECK:         func.func private @hidden
// CHECK-NEXT:      graph.weight_ref @used
target.device @cpu {targets = [#llvm_cpu.target<cpu = "znver4">]}
graph.weight @used = dense<1.0> : tensor<4xf32>
graph.weight @dead = dense<2.0> : tensor<4xf32>
func.func @main() -> tensor<4xf32> {
  %y = func.call @hidden() : () -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func private @hidden() -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %w = graph.weight_ref @used : tensor<4xf32>
  %y = graph.relu %w : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
