// RUN: %diagnose -p convert-graph-to-tir

// All ops that have no form are named in one run, and nothing is changed.
func.func private @region(%x: tensor<4xf64>, %y: tensor<8xf64>) -> (tensor<4xf64>, tensor<8xf64>) attributes {target.for = #target.place<@cpu, ?, ?>} {
  // expected-error @+1 {{no legal form for 'graph.mod' x2 (ConvertElementwise: expected a float of at most 32 bits, but got f64)}}
  %a = graph.mod %x, %x : tensor<4xf64>
  // expected-note @+1 {{also here}}
  %b = graph.mod %y, %y : tensor<8xf64>
  func.return %a, %b : tensor<4xf64>, tensor<8xf64>
}

// -----

!blocked = tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>

func.func private @region(%x: !blocked) -> !blocked attributes {target.for = #target.place<@cpu, ?, ?>} {
  // expected-error @+1 {{expected tensors without a layout, but got 'tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 16]}}
  %y = graph.relu %x : !blocked
  // expected-note @+1 {{'graph.exp' has one too}}
  %z = graph.exp %y : !blocked
  func.return %z : !blocked
}
