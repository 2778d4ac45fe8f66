// RUN: transom-opt -p convert-to-llvm %s | filecheck %s

// The four bytes that all lanes share are one word.
// CHECK-LABEL: @vnni
// CHECK:         %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<4xi8> to i32
// CHECK:         llvm.insertelement %[[WORD]]
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.128"(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<4xi32>, vector<4xi32>, vector<4xi32>)
func.func @vnni(%s: vector<4xi32>, %a: vector<4xi8>, %b: vector<4x4xi8>) -> vector<4xi32> {
  %y = tir.dot %s, %a, %b lhs_unsigned using "vnni" : vector<4xi32>, vector<4xi8>, vector<4x4xi8>
  func.return %y : vector<4xi32>
}

// The unsigned operand is the first one.
// CHECK-LABEL: @swapped
// CHECK:         %[[B:.*]] = llvm.bitcast %b
// CHECK:         %[[A:.*]] = llvm.bitcast %a
// CHECK:         "llvm.x86.avx512.vpdpbusd.512"(%{{s.*}}, %[[B]], %[[A]])
func.func @swapped(%s: vector<16xi32>, %a: vector<16x4xi8>, %b: vector<16x4xi8>) -> vector<16xi32> {
  %y = tir.dot %s, %a, %b rhs_unsigned using "vnni" : vector<16xi32>, vector<16x4xi8>, vector<16x4xi8>
  func.return %y : vector<16xi32>
}

// What CPUs lack is written out.
// CHECK-LABEL: @without
// CHECK:         llvm.zext %{{.*}} : vector<16xi8> to vector<16xi32>
// CHECK:         llvm.sext %{{.*}} : vector<16xi8> to vector<16xi32>
// CHECK:         llvm.mul
// CHECK:         llvm.shufflevector {{.*}} [0, 4, 8, 12]
// CHECK-COUNT-4: llvm.add
func.func @without(%s: vector<4xi32>, %a: vector<4x4xi8>, %b: vector<4x4xi8>) -> vector<4xi32> {
  %y = tir.dot %s, %a, %b lhs_unsigned : vector<4xi32>, vector<4x4xi8>, vector<4x4xi8>
  func.return %y : vector<4xi32>
}

// Nor for these signs, or so few lanes.
// CHECK-LABEL: @other_operands
// CHECK-NOT:     call_intrinsic
func.func @other_operands(%s: vector<4xi32>, %a: vector<4x4xi8>, %t: vector<2xi32>, %b: vector<2x4xi8>) -> (vector<4xi32>, vector<4xi32>, vector<2xi32>, vector<2xi32>) {
  %v = tir.dot %s, %a, %a using "vnni" : vector<4xi32>, vector<4x4xi8>, vector<4x4xi8>
  %w = tir.dot %s, %a, %a lhs_unsigned using "dotprod" : vector<4xi32>, vector<4x4xi8>, vector<4x4xi8>
  %x = tir.dot %t, %b, %b lhs_unsigned using "vnni" : vector<2xi32>, vector<2x4xi8>, vector<2x4xi8>
  %y = tir.dot %t, %b, %b using "i8mm" : vector<2xi32>, vector<2x4xi8>, vector<2x4xi8>
  func.return %v, %w, %x, %y : vector<4xi32>, vector<4xi32>, vector<2xi32>, vector<2xi32>
}

// CHECK-LABEL: @neon
// CHECK:         "llvm.aarch64.neon.sdot.v4i32.v16i8"(%{{s.*}}, %{{a.*}}, %{{b.*}})
// CHECK:         "llvm.aarch64.neon.udot.v4i32.v16i8"(%{{s.*}}, %{{a.*}}, %{{b.*}})
// CHECK:         "llvm.aarch64.neon.usdot.v4i32.v16i8"(%{{s.*}}, %{{b.*}}, %{{a.*}})
func.func @neon(%s: vector<4xi32>, %a: vector<4x4xi8>, %b: vector<4x4xi8>) -> (vector<4xi32>, vector<4xi32>, vector<4xi32>) {
  %x = tir.dot %s, %a, %b using "dotprod" : vector<4xi32>, vector<4x4xi8>, vector<4x4xi8>
  %y = tir.dot %s, %a, %b lhs_unsigned rhs_unsigned using "dotprod" : vector<4xi32>, vector<4x4xi8>, vector<4x4xi8>
  %z = tir.dot %s, %a, %b rhs_unsigned using "i8mm" : vector<4xi32>, vector<4x4xi8>, vector<4x4xi8>
  func.return %x, %y, %z : vector<4xi32>, vector<4xi32>, vector<4xi32>
}

// LLVM has an instruction of x86 for this.
// CHECK-LABEL: @pairs
// CHECK:         llvm.mul %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK:         llvm.shufflevector {{.*}} [0, 2, 4, 6]
// CHECK:         llvm.shufflevector {{.*}} [1, 3, 5, 7]
func.func @pairs(%s: vector<4xi32>, %a: vector<2xi16>, %b: vector<4x2xi16>) -> vector<4xi32> {
  %y = tir.dot %s, %a, %b using "pairs" : vector<4xi32>, vector<2xi16>, vector<4x2xi16>
  func.return %y : vector<4xi32>
}

// Vectors of several dimensions lie without gaps.
// CHECK-LABEL: @groups
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> vector<64xi8>
func.func @groups(%m: memref<3x16x4xi8>, %i: index) -> vector<16x4xi8> {
  %y = vector.load %m[%i, %i, %i] : memref<3x16x4xi8>, vector<16x4xi8>
  func.return %y : vector<16x4xi8>
}
