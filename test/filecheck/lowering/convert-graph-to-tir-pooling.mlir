// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s

// CHECK-LABEL: tir.func @max_pool2d_
func.func private @max(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 1, parallel 4, parallel 4, parallel 4, reduction 2, reduction 2]
  // CHECK-NEXT:      ins(%{{.*}}[d0, d1, d2 * 2 + d4, d3 * 2 + d5] : memref<1x4x8x8xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1, d2, d3] : memref<1x4x4x4xf32>)
  // CHECK-NEXT:    init {
  // CHECK-NEXT:      arith.constant 0xff800000 : f32
  // CHECK:           arith.maximumf
  %y = graph.max_pool2d %x kernel [2, 2] strides [2, 2] : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  func.return %y : tensor<1x4x4x4xf32>
}

// Padding is the least number, which never wins.
// CHECK-LABEL: tir.func @max_pool2d_
func.func private @padded(%x: tensor<1x4x8x8xi8>) -> tensor<1x4x8x8xi8> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           pad -128 : i8
  // CHECK:           arith.maxsi
  %y = graph.max_pool2d %x kernel [3, 3] padding [1, 1, 1, 1] : tensor<1x4x8x8xi8>
  func.return %y : tensor<1x4x8x8xi8>
}

// Values and places come from one nest; padding has no place.
// CHECK-LABEL: tir.func @max_pool2d_
func.func private @places(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xi64>) attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         tir.nest
  // CHECK-NEXT:      ins(%{{.*}} pad 0xff800000 : f32 : memref<1x4x8x8xf32>)
  // CHECK-NEXT:      outs(%{{.*}}[d0, d1, d2, d3] : memref<1x4x4x4xf32>, %{{.*}}[d0, d1, d2, d3] : memref<1x4x4x4xi64>)
  // CHECK:         body (%[[X:.*]]: f32, %[[BEST:.*]]: f32, %[[AT:.*]]: i64) {
  // CHECK:           arith.cmpi ult
  // CHECK:           %[[MORE:.*]] = arith.cmpf ugt, %[[X]], %[[BEST]]
  // CHECK-NEXT:      %[[NUMBER:.*]] = arith.cmpf ord, %[[BEST]], %[[BEST]]
  // CHECK-NEXT:      %[[BETTER:.*]] = arith.andi %[[MORE]], %[[NUMBER]]
  // CHECK:         finish (%[[BEST:.*]]: f32, %[[AT:.*]]: i64) {
  // CHECK-NEXT:      tir.yield %[[BEST]], %[[AT]]
  // CHECK-NOT:     tir.nest
  // CHECK:         tir.return
  %y, %i = graph.max_pool2d %x kernel [3, 3] strides [2, 2] padding [1, 1, 1, 1] : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>, tensor<1x4x4x4xi64>
  func.return %y, %i : tensor<1x4x4x4xf32>, tensor<1x4x4x4xi64>
}

// All windows are whole: their size is a constant.
// CHECK-LABEL: tir.func @avg_pool2d_
func.func private @whole(%x: tensor<1x4x8x8xf16>) -> tensor<1x4x4x4xf16> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish (%[[SUM:.*]]: f32) {
  // CHECK-NEXT:      %[[COUNT:.*]] = arith.constant 4.000000e+00 : f32
  // CHECK-NEXT:      arith.divf %[[SUM]], %[[COUNT]]
  %y = graph.avg_pool2d %x kernel [2, 2] strides [2, 2] : tensor<1x4x8x8xf16> -> tensor<1x4x4x4xf16>
  func.return %y : tensor<1x4x4x4xf16>
}

// Elements outside do not count.
// CHECK-LABEL: tir.func @avg_pool2d_
func.func private @cut(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish (%[[SUM:.*]]: f32) {
  // CHECK:           %[[CELLS:.*]] = arith.muli
  // CHECK:           %[[COUNT:.*]] = arith.sitofp
  // CHECK-NEXT:      arith.divf %[[SUM]], %[[COUNT]]
  %y = graph.avg_pool2d %x kernel [3, 3] padding [1, 1, 1, 1] : tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}

// Padding counts where the op says so.
// CHECK-LABEL: tir.func @avg_pool2d_
func.func private @counted(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish (%[[SUM:.*]]: f32) {
  // CHECK-NEXT:      arith.constant 9.000000e+00 : f32
  %y = graph.avg_pool2d %x kernel [3, 3] padding [1, 1, 1, 1] count_include_pad : tensor<1x4x8x8xf32>
  func.return %y : tensor<1x4x8x8xf32>
}
