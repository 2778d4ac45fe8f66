// RUN: %diagnose -p graph-infer-types

func.func @contradiction(%x: tensor<4xf32>, %y: tensor<?xf32>) {
  %a = graph.neg %x : tensor<4xf32> -> tensor<?xf32>
  // expected-error @+1 {{expected a result of type 'tensor<8xf32>', but got 'tensor<9xf32>'}}
  %b = graph.concat %a, %a axis 0 : tensor<?xf32>, tensor<?xf32> -> tensor<9xf32>
  func.return
}

// -----

func.func @operands(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  %a = graph.neg %x : tensor<4xf32> -> tensor<?xf32>
  // expected-error @+1 {{expected shapes that broadcast, but dimension 0 of 'lhs' is 4 and dimension 0 of 'rhs' is 3}}
  %b = graph.add %a, %y : tensor<?xf32>, tensor<3xf32> -> tensor<3xf32>
  func.return
}

// -----

func.func @names(%x: tensor<?xf32, #graph.desc<dims = ["N" : 1 to 4]>>) {
  %a = graph.neg %x : tensor<?xf32, #graph.desc<dims = ["N" : 1 to 4]>> -> tensor<?xf32>
  // expected-error @+1 {{expected a result of type 'tensor<?xf32, #graph.desc<dims = ["N" : 1 to 4]>>', but got 'tensor<8xf32>'}}
  %b = graph.neg %a : tensor<?xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @cast(%x: tensor<4xf32>) {
  %a = graph.neg %x : tensor<4xf32> -> tensor<?xf32>
  // expected-error @+1 {{expected a result of type 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  %b = tensor.cast %a : tensor<?xf32> to tensor<5xf32>
  func.return
}
