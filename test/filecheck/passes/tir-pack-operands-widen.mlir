// RUN: transom-opt -p tir-pack-operands --split-input-file %s | filecheck %s

// An operand that is widened and not packed is copied as it lies; its padding is extended
// with it. One that is packed is extended by the copy.

// CHECK-LABEL: tir.func @copies(
// CHECK:         %[[X:.*]] = tir.alloc : memref<6x10xf32>
// CHECK-NEXT:    tir.nest dims [parallel 6, parallel 10]
// CHECK-NEXT:      ins(%i[d0, d1] : memref<6x10xf16>)
// CHECK-NEXT:      outs(%[[X]][d0, d1] : memref<6x10xf32>)
// CHECK-NEXT:      schedule #tir.schedule<vector = d1 : 8>
// CHECK-NEXT:    finish (%[[V:.*]]: f16) {
// CHECK-NEXT:      %[[E:.*]] = arith.extf %[[V]] : f16 to f32
// CHECK-NEXT:      tir.yield %[[E]] : f32
// CHECK:         %[[W:.*]] = tir.alloc : memref<5x3x8xf32>
// CHECK:           ins(%w[d1, d0 * 8 + d2] : memref<3x40xf16>)
// CHECK:           arith.extf %{{.*}} : f16 to f32
// CHECK:           ins(%[[X]][d0, d1 + d2 - 1] pad 0.000000e+00 : f32 : memref<6x10xf32>, %[[W]][d1 floordiv 8, d2, d1 mod 8] : memref<5x3x8xf32>)
// CHECK-NEXT:      outs
// CHECK-NEXT:      schedule #tir.schedule<vector = d1 : 8>
// CHECK:         body (%[[L:.*]]: f32, %[[R:.*]]: f32, %{{.*}}: f32) {
// CHECK-NEXT:      arith.mulf %[[L]], %[[R]] : f32
tir.func @copies(read %i: memref<6x10xf16>, read %w: memref<3x40xf16>, write %o: memref<6x40xf32>) {
  tir.nest dims [parallel 6, parallel 40, reduction 3]
      ins(%i[d0, d1 + d2 - 1] pad 0.0 : f16 : memref<6x10xf16>, %w[d2, d1] : memref<3x40xf16>)
      outs(%o[d0, d1] : memref<6x40xf32>)
      schedule #tir.schedule<vector = d1 : 8, pack = [in1], widen = [in0, in1]>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f16, %y: f16, %acc: f32) {
      %xw = arith.extf %x : f16 to f32
      %yw = arith.extf %y : f16 to f32
      %p = arith.mulf %xw, %yw : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// A weight that is packed and widened is cast once, when it is derived.

// CHECK:       graph.weight @w.packed : tensor<3x8x16xf32> {
// CHECK:         %[[P:.*]] = graph.transpose {{.*}} -> tensor<3x8x16xf16>
// CHECK-NEXT:    %[[C:.*]] = graph.cast %[[P]] : tensor<3x8x16xf16> -> tensor<3x8x16xf32>
// CHECK-NEXT:    graph.yield %[[C]] : tensor<3x8x16xf32>
// CHECK:       tir.func @weight(read %a: memref<12x8xf16>, read %w: memref<3x8x16xf32>, write %o
// CHECK-NOT:     tir.alloc
graph.weight @w = dense<1.5> : tensor<8x45xf16>
func.func @main(%a: tensor<12x8xf16>) -> tensor<12x45xf32> {
  %w = graph.weight_ref @w : tensor<8x45xf16>
  %d = tensor.empty() : tensor<12x45xf32>
  %y = tir.call @weight(%a : tensor<12x8xf16>, %w : tensor<8x45xf16>) outs(%d : tensor<12x45xf32>)
  func.return %y : tensor<12x45xf32>
}
tir.func @weight(read %a: memref<12x8xf16>, read %w: memref<8x45xf16>, write %o: memref<12x45xf32>) {
  tir.nest dims [parallel 12, parallel 45, reduction 8]
      ins(%a[d0, d2] : memref<12x8xf16>, %w[d2, d1] : memref<8x45xf16>) outs(%o[d0, d1] : memref<12x45xf32>)
      schedule #tir.schedule<register = [d1 : 16], vector = d1 : 8, pack = [in1], widen = [in1]>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f16, %y: f16, %acc: f32) {
      %xw = arith.extf %x : f16 to f32
      %yw = arith.extf %y : f16 to f32
      %p = arith.mulf %xw, %yw : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// `finish` reads a widened input as well.

// CHECK-LABEL: tir.func @finish(
// CHECK:         finish (%[[W:.*]]: f32) {
// CHECK-NEXT:      arith.addf %[[W]], %[[W]] : f32
tir.func @finish(read %x: memref<8xbf16>, write %o: memref<8xf32>) {
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xbf16>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<widen = [in0]>
    finish (%v: bf16) {
      %w = arith.extf %v : bf16 to f32
      %y = arith.addf %w, %w : f32
      tir.yield %y : f32
    }
  tir.return
}
