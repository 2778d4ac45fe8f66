// RUN: transom-opt -p convert-tir-to-linalg %s | filecheck %s

// CHECK-LABEL: @elementwise
tir.func @elementwise(read %a: memref<4x8xf32>, read %b: memref<8xf32>, write %o: memref<4x8xf32>) {
  // CHECK-NEXT: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a, %b : memref<4x8xf32>, memref<8xf32>) outs(%o : memref<4x8xf32>) {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT:   %[[J:.*]] = linalg.index 1 : index
  // CHECK:        %[[S:.*]] = arith.addf %[[X]], %[[Y]] : f32
  // CHECK:        linalg.yield
  tir.nest dims [parallel 4, parallel 8] ins(%a[d0, d1] : memref<4x8xf32>, %b[d1] : memref<8xf32>) outs(%o[d0, d1] : memref<4x8xf32>)
    finish (%x: f32, %y: f32) {
      %j = tir.index 1 : index
      %n = arith.index_cast %j : index to i32
      %f = arith.sitofp %n : i32 to f32
      %s = arith.addf %x, %y : f32
      %r = arith.mulf %s, %f : f32
      tir.yield %r : f32
    }
  tir.return
}

// Fill, update, finish.

// CHECK-LABEL: @product_and_relu
tir.func @product_and_relu(read %a: memref<4x8xf32>, read %b: memref<8x16xf32>, read %c: memref<16xf32>, write %o: memref<4x16xf32>) {
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT: linalg.fill ins(%[[ZERO]] : f32) outs(%o : memref<4x16xf32>)
  // CHECK-NEXT: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%o : memref<4x16xf32>) {
  // CHECK:      linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%c : memref<16xf32>) outs(%o : memref<4x16xf32>) {
  // CHECK-NEXT: ^bb0(%[[B:.*]]: f32, %[[SUM:.*]]: f32):
  // CHECK-NEXT:   arith.addf %[[SUM]], %[[B]] : f32
  tir.nest dims [parallel 4, parallel 16, reduction 8] ins(%a[d0, d2] : memref<4x8xf32>, %b[d2, d1] : memref<8x16xf32>, %c[d1] : memref<16xf32>) outs(%o[d0, d1] : memref<4x16xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %bias: f32, %sum: f32) {
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %sum, %p : f32
      tir.yield %s : f32
    }
    finish (%sum: f32, %bias: f32) {
      %s = arith.addf %sum, %bias : f32
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %s, %z : f32
      tir.yield %r : f32
    }
  tir.return
}

// What only folds into what the output holds is one op.

// CHECK-LABEL: @update_in_place
tir.func @update_in_place(read %a: memref<4x8xf32>, read_write %o: memref<4xf32>) {
  // CHECK-NEXT: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[SUM:.*]]: f32):
  // CHECK-NEXT:   arith.addf %[[SUM]], %[[X]] : f32
  // CHECK-NOT:  linalg.fill
  tir.nest dims [parallel 4, reduction 8] ins(%a[d0, d1] : memref<4x8xf32>, %o[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    init {
      %zero = arith.constant -0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %old: f32, %sum: f32) {
      %s = arith.addf %sum, %x : f32
      tir.yield %s : f32
    }
    finish (%sum: f32, %old: f32) {
      %s = arith.addf %old, %sum : f32
      tir.yield %s : f32
    }
  tir.return
}

// The bounds of a window that no operand has: a buffer that is never read says them.

// CHECK-LABEL: @window
tir.func @window(read %x: memref<9xf32>, write %o: memref<4xf32>) {
  // CHECK:      %[[W:.*]] = tir.alloc : memref<3xf32>
  // CHECK-NEXT: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (((d0 * 2) + d1))>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x, %[[W]] : memref<9xf32>, memref<3xf32>) outs(%o : memref<4xf32>) {
  tir.nest dims [parallel 4, reduction 3] ins(%x[d0 * 2 + d1] : memref<9xf32>) outs(%o[d0] : memref<4xf32>)
    init {
      %low = arith.constant 0xff800000 : f32
      tir.yield %low : f32
    }
    body (%v: f32, %max: f32) {
      %m = arith.maximumf %max, %v : f32
      tir.yield %m : f32
    }
    finish (%max: f32) {
      tir.yield %max : f32
    }
  tir.return
}
