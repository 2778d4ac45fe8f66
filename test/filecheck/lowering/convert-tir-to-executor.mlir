// RUN: transom-opt -p convert-tir-to-executor %s | filecheck %s
// RUN: transom-opt -p convert-tir-to-executor --print-debuginfo %s | filecheck %s --check-prefix=LOC

executor.pool @p {size = 256}

// Kernels stay.
// CHECK-LABEL: tir.func @k
// CHECK:         tir.copy
tir.func @k(read %x: memref<?xi8>, write %y: memref<?xi8>) {
  tir.copy %x, %y : memref<?xi8>, memref<?xi8>
  tir.return
}
tir.func @n(read %x: memref<?xi8>, read %n: index, write %y: memref<?xi8>) {
  tir.return
}

// CHECK-LABEL: @planned
// CHECK-SAME:    (%[[N:.*]]: index)
func.func @planned(%n: index) {
  // CHECK-NEXT:    executor.view @p[64] {test.hint} : memref<4xf32>
  // CHECK-NEXT:    executor.view @p[128] (%[[N]]) reserves 128 : memref<?x4xf32>
  // LOC:           executor.view @p[64] {{.*}} loc("m.onnx":3:1)
  %a = tir.alloc {pool = @p, offset = 64, test.hint} : memref<4xf32> loc("m.onnx":3:1)
  %b = tir.alloc(%n) {pool = @p, offset = 128, reserves = 128} : memref<?x4xf32>
  func.return
}

// A kernel knows less about sizes; numbers are passed.
// CHECK-LABEL: @calls
func.func @calls(%x: memref<8xi8>, %y: memref<?xi8>, %s: memref<16xf32>, %z: memref<4xf32>, %n: index) {
  // CHECK-NEXT:    %[[X:.*]] = "memref.cast"(%x) : (memref<8xi8>) -> memref<?xi8>
  // CHECK-NEXT:    executor.call @n(%[[X]], %n, %y : memref<?xi8>, index, memref<?xi8>)
  tir.call @n(%x : memref<8xi8>, %n : index) outs(%y : memref<?xi8>)
  // CHECK:         executor.call @k2(%y, %y, %z, %s :
  tir.call @k2(%y : memref<?xi8>) outs(%y : memref<?xi8>, %z : memref<4xf32>) scratch(%s : memref<16xf32>)
  func.return
}
tir.func @k2(read memref<?xi8>, write memref<?xi8>, read_write memref<4xf32>, scratch memref<16xf32>)

// CHECK-LABEL: @copies
func.func @copies(%x: memref<8xi8>, %y: memref<8xi8>) {
  // CHECK-NEXT:    executor.copy %x, %y : memref<8xi8>, memref<8xi8>
  // CHECK-NEXT:    executor.copy %y, %x : memref<8xi8>, memref<8xi8>
  tir.copy %x, %y : memref<8xi8>, memref<8xi8>
  "memref.copy"(%y, %x) : (memref<8xi8>, memref<8xi8>) -> ()
  func.return
}

// A copy in the background is done when it starts; there is nothing to bring near.
// CHECK-LABEL: @asynchronous
func.func @asynchronous(%x: memref<8xi8>, %y: memref<8xi8>, %i: index) {
  // CHECK-NEXT:    executor.copy %x, %y {test.hint} : memref<8xi8>, memref<8xi8>
  // CHECK-NEXT:    "test.op"()
  // CHECK-NEXT:    func.return
  %t = tir.copy_async %x, %y {test.hint} : memref<8xi8>, memref<8xi8>
  tir.prefetch %x[%i] : memref<8xi8>
  "test.op"() : () -> ()
  tir.wait %t
  func.return
}

// Memory is given back after its last use in the block that takes it.
// CHECK-LABEL: @freed
func.func @freed(%x: memref<?xi8>, %n: index) {
  // CHECK-NEXT:    %[[A:.*]] = executor.alloc(%n) align 128 : memref<?xi8>
  // CHECK-NEXT:    %[[V:.*]] = memref.subview %[[A]]
  // CHECK-NEXT:    scf.for
  // CHECK-NEXT:      %[[B:.*]] = executor.alloc(%n) : memref<?xi8>
  // CHECK-NEXT:      executor.copy %[[A]], %[[B]]
  // CHECK-NEXT:      executor.free %[[B]]
  // CHECK-NEXT:      executor.copy %{{.*}}, %{{.*}} :
  // CHECK-NEXT:    }
  // CHECK-NEXT:    executor.free %[[A]] : memref<?xi8>
  // CHECK-NEXT:    executor.copy %x, %x
  %a = tir.alloc(%n) {alignment = 128} : memref<?xi8>
  %v = memref.subview %a[0] [4] [1] : memref<?xi8> to memref<4xi8, strided<[1]>>
  scf.for %i = %n to %n step %n {
    %b = tir.alloc(%n) : memref<?xi8>
    tir.copy %a, %b : memref<?xi8>, memref<?xi8>
    tir.copy %v, %v : memref<4xi8, strided<[1]>>, memref<4xi8, strided<[1]>>
  }
  tir.copy %x, %x : memref<?xi8>, memref<?xi8>
  func.return
}

// Memory that a branch hands on is given back after what it became.
// CHECK-LABEL: @handed_on
func.func @handed_on(%c: i1, %x: memref<?xi8>, %n: index) {
  // CHECK:         %[[R:.*]] = scf.if
  // CHECK:         executor.copy %[[R]], %x
  // CHECK-NEXT:    executor.free %a
  %a = tir.alloc(%n) : memref<?xi8>
  %r = scf.if %c -> (memref<?xi8>) {
    scf.yield %a : memref<?xi8>
  } else {
    scf.yield %x : memref<?xi8>
  }
  tir.copy %r, %x : memref<?xi8>, memref<?xi8>
  func.return
}

// A function that gives nothing but sizes is a shape function.
// CHECK-LABEL: @sizes
func.func @sizes(%x: memref<?xf32>, %n: index) -> index {
  // CHECK-NEXT:    %[[A:.*]] = executor.shape_call @count(%x : memref<?xf32>) : index
  // CHECK-NEXT:    func.call @work(%[[A]]) : (index) -> ()
  // CHECK-NEXT:    func.call @both(%n) : (index) -> (index, f32)
  %a = func.call @count(%x) : (memref<?xf32>) -> index
  func.call @work(%a) : (index) -> ()
  %b, %c = func.call @both(%n) : (index) -> (index, f32)
  func.return %a : index
}
func.func private @count(memref<?xf32>) -> index
func.func private @work(index)
func.func private @both(index) -> (index, f32)

// A constant that nothing reads is dropped; one that is read stays.
// CHECK-LABEL: @constants
func.func @constants(%y: memref<4xf32>) {
  // CHECK-NEXT:    %[[READ:.*]] = executor.constant @read
  // CHECK-NEXT:    executor.copy %[[READ]], %{{.*}}
  // CHECK-NEXT:    func.return
  %u = executor.constant @unread : memref<4xf32>
  %r = executor.constant @read : memref<4xf32>
  tir.copy %r, %y : memref<4xf32>, memref<4xf32>
  func.return
}
graph.weight @unread = dense<1.0> : tensor<4xf32>
graph.weight @read = dense<2.0> : tensor<4xf32>
