// RUN: %diagnose -p tir-bufferize-main

tir.func @k(read memref<?xf32>, write memref<?xf32>)
func.func @size_from_data(%x: tensor<?xf32>, %m: tensor<index>) -> tensor<?xf32> {
  %n = tensor.extract %m[] : tensor<index>
  %d = tensor.empty(%n) : tensor<?xf32>
  %y = tir.call @k(%x : tensor<?xf32>) outs(%d : tensor<?xf32>)
  // expected-error @+1 {{expected results whose sizes follow from those of inputs, but dimension 0 of 'result0' depends on data and has no bound}}
  func.return %y : tensor<?xf32>
}

// -----

func.func @growing(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    // expected-error @+1 {{expected a carried tensor to keep its sizes, but dimension 0 of operand 0 may change}}
    scf.yield %y : tensor<?xf32>
  }
  func.return
}

// -----

func.func @unequal_arms(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: tensor<i1>) {
  %b = tensor.extract %c[] : tensor<i1>
  // expected-error @+1 {{expected arms that yield tensors of equal sizes, but dimension 0 of result 0 may differ}}
  %r = scf.if %b -> (tensor<?xf32>) {
    // expected-note @+1 {{yielded here}}
    scf.yield %x : tensor<?xf32>
  } else {
    // expected-note @+1 {{yielded here}}
    scf.yield %y : tensor<?xf32>
  }
  func.return
}

// -----

tir.func @k(read memref<?xf32>, write memref<?xf32>)
func.func @size_inside(%x: tensor<?xf32>, %c: tensor<i1>, %m: tensor<index>) {
  %b = tensor.extract %c[] : tensor<i1>
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected sizes of 'memref<?xf32>' that are known before it is computed, but they depend on data}}
  %r:2 = scf.while (%a = %x) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %n = tensor.extract %m[] : tensor<index>
    %d = tensor.empty(%n) : tensor<?xf32>
    %y = tir.call @k(%a : tensor<?xf32>) outs(%d : tensor<?xf32>)
    scf.condition(%b) %a, %y : tensor<?xf32>, tensor<?xf32>
  } do {
  ^bb0(%p: tensor<?xf32>, %q: tensor<?xf32>):
    scf.yield %p : tensor<?xf32>
  }
  func.return
}

// -----

func.func @unknown_op(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected an op that can be bufferised, but got 'test.op'; kernels are made of ops of 'graph' and 'linalg', of those whose class derives 'graph.GraphOp', and of what is in a 'graph.fused'}}
  "test.op"(%x) : (tensor<4xf32>) -> ()
  func.return
}

// -----

// expected-error @+1 {{expected tensors as arguments and results of an entry, but argument 'arg1' is of type 'index'; make the function private}}
func.func @number(%x: tensor<4xf32>, %n: index) {
  func.return
}

// -----

// expected-error @+1 {{expected a function of one block}}
func.func @blocks(%x: tensor<4xf32>) {
  cf.br ^next
^next:
  func.return
}

// -----

// expected-error @+1 {{expected a tensor without a layout, but got 'tensor<4xf32, #graph.desc<layout = #graph.layout<block = [2]>>>'}}
func.func @layout(%x: tensor<4xf32, #graph.desc<layout = #graph.layout<block = [2]>>>) {
  func.return
}

// -----

func.func private @lowered(%x: tensor<4xf32>) attributes {target.lowered_to = []} {
  func.return
}
func.func @calls_lowered(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no call of '@lowered', as it has been lowered to kernels}}
  func.call @lowered(%x) : (tensor<4xf32>) -> ()
  func.return
}

// -----

func.func private @declared(tensor<?xf32>) -> tensor<?xf32>
func.func @calls_declared(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected results of static shape from a function that is declared only, but got 'tensor<?xf32>'}}
  %y = func.call @declared(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func private @callee(%x: tensor<?xf32>, %m: tensor<index>) -> tensor<?xf32> {
  %n = tensor.extract %m[] : tensor<index>
  %c = arith.constant 0.0 : f32
  %y = tensor.splat %c[%n] : tensor<?xf32>
  func.return %y : tensor<?xf32>
}
func.func @caller(%x: tensor<?xf32>, %m: tensor<index>) {
  // expected-error @+1 {{expected results whose sizes follow from those of the arguments, but those of '@callee' depend on data}}
  %y = func.call @callee(%x, %m) : (tensor<?xf32>, tensor<index>) -> tensor<?xf32>
  func.return
}

// -----

func.func private @even(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %y = scf.if %c -> (tensor<4xf32>) {
    %z = func.call @odd(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
func.func private @odd(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // expected-error @+1 {{expected no recursion, but '@even' leads to this call}}
  %y = func.call @even(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected no recursion, but '@itself' leads to this call}}
  %y = func.call @itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
