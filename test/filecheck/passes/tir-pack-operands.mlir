// RUN: transom-opt -p tir-pack-operands --split-input-file %s | filecheck %s

// A weight of all calls becomes a derived weight: rows of panels as wide as the tile,
// filled up with zeros. Two calls with one weight share it.

// CHECK:       graph.weight @w.packed : tensor<3x8x16xf32> {
// CHECK-NEXT:    %0 = graph.weight_ref @w : tensor<8x45xf32>
// CHECK-NEXT:    %1 = graph.pad %0 low [0, 0] high [0, 3] value 0.000000e+00 : f32
// CHECK-NEXT:    %2 = graph.reshape %1 to [8, 3, 16]
// CHECK-NEXT:    %3 = graph.transpose %2 permutation [1, 0, 2]
// CHECK-NEXT:    graph.yield %3 : tensor<3x8x16xf32>
// CHECK:       func.func @main
// CHECK:         %[[P:[0-9]+]] = graph.weight_ref @w.packed : tensor<3x8x16xf32>
// CHECK-NEXT:    tir.call @matmul(%a : tensor<12x8xf32>, %[[P]] : tensor<3x8x16xf32>)
// CHECK:         %[[Q:[0-9]+]] = graph.weight_ref @w.packed : tensor<3x8x16xf32>
// CHECK-NEXT:    tir.call @matmul(%a : tensor<12x8xf32>, %[[Q]] : tensor<3x8x16xf32>)
// CHECK:       tir.func @matmul(read %a: memref<12x8xf32>, read %b: memref<3x8x16xf32>, write %o
// CHECK:         ins(%a[d0, d2] : memref<12x8xf32>, %b[d1 floordiv 16, d2, d1 mod 16] : memref<3x8x16xf32>)
// CHECK:         schedule #tir.schedule<register = [d0 : 6, d1 : 16], vector = d1 : 8>
graph.weight @w = dense<1.5> : tensor<8x45xf32>
func.func @main(%a: tensor<12x8xf32>) -> (tensor<12x45xf32>, tensor<12x45xf32>) {
  %w = graph.weight_ref @w : tensor<8x45xf32>
  %d = tensor.empty() : tensor<12x45xf32>
  %y = tir.call @matmul(%a : tensor<12x8xf32>, %w : tensor<8x45xf32>) outs(%d : tensor<12x45xf32>)
  %z = tir.call @matmul(%a : tensor<12x8xf32>, %w : tensor<8x45xf32>) outs(%d : tensor<12x45xf32>)
  func.return %y, %z : tensor<12x45xf32>, tensor<12x45xf32>
}
tir.func @matmul(read %a: memref<12x8xf32>, read %b: memref<8x45xf32>, write %o: memref<12x45xf32>) {
  tir.nest dims [parallel 12, parallel 45, reduction 8]
      ins(%a[d0, d2] : memref<12x8xf32>, %b[d2, d1] : memref<8x45xf32>) outs(%o[d0, d1] : memref<12x45xf32>)
      schedule #tir.schedule<register = [d0 : 6, d1 : 16], vector = d1 : 8, pack = [in1]>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// What one call makes itself is copied by nests in the kernel: both operands, in the
// order of the loops, which is that of `order` for the parallel dims.

// CHECK-LABEL: tir.func @both(
// CHECK:         %[[A:.*]] = tir.alloc : memref<2x8x6xf32>
// CHECK-NEXT:    tir.nest dims [parallel 2, parallel 8, parallel 6]
// CHECK-NEXT:      ins(%a[d0 * 6 + d2, d1] : memref<12x8xf32>)
// CHECK-NEXT:      outs(%[[A]][d0, d1, d2] : memref<2x8x6xf32>)
// CHECK-NEXT:      finish (%{{.*}}: f32) {
// CHECK:         %[[B:.*]] = tir.alloc : memref<3x8x16xf32>
// CHECK-NEXT:    tir.nest dims [parallel 3, parallel 8, parallel 16]
// CHECK-NEXT:      ins(%b[d1, d0 * 16 + d2] pad 0.000000e+00 : f32 : memref<8x45xf32>)
// CHECK-NEXT:      outs(%[[B]][d0, d1, d2] : memref<3x8x16xf32>)
// CHECK-NEXT:      schedule #tir.schedule<register = [d2 : 16], vector = d2 : 8>
// CHECK:           ins(%[[A]][d0 floordiv 6, d2, d0 mod 6] : memref<2x8x6xf32>, %[[B]][d1 floordiv 16, d2, d1 mod 16] : memref<3x8x16xf32>)
tir.func @both(read %a: memref<12x8xf32>, read %b: memref<8x45xf32>, write %o: memref<12x45xf32>) {
  tir.nest dims [parallel 12, parallel 45, reduction 8]
      ins(%a[d0, d2] : memref<12x8xf32>, %b[d2, d1] : memref<8x45xf32>) outs(%o[d0, d1] : memref<12x45xf32>)
      schedule #tir.schedule<register = [d0 : 6, d1 : 16], vector = d1 : 8, order = [d1, d0, d2], pack = [in0, in1], edges = masked>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// The weight of a convolution in blocks of 8 channels: two blocks are a tile. Channels
// that are missing are read as the access pads them.

// CHECK:       graph.weight @w.packed : tensor<2x3x3x3x4x2x8xf32> {
// CHECK-NEXT:    %0 = graph.weight_ref @w : tensor<30x12x3x3xf32>
// CHECK-NEXT:    %1 = graph.pad %0 low [0, 0, 0, 0] high [2, 0, 0, 0]
// CHECK-NEXT:    %2 = graph.reshape %1 to [2, 2, 8, 3, 4, 3, 3]
// CHECK-NEXT:    %3 = graph.transpose %2 permutation [0, 3, 5, 6, 4, 1, 2]
// CHECK:       tir.func @conv(
// CHECK:         %w[d0 floordiv 2, d3, d4, d5, d6, d0 mod 2, d2] : memref<2x3x3x3x4x2x8xf32>)
graph.weight @w = dense<1.5> : tensor<30x12x3x3xf32>
func.func @main(%x: tensor<3x12x3x4xf32>) -> tensor<4x10x8xf32> {
  %w = graph.weight_ref @w : tensor<30x12x3x3xf32>
  %d = tensor.empty() : tensor<4x10x8xf32>
  %y = tir.call @conv(%x : tensor<3x12x3x4xf32>, %w : tensor<30x12x3x3xf32>) outs(%d : tensor<4x10x8xf32>)
  func.return %y : tensor<4x10x8xf32>
}
tir.func @conv(read %x: memref<3x12x3x4xf32>, read %w: memref<30x12x3x3xf32>, write %o: memref<4x10x8xf32>) {
  tir.nest dims [parallel 4, parallel 10, parallel 8, reduction 3, reduction 3, reduction 3, reduction 4]
      ins(%x[d3, d1 + d4, d5, d6] : memref<3x12x3x4xf32>, %w[d0 * 8 + d2, d3 * 4 + d6, d4, d5] pad 0.0 : f32 : memref<30x12x3x3xf32>)
      outs(%o[d0, d1, d2] : memref<4x10x8xf32>)
      schedule #tir.schedule<register = [d0 : 2, d1 : 5], vector = d2 : 8, pack = [in1]>
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

// -----

// Not a weight in each call: the kernel copies it.

// CHECK-NOT:   @w.packed
// CHECK-LABEL: tir.func @some(
// CHECK:         tir.alloc : memref<2x8x8xf32>
graph.weight @w = dense<1.5> : tensor<8x16xf32>
func.func @main(%v: tensor<8x16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %w = graph.weight_ref @w : tensor<8x16xf32>
  %d = tensor.empty() : tensor<16xf32>
  %y = tir.call @some(%w : tensor<8x16xf32>) outs(%d : tensor<16xf32>)
  %z = tir.call @some(%v : tensor<8x16xf32>) outs(%d : tensor<16xf32>)
  func.return %y, %z : tensor<16xf32>, tensor<16xf32>
}
tir.func @some(read %b: memref<8x16xf32>, write %o: memref<16xf32>) {
  tir.nest dims [parallel 16, reduction 8] ins(%b[d1, d0] : memref<8x16xf32>) outs(%o[d0] : memref<16xf32>)
      schedule #tir.schedule<vector = d0 : 8, pack = [in0]>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %acc: f32) {
      %s = arith.addf %acc, %x : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// Groups of 5 filters in panels of 4: each group is filled up by itself.

// CHECK:       graph.weight @w.packed : tensor<3x2x7x4xf32> {
// CHECK-NEXT:    %0 = graph.weight_ref @w : tensor<15x7xf32>
// CHECK-NEXT:    %1 = graph.reshape %0 to [3, 5, 7] : tensor<15x7xf32> -> tensor<3x5x7xf32>
// CHECK-NEXT:    %2 = graph.pad %1 low [0, 0, 0] high [0, 3, 0] value 0.000000e+00 : f32
// CHECK-NEXT:    %3 = graph.reshape %2 to [3, 2, 4, 7]
// CHECK-NEXT:    %4 = graph.transpose %3 permutation [0, 1, 3, 2]
// CHECK-NEXT:    graph.yield %4 : tensor<3x2x7x4xf32>
// CHECK:       tir.func @groups(read %x: memref<21x12xf32>, read %w: memref<3x2x7x4xf32>
// CHECK:         %w[d0, d1 floordiv 4, d3, d1 mod 4] : memref<3x2x7x4xf32>
graph.weight @w = dense<1.5> : tensor<15x7xf32>
func.func @main(%x: tensor<21x12xf32>) -> tensor<15x12xf32> {
  %w = graph.weight_ref @w : tensor<15x7xf32>
  %d = tensor.empty() : tensor<15x12xf32>
  %y = tir.call @groups(%x : tensor<21x12xf32>, %w : tensor<15x7xf32>) outs(%d : tensor<15x12xf32>)
  func.return %y : tensor<15x12xf32>
}
tir.func @groups(read %x: memref<21x12xf32>, read %w: memref<15x7xf32>, write %o: memref<15x12xf32>) {
  tir.nest dims [parallel 3, parallel 5, parallel 12, reduction 7]
      ins(%x[d0 * 7 + d3, d2] : memref<21x12xf32>, %w[d0 * 5 + d1, d3] : memref<15x7xf32>) outs(%o[d0 * 5 + d1, d2] : memref<15x12xf32>)
      schedule #tir.schedule<register = [d1 : 4], vector = d2 : 4, pack = [in1]>
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

// -----

// A nest in a block reads a weight of the kernel.

// CHECK:       graph.weight @w.packed : tensor<8x16xf32>
// CHECK:       tir.func @in_a_block(read %a: memref<3x12x8xf32>, read %b: memref<8x16xf32>
// CHECK:         tir.block (%[[I:.*]]: index) in dims [sequential 3] {
// CHECK-NEXT:      tir.nest dims [parallel 12, parallel 16, reduction 8] at (%[[I]])
// CHECK-NEXT:        ins(%a[s0, d0, d2] : memref<3x12x8xf32>, %b[d2, d1] : memref<8x16xf32>)
graph.weight @w = dense<1.5> : tensor<16x8xf32>
func.func @main(%a: tensor<3x12x8xf32>) -> tensor<3x12x16xf32> {
  %w = graph.weight_ref @w : tensor<16x8xf32>
  %d = tensor.empty() : tensor<3x12x16xf32>
  %y = tir.call @in_a_block(%a : tensor<3x12x8xf32>, %w : tensor<16x8xf32>) outs(%d : tensor<3x12x16xf32>)
  func.return %y : tensor<3x12x16xf32>
}
tir.func @in_a_block(read %a: memref<3x12x8xf32>, read %b: memref<16x8xf32>, write %o: memref<3x12x16xf32>) {
  tir.block (%i: index) in dims [sequential 3] {
    tir.nest dims [parallel 12, parallel 16, reduction 8] at (%i)
        ins(%a[s0, d0, d2] : memref<3x12x8xf32>, %b[d1, d2] : memref<16x8xf32>) outs(%o[s0, d0, d1] : memref<3x12x16xf32>)
        schedule #tir.schedule<register = [d0 : 6, d1 : 16], vector = d1 : 8, pack = [in1]>
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%x: f32, %y: f32, %acc: f32) {
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        tir.yield %s : f32
      }
      finish (%acc: f32) {
        tir.yield %acc : f32
      }
  }
  tir.return
}

// -----

// It is not known how many tiles there are: the points are copied, in squares, and what
// is left of the last tile is neither written nor read.

// CHECK:       tir.func @open(read %a: memref<12x8xf32>, read %b: memref<?x8xf32>
// CHECK-NEXT:    %[[MORE:.*]] = arith.constant 15 : index
// CHECK-NEXT:    %[[BY:.*]] = arith.constant 16 : index
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %n, %[[MORE]] : index
// CHECK-NEXT:    %[[TILES:.*]] = arith.divui %[[SUM]], %[[BY]] : index
// CHECK-NEXT:    %[[P:.*]] = tir.alloc(%[[TILES]]) : memref<?x8x16xf32>
// CHECK-NEXT:    tir.nest dims [parallel %n, parallel 8]
// CHECK-NEXT:      ins(%b[d0, d1] : memref<?x8xf32>)
// CHECK-NEXT:      outs(%[[P]][d0 floordiv 16, d1, d0 mod 16] : memref<?x8x16xf32>)
// CHECK-NEXT:      schedule #tir.schedule<register = [d0 : 8, d1 : 8], vector = d0 : 8>
// CHECK:         tir.nest dims [parallel 12, parallel %n, reduction 8]
// CHECK-NEXT:      ins(%a[d0, d2] : memref<12x8xf32>, %[[P]][d1 floordiv 16, d2, d1 mod 16] : memref<?x8x16xf32>)
tir.func @open(read %a: memref<12x8xf32>, read %b: memref<?x8xf32>, write %o: memref<12x?xf32>, read %n: index) {
  tir.nest dims [parallel 12, parallel %n, reduction 8]
      ins(%a[d0, d2] : memref<12x8xf32>, %b[d1, d2] : memref<?x8xf32>) outs(%o[d0, d1] : memref<12x?xf32>)
      schedule #tir.schedule<register = [d0 : 6, d1 : 16], vector = d1 : 8, pack = [in1]>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// -----

// Without a tile each point is one; what is extended is copied in f32.

// CHECK:       tir.func @points(read %a: memref<?x8xf16>
// CHECK-NEXT:    %[[P:.*]] = tir.alloc(%n) : memref<?x8xf32>
// CHECK-NEXT:    tir.nest dims [parallel %n, parallel 8]
// CHECK-NEXT:      ins(%a[d0, d1] : memref<?x8xf16>)
// CHECK-NEXT:      outs(%[[P]][d0, d1] : memref<?x8xf32>)
// CHECK-NEXT:      schedule #tir.schedule<vector = d1 : 8>
tir.func @points(read %a: memref<?x8xf16>, write %o: memref<?x8xf32>, read %n: index) {
  tir.nest dims [parallel %n, parallel 8] ins(%a[d0, d1] : memref<?x8xf16>) outs(%o[d0, d1] : memref<?x8xf32>)
      schedule #tir.schedule<vector = d1 : 8, pack = [in0], widen = [in0]>
    finish (%x: f16) {
      %w = arith.extf %x : f16 to f32
      tir.yield %w : f32
    }
  tir.return
}
