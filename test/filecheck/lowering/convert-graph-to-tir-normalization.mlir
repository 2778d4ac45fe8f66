// RUN: transom-opt -p graph-fuse,convert-graph-to-tir,tir-fuse-nests %s | filecheck %s

// One block over the rows, whose buffers hold one row.
// CHECK-LABEL: tir.func @softmax_
func.func private @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.block (%[[ROW:.*]]: index) in dims [parallel 4] {
  // CHECK-NEXT:      %[[TOP:.*]] = tir.alloc : memref<1xf32>
  // CHECK-NEXT:      %[[POWERS:.*]] = tir.alloc : memref<8xf32>
  // CHECK-NEXT:      %[[TOTAL:.*]] = tir.alloc : memref<1xf32>
  // CHECK-NEXT:      tir.nest dims [reduction 8] at (%[[ROW]])
  // NaN that the maximum passes over is in the sum.
  // CHECK:             %[[MORE:.*]] = arith.cmpf ogt, %[[X:.*]], %[[BEST:.*]] fastmath<nsz> : f32
  // CHECK-NEXT:        arith.select %[[MORE]], %[[X]], %[[BEST]] : f32
  // CHECK:           tir.nest dims [parallel 8] at (%[[ROW]])
  // CHECK-NEXT:        ins(%{{.*}}[s0, d0] : memref<4x8xf32>, %[[TOP]][0] : memref<1xf32>)
  // CHECK-NEXT:        outs(%[[POWERS]][d0] : memref<8xf32>)
  // CHECK:             math.exp
  // CHECK:           tir.nest dims [reduction 8]
  // CHECK:             outs(%[[TOTAL]][0] : memref<1xf32>)
  // CHECK:           tir.nest dims [parallel 8]
  // CHECK:             arith.divf
  // CHECK-NOT:     tir.alloc
  // CHECK:         tir.return
  %y = graph.softmax %x axis 1 : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// With no quotient to lose digits in.
// CHECK-LABEL: tir.func @log_softmax_
func.func private @log_softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.block
  // CHECK:             math.log
  // CHECK-NEXT:        arith.subf
  // CHECK-NOT:       arith.divf
  // CHECK:         tir.return
  %y = graph.log_softmax %x axis 1 : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// Mean, variance and scaling of a row are one block. The difference from the mean is
// computed twice.
// CHECK-LABEL: tir.func @reduce_sub_mul_add_rsqrt_
func.func private @layer_norm(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.block (%{{.*}}: index) in dims [parallel 4] {
  // CHECK:           tir.nest dims [reduction 8]
  // CHECK:           tir.nest dims [reduction 8]
  // CHECK:             arith.subf
  // CHECK-NEXT:        arith.mulf
  // CHECK-NEXT:        arith.addf
  // CHECK:             math.sqrt
  // CHECK:           tir.nest dims [parallel 8]
  // CHECK:             arith.subf
  // CHECK-NOT:     tir.nest
  // CHECK:         tir.return
  %m = graph.reduce mean %x axes [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>
  %c = graph.sub %x, %m : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
  %s = graph.mul %c, %c : tensor<4x8xf32>
  %v = graph.reduce mean %s axes [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>
  %e = graph.constant dense<1.0e-5> : tensor<f32>
  %ve = graph.add %v, %e : tensor<4x1xf32>, tensor<f32> -> tensor<4x1xf32>
  %f = graph.rsqrt %ve : tensor<4x1xf32>
  %n = graph.mul %c, %f : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
  %ng = graph.mul %n, %g : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  %y = graph.add %ng, %b : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// Parameters are per channel; f16 is computed in f32.
// CHECK-LABEL: tir.func @batch_norm_
func.func private @batch_norm(%x: tensor<1x4x8x8xf16>, %s: tensor<4xf16>, %b: tensor<4xf16>, %m: tensor<4xf16>, %v: tensor<4xf16>) -> tensor<1x4x8x8xf16> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NEXT:    tir.nest dims [parallel 1, parallel 4, parallel 8, parallel 8]
  // CHECK-NEXT:      ins(%{{.*}}[d0, d1, d2, d3] : memref<1x4x8x8xf16>, %{{.*}}[d1] : memref<4xf16>, %{{.*}}[d1] : memref<4xf16>, %{{.*}}[d1] : memref<4xf16>, %{{.*}}[d1] : memref<4xf16>)
  // CHECK:           math.sqrt
  %y = graph.batch_norm %x, %s, %b, %m, %v epsilon 1.0e-5 : tensor<1x4x8x8xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16> -> tensor<1x4x8x8xf16>
  func.return %y : tensor<1x4x8x8xf16>
}
