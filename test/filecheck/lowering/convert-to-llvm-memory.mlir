// RUN: transom-opt -p convert-to-llvm %s | filecheck %s

// An access whose strides are known takes one address.
// CHECK-LABEL: @identity
// CHECK-SAME:    (%[[X:.*]]: !llvm.ptr, %{{.*}}: i64, %[[I:.*]]: i64, %[[J:.*]]: i64)
func.func @identity(%x: memref<?x4x8xf32>, %i: index, %j: index) -> f32 {
  // CHECK:         %[[P:.*]] = llvm.getelementptr inbounds %[[X]][%[[I]], %[[J]], 5] : (!llvm.ptr, i64, i64) -> !llvm.ptr, !llvm.array<4 x !llvm.array<8 x f32>>
  // CHECK-NEXT:    %[[V:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr -> f32
  %c5 = arith.constant 5 : index
  %v = memref.load %x[%i, %j, %c5] : memref<?x4x8xf32>
  func.return %v : f32
}

// Known strides of a part of a buffer are as good.
// CHECK-LABEL: @strided
// CHECK-SAME:    (%[[X:.*]]: !llvm.ptr, %[[O:.*]]: i64, %[[I:.*]]: i64)
func.func @strided(%x: memref<4x8xf32, strided<[64, 2], offset: ?>>, %i: index) -> f32 {
  // CHECK-NEXT:    %[[B:.*]] = llvm.getelementptr inbounds %[[X]][%[[O]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  // CHECK-NEXT:    %[[P:.*]] = llvm.getelementptr inbounds %[[B]][%[[I]], %[[I]], 0] : (!llvm.ptr, i64, i64) -> !llvm.ptr, !llvm.array<32 x !llvm.array<2 x f32>>
  %v = memref.load %x[%i, %i] : memref<4x8xf32, strided<[64, 2], offset: ?>>
  func.return %v : f32
}

// Strides of the identity layout follow from the sizes.
// CHECK-LABEL: @dynamic
// CHECK-SAME:    (%[[X:.*]]: !llvm.ptr, %[[N:.*]]: i64, %[[M:.*]]: i64, %[[I:.*]]: i64)
func.func @dynamic(%x: memref<?x?xf32>, %i: index) -> f32 {
  // CHECK-NEXT:    %[[ROW:.*]] = llvm.mul %[[I]], %[[M]] overflow<nsw> : i64
  // CHECK-NEXT:    %[[AT:.*]] = llvm.add %[[ROW]], %[[I]] overflow<nsw> : i64
  // CHECK-NEXT:    %[[P:.*]] = llvm.getelementptr inbounds %[[X]][%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = memref.load %x[%i, %i] : memref<?x?xf32>
  func.return %v : f32
}

// A bool is a byte.
// CHECK-LABEL: @bools
func.func @bools(%x: memref<8xi1>, %b: i1, %i: index) -> i1 {
  // CHECK:         %[[E:.*]] = llvm.zext %{{.*}} : i1 to i8
  // CHECK-NEXT:    llvm.store %[[E]], %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr
  // CHECK:         %[[V:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> i8
  // CHECK-NEXT:    llvm.trunc %[[V]] : i8 to i1
  memref.store %b, %x[%i] : memref<8xi1>
  %v = memref.load %x[%i] : memref<8xi1>
  func.return %v : i1
}

// A numbered memory space is an address space; one with a name is the host's.
// CHECK-LABEL: @spaces
// CHECK-SAME:    (%{{.*}}: !llvm.ptr<3>, %{{.*}}: !llvm.ptr)
func.func @spaces(%x: memref<4xf32, 3 : i32>, %y: memref<4xf32, @sram>) {
  func.return
}

