// RUN: %diagnose

func.func @unknown_body(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{unknown op 'arith.nothing'}}
  %y = linalg.map { arith.nothing } ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// -----

func.func @short_body(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected an op that can be the body, but got 'arith.addf': Expected 2 operand, but got 1}}
  %y = linalg.map { arith.addf } ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// -----

func.func @shapes_of_map(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{expected operand 0 to have the shape of the output, 'tensor<5xf32>', but got 'tensor<4xf32>'}}
  %y = linalg.map { arith.negf } ins(%a : tensor<4xf32>) outs(%b : tensor<5xf32>)
  func.return %y : tensor<5xf32>
}

// -----

func.func @body_of_map(%a: tensor<4xf32>, %b: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @+1 {{expected a body of arguments (f32, f64), but got (f32, f32)}}
  %y = linalg.map ins(%a : tensor<4xf32>) outs(%b : tensor<4xf64>) (%x: f32, %old: f32) {
    %z = arith.extf %x : f32 to f64
    linalg.yield %z : f64
  }
  func.return %y : tensor<4xf64>
}

// -----

func.func @yield_of_map(%a: tensor<4xf32>, %b: tensor<4xf64>) -> tensor<4xf64> {
  %y = linalg.map ins(%a : tensor<4xf32>) outs(%b : tensor<4xf64>) (%x: f32) {
    // expected-error @+1 {{expected to yield (f64), but got (f32)}}
    linalg.yield %x : f32
  }
  func.return %y : tensor<4xf64>
}

// -----

func.func @two_yielded(%a: memref<4xf32>, %b: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %old: f32):
    // expected-error @+1 {{expected to yield (f32), but got (f32, f32)}}
    linalg.yield %x, %x : f32, f32
  }
  func.return
}

// -----

func.func @no_yield(%a: memref<4xf32>) {
  // expected-error @+1 {{expected a body that ends with 'linalg.yield', but got 'llvm.unreachable'}}
  linalg.map outs(%a : memref<4xf32>) () {
    llvm.unreachable
  }
  func.return
}

// -----

func.func @stray_yield(%a: f32) {
  // expected-error @+1 {{expected to be in the body of a structured op}}
  linalg.yield %a : f32
}

// -----

func.func @dimensions_of_reduce(%a: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected dimensions from 0 to 1 in order, but got [2]}}
  %y = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [2]
  func.return %y : tensor<4xf32>
}

// -----

func.func @permutation(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @+1 {{expected a permutation of 0 to 1, but got [1, 1]}}
  %y = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%b : tensor<8x4xf32>) permutation = [1, 1]
  func.return %y : tensor<8x4xf32>
}

// -----

func.func @dimensions_of_broadcast(%a: tensor<4xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{expected dimensions from 0 to 1, but got [2]}}
  %y = linalg.broadcast ins(%a : tensor<4xf32>) outs(%b : tensor<4x8xf32>) dimensions = [2]
  func.return %y : tensor<4x8xf32>
}

// -----

func.func @strides(%x: memref<1x8x8x4xf32>, %w: memref<3x3xf32>, %o: memref<1x6x6x4xf32>) {
  // expected-error @+1 {{expected 2 strides of at least 1, but got [0, 1]}}
  linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<[0, 1]> : tensor<2xi64>} ins(%x, %w : memref<1x8x8x4xf32>, memref<3x3xf32>) outs(%o : memref<1x6x6x4xf32>)
  func.return
}

// -----

func.func @no_result(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expected results of the types of the outputs: 'tensor<4x4xf32>'}}
  linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>)
  func.return
}

// -----

func.func @depth(%a: memref<4x8xf32>, %b: memref<7x4xf32>, %c: memref<4x4xf32>) {
  // expected-error @+1 {{inferred input/output operand #1 has shape's dimension #0 to be 8, but found 7}}
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<7x4xf32>) outs(%c : memref<4x4xf32>)
  func.return
}

// -----

func.func @quantized(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 4 inputs and one output, but got 1 and 1}}
  %y = linalg.quantized_matmul ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// The body would add the input to the output.
func.func @one_operand(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 2 inputs and one output, but got 1 and 1}}
  %y = linalg.add ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @one_operand_of_ours(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 2 inputs and one output, but got 1 and 1}}
  %y = linalg.div ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @nothing(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 1 input and one output, but got 0 and 1}}
  %y = linalg.fill outs(%a : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @generic_form(%a: tensor<4xf32>, %x: f32) -> tensor<4xf32> {
  // expected-error @+1 {{expected 1 input and one output, but got 2 and 1}}
  %y = "linalg.fill"(%x, %x, %a) <{operandSegmentSizes = array<i32: 2, 1>}> ({
  ^bb0(%p: f32, %q: f32, %r: f32):
    linalg.yield %p : f32
  }) : (f32, f32, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @elements(%a: tensor<4xindex>, %x: index) -> tensor<4xindex> {
  // expected-error @+1 {{expected elements that are integers or floats, but got 'index'}}
  %y = linalg.fill ins(%x : index) outs(%a : tensor<4xindex>) -> tensor<4xindex>
  func.return %y : tensor<4xindex>
}

// -----

func.func @kind(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{unknown iterator type 'f32reduction'; expected one of 'parallel', 'reduction', 'window'}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["f32reduction"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  } -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
