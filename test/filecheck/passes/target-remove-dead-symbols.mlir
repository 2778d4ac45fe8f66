// RUN: transom-opt -p target-remove-dead-symbols %s | filecheck %s

// Devices and memories describe the machine.
// CHECK:         target.memory @sram
target.memory @sram

// Reached from main, through a private function.
// CHECK:         graph.weight @used
graph.weight @used = dense<1.0> : tensor<f32>
// CHECK-NEXT:    func.func private @leaf
func.func private @leaf() -> tensor<f32> {
  %w = graph.weight_ref @used : tensor<f32>
  func.return %w : tensor<f32>
}
// CHECK:         func.func @main
func.func @main() -> tensor<f32> {
  %x = func.call @leaf() : () -> tensor<f32>
  func.return %x : tensor<f32>
}

// Used by dead symbols only, by each other or by nothing.
// CHECK-NOT:     @dead
graph.weight @dead_weight = dense<1.0> : tensor<f32>
func.func private @dead_even() {
  %w = graph.weight_ref @dead_weight : tensor<f32>
  func.call @dead_odd() : () -> ()
  func.return
}
func.func private @dead_odd() {
  func.call @dead_even() : () -> ()
  func.return
}
func.func private @dead_declaration()

// A use in an attribute is one.
// CHECK:         func.func private @listed()
// CHECK:         func.func @lister
func.func private @listed()
func.func @lister() attributes {target.lowered_to = [@listed]} {
  func.return
}

// An artifact that holds the code of one that is called stays, others go.
// CHECK:       executor.artifact @holds
// CHECK-NEXT:  executor.artifact @called
// CHECK-NOT:   @unused
executor.artifact @holds {format = "f", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = () -> ()}
executor.artifact @called {format = "f", target = #llvm_cpu.target<cpu = "znver4">, payload = @holds, signature = () -> ()}
executor.artifact @unused {format = "f", target = #llvm_cpu.target<cpu = "znver4">, payload = @holds, signature = () -> ()}
func.func @calls() {
  tir.call @called()
  func.return
}
