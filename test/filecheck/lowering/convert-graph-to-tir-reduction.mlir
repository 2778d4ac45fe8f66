// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s

// Dims of the result in parallel, then the reduced ones.
// CHECK-LABEL: tir.func @reduce_
func.func private @inner(%x: tensor<4x8x2xf32>) -> tensor<4x2xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 4, parallel 2, reduction 8]
  // CHECK-NEXT:      ins(%{{.*}}[d0, d2, d1] : memref<4x8x2xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1] : memref<4x2xf32>)
  // CHECK-NEXT:    init {
  // CHECK-NEXT:      arith.constant 0xff800000 : f32
  // CHECK:           arith.maximumf {{.*}} fastmath<nsz> : f32
  %y = graph.reduce max %x axes [1] : tensor<4x8x2xf32> -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// CHECK-LABEL: tir.func @reduce_
func.func private @keepdims(%x: tensor<4x8xbf16>) -> tensor<4x1xbf16> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           outs(%{{.*}}[d0, 0] : memref<4x1xbf16>)
  // CHECK:         body (%[[X:.*]]: bf16, %[[SUM:.*]]: f32) {
  // CHECK:         finish (%[[SUM:.*]]: f32) {
  // CHECK-NEXT:      %[[N:.*]] = arith.constant 8.000000e+00 : f32
  // CHECK-NEXT:      %[[MEAN:.*]] = arith.divf %[[SUM]], %[[N]]
  // CHECK-NEXT:      arith.truncf %[[MEAN]]
  %y = graph.reduce mean %x axes [1] keepdims : tensor<4x8xbf16> -> tensor<4x1xbf16>
  func.return %y : tensor<4x1xbf16>
}

// CHECK-LABEL: tir.func @reduce_
func.func private @all_axes(%x: tensor<4x8xui8>) -> tensor<ui8> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [reduction 4, reduction 8]
  // CHECK:           outs(%{{.*}}[] : memref<i8>)
  // CHECK:           arith.minui
  %y = graph.reduce min %x axes [0, 1] : tensor<4x8xui8> -> tensor<ui8>
  func.return %y : tensor<ui8>
}

// Without axes there is nothing to reduce.
// CHECK-LABEL: tir.func @reduce_
func.func private @no_axes(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 4, parallel 8]
  // CHECK-NOT:     init
  // CHECK:         finish (%[[X:.*]]: f32) {
  // CHECK-NEXT:      tir.yield %[[X]]
  %y = graph.reduce sum %x axes [] : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// The number of elements is only known at run time.
// CHECK-LABEL: tir.func @reduce_
func.func private @dynamic_mean(%x: tensor<?x8xf32>) -> tensor<8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         %[[N:.*]] = memref.dim
  // CHECK:         tir.nest dims [parallel 8, reduction %[[N]]]
  // CHECK:         finish (%[[SUM:.*]]: f32) {
  // CHECK:           arith.sitofp
  // CHECK-NEXT:      arith.divf %[[SUM]]
  %y = graph.reduce mean %x axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// The first of equal ones: only a larger one takes its place. Floats are compared as
// integers, the largest of which is NaN, and zeros are one number.
// CHECK-LABEL: tir.func @arg_reduce_
func.func private @argmax(%x: tensor<4x8xf32>) -> tensor<8xi64> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 8, reduction 4]
  // CHECK:         init {
  // CHECK-NEXT:      arith.constant -2147483648 : i32
  // CHECK-NEXT:      arith.constant 0 : i64
  // CHECK:         body (%[[X:.*]]: f32, %[[BEST:.*]]: i32, %[[AT:.*]]: i64) {
  // CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT:      %[[ONE_ZERO:.*]] = arith.addf %[[X]], %[[ZERO]] : f32
  // CHECK-NEXT:      %[[BITS:.*]] = arith.bitcast %[[ONE_ZERO]] : f32 to i32
  // CHECK:           %[[TURNED:.*]] = arith.xori %[[BITS]], %{{.*}} : i32
  // CHECK-NEXT:      %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]] : f32
  // CHECK-NEXT:      %[[MOST:.*]] = arith.constant 2147483647 : i32
  // CHECK-NEXT:      %[[KEY:.*]] = arith.select %[[NAN]], %[[MOST]], %[[TURNED]] : i32
  // CHECK-NEXT:      arith.cmpi sgt, %[[KEY]], %[[BEST]]
  // CHECK:           tir.index 1
  // CHECK:         finish (%{{.*}}: i32, %[[AT:.*]]: i64) {
  // CHECK-NEXT:      tir.yield %[[AT]]
  %y = graph.arg_reduce argmax %x axis 0 : tensor<4x8xf32> -> tensor<8xi64>
  func.return %y : tensor<8xi64>
}

// Integers are compared as they are.
// CHECK-LABEL: tir.func @arg_reduce_
func.func private @argmin_of_integers(%x: tensor<4x8xui8>) -> tensor<4xi64> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         init {
  // CHECK-NEXT:      arith.constant -1 : i8
  // CHECK:         body (%[[X:.*]]: i8, %[[BEST:.*]]: i8, %{{.*}}: i64) {
  // CHECK-NEXT:      arith.cmpi ult, %[[X]], %[[BEST]] : i8
  %y = graph.arg_reduce argmin %x axis 1 : tensor<4x8xui8> -> tensor<4xi64>
  func.return %y : tensor<4xi64>
}

// The sum is carried along the axis.
// CHECK-LABEL: tir.func @cumulate_
func.func private @cumulate(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 4, sequential 8]
  // CHECK-NEXT:      ins(%{{.*}}[d0, d1] : memref<4x8xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1] : memref<4x8xf32>)
  // CHECK:         body (%[[X:.*]]: f32, %[[SUM:.*]]: f32) {
  // CHECK-NEXT:      %[[NEW:.*]] = arith.addf %[[SUM]], %[[X]]
  // CHECK-NEXT:      tir.yield %[[NEW]]
  %y = graph.cumulate sum %x axis 1 : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// From the end; the sum before the element is carried too.
// CHECK-LABEL: tir.func @cumulate_
func.func private @exclusive_reverse(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           ins(%{{.*}}[d0, -d1 + 7] : memref<4x8xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d0, -d1 + 7] : memref<4x8xf32>)
  // CHECK:         body (%[[X:.*]]: f32, %[[SUM:.*]]: f32, %{{.*}}: f32) {
  // CHECK-NEXT:      %[[NEW:.*]] = arith.addf %[[SUM]], %[[X]]
  // CHECK-NEXT:      tir.yield %[[NEW]], %[[SUM]]
  // CHECK:         finish (%{{.*}}: f32, %[[BEFORE:.*]]: f32, %{{.*}}: f32) {
  // CHECK-NEXT:      tir.yield %[[BEFORE]]
  %y = graph.cumulate sum %x axis 1 exclusive reverse : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
