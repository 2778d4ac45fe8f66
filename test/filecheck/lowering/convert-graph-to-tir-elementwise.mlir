// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s

// Sizes of 1 are read at 0, missing dimensions not at all; all is in finish.
// CHECK-LABEL: tir.func @sub_
func.func private @broadcast(%x: tensor<4x8xf32>, %y: tensor<4x1xf32>) -> tensor<4x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 4, parallel 8]
  // CHECK-NEXT:      ins(%{{.*}}[d0, d1] : memref<4x8xf32>, %{{.*}}[d0, 0] : memref<4x1xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1] : memref<4x8xf32>)
  // CHECK-NEXT:    finish (%[[X:.*]]: f32, %[[Y:.*]]: f32) {
  // CHECK-NEXT:      %[[D:.*]] = arith.subf %[[X]], %[[Y]]
  // CHECK-NEXT:      tir.yield %[[D]]
  %z = graph.sub %x, %y : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}

// An operand that comes twice is read once.
// CHECK-LABEL: tir.func @mul_
func.func private @square(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish (%[[X:.*]]: f32) {
  // CHECK-NEXT:      arith.mulf %[[X]], %[[X]]
  %y = graph.mul %x, %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// A constant with one value is inside, and no argument.
// CHECK-LABEL: tir.func @add_
// CHECK-SAME:    (read %{{.*}}: memref<4xi32>, write
func.func private @constant(%x: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           %[[C:.*]] = arith.constant 3 : i32
  // CHECK-NEXT:      arith.addi %{{.*}}, %[[C]]
  %c = graph.constant dense<3> : tensor<i32>
  %y = graph.add %x, %c : tensor<4xi32>, tensor<i32> -> tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// Memory is signless: the op says that numbers are unsigned.
// CHECK-LABEL: tir.func @compare_
// CHECK-SAME:    memref<4xi8>
func.func private @unsigned(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xi1> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           arith.cmpi ult
  %z = graph.compare lt %x, %y : tensor<4xui8>, tensor<4xui8> -> tensor<4xi1>
  func.return %z : tensor<4xi1>
}

// f16 and bf16 are computed in f32 and rounded once.
// CHECK-LABEL: tir.func @exp_
func.func private @small_float(%x: tensor<4xbf16>) -> tensor<4xbf16> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish (%[[X:.*]]: bf16) {
  // CHECK-NEXT:      %[[WIDE:.*]] = arith.extf %[[X]] : bf16 to f32
  // CHECK-NEXT:      %[[E:.*]] = math.exp %[[WIDE]] : f32
  // CHECK-NEXT:      %[[Y:.*]] = arith.truncf %[[E]] : f32 to bf16
  // CHECK-NEXT:      tir.yield %[[Y]]
  %y = graph.exp %x : tensor<4xbf16>
  func.return %y : tensor<4xbf16>
}

// Towards zero, saturating, NaN to 0.
// CHECK-LABEL: tir.func @cast_
func.func private @cast(%x: tensor<4xf32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           arith.constant -2.14748365e+09 : f32
  // CHECK-NEXT:      arith.constant 2.14748365e+09 : f32
  // CHECK:           arith.fptosi %{{.*}} : f32 to i32
  // CHECK-NEXT:      arith.constant 2147483647 : i32
  // CHECK:           arith.constant -2147483648 : i32
  %y = graph.cast %x : tensor<4xf32> -> tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// The ends of a narrow range are exact; NaN is less than all numbers here, and so 0.
// CHECK-LABEL: tir.func @cast_
func.func private @cast_to_bytes(%x: tensor<4xf32>) -> tensor<4xui8> attributes {target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, ?>} {
  // CHECK:         finish (%[[X:.*]]: f32) {
  // CHECK-NEXT:      %[[LOW:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT:      %[[HIGH:.*]] = arith.constant 2.550000e+02 : f32
  // CHECK-NEXT:      %[[ABOVE:.*]] = arith.maxnumf %[[X]], %[[LOW]]
  // CHECK-NEXT:      %[[WITHIN:.*]] = arith.minnumf %[[ABOVE]], %[[HIGH]]
  // CHECK-NEXT:      arith.fptoui %[[WITHIN]] : f32 to i8
  %y = graph.cast %x : tensor<4xf32> -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// CHECK-LABEL: tir.func @select_
func.func private @select(%c: tensor<4x1xi1>, %x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         ins(%{{.*}}[d0, 0] : memref<4x1xi1>, %{{.*}}[d0, d1] : memref<4x8xf32>, %{{.*}}[d1] : memref<8xf32>)
  // CHECK:           arith.select
  %z = graph.select %c, %x, %y : tensor<4x1xi1>, tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}

// Sizes of one name are one bound; reading needs no stride.
// CHECK-LABEL: tir.func @maximum_
func.func private @named_size(%x: tensor<?xf32, #graph.desc<dims = ["N"]>>, %y: tensor<?xf32, #graph.desc<dims = ["N"]>>) -> tensor<?xf32, #graph.desc<dims = ["N"]>> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         %[[N:.*]] = memref.dim
  // CHECK-NEXT:    tir.nest dims [parallel %[[N]]]
  // CHECK-NEXT:      ins(%{{.*}}[d0] : memref<?xf32>, %{{.*}}[d0] : memref<?xf32>)
  %z = graph.maximum %x, %y : tensor<?xf32, #graph.desc<dims = ["N"]>>
  func.return %z : tensor<?xf32, #graph.desc<dims = ["N"]>>
}

// A size that may turn out to be 1 is read with a stride of 0 or 1.
// CHECK-LABEL: tir.func @minimum_
func.func private @unnamed_size(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         tir.nest dims [parallel %{{.*}}] at (%{{.*}}, %{{.*}})
  // CHECK-NEXT:      ins(%{{.*}}[d0 * s0] : memref<?xf32>, %{{.*}}[d0 * s1] : memref<?xf32>)
  %z = graph.minimum %x, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}

// Integers by squaring; a small constant exponent is written out.
// CHECK-LABEL: tir.func @pow_
func.func private @power(%x: tensor<4xi32>, %n: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           scf.for
  %y = graph.pow %x, %n : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK-LABEL: tir.func @pow_
func.func private @cube(%x: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NOT:       scf.for
  // CHECK:           %[[X2:.*]] = arith.muli %[[X:.*]], %[[X]]
  // CHECK-NEXT:      arith.muli %[[X]], %[[X2]]
  %three = graph.constant dense<3> : tensor<i32>
  %y = graph.pow %x, %three : tensor<4xi32>, tensor<i32> -> tensor<4xi32>
  func.return %y : tensor<4xi32>
}
