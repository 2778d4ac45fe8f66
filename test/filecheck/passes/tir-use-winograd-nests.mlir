// RUN: transom-opt -p tir-use-winograd --split-input-file %s | filecheck %s

// Another reader of the weight would have to read what it was.

// CHECK-LABEL: tir.func @two_readers
// CHECK:         tir.direct = "expected a weight that nothing else reads"
module attributes {target.config = #target.config<options = {winograd = true}>} {
graph.weight @w = dense<1.5> : tensor<32x32x3x3xf32>
func.func @main(%x: tensor<2x10x10x16xf32>, %d: tensor<2x8x8x16xf32>, %s: tensor<32xf32>) -> (tensor<2x8x8x16xf32>, tensor<32xf32>) {
  %w = graph.weight_ref @w : tensor<32x32x3x3xf32>
  %y, %z = tir.call @two_readers(%x : tensor<2x10x10x16xf32>, %w : tensor<32x32x3x3xf32>) outs(%d : tensor<2x8x8x16xf32>, %s : tensor<32xf32>)
  func.return %y, %z : tensor<2x8x8x16xf32>, tensor<32xf32>
}
tir.func @two_readers(read %x: memref<2x10x10x16xf32>, read %w: memref<32x32x3x3xf32>, write %y: memref<2x8x8x16xf32>, write %z: memref<32xf32>) {
  tir.nest dims [parallel 2, parallel 8, parallel 8, parallel 16, reduction 2, reduction 3, reduction 3, reduction 16]
      ins(%x[d4, d1 + d5, d2 + d6, d7] : memref<2x10x10x16xf32>, %w[d0 * 16 + d3, d4 * 16 + d7, d5, d6] : memref<32x32x3x3xf32>)
      outs(%y[d0, d1, d2, d3] : memref<2x8x8x16xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %b: f32, %acc: f32) {
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.nest dims [parallel 32] ins(%w[d0, 0, 0, 0] : memref<32x32x3x3xf32>) outs(%z[d0] : memref<32xf32>)
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}
}

// -----

// What was scheduled by hand is followed.

// CHECK-LABEL: tir.func @scheduled
// CHECK:         tir.direct = "expected no schedule, which says how it is computed"
module attributes {target.config = #target.config<options = {winograd = true}>} {
tir.func @scheduled(read %x: memref<2x10x10x16xf32>, read %w: memref<32x32x3x3xf32>, write %y: memref<2x8x8x16xf32>) {
  tir.nest dims [parallel 2, parallel 8, parallel 8, parallel 16, reduction 2, reduction 3, reduction 3, reduction 16]
      ins(%x[d4, d1 + d5, d2 + d6, d7] : memref<2x10x10x16xf32>, %w[d0 * 16 + d3, d4 * 16 + d7, d5, d6] : memref<32x32x3x3xf32>)
      outs(%y[d0, d1, d2, d3] : memref<2x8x8x16xf32>) schedule #tir.schedule<vector = d3 : 8>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %b: f32, %acc: f32) {
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}
}

// -----

// A part of a block would need the block's rows.

// CHECK-LABEL: tir.func @in_a_block
// CHECK:         tir.direct = "expected a nest that is in no block, and of no sequential dims"
module attributes {target.config = #target.config<options = {winograd = true}>} {
tir.func @in_a_block(read %x: memref<2x10x10x16xf32>, read %w: memref<32x32x3x3xf32>, write %y: memref<2x8x8x16xf32>) {
  tir.block (%i: index) in dims [parallel 2] {
    tir.nest dims [parallel 8, parallel 8, parallel 16, reduction 2, reduction 3, reduction 3, reduction 16] at (%i)
        ins(%x[d3, d0 + d4, d1 + d5, d6] : memref<2x10x10x16xf32>, %w[s0 * 16 + d2, d3 * 16 + d6, d4, d5] : memref<32x32x3x3xf32>)
        outs(%y[s0, d0, d1, d2] : memref<2x8x8x16xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%a: f32, %b: f32, %acc: f32) {
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %p : f32
        tir.yield %s : f32
      }
      finish (%acc: f32) {
        tir.yield %acc : f32
      }
  }
  tir.return
}
}

// -----

// Results are added to what is there.

// CHECK-LABEL: tir.func @combines
// CHECK:         tir.direct = "expected results that are stored where a map says, and no 'combine'"
module attributes {target.config = #target.config<options = {winograd = true}>} {
tir.func @combines(read %x: memref<2x10x10x16xf32>, read %w: memref<32x32x3x3xf32>, read_write %y: memref<2x8x8x16xf32>) {
  tir.nest dims [parallel 2, parallel 8, parallel 8, parallel 16, reduction 2, reduction 3, reduction 3, reduction 16]
      ins(%x[d4, d1 + d5, d2 + d6, d7] : memref<2x10x10x16xf32>, %w[d0 * 16 + d3, d4 * 16 + d7, d5, d6] : memref<32x32x3x3xf32>)
      outs(%y[d0, d1, d2, d3] combine add : memref<2x8x8x16xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %b: f32, %acc: f32) {
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}
}

// -----

// A branch is no matter of vectors.

// CHECK-LABEL: tir.func @branches
// CHECK:         tir.direct = "expected no branches behind the sum"
module attributes {target.config = #target.config<options = {winograd = true}>} {
tir.func @branches(read %x: memref<2x10x10x16xf32>, read %w: memref<32x32x3x3xf32>, write %y: memref<2x8x8x16xf32>) {
  tir.nest dims [parallel 2, parallel 8, parallel 8, parallel 16, reduction 2, reduction 3, reduction 3, reduction 16]
      ins(%x[d4, d1 + d5, d2 + d6, d7] : memref<2x10x10x16xf32>, %w[d0 * 16 + d3, d4 * 16 + d7, d5, d6] : memref<32x32x3x3xf32>)
      outs(%y[d0, d1, d2, d3] : memref<2x8x8x16xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %b: f32, %acc: f32) {
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      %zero = arith.constant 0.0 : f32
      %low = arith.cmpf olt, %acc, %zero : f32
      %r = scf.if %low -> (f32) {
        scf.yield %zero : f32
      } else {
        scf.yield %acc : f32
      }
      tir.yield %r : f32
    }
  tir.return
}
}

// -----

// Without the option nothing changes.

// CHECK-LABEL: tir.func @not_asked
// CHECK:         outs(%y[d0, d1, d2, d3] : memref<2x8x8x16xf32>)
// CHECK-NEXT:    init {
tir.func @not_asked(read %x: memref<2x10x10x16xf32>, read %w: memref<32x32x3x3xf32>, write %y: memref<2x8x8x16xf32>) {
  tir.nest dims [parallel 2, parallel 8, parallel 8, parallel 16, reduction 2, reduction 3, reduction 3, reduction 16]
      ins(%x[d4, d1 + d5, d2 + d6, d7] : memref<2x10x10x16xf32>, %w[d0 * 16 + d3, d4 * 16 + d7, d5, d6] : memref<32x32x3x3xf32>)
      outs(%y[d0, d1, d2, d3] : memref<2x8x8x16xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%a: f32, %b: f32, %acc: f32) {
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}
