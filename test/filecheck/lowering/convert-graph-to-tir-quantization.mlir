// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s

target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}

// Rounded before the zero point is added; what does not fit saturates. A scale per row.
// CHECK-LABEL: tir.func @quantize_
func.func private @quantize(%x: tensor<4x8xf32>, %s: tensor<4x1xf32>, %z: tensor<i8>) -> tensor<4x8xi8> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           ins(%{{.*}}[d0, d1] : memref<4x8xf32>, %{{.*}}[d0, 0] : memref<4x1xf32>, %{{.*}}[] : memref<i8>)
  // CHECK:         finish (%[[X:.*]]: f32, %[[S:.*]]: f32, %[[Z:.*]]: i8) {
  // CHECK-NEXT:      %[[D:.*]] = arith.divf %[[X]], %[[S]] : f32
  // CHECK-NEXT:      %[[R:.*]] = math.roundeven %[[D]] : f32
  // CHECK-NEXT:      %[[F:.*]] = arith.sitofp %[[Z]] : i8 to f32
  // CHECK-NEXT:      %[[Q:.*]] = arith.addf %[[R]], %[[F]] : f32
  // CHECK-NEXT:      %[[LOW:.*]] = arith.constant -1.280000e+02 : f32
  // CHECK-NEXT:      %[[HIGH:.*]] = arith.constant 1.270000e+02 : f32
  // CHECK-NEXT:      %[[NUMBER:.*]] = arith.cmpf ord, %[[Q]], %[[Q]] : f32
  // CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT:      %[[SAFE:.*]] = arith.select %[[NUMBER]], %[[Q]], %[[ZERO]]
  // CHECK-NEXT:      %[[ABOVE:.*]] = arith.maxnumf %[[SAFE]], %[[LOW]]
  // CHECK-NEXT:      %[[WITHIN:.*]] = arith.minnumf %[[ABOVE]], %[[HIGH]]
  // CHECK-NEXT:      arith.fptosi %[[WITHIN]] : f32 to i8
  %y = graph.quantize %x, %s, %z : tensor<4x8xf32>, tensor<4x1xf32>, tensor<i8> -> tensor<4x8xi8>
  func.return %y : tensor<4x8xi8>
}

// The difference is one of integers, without a sign here.
// CHECK-LABEL: tir.func @dequantize_
func.func private @dequantize(%x: tensor<4x8xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<4x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish (%[[X:.*]]: i8, %[[S:.*]]: f32, %[[Z:.*]]: i8) {
  // CHECK-NEXT:      %[[A:.*]] = arith.extui %[[X]] : i8 to i32
  // CHECK-NEXT:      %[[B:.*]] = arith.extui %[[Z]] : i8 to i32
  // CHECK-NEXT:      %[[D:.*]] = arith.subi %[[A]], %[[B]] : i32
  // CHECK-NEXT:      %[[F:.*]] = arith.sitofp %[[D]] : i32 to f32
  // CHECK-NEXT:      arith.mulf %[[F]], %[[S]] : f32
  %y = graph.dequantize %x, %s, %z : tensor<4x8xui8>, tensor<f32>, tensor<ui8> -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
