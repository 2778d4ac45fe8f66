// RUN: transom-opt -p 'tir-choose-schedule{vector-bytes=32}' %s | filecheck %s

// A scale in f16 that each row of a block reads is extended once, as a weight: what is no
// weight is not, nor what another nest reads as well.
graph.weight @w = dense<2.0> : tensor<20xf16>
func.func @main(%x: tensor<3x20xf32>, %v: tensor<20xf16>) -> (tensor<3x20xf32>, tensor<3x20xf32>) {
  %w = graph.weight_ref @w : tensor<20xf16>
  %0 = tensor.empty() : tensor<3x20xf32>
  %y = tir.call @scales(%x : tensor<3x20xf32>, %w : tensor<20xf16>, %v : tensor<20xf16>) outs(%0 : tensor<3x20xf32>)
  %z = tir.call @twice(%x : tensor<3x20xf32>, %w : tensor<20xf16>) outs(%0 : tensor<3x20xf32>)
  func.return %y, %z : tensor<3x20xf32>, tensor<3x20xf32>
}

// CHECK-LABEL: tir.func @scales
// CHECK:         schedule #tir.schedule<vector = d0 : 8, pack = [in1], widen = [in1]>
tir.func @scales(read %x: memref<3x20xf32>, read %w: memref<20xf16>, read %v: memref<20xf16>, write %o: memref<3x20xf32>) {
  tir.block (%i: index) in dims [parallel 3] {
    tir.nest dims [parallel 20] at (%i)
        ins(%x[s0, d0] : memref<3x20xf32>, %w[d0] : memref<20xf16>, %v[d0] : memref<20xf16>) outs(%o[s0, d0] : memref<3x20xf32>)
      finish (%a: f32, %b: f16, %c: f16) {
        %e = arith.extf %b : f16 to f32
        %f = arith.extf %c : f16 to f32
        %p = arith.mulf %a, %e : f32
        %s = arith.addf %p, %f : f32
        tir.yield %s : f32
      }
  }
  tir.return
}

// CHECK-LABEL: tir.func @twice
// CHECK-NOT:     widen
// CHECK:         tir.return
tir.func @twice(read %x: memref<3x20xf32>, read %w: memref<20xf16>, write %o: memref<3x20xf32>) {
  tir.block (%i: index) in dims [parallel 3] {
    %t = tir.alloc : memref<20xf32>
    tir.nest dims [parallel 20] at (%i)
        ins(%x[s0, d0] : memref<3x20xf32>, %w[d0] : memref<20xf16>) outs(%t[d0] : memref<20xf32>)
      finish (%a: f32, %b: f16) {
        %e = arith.extf %b : f16 to f32
        %p = arith.mulf %a, %e : f32
        tir.yield %p : f32
      }
    tir.nest dims [parallel 20] at (%i)
        ins(%t[d0] : memref<20xf32>, %w[d0] : memref<20xf16>) outs(%o[s0, d0] : memref<3x20xf32>)
      finish (%a: f32, %b: f16) {
        %e = arith.extf %b : f16 to f32
        %p = arith.addf %a, %e : f32
        tir.yield %p : f32
      }
  }
  tir.return
}
