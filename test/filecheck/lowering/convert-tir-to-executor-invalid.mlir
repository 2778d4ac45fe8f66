// RUN: %diagnose -p convert-tir-to-executor

tir.func @k(read memref<4xf32>, write memref<4xf32>)
func.func @strides(%x: memref<4xf32, strided<[2]>>, %y: memref<4xf32>) {
  // expected-error @+1 {{'tir.call' x1 (ConvertCall: expected argument 0 of type 'memref<4xf32>', but got 'memref<4xf32, strided<[2]>>')}}
  tir.call @k(%x : memref<4xf32, strided<[2]>>) outs(%y : memref<4xf32>)
  func.return
}

// -----

tir.func @k(read memref<4xf32>, write memref<4xf32>)
func.func @tensors(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tir.call' x1 (ConvertCall: expected a memref as argument 0, but got 'tensor<4xf32>')}}
  %y = tir.call @k(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
  func.return
}

// -----

func.func @escapes(%c: i1, %n: index, %x: memref<?xf32>) {
  %r = scf.if %c -> (memref<?xf32>) {
    // expected-error @+1 {{expected memory without a place in a pool to be used in its block only}}
    %a = tir.alloc(%n) : memref<?xf32>
    scf.yield %a : memref<?xf32>
  } else {
    scf.yield %x : memref<?xf32>
  }
  func.return
}

// -----

func.func @handed_on(%x: memref<4xf32>, %y: memref<4xf32>, %c: i1) {
  // expected-error @+1 {{'tir.copy_async' x1 (ConvertCopy: expected a token that nothing but 'tir.wait' takes)}}
  %t = tir.copy_async %x, %y : memref<4xf32>, memref<4xf32>
  %u = "scf.while"(%t) ({
  ^0(%v: !tir.token):
    "scf.condition"(%c, %v) : (i1, !tir.token) -> ()
  }, {
  ^0(%v: !tir.token):
    scf.yield %v : !tir.token
  }) : (!tir.token) -> !tir.token
  tir.wait %u
  func.return
}
