// RUN: transom-opt -p convert-tir-to-scf %s | filecheck %s

// CHECK-LABEL: tir.func @remainder(
tir.func @remainder(read %x: memref<7xf32>, write %o: memref<7xf32>, read %y: memref<?xf32>, write %p: memref<?xf32>, read %n: index) {
  // Known: what is left is cut into narrower vectors.
  // CHECK:      vector.load %x[%{{.*}}] : memref<7xf32>, vector<4xf32>
  // CHECK:      vector.store %{{.*}}, %o[%{{.*}}] : memref<7xf32>, vector<4xf32>
  // CHECK:      vector.load %x[%{{.*}}] : memref<7xf32>, vector<2xf32>
  // CHECK:      memref.load %x
  tir.nest dims [parallel 7] ins(%x[d0] : memref<7xf32>) outs(%o[d0] : memref<7xf32>)
      schedule #tir.schedule<vector = d0 : 4>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  // Unknown: a loop over vectors, then one over the rest.
  // CHECK:      %[[REST:.*]] = arith.remui %n
  // CHECK:      %[[FULL:.*]] = arith.subi %n, %[[REST]]
  // CHECK:      scf.for %{{.*}} = %{{.*}} to %[[FULL]] step
  // CHECK-NEXT:   vector.load
  // CHECK:      scf.for %{{.*}} = %[[FULL]] to %n step
  // CHECK-NEXT:   memref.load
  tir.nest dims [parallel %n] ins(%y[d0] : memref<?xf32>) outs(%p[d0] : memref<?xf32>)
      schedule #tir.schedule<vector = d0 : 4>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @matmul(
tir.func @matmul(read %a: memref<4x8xf32>, read %b: memref<8x8xf32>, write %o: memref<4x8xf32>) {
  // Two rows share the vectors of b; each has its own accumulator.
  // CHECK:      scf.for
  // CHECK:        scf.for
  // CHECK:          %[[ONE:.*]], %[[TWO:.*]] = scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>)
  // CHECK:            memref.load %a
  // CHECK:            %[[B:.*]] = vector.load %b
  // CHECK:            arith.mulf %{{.*}}, %[[B]] : vector<4xf32>
  // CHECK:            memref.load %a
  // CHECK-NOT:        vector.load %b
  // CHECK:            arith.mulf %{{.*}}, %[[B]] : vector<4xf32>
  // CHECK:          vector.store %[[ONE]], %o
  // CHECK:          vector.store %[[TWO]], %o
  tir.nest dims [parallel 4, parallel 8, reduction 8]
      ins(%a[d0, d2] : memref<4x8xf32>, %b[d2, d1] : memref<8x8xf32>) outs(%o[d0, d1] : memref<4x8xf32>)
      schedule #tir.schedule<register = [d0 : 2], vector = d1 : 4>
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

// CHECK-LABEL: tir.func @row_sum(
tir.func @row_sum(read %a: memref<10xf32>, write %o: memref<f32>) {
  // Lanes are summed apart, starting neutral, and together in the end.
  // CHECK:      %[[NONE:.*]] = arith.constant -0.000000e+00 : f32
  // CHECK:      %[[START:.*]] = vector.broadcast %[[NONE]] : f32 to vector<4xf32>
  // CHECK:      %[[LANES:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[START]]) -> (vector<4xf32>)
  // CHECK:      %[[REST:.*]] = scf.for {{.*}} -> (f32)
  // CHECK:      vector.shuffle %[[LANES]], %[[LANES]] [0, 1]
  // CHECK:      vector.shuffle %[[LANES]], %[[LANES]] [2, 3]
  // CHECK:      %[[SUM:.*]] = arith.addf %[[REST]], %{{.*}} : f32
  // CHECK-NEXT: memref.store %[[SUM]], %o[]
  tir.nest dims [reduction 10] ins(%a[d0] : memref<10xf32>) outs(%o[] : memref<f32>)
      schedule #tir.schedule<vector = d0 : 4>
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

// A difference is not a sum: its order matters, and it stays on scalars.
// CHECK-LABEL: tir.func @difference(
tir.func @difference(read %a: memref<8xf32>, write %o: memref<f32>) {
  // CHECK-NOT: vector
  tir.nest dims [reduction 8] ins(%a[d0] : memref<8xf32>) outs(%o[] : memref<f32>)
      schedule #tir.schedule<vector = d0 : 4>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %acc: f32) {
      %s = arith.subf %x, %acc : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// What a comparison selects may be selected in any order, if NaN is passed over.
// CHECK-LABEL: tir.func @selected(
tir.func @selected(read %a: memref<8xf32>, write %o: memref<f32>) {
  // CHECK:      %[[LEAST:.*]] = arith.constant 0x7f800000 : f32
  // CHECK-NEXT: %[[START:.*]] = vector.broadcast %[[LEAST]] : f32 to vector<4xf32>
  // CHECK:      %[[LANES:.*]] = scf.for {{.*}} iter_args(%[[LOW:.*]] = %[[START]]) -> (vector<4xf32>)
  // CHECK-NEXT:   %[[X:.*]] = vector.load %a
  // CHECK-NEXT:   %[[LESS:.*]] = arith.cmpf ole, %[[X]], %[[LOW]] fastmath<nsz> : vector<4xf32>
  // CHECK-NEXT:   arith.select %[[LESS]], %[[X]], %[[LOW]] : vector<4xi1>, vector<4xf32>
  // CHECK:      %[[FIRST:.*]] = vector.shuffle %[[LANES]], %[[LANES]] [0, 1]
  // CHECK-NEXT: %[[LAST:.*]] = vector.shuffle %[[LANES]], %[[LANES]] [2, 3]
  // CHECK-NEXT: %[[BEATS:.*]] = arith.cmpf ole, %[[LAST]], %[[FIRST]] fastmath<nsz> : vector<2xf32>
  // CHECK-NEXT: arith.select %[[BEATS]], %[[LAST]], %[[FIRST]] : vector<2xi1>, vector<2xf32>
  tir.nest dims [reduction 8] ins(%a[d0] : memref<8xf32>) outs(%o[] : memref<f32>)
      schedule #tir.schedule<vector = d0 : 4>
    init {
      %most = arith.constant 100.0 : f32
      tir.yield %most : f32
    }
    body (%x: f32, %low: f32) {
      %less = arith.cmpf ole, %x, %low fastmath<nsz> : f32
      %next = arith.select %less, %x, %low : f32
      tir.yield %next : f32
    }
    finish (%low: f32) {
      tir.yield %low : f32
    }
  tir.return
}

// Nor are these folds: NaN is taken, zeros differ, all are equal, the larger is dropped.
// CHECK-LABEL: tir.func @selected_in_order(
tir.func @selected_in_order(read %a: memref<8xf32>, write %o: memref<f32>) {
  // CHECK-NOT: vector
  // CHECK:     tir.return
  tir.nest dims [reduction 8] ins(%a[d0] : memref<8xf32>) outs(%o[] : memref<f32>)
      schedule #tir.schedule<vector = d0 : 4>
    init {
      %low = arith.constant 0.0 : f32
      tir.yield %low : f32
    }
    body (%x: f32, %top: f32) {
      %more = arith.cmpf ugt, %x, %top fastmath<nsz> : f32
      %next = arith.select %more, %x, %top : f32
      tir.yield %next : f32
    }
    finish (%top: f32) {
      tir.yield %top : f32
    }
  tir.nest dims [reduction 8] ins(%a[d0] : memref<8xf32>) outs(%o[] : memref<f32>)
      schedule #tir.schedule<vector = d0 : 4>
    init {
      %low = arith.constant 0.0 : f32
      tir.yield %low : f32
    }
    body (%x: f32, %top: f32) {
      %more = arith.cmpf ogt, %x, %top : f32
      %next = arith.select %more, %x, %top : f32
      tir.yield %next : f32
    }
    finish (%top: f32) {
      tir.yield %top : f32
    }
  tir.nest dims [reduction 8] ins(%a[d0] : memref<8xf32>) outs(%o[] : memref<f32>)
      schedule #tir.schedule<vector = d0 : 4>
    init {
      %low = arith.constant 0.0 : f32
      tir.yield %low : f32
    }
    body (%x: f32, %top: f32) {
      %more = arith.cmpf oeq, %x, %top fastmath<nsz> : f32
      %next = arith.select %more, %x, %top : f32
      tir.yield %next : f32
    }
    finish (%top: f32) {
      tir.yield %top : f32
    }
  tir.nest dims [reduction 8] ins(%a[d0] : memref<8xf32>) outs(%o[] : memref<f32>)
      schedule #tir.schedule<vector = d0 : 4>
    init {
      %low = arith.constant 0.0 : f32
      tir.yield %low : f32
    }
    body (%x: f32, %top: f32) {
      %more = arith.cmpf ogt, %x, %top fastmath<nsz> : f32
      %next = arith.select %more, %top, %x : f32
      tir.yield %next : f32
    }
    finish (%top: f32) {
      tir.yield %top : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @padded(
tir.func @padded(read %x: memref<6x20xf32>, write %o: memref<6x20xf32>) {
  // Only vectors at the border are masked by lane; the row is a condition for all.
  // CHECK:      %[[IN:.*]] = arith.cmpi ult, %{{.*}} : vector<4xindex>
  // CHECK:      scf.for
  // CHECK:        %[[ROW:.*]] = arith.cmpi ult, %{{.*}} : index
  // CHECK:        %[[ALL:.*]] = vector.broadcast %[[ROW]] : i1 to vector<4xi1>
  // CHECK:        %[[BOTH:.*]] = arith.andi %[[IN]], %[[ALL]]
  // CHECK:        vector.maskedload %x[%{{.*}}, %{{.*}}], %[[BOTH]],
  // CHECK:        scf.for
  // CHECK:          vector.maskedload %x[%{{.*}}, %{{.*}}], %[[ALL]],
  tir.nest dims [parallel 6, parallel 20] ins(%x[d0 - 1, d1 - 1] pad 0.0 : f32 : memref<6x20xf32>) outs(%o[d0, d1] : memref<6x20xf32>)
      schedule #tir.schedule<vector = d1 : 4>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @every_other(
tir.func @every_other(read %x: memref<8xf32>, write %o: memref<4xf32>) {
  // The second load ends at the last element that is needed.
  // CHECK:      %[[TWO:.*]] = vector.load %x
  // CHECK:      %[[THREE:.*]] = arith.constant 3 : index
  // CHECK:      %[[REST:.*]] = vector.load %x[%[[THREE]]]
  // CHECK:      vector.shuffle %[[TWO]], %[[REST]] [0, 2, 5, 7]
  tir.nest dims [parallel 4] ins(%x[d0 * 2] : memref<8xf32>) outs(%o[d0] : memref<4xf32>)
      schedule #tir.schedule<vector = d0 : 4>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// A bool is a byte in memory and a bit in a vector.
// CHECK-LABEL: tir.func @bools(
tir.func @bools(read %x: memref<2xf32>, write %o: memref<2xi1>) {
  // CHECK:      %[[C:.*]] = arith.cmpf ogt, %{{.*}} : vector<2xf32>
  // CHECK:      %[[ZERO:.*]] = vector.extract %[[C]][0] : i1
  // CHECK:      memref.store %[[ZERO]], %o
  tir.nest dims [parallel 2] ins(%x[d0] : memref<2xf32>) outs(%o[d0] : memref<2xi1>)
      schedule #tir.schedule<vector = d0 : 2>
    finish (%v: f32) {
      %zero = arith.constant 0.0 : f32
      %c = arith.cmpf ogt, %v, %zero : f32
      tir.yield %c : i1
    }
  tir.return
}

// CHECK-LABEL: tir.func @unrolled(
tir.func @unrolled(read %a: memref<8x3xf32>, write %o: memref<8xf32>) {
  // CHECK:      scf.for
  // CHECK-NOT:    scf.for
  // CHECK-COUNT-3: memref.load %a
  // CHECK-NOT:     memref.load %a
  tir.nest dims [parallel 8, reduction 3] ins(%a[d0, d1] : memref<8x3xf32>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<unroll = [d1 : 3]>
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

// CHECK-LABEL: tir.func @cache_tiles_and_order(
tir.func @cache_tiles_and_order(read %x: memref<64x48xf32>, write %o: memref<64x48xf32>) {
  // Tiles of 16 columns; in each the columns are outside.
  // CHECK-DAG:  %[[C16:.*]] = arith.constant 16 : index
  // CHECK:      scf.for %[[TILE:.*]] = %{{.*}} to %{{.*}} step %[[C16]]
  // CHECK-NEXT:   %[[END:.*]] = arith.addi %[[TILE]], %[[C16]]
  // CHECK-NEXT:   scf.for %[[J:.*]] = %[[TILE]] to %[[END]]
  // CHECK-NEXT:     scf.for %[[I:.*]] = %{{.*}}
  // CHECK-NEXT:       memref.load %x[%[[I]], %[[J]]]
  tir.nest dims [parallel 64, parallel 48] ins(%x[d0, d1] : memref<64x48xf32>) outs(%o[d0, d1] : memref<64x48xf32>)
      schedule #tir.schedule<cache = [d1 : 16], order = [d1, d0]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// What waits for itself is written side by side: each op of a copy next to the others'.
// CHECK-LABEL: tir.func @side_by_side(
tir.func @side_by_side(read %x: memref<16xf32>, write %o: memref<16xf32>) {
  // CHECK:      %[[A:.*]] = vector.load %x[%{{.*}}] : memref<16xf32>, vector<4xf32>
  // CHECK:      %[[B:.*]] = vector.load %x[%{{.*}}] : memref<16xf32>, vector<4xf32>
  // CHECK:      %[[EA:.*]] = math.exp %[[A]] : vector<4xf32>
  // CHECK-NEXT: %[[EB:.*]] = math.exp %[[B]] : vector<4xf32>
  // CHECK-NEXT: arith.addf %[[EA]], %[[A]] : vector<4xf32>
  // CHECK-NEXT: arith.addf %[[EB]], %[[B]] : vector<4xf32>
  tir.nest dims [parallel 16] ins(%x[d0] : memref<16xf32>) outs(%o[d0] : memref<16xf32>)
      schedule #tir.schedule<register = [d0 : 8], vector = d0 : 4>
    finish (%v: f32) {
      %e = math.exp %v : f32
      %s = arith.addf %e, %v : f32
      tir.yield %s : f32
    }
  tir.return
}

// What lies apart along the lanes and next to each other along another dim of the tile
// is read as a square and transposed: by halves, quarters, and so on.
// CHECK-LABEL: tir.func @read_square(
tir.func @read_square(read %x: memref<2x2xf32>, write %o: memref<2x2xf32>) {
  // CHECK:      %[[TOP:.*]] = vector.load %x[%[[ZERO:.*]], %[[ZERO]]] : memref<2x2xf32>, vector<2xf32>
  // CHECK:      %[[LOW:.*]] = vector.load %x[%[[ONE:.*]], %[[ZERO]]] : memref<2x2xf32>, vector<2xf32>
  // CHECK-NEXT: %[[LEFT:.*]] = vector.shuffle %[[TOP]], %[[LOW]] [0, 2]
  // CHECK-NEXT: %[[RIGHT:.*]] = vector.shuffle %[[TOP]], %[[LOW]] [1, 3]
  // CHECK:      vector.store %[[LEFT]], %o[%[[ZERO]], %[[ZERO]]]
  // CHECK:      vector.store %[[RIGHT]], %o[%[[ONE]], %[[ZERO]]]
  // CHECK-NOT:  memref.load
  tir.nest dims [parallel 2, parallel 2] ins(%x[d1, d0] : memref<2x2xf32>) outs(%o[d0, d1] : memref<2x2xf32>)
      schedule #tir.schedule<register = [d0 : 2, d1 : 2], vector = d1 : 2>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// Results that lie apart are transposed before they are written.
// CHECK-LABEL: tir.func @write_square(
tir.func @write_square(read %x: memref<2x2xf32>, write %o: memref<2x2xf32>) {
  // CHECK:      %[[A:.*]] = vector.load %x
  // CHECK:      %[[B:.*]] = vector.load %x
  // CHECK-NEXT: %[[LEFT:.*]] = vector.shuffle %[[A]], %[[B]] [0, 2]
  // CHECK-NEXT: %[[RIGHT:.*]] = vector.shuffle %[[A]], %[[B]] [1, 3]
  // CHECK-NEXT: vector.store %[[LEFT]], %o
  // CHECK-NEXT: vector.store %[[RIGHT]], %o
  tir.nest dims [parallel 2, parallel 2] ins(%x[d0, d1] : memref<2x2xf32>) outs(%o[d1, d0] : memref<2x2xf32>)
      schedule #tir.schedule<register = [d0 : 2, d1 : 2], vector = d1 : 2>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// A tile that is smaller than a square has its elements gathered.
// CHECK-LABEL: tir.func @no_square(
tir.func @no_square(read %x: memref<4x3xf32>, write %o: memref<3x4xf32>) {
  // CHECK-NOT:  vector.load
  // CHECK:      vector.store {{.*}} : memref<3x4xf32>, vector<4xf32>
  tir.nest dims [parallel 3, parallel 4] ins(%x[d1, d0] : memref<4x3xf32>) outs(%o[d0, d1] : memref<3x4xf32>)
      schedule #tir.schedule<register = [d0 : 3, d1 : 4], vector = d1 : 4>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @masked_edges(
tir.func @masked_edges(read %x: memref<7xf32>, write %o: memref<7xf32>, read %y: memref<7xi32>, read %z: memref<8xf32>, write %p: memref<7xi32>, write %s: memref<1xf32>) {
  // What is left is a vector of which some lanes count.
  // CHECK:      vector.load %x[%{{.*}}] : memref<7xf32>, vector<4xf32>
  // CHECK:      %[[MASK:.*]] = arith.constant dense<[true, true, true, false]> : vector<4xi1>
  // CHECK:      %[[V:.*]] = vector.maskedload %x[%{{.*}}], %[[MASK]]
  // CHECK:      vector.maskedstore %o[%{{.*}}], %[[MASK]], %[[V]]
  // CHECK-NOT:  memref.load
  tir.nest dims [parallel 7] ins(%x[d0] : memref<7xf32>) outs(%o[d0] : memref<7xf32>)
      schedule #tir.schedule<vector = d0 : 4, edges = masked>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  // Where the other lanes are elements as well, only the store is masked.
  // CHECK:      vector.load %z[%{{.*}}] : memref<8xf32>, vector<4xf32>
  // CHECK:      vector.load %z[%{{.*}}] : memref<8xf32>, vector<4xf32>
  // CHECK:      vector.maskedstore %o
  tir.nest dims [parallel 7] ins(%z[d0] : memref<8xf32>) outs(%o[d0] : memref<7xf32>)
      schedule #tir.schedule<vector = d0 : 4, edges = masked>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  // A division by a lane that is no point would be a fault.
  // CHECK:      vector.load %y[%{{.*}}] : memref<7xi32>, vector<2xi32>
  // CHECK:      memref.load %y
  // CHECK-NOT:  vector.masked
  tir.nest dims [parallel 7] ins(%y[d0] : memref<7xi32>) outs(%p[d0] : memref<7xi32>)
      schedule #tir.schedule<vector = d0 : 4, edges = masked>
    finish (%v: i32) {
      %c = arith.constant 7 : i32
      %q = arith.divsi %c, %v : i32
      tir.yield %q : i32
    }
  // Lanes that are folded must all be points.
  // CHECK-NOT:  vector.masked
  // CHECK:      memref.load %x
  tir.nest dims [parallel 7] ins(%x[d0] : memref<7xf32>) outs(%s[0] combine add : memref<1xf32>)
      schedule #tir.schedule<vector = d0 : 4, edges = masked>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// What is packed is read without a division in the loop over k, in whole vectors; the
// two vectors of a panel stay in registers while the rows pass.
// CHECK-LABEL: tir.func @packed(
// CHECK:         scf.for %[[J:[0-9]+]] = %{{.*}} to
// CHECK:           %[[PANEL:.*]] = arith.divui %[[J]]
// CHECK:           scf.for %[[I:[0-9]+]] = %{{.*}} to
// CHECK:             scf.for %[[K:[0-9]+]] = %{{.*}} to {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-NEXT:          memref.load %a[%[[I]], %[[K]]]
// CHECK-NEXT:          %[[B0:.*]] = vector.load %p[%[[PANEL]], %[[K]], %{{.*}}] : memref<3x5x8xf32>, vector<4xf32>
// CHECK:               arith.mulf %{{.*}}, %[[B0]]
// CHECK:               %[[B1:.*]] = vector.load %p[%[[PANEL]], %[[K]], %{{.*}}] : memref<3x5x8xf32>, vector<4xf32>
// CHECK:               arith.mulf %{{.*}}, %[[B1]]
// CHECK:               memref.load %a
// CHECK-NOT:           load %p
// CHECK:               arith.mulf %{{.*}}, %[[B0]]
// CHECK:               arith.mulf %{{.*}}, %[[B1]]
// CHECK:               scf.yield
tir.func @packed(read %a: memref<6x5xf32>, read %p: memref<3x5x8xf32>, write %o: memref<6x21xf32>) {
  tir.nest dims [parallel 6, parallel 21, reduction 5]
      ins(%a[d0, d2] : memref<6x5xf32>, %p[d1 floordiv 8, d2, d1 mod 8] : memref<3x5x8xf32>) outs(%o[d0, d1] : memref<6x21xf32>)
      schedule #tir.schedule<register = [d0 : 3, d1 : 8], vector = d1 : 4, order = [d1, d0, d2], edges = masked>
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%x: f32, %y: f32, %acc: f32) {
      %p0 = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p0 : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// Axes of one element behind the lanes are no obstacle, for reads and for writes; those
// of a memref that is not row-major, or not read at 0, are.
// CHECK-LABEL: tir.func @spare_axes(
// CHECK-DAG:     %[[B:.*]] = memref.collapse_shape %b {{\[\[}}0 : i64, 1 : i64, 2 : i64]] : memref<8x1x1xf32> into memref<8xf32>
// CHECK-DAG:     %[[O:.*]] = memref.collapse_shape %o {{\[\[}}0 : i64], [1 : i64, 2 : i64]] : memref<2x8x1xf32> into memref<2x8xf32>
// CHECK-DAG:     vector.load %[[B]][%{{.*}}] : memref<8xf32>, vector<4xf32>
// CHECK-DAG:     memref.load %s[
// CHECK-DAG:     memref.load %m[
// CHECK:         vector.store %{{.*}}, %[[O]][%{{.*}}, %{{.*}}] : memref<2x8xf32>, vector<4xf32>
tir.func @spare_axes(read %b: memref<8x1x1xf32>, read %s: memref<8x1xf32, strided<[3, 3]>>, read %m: memref<8x1xf32>, write %o: memref<2x8x1xf32>) {
  tir.nest dims [parallel 2, parallel 8]
      ins(%b[d1, 0, 0] : memref<8x1x1xf32>, %s[d1, 0] : memref<8x1xf32, strided<[3, 3]>>, %m[d1, d0] pad 1.0 : f32 : memref<8x1xf32>) outs(%o[d0, d1, 0] : memref<2x8x1xf32>)
      schedule #tir.schedule<vector = d1 : 4>
    finish (%v: f32, %w: f32, %u: f32) {
      %x = arith.addf %v, %w : f32
      %y = arith.addf %x, %u : f32
      tir.yield %y : f32
    }
  tir.return
}
