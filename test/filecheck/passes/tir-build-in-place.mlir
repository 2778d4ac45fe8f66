// RUN: transom-opt -p tir-build-in-place %s | filecheck %s
// RUN: transom-opt -p tir-build-in-place,tir-plan-memory %s | filecheck %s --check-prefix=PLAN

tir.func @update(read %x: memref<16xf32>, read_write %y: memref<16xf32>)
tir.func @k(read memref<16xf32>, write memref<16xf32>)
tir.func @k2(read memref<2x16xf32>, write memref<2x16xf32>)
tir.func @w(read memref<32xf32>, write memref<32xf32>)

// Both parts are computed in the whole, which is no copy any more.
// PLAN:          executor.pool @parts.workspace {size = 128
// CHECK-LABEL: @parts
func.func @parts(%x: memref<16xf32>, %y: memref<32xf32>) {
  // CHECK-NEXT:    %[[M:.*]] = tir.alloc : memref<128xi8>
  // CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
  // CHECK-NEXT:    %[[D:.*]] = memref.view %[[M]][%[[C0]]][] : memref<128xi8> to memref<32xf32>
  // CHECK-NEXT:    %[[A0:.*]] = arith.constant 0 : index
  // CHECK-NEXT:    %[[A:.*]] = memref.view %[[M]][%[[A0]]][] : memref<128xi8> to memref<16xf32>
  // CHECK-NEXT:    %[[B0:.*]] = arith.constant 64 : index
  // CHECK-NEXT:    %[[B:.*]] = memref.view %[[M]][%[[B0]]][] : memref<128xi8> to memref<16xf32>
  // CHECK-NOT:     tir.copy
  // CHECK:         tir.call @w(%[[D]]
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @k(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  %d = tir.alloc : memref<32xf32>
  %l = memref.subview %d[0] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1]>>
  tir.copy %a, %l : memref<16xf32>, memref<16xf32, strided<[1]>>
  %r = memref.subview %d[16] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1], offset: 16>>
  tir.copy %b, %r : memref<16xf32>, memref<16xf32, strided<[1], offset: 16>>
  tir.call @w(%d : memref<32xf32>) outs(%y : memref<32xf32>)
  tir.call @k(%a : memref<16xf32>) outs(%x : memref<16xf32>)
  func.return
}

// A whole that is a part of another one.
// PLAN:          executor.pool @nested.workspace {size = 192
// CHECK-LABEL: @nested
// CHECK-NEXT:    %[[M:.*]] = tir.alloc : memref<192xi8>
// CHECK-NOT:     tir.copy
// CHECK:         func.return
func.func @nested(%x: memref<16xf32>, %y: memref<32xf32>) {
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @k(%x : memref<16xf32>) outs(%b : memref<16xf32>)
  %d = tir.alloc : memref<32xf32>
  %l = memref.subview %d[16] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1], offset: 16>>
  tir.copy %a, %l : memref<16xf32>, memref<16xf32, strided<[1], offset: 16>>
  tir.call @w(%y : memref<32xf32>) outs(%y : memref<32xf32>)
  %e = tir.alloc : memref<48xf32>
  %f = memref.subview %e[0] [32] [1] : memref<48xf32> to memref<32xf32, strided<[1]>>
  tir.copy %d, %f : memref<32xf32>, memref<32xf32, strided<[1]>>
  %g = memref.subview %e[32] [16] [1] : memref<48xf32> to memref<16xf32, strided<[1], offset: 32>>
  tir.copy %b, %g : memref<16xf32>, memref<16xf32, strided<[1], offset: 32>>
  "test.op"(%e) : (memref<48xf32>) -> ()
  func.return
}

