// Branches and loops in main, with graph ops in their arms.
func.func @main(%x: tensor<4x8xf32>, %n: tensor<i64>, %flag: tensor<i1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %cond = tensor.extract %flag[] : tensor<i1>
  %y = scf.if %cond -> (tensor<4x8xf32>) {
    %a = graph.relu %x : tensor<4x8xf32>
    scf.yield %a : tensor<4x8xf32>
  } else {
    %b = graph.neg %x : tensor<4x8xf32>
    %c = graph.exp %b : tensor<4x8xf32>
    scf.yield %c : tensor<4x8xf32>
  }
  %count = tensor.extract %n[] : tensor<i64>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %half = graph.constant dense<0.5> : tensor<f32>
  %i, %z = scf.while (%k = %zero, %v = %x) : (i64, tensor<4x8xf32>) -> (i64, tensor<4x8xf32>) {
    %more = arith.cmpi slt, %k, %count : i64
    scf.condition(%more) %k, %v : i64, tensor<4x8xf32>
  } do {
  ^bb0(%k: i64, %v: tensor<4x8xf32>):
    %h = graph.mul %v, %half : tensor<4x8xf32>, tensor<f32> -> tensor<4x8xf32>
    %w = graph.add %h, %y : tensor<4x8xf32>
    %next = arith.addi %k, %one : i64
    scf.yield %next, %w : i64, tensor<4x8xf32>
  }
  %lb = arith.constant 0 : index
  %ub = arith.constant 3 : index
  %st = arith.constant 1 : index
  %f, %g = scf.for %j = %lb to %ub step %st iter_args(%p = %y, %q = %z) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %t = graph.tanh %p : tensor<4x8xf32>
    scf.yield %q, %t : tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.return %z, %f, %g : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
