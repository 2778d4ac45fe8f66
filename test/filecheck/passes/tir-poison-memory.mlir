// RUN: transom-opt -p tir-poison-memory %s | filecheck %s
// RUN: transom-opt -p tir-poison-memory,tir-verify-plan %s | filecheck %s

tir.func @k(read memref<16xf32>, write memref<16xf32>)
executor.pool @p {size = 128}

// All of the pool at the start, and each buffer when nothing reads it any more.
// CHECK-LABEL: @chain
func.func @chain(%x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK-NEXT:    %[[P:.*]] = tir.alloc {pool = @p, offset = 0} : memref<128xi8>
  // CHECK-NEXT:    %[[ONES:.*]] = arith.constant -1 : i8
  // CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
  // CHECK-NEXT:      memref.store %[[ONES]], %[[P]][%[[I]]] : memref<128xi8>
  // CHECK:         tir.call @k(%a
  // CHECK-NEXT:    %[[NAN:.*]] = arith.constant 0x7fc00000 : f32
  // CHECK:         memref.store %[[NAN]], %a
  // CHECK:         tir.call @k(%b
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %b = tir.alloc {pool = @p, offset = 64} : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @k(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  tir.call @k(%b : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}

// What is read after a branch lives in both arms; what one arm uses ends there.
// CHECK-LABEL: @branch
func.func @branch(%c: i1, %x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK:         scf.if %c {
  // CHECK-NEXT:      tir.call @k(%x {{.*}} outs(%b
  // CHECK-NEXT:      tir.call @k(%b
  // CHECK-NEXT:      arith.constant
  // CHECK:           memref.store %{{.*}}, %b
  // CHECK:           tir.call @k(%a {{.*}} outs(%y
  // CHECK-NOT:     memref.store %{{.*}}, %a
  // CHECK:         tir.call @k(%a
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %b = tir.alloc {pool = @p, offset = 64} : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  scf.if %c {
    tir.call @k(%x : memref<16xf32>) outs(%b : memref<16xf32>)
    tir.call @k(%b : memref<16xf32>) outs(%y : memref<16xf32>)
    tir.call @k(%a : memref<16xf32>) outs(%y : memref<16xf32>)
  }
  tir.call @k(%a : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}

// A loop carries it.
// CHECK-LABEL: @carried
// CHECK-NOT:     memref.store %{{.*}}, %a
func.func @carried(%n: index, %x: memref<16xf32>) {
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  scf.for %i = %n to %n step %n {
    tir.call @k(%a : memref<16xf32>) outs(%x : memref<16xf32>)
    tir.copy %x, %x : memref<16xf32>, memref<16xf32>
  }
  func.return
}

// Memory that is taken at run time holds garbage first.
// CHECK-LABEL: @dynamic
func.func @dynamic(%n: index, %x: memref<?xi8>) {
  // CHECK:         %a = tir.alloc(%n) : memref<?xi8>
  // CHECK-NEXT:    %[[BITS:.*]] = arith.constant 85 : i8
  // CHECK:         %[[N:.*]] = memref.dim %a
  // CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[N]] step
  // CHECK-NEXT:      memref.store %[[BITS]], %a[%[[I]]] : memref<?xi8>
  %a = tir.alloc(%n) : memref<?xi8>
  tir.copy %a, %x : memref<?xi8>, memref<?xi8>
  func.return
}