// The source is written again while the whole is in use.
// CHECK-LABEL: @written_again
func.func @written_again(%x: memref<16xf32>, %y: memref<32xf32>) {
  // CHECK:         tir.copy %a
  %a = tir.alloc : memref<16xf32>
  %d = tir.alloc : memref<32xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %l = memref.subview %d[0] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1]>>
  tir.copy %a, %l : memref<16xf32>, memref<16xf32, strided<[1]>>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @w(%d : memref<32xf32>) outs(%y : memref<32xf32>)
  func.return
}

// The bytes of the whole are read before the copy.
// CHECK-LABEL: @read_before
func.func @read_before(%x: memref<16xf32>, %y: memref<32xf32>) {
  // CHECK:         tir.copy %a
  %a = tir.alloc : memref<16xf32>
  %d = tir.alloc : memref<32xf32>
  tir.call @w(%y : memref<32xf32>) outs(%d : memref<32xf32>)
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @w(%d : memref<32xf32>) outs(%y : memref<32xf32>)
  %l = memref.subview %d[0] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1]>>
  tir.copy %a, %l : memref<16xf32>, memref<16xf32, strided<[1]>>
  tir.call @w(%d : memref<32xf32>) outs(%y : memref<32xf32>)
  func.return
}

// The whole is written while the source is still to be read.
// CHECK-LABEL: @written_after
func.func @written_after(%x: memref<16xf32>, %y: memref<32xf32>) {
  // CHECK:         tir.copy %a
  %a = tir.alloc : memref<16xf32>
  %d = tir.alloc : memref<32xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %l = memref.subview %d[0] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1]>>
  tir.copy %a, %l : memref<16xf32>, memref<16xf32, strided<[1]>>
  tir.call @w(%d : memref<32xf32>) outs(%y : memref<32xf32>)
  tir.call @w(%y : memref<32xf32>) outs(%d : memref<32xf32>)
  tir.call @k(%a : memref<16xf32>) outs(%x : memref<16xf32>)
  func.return
}

// The whole is updated while the source is still to be read.
// CHECK-LABEL: @updated_after
func.func @updated_after(%x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK:         tir.copy %a
  %a = tir.alloc : memref<16xf32>
  %d = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.copy %a, %d : memref<16xf32>, memref<16xf32>
  tir.call @update(%x : memref<16xf32>) outs(%d : memref<16xf32>)
  tir.call @k(%a : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}

// Columns are no row of bytes.
// CHECK-LABEL: @columns
func.func @columns(%x: memref<2x16xf32>, %y: memref<2x32xf32>) {
  // CHECK:         tir.copy %a
  %a = tir.alloc : memref<2x16xf32>
  %d = tir.alloc : memref<2x32xf32>
  tir.call @k2(%x : memref<2x16xf32>) outs(%a : memref<2x16xf32>)
  %l = memref.subview %d[0, 0] [2, 16] [1, 1] : memref<2x32xf32> to memref<2x16xf32, strided<[32, 1]>>
  tir.copy %a, %l : memref<2x16xf32>, memref<2x16xf32, strided<[32, 1]>>
  tir.copy %d, %y : memref<2x32xf32>, memref<2x32xf32>
  func.return
}

// A part that does not start at a multiple of 64 bytes.
// CHECK-LABEL: @unaligned
func.func @unaligned(%x: memref<16xf32>, %y: memref<32xf32>) {
  // CHECK:         tir.copy %a
  %a = tir.alloc : memref<16xf32>
  %d = tir.alloc : memref<32xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %l = memref.subview %d[8] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1], offset: 8>>
  tir.copy %a, %l : memref<16xf32>, memref<16xf32, strided<[1], offset: 8>>
  tir.copy %d, %y : memref<32xf32>, memref<32xf32>
  func.return
}

// Memory of the caller stays where it is.
// CHECK-LABEL: @of_the_caller
func.func @of_the_caller(%x: memref<16xf32>, %y: memref<32xf32>) {
  // CHECK:         tir.copy %a
  %a = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %l = memref.subview %y[0] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1]>>
  tir.copy %a, %l : memref<16xf32>, memref<16xf32, strided<[1]>>
  func.return
}