// A view costs arithmetic only, and none where it is known.
// CHECK-LABEL: @subview
// CHECK-SAME:    (%[[X:.*]]: !llvm.ptr, %[[I:.*]]: i64)
func.func @subview(%x: memref<16x8xf32>, %i: index) -> f32 {
  // CHECK-NEXT:    %[[EIGHT:.*]] = llvm.mlir.constant(8) : i64
  // CHECK-NEXT:    %[[ROW:.*]] = llvm.mul %[[I]], %[[EIGHT]] overflow<nsw> : i64
  // CHECK-NEXT:    %[[TWO:.*]] = llvm.mlir.constant(2) : i64
  // CHECK-NEXT:    %[[O:.*]] = llvm.add %[[ROW]], %[[TWO]] overflow<nsw> : i64
  // CHECK:         %[[B:.*]] = llvm.getelementptr inbounds %[[X]][%[[O]]]
  // CHECK-NEXT:    %[[P:.*]] = llvm.getelementptr inbounds %[[B]][1, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<8 x f32>
  %v = memref.subview %x[%i, 2] [4, 4] [1, 1] : memref<16x8xf32> to memref<4x4xf32, strided<[8, 1], offset: ?>>
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = memref.load %v[%c1, %c3] : memref<4x4xf32, strided<[8, 1], offset: ?>>
  func.return %e : f32
}

// Elements side by side are copied at once, others one by one.
// CHECK-LABEL: @copies
func.func @copies(%x: memref<4x8xf32>, %y: memref<4x8xf32>, %z: memref<4x8xf32, strided<[16, 1]>>) {
  // CHECK:         %[[N:.*]] = llvm.mlir.constant(128) : i64
  // CHECK-NEXT:    "llvm.intr.memcpy"(%{{.*}}, %{{.*}}, %[[N]])
  // CHECK-NOT:     memcpy
  // CHECK:         llvm.cond_br
  tir.copy %x, %y : memref<4x8xf32>, memref<4x8xf32>
  tir.copy %y, %z : memref<4x8xf32>, memref<4x8xf32, strided<[16, 1]>>
  func.return
}

// A copy in the background is one at once, and a token is nothing.
// CHECK-LABEL: @background
func.func @background(%x: memref<4xf32>, %y: memref<4xf32>) {
  // CHECK:         memcpy
  // CHECK-NEXT:    llvm.mlir.constant(0 : i32)
  // CHECK-NEXT:    llvm.return
  %t = tir.copy_async %x, %y : memref<4xf32>, memref<4xf32>
  tir.wait %t
  func.return
}

// CHECK-LABEL: @prefetch
func.func @prefetch(%x: memref<4xf32>, %i: index) {
  // CHECK-NOT:     inbounds
  // CHECK:         llvm.intr.prefetch %{{.*}} {rw = 1 : i32, hint = 2 : i32, cache = 1 : i32} : !llvm.ptr
  tir.prefetch %x[%i] write locality 2 : memref<4xf32>
  func.return
}

// Memory of a static size is made once, in the first block.
// CHECK-LABEL: @stack
func.func @stack(%c: i1) {
  // CHECK-NEXT:    %[[N:.*]] = llvm.mlir.constant(32) : i64
  // CHECK-NEXT:    llvm.alloca %[[N]] x i8 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  // CHECK-NEXT:    llvm.cond_br
  // CHECK-NOT:     llvm.alloca
  cf.cond_br %c, ^a, ^b
^a:
  %t = tir.alloc : memref<8xf32>
  cf.br ^b
^b:
  func.return
}

// CHECK: llvm.mlir.global internal constant @table(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<2 x f32>
"memref.global"() <{sym_name = "table", sym_visibility = "private", constant, type = memref<2xf32>, initial_value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> ()
// CHECK: llvm.mlir.global external @shared(dense<3> : tensor<4xi32>) {{.*}} : !llvm.array<4 x i32>
"memref.global"() <{sym_name = "shared", sym_visibility = "public", type = memref<2x2xi32>, initial_value = dense<3> : tensor<2x2xi32>}> : () -> ()
