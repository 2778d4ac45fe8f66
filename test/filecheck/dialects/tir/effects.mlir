// RUN: transom-opt -p dce,cse %s | filecheck %s

tir.func @pure(read memref<4xf32>, write memref<4xf32>)

tir.func @may_fail(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  %s = tir.extern "f"(%x, write %o) status 0 : (memref<4xf32>, memref<4xf32>) -> i32
  tir.return
}

// CHECK-LABEL: func.func @calls(
func.func @calls(%x: tensor<4xf32>, %m: memref<4xf32>) -> tensor<4xf32> {
  %d = tensor.empty() : tensor<4xf32>
  // A result that nobody reads is not computed, unless the kernel may fail.
  // CHECK-NOT: %unread
  // CHECK:     tir.call @may_fail
  %unread = tir.call @pure(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  %checked = tir.call @may_fail(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  // Equal calls on tensors are one call; calls that write memory are not.
  // CHECK-NEXT: %a = tir.call @pure(%x
  // CHECK-NEXT: tir.call @pure(%m
  // CHECK-NEXT: tir.call @pure(%m
  // CHECK-NEXT: arith.addf %a, %a
  %a = tir.call @pure(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  %b = tir.call @pure(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  tir.call @pure(%m : memref<4xf32>) outs(%m : memref<4xf32>)
  tir.call @pure(%m : memref<4xf32>) outs(%m : memref<4xf32>)
  %s = arith.addf %a, %b : tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// CHECK-LABEL: tir.func @memory(
tir.func @memory(read_write %x: memref<4xf32>, write %o: memref<4xf32>, read %i: index) {
  // Two reads around a nest that writes are two reads.
  // CHECK: memref.load
  // CHECK: tir.nest
  // CHECK: memref.load
  %a = memref.load %x[%i] : memref<4xf32>
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%x[d0] : memref<4xf32>)
    finish (%v: f32) {
      %d = arith.addf %v, %v : f32
      tir.yield %d : f32
    }
  %b = memref.load %x[%i] : memref<4xf32>
  // A call that is said to write nothing is kept.
  // CHECK: tir.extern "log"
  tir.extern "log"(%x) : (memref<4xf32>) -> ()
  // CHECK: tir.prefetch
  tir.prefetch %x[%i] : memref<4xf32>
  %s = arith.addf %a, %b : f32
  memref.store %s, %o[%i] : memref<4xf32>
  tir.return
}
