// RUN: transom-opt -p convert-linalg-to-tir %s | filecheck %s
// RUN: transom-opt -p convert-linalg-to-tir --print-debuginfo %s | filecheck %s --check-prefix=LOC

#id = affine_map<(d0, d1) -> (d0, d1)>

// What the output is filled with is where the sum starts; the fill is gone.

// CHECK-LABEL: @filled
tir.func @filled(read %x: memref<8x16xf32>, read %w: memref<16x32xf32>, write %o: memref<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%o : memref<8x32xf32>)
  // CHECK-NOT:  outs(%o[d0, d1]
  // CHECK:      tir.nest dims [parallel 8, parallel 32, reduction 16]
  // CHECK-NEXT:   ins(%x[d0, d2] : memref<8x16xf32>, %w[d2, d1] : memref<16x32xf32>)
  // CHECK-NEXT:   outs(%o[d0, d1] : memref<8x32xf32>)
  // CHECK-NEXT: init {
  // CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT:   tir.yield %[[ZERO]] : f32
  // CHECK:      body (%[[X:.*]]: f32, %[[W:.*]]: f32, %[[SUM:.*]]: f32) {
  // CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[X]], %[[W]] fastmath<contract> : f32
  // CHECK-NEXT:   arith.addf %[[SUM]], %[[P]] fastmath<contract> : f32
  // CHECK:      finish (%[[R:.*]]: f32) {
  // CHECK-NEXT:   tir.yield %[[R]] : f32
  // LOC:      tir.nest dims [parallel 8, parallel 32, reduction 16]
  // LOC-NEXT:   ins
  // LOC-NEXT:   outs(%o[d0, d1] : memref<8x32xf32>) attributes {test.hint}
  // LOC:      } loc("a.py":7:1)
  linalg.matmul {test.hint} ins(%x, %w : memref<8x16xf32>, memref<16x32xf32>) outs(%o : memref<8x32xf32>) loc("a.py":7:1)
  tir.return
}

// Something else may be in the output: it is folded in at the end.

// CHECK-LABEL: @updated
tir.func @updated(read %x: memref<8x?xf32>, read_write %o: memref<8xf32>) {
  // CHECK:      %[[N:.*]] = memref.dim %x
  // CHECK-NEXT: tir.nest dims [parallel 8, reduction %[[N]]]
  // CHECK-NEXT:   ins(%x[d0, d1] : memref<8x?xf32>, %o[d0] : memref<8xf32>)
  // CHECK:      init {
  // CHECK-NEXT:   arith.constant 0xff800000 : f32
  // CHECK:      finish (%[[M:.*]]: f32, %[[OLD:.*]]: f32) {
  // CHECK-NEXT:   arith.maximumf %[[OLD]], %[[M]] : f32
  linalg.reduce { arith.maximumf } ins(%x : memref<8x?xf32>) outs(%o : memref<8xf32>) dimensions = [1]
  tir.return
}

// A body that does not fold starts with what is there at the first point.

// CHECK-LABEL: @no_fold
tir.func @no_fold(read %x: memref<8x4xf32>, read_write %o: memref<8xf32>) {
  // CHECK:      body (%[[X:.*]]: f32, %[[OLD:.*]]: f32, %[[ACC:.*]]: f32) {
  // CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-NEXT:   %[[K:.*]] = tir.index 1 : index
  // CHECK-NEXT:   %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %[[ZERO]] : index
  // CHECK-NEXT:   %[[A:.*]] = arith.select %[[FIRST]], %[[OLD]], %[[ACC]] : f32
  // CHECK-NEXT:   arith.mulf %[[A]], %[[A]]
  linalg.reduce ins(%x : memref<8x4xf32>) outs(%o : memref<8xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %c = arith.mulf %b, %b : f32
    %d = arith.addf %a, %c : f32
    linalg.yield %d : f32
  }
  tir.return
}

// Another op writes the output in between, or reads it: the fill stays.

// CHECK-LABEL: @filled_and_changed
tir.func @filled_and_changed(read %x: memref<8x4xf32>, write %o: memref<8xf32>, write %p: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  // CHECK:      tir.nest dims [parallel 8]
  // CHECK-NEXT:   outs(%o[d0] : memref<8xf32>)
  // CHECK:      tir.nest dims [parallel 8]
  // CHECK-NEXT:   ins(%o[d0] : memref<8xf32>)
  // CHECK-NEXT:   outs(%p[d0] : memref<8xf32>)
  // CHECK:      tir.nest dims [parallel 8, reduction 4]
  // CHECK-NEXT:   ins(%x[d0, d1] : memref<8x4xf32>, %o[d0] : memref<8xf32>)
  linalg.fill ins(%zero : f32) outs(%o : memref<8xf32>)
  linalg.copy ins(%o : memref<8xf32>) outs(%p : memref<8xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<8x4xf32>) outs(%o : memref<8xf32>) dimensions = [1]
  tir.return
}

// Indices, numbers from outside and buffers that the body reads at computed places.

// CHECK-LABEL: @gather
tir.func @gather(read %at: memref<3xindex>, read %s: f32, read %t: memref<8x4xf32>, write %o: memref<3x4xf32>) {
  // CHECK:      tir.nest dims [parallel 3, parallel 4]
  // CHECK-NEXT:   ins(%at[d0] : memref<3xindex>, %t[*] : memref<8x4xf32>)
  // CHECK:      finish (%[[I:.*]]: index, %[[T:.*]]: memref<8x4xf32>) {
  // CHECK-NEXT:   %[[J:.*]] = tir.index 1 : index
  // CHECK-NEXT:   %[[V:.*]] = memref.load %[[T]][%[[I]], %[[J]]] : memref<8x4xf32>
  // CHECK-NEXT:   arith.mulf %[[V]], %s : f32
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> ()>, #id], iterator_types = ["parallel", "parallel"]} ins(%at, %s : memref<3xindex>, f32) outs(%o : memref<3x4xf32>) {
  ^bb0(%i: index, %f: f32, %old: f32):
    %j = linalg.index 1 : index
    %v = memref.load %t[%i, %j] : memref<8x4xf32>
    %r = arith.mulf %v, %f : f32
    linalg.yield %r : f32
  }
  tir.return
}

// The window of a pool is never read.

// CHECK-LABEL: @pool
tir.func @pool(read %x: memref<1x4x8x8xf32>, read %w: memref<2x2xf32>, write %o: memref<1x4x4x4xf32>) {
  // CHECK:      tir.nest dims [parallel 1, parallel 4, parallel 4, parallel 4, reduction 2, reduction 2]
  // CHECK-NEXT:   ins(%x[d0, d1, d2 * 2 + d4, d3 * 2 + d5] : memref<1x4x8x8xf32>, %o[d0, d1, d2, d3] : memref<1x4x4x4xf32>)
  linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : memref<1x4x8x8xf32>, memref<2x2xf32>) outs(%o : memref<1x4x4x4xf32>)
  tir.return
}

// On tensors nothing happens: kernels are made of groups.

// CHECK-LABEL: @tensors
func.func @tensors(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: linalg.exp
  %y = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
