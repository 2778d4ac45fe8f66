// RUN: transom-run %s --input 3xf32=1 --input 2xf32=2 | filecheck %s
// RUN: transom-opt --to=planned %s -o %t.mlir && transom-run %t.mlir --input 3xf32=1 --input 2xf32=2 | filecheck %s
// RUN: transom-run %t.mlir --interpret --input 3xf32=1 --input 2xf32=2 | filecheck %s
// RUN: transom-opt --to=executable %s -o %t.mlir && transom-run %t.mlir --input 3xf32=1 --input 2xf32=2 | filecheck %s
// RUN: transom-opt --to=machine %s -o %t.mlir && transom-run %t.mlir --input 3xf32=1 --input 2xf32=2 | filecheck %s

// Sizes of results are computed before the call, and loops swap what they carry.
// CHECK:       result0: 5xfloat32 = [1, 1, 1, 2, 2]
// CHECK-NEXT:  result1: 5xfloat32 = [3, 3, 3, 4, 4]
// CHECK-NEXT:  result2: 3xfloat32 = [1, 1, 1]
func.func @joined(%x: tensor<?xf32>, %y: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %one = arith.constant 1 : index
  %two = graph.constant dense<2.0> : tensor<f32>
  %a = graph.concat %x, %y axis 0 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %b = graph.add %a, %two : tensor<?xf32>, tensor<f32> -> tensor<?xf32>
  %r:2 = scf.for %i = %zero to %three step %one iter_args(%p = %b, %q = %a)
      -> (tensor<?xf32>, tensor<?xf32>) {
    scf.yield %q, %p : tensor<?xf32>, tensor<?xf32>
  }
  func.return %r#0, %r#1, %x : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
