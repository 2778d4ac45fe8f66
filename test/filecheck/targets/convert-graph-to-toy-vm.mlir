// RUN: transom-opt -p convert-graph-to-toy-vm %s | filecheck %s

target.device @vm {targets = [#toy_vm.target]}
graph.weight @w = dense<1.0> : tensor<4xf32>

// Main calls the artifact, with memory for its results and its workspace.
// CHECK-LABEL: @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[D:.*]] = tensor.empty() : tensor<4xf32>
  // CHECK-NEXT:    %[[W:.*]] = tir.alloc : memref<32xi8>
  // CHECK-NEXT:    %y = tir.call @[[F:add_relu_.*]](%x : tensor<4xf32>) outs(%[[D]] : tensor<4xf32>) scratch(%[[W]] : memref<32xi8>) {test.call}
  // CHECK-NEXT:    func.return %y
  %y = func.call @r(%x) {test.call} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// The function is kept, and its weight is in the code.
// CHECK:       func.func private @r(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@vm, ?, ?>, target.lowered_to = [@[[F]]]}
func.func private @r(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {target.for = #target.place<@vm, ?, ?>} {
  %w = graph.weight_ref @w : tensor<4xf32>
  %s = graph.add %x, %w : tensor<4xf32>
  %y = graph.relu %s : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// Sizes are computed and checked in main, as for kernels.
// CHECK-LABEL: @sizes
func.func @sizes(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK:         cf.assert
  // CHECK:         %[[D:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
  // CHECK-NEXT:    %y = tir.call @[[G:add_.*]](%a : tensor<?xf32>, %b : tensor<?xf32>) outs(%[[D]] : tensor<?xf32>)
  %y = func.call @s(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

func.func private @s(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32>
    attributes {target.for = #target.place<@vm, ?, ?>} {
  %y = graph.add %a, %b : tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// CHECK:       executor.artifact @[[F]] {format = "toy_vm.program", target = #toy_vm.target, payload = "{{.*}}", workspace = 32, signature = (memref<4xf32>, memref<4xf32>) -> (), effects = [read, write], entry = "run"}
// CHECK-NEXT:  executor.artifact @[[G]] {format = "toy_vm.program", target = #toy_vm.target, payload = "{{.*}}", signature = (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> (), effects = [read, read, write], entry = "run"}
