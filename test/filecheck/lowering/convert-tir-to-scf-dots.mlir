// RUN: transom-opt -p convert-tir-to-scf %s | filecheck %s
// RUN: transom-opt -p 'convert-tir-to-scf{dot=vnni}' %s | filecheck %s --check-prefix=VNNI

// Four rows of the sum at once: bytes of a row, for all lanes, and those of each lane.
// CHECK-LABEL: @bytes
// CHECK:         scf.for %[[J:.*]] = {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (vector<16xi32>)
// CHECK:           %[[A:.*]] = vector.load %a[%{{.*}}, %[[J]]] : memref<8x8xi8>, vector<4xi8>
// CHECK:           %[[B:.*]] = vector.load %b[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<2x2x16x4xi8>, vector<16x4xi8>
// CHECK-NEXT:      %[[D:.*]] = tir.dot %[[S]], %[[A]], %[[B]] lhs_unsigned
// CHECK-NEXT:      scf.yield %[[D]]
// VNNI-LABEL:  @bytes
// VNNI:            tir.dot {{.*}} lhs_unsigned using "vnni" :
tir.func @bytes(read %a: memref<8x8xi8>, read %b: memref<2x2x16x4xi8>, write %c: memref<8x32xi32>) {
  tir.nest dims [parallel 8, parallel 32, reduction 8]
      ins(%a[d0, d2] : memref<8x8xi8>, %b[d1 floordiv 16, d2 floordiv 4, d1 mod 16, d2 mod 4] : memref<2x2x16x4xi8>)
      outs(%c[d0, d1] : memref<8x32xi32>)
      schedule #tir.schedule<vector = d1 : 16, dot = d2 : 4>
    init {
      %zero = arith.constant 0 : i32
      tir.yield %zero : i32
    }
    body (%x: i8, %y: i8, %sum: i32) {
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %sum, %p : i32
      tir.yield %s : i32
    }
    finish (%sum: i32) {
      tir.yield %sum : i32
    }
  tir.return
}

// Pairs are widened.
// CHECK-LABEL: @pairs
// CHECK:           %[[A:.*]] = vector.load %a[%{{.*}}, %{{.*}}] : memref<8x8xi8>, vector<2xi8>
// CHECK:           %[[B:.*]] = vector.load {{.*}}, vector<16x2xi8>
// CHECK-NEXT:      %[[U:.*]] = arith.extui %[[A]] : vector<2xi8> to vector<2xi16>
// CHECK-NEXT:      %[[V:.*]] = arith.extsi %[[B]] : vector<16x2xi8> to vector<16x2xi16>
// CHECK-NEXT:      tir.dot %{{.*}}, %[[U]], %[[V]] : vector<16xi32>, vector<2xi16>, vector<16x2xi16>
tir.func @pairs(read %a: memref<8x8xi8>, read %b: memref<2x4x16x2xi8>, write %c: memref<8x32xi32>) {
  tir.nest dims [parallel 8, parallel 32, reduction 8]
      ins(%a[d0, d2] : memref<8x8xi8>, %b[d1 floordiv 16, d2 floordiv 2, d1 mod 16, d2 mod 2] : memref<2x4x16x2xi8>)
      outs(%c[d0, d1] : memref<8x32xi32>)
      schedule #tir.schedule<vector = d1 : 16, dot = d2 : 2>
    init {
      %zero = arith.constant 0 : i32
      tir.yield %zero : i32
    }
    body (%x: i8, %y: i8, %sum: i32) {
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %sum, %p : i32
      tir.yield %s : i32
    }
    finish (%sum: i32) {
      tir.yield %sum : i32
    }
  tir.return
}

// What does not lie in groups is summed one by one.
// CHECK-LABEL: @not_packed
// CHECK-COUNT-4:   arith.muli %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK-NOT:       tir.dot
tir.func @not_packed(read %a: memref<8x8xi8>, read %b: memref<8x32xi8>, write %c: memref<8x32xi32>) {
  tir.nest dims [parallel 8, parallel 32, reduction 8]
      ins(%a[d0, d2] : memref<8x8xi8>, %b[d2, d1] : memref<8x32xi8>)
      outs(%c[d0, d1] : memref<8x32xi32>)
      schedule #tir.schedule<vector = d1 : 16, dot = d2 : 4>
    init {
      %zero = arith.constant 0 : i32
      tir.yield %zero : i32
    }
    body (%x: i8, %y: i8, %sum: i32) {
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %sum, %p : i32
      tir.yield %s : i32
    }
    finish (%sum: i32) {
      tir.yield %sum : i32
    }
  tir.return
}
