// RUN: transom-opt %s | filecheck %s
// RUN: %roundtrip

// Forms of upstream's `arith` that xDSL lacks.

// CHECK-LABEL: func.func @vectors(
func.func @vectors(%a: vector<4xi8>, %b: vector<4xi32>, %i: vector<4xindex>, %d: i1) {
  // CHECK: %w = arith.extsi %a : vector<4xi8> to vector<4xi32>
  %w = arith.extsi %a : vector<4xi8> to vector<4xi32>
  // CHECK: %c = arith.cmpi sgt, %w, %b : vector<4xi32>
  %c = arith.cmpi sgt, %w, %b : vector<4xi32>
  // CHECK: %y = arith.select %c, %w, %b : vector<4xi1>, vector<4xi32>
  %y = arith.select %c, %w, %b : vector<4xi1>, vector<4xi32>
  // CHECK: %z = arith.select %d, %w, %b {test.a} : vector<4xi32>
  %z = arith.select %d, %w, %b {test.a} : vector<4xi32>
  // CHECK: %j = arith.index_cast %i : vector<4xindex> to vector<4xi32>
  %j = arith.index_cast %i : vector<4xindex> to vector<4xi32>
  // CHECK: %f = arith.sitofp %j : vector<4xi32> to vector<4xf32>
  %f = arith.sitofp %j : vector<4xi32> to vector<4xf32>
  // CHECK: %e = arith.cmpf olt, %f, %f : vector<4xf32>
  %e = arith.cmpf olt, %f, %f : vector<4xf32>
  // CHECK: %s = arith.select %e, %y, %z : vector<4xi1>, vector<4xi32>
  %s = arith.select %e, %y, %z : vector<4xi1>, vector<4xi32>
  func.return
}
