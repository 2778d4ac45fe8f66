// RUN: transom-opt -p 'tir-choose-schedule{vector-bytes=64 register-count=32}' %s | filecheck %s

// Channels of a depthwise convolution in blocks: weights, whose lanes lie apart, are
// packed; what is no weight is not.
graph.weight @w = dense<1.0> : tensor<32x1x3x3xf32>
func.func @main(%x: tensor<1x2x10x10x16xf32>, %v: tensor<32x1x3x3xf32>) -> (tensor<1x2x8x8x16xf32>, tensor<1x2x8x8x16xf32>) {
  %w = graph.weight_ref @w : tensor<32x1x3x3xf32>
  %0 = tensor.empty() : tensor<1x2x8x8x16xf32>
  %y = tir.call @depthwise(%x : tensor<1x2x10x10x16xf32>, %w : tensor<32x1x3x3xf32>) outs(%0 : tensor<1x2x8x8x16xf32>)
  %z = tir.call @no_weight(%x : tensor<1x2x10x10x16xf32>, %v : tensor<32x1x3x3xf32>) outs(%0 : tensor<1x2x8x8x16xf32>)
  func.return %y, %z : tensor<1x2x8x8x16xf32>, tensor<1x2x8x8x16xf32>
}

// CHECK-LABEL: tir.func @depthwise
// CHECK:         schedule #tir.schedule<register = [d4 : 16, d3 : 8], vector = d4 : 16, unroll = [d6 : 3, d7 : 3], pack = [in1]>
tir.func @depthwise(read %x: memref<1x2x10x10x16xf32>, read %w: memref<32x1x3x3xf32>, write %o: memref<1x2x8x8x16xf32>) {
  tir.nest dims [parallel 1, parallel 2, parallel 8, parallel 8, parallel 16, reduction 1, reduction 3, reduction 3]
      ins(%x[0, d1, d2 + d6, d3 + d7, d4] : memref<1x2x10x10x16xf32>, %w[d1 * 16 + d4, 0, d6, d7] : memref<32x1x3x3xf32>)
      outs(%o[0, d1, d2, d3, d4] : memref<1x2x8x8x16xf32>)
    init {
      %0 = arith.constant 0.0 : f32
      tir.yield %0 : f32
    }
    body (%a: f32, %b: f32, %s: f32) {
      %p = arith.mulf %a, %b fastmath<contract> : f32
      %n = arith.addf %s, %p fastmath<contract> : f32
      tir.yield %n : f32
    }
    finish (%s: f32) {
      tir.yield %s : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @no_weight
// CHECK-NOT:     pack
tir.func @no_weight(read %x: memref<1x2x10x10x16xf32>, read %w: memref<32x1x3x3xf32>, write %o: memref<1x2x8x8x16xf32>) {
  tir.nest dims [parallel 1, parallel 2, parallel 8, parallel 8, parallel 16, reduction 1, reduction 3, reduction 3]
      ins(%x[0, d1, d2 + d6, d3 + d7, d4] : memref<1x2x10x10x16xf32>, %w[d1 * 16 + d4, 0, d6, d7] : memref<32x1x3x3xf32>)
      outs(%o[0, d1, d2, d3, d4] : memref<1x2x8x8x16xf32>)
    init {
      %0 = arith.constant 0.0 : f32
      tir.yield %0 : f32
    }
    body (%a: f32, %b: f32, %s: f32) {
      %p = arith.mulf %a, %b fastmath<contract> : f32
      %n = arith.addf %s, %p fastmath<contract> : f32
      tir.yield %n : f32
    }
    finish (%s: f32) {
      tir.yield %s : f32
    }
  tir.return
}
