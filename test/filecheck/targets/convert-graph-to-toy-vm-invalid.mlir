// RUN: %diagnose -p convert-graph-to-toy-vm

// A pass run by name has no target to go by.
// expected-error @+1 {{expected a target of function '@r' to compile it for}}
func.func private @r(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {target.for = #target.place<?, ?, ?>} {
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

target.device @vm {targets = [#toy_vm.target]}
func.func private @r(%x: tensor<4xf64>) -> tensor<4xf64>
    attributes {target.for = #target.place<@vm, ?, ?>} {
  // expected-error @+1 {{expected elements of f32, but got 'tensor<4xf64>'}}
  %y = graph.relu %x : tensor<4xf64>
  func.return %y : tensor<4xf64>
}

// -----

target.device @vm {targets = [#toy_vm.target]}
// expected-error @+1 {{expected a tensor without a layout, but got 'tensor<4x4xf32, #graph.desc<layout = #graph.layout<block = [4, 4]>>>'}}
func.func private @r(%x: tensor<4x4xf32, #graph.desc<layout = #graph.layout<block = [4, 4]>>>) -> tensor<4x4xf32>
    attributes {target.for = #target.place<@vm, ?, ?>} {
  %c = graph.constant dense<1.0> : tensor<4x4xf32>
  %y = graph.relu %c : tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
