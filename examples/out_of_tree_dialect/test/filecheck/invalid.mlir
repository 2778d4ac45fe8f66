// RUN: %diagnose

func.func @elements(%a: tensor<4x3xi32>) {
  // expected-error @+1 {{expected operands of 'f32' or of 'f64', but got 'tensor<4x3xi32>' and 'tensor<4x3xi32>'}}
  %d = metric.distances %a, %a : tensor<4x3xi32>, tensor<4x3xi32> -> tensor<4x4xi32>
  func.return
}

// -----

func.func @mixed(%a: tensor<4x3xf32>, %b: tensor<4x3xf64>) {
  // expected-error @+1 {{expected operands of 'f32' or of 'f64', but got 'tensor<4x3xf32>' and 'tensor<4x3xf64>'}}
  %d = metric.distances %a, %b : tensor<4x3xf32>, tensor<4x3xf64> -> tensor<4x4xf32>
  func.return
}

// -----

func.func @ranks(%a: tensor<4x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected two matrices, but got ranks 2 and 1}}
  %d = metric.distances %a, %b : tensor<4x3xf32>, tensor<3xf32> -> tensor<4x1xf32>
  func.return
}

// -----

func.func @lengths(%a: tensor<4x3xf32>, %b: tensor<4x2xf32>) {
  // expected-error @+1 {{expected rows of one length, but got 3 and 2}}
  %d = metric.distances %a, %b : tensor<4x3xf32>, tensor<4x2xf32> -> tensor<4x4xf32>
  func.return
}

// -----

func.func @result(%a: tensor<4x3xf32>, %b: tensor<5x3xf32>) {
  // expected-error @+1 {{expected dimension 0 of the result to be 4, but got 'tensor<5x4xf32>'}}
  %d = metric.distances %a, %b : tensor<4x3xf32>, tensor<5x3xf32> -> tensor<5x4xf32>
  func.return
}
