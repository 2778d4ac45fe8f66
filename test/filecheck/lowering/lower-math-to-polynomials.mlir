// RUN: transom-opt -p lower-math-to-polynomials %s | filecheck %s
// RUN: transom-opt -p 'lower-math-to-polynomials{fma=true}' %s | filecheck %s --check-prefix=FMA
// RUN: transom-opt -p lower-math-to-polynomials --print-debuginfo %s | filecheck %s --check-prefix=LOC

// Arguments beyond the range of results are clamped; NaN passes both comparisons by.
// CHECK-LABEL: tir.func @exp(
// FMA-LABEL:   tir.func @exp(
tir.func @exp(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  %i = arith.constant 0 : index
  // CHECK:      %[[X:.*]] = vector.load %x
  %v = vector.load %x[%i] : memref<8xf32>, vector<8xf32>
  // CHECK:      %[[LOW:.*]] = arith.constant dense<-8.740000e+01> : vector<8xf32>
  // CHECK-NEXT: %[[BELOW:.*]] = arith.cmpf ogt, %[[LOW]], %[[X]] : vector<8xf32>
  // CHECK-NEXT: %[[RAISED:.*]] = arith.select %[[BELOW]], %[[LOW]], %[[X]]
  // CHECK-NEXT: %[[HIGH:.*]] = arith.constant dense<8.880000e+01> : vector<8xf32>
  // CHECK-NEXT: %[[ABOVE:.*]] = arith.cmpf olt, %[[HIGH]], %[[RAISED]] : vector<8xf32>
  // CHECK-NEXT: arith.select %[[ABOVE]], %[[HIGH]], %[[RAISED]]
  // The exponent is made of the bits of a sum.
  // CHECK:      %[[BITS:.*]] = arith.bitcast %{{.*}} : vector<8xf32> to vector<8xi32>
  // CHECK:      %[[MOVED:.*]] = arith.shli %[[BITS]]
  // CHECK-NEXT: %[[SCALE:.*]] = arith.bitcast %[[MOVED]] : vector<8xi32> to vector<8xf32>
  // CHECK-NOT:  math.
  // CHECK:      %e = arith.mulf %{{.*}}, %[[SCALE]] {test.hint
  // CHECK-NEXT: vector.store %e
  // FMA:        %[[SUM:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf32>
  // FMA-NOT:    arith.addf
  // FMA:        vector.store %e
  // LOC:        %e = arith.mulf {{.*}} {test.hint = 1 : i32} : vector<8xf32> loc("m.onnx":3:1)
  %e = math.exp %v {test.hint = 1 : i32} : vector<8xf32> loc("m.onnx":3:1)
  vector.store %e, %o[%i] : memref<8xf32>, vector<8xf32>
  tir.return
}

// CHECK-LABEL: tir.func @scalar(
tir.func @scalar(read %x: f32, write %o: memref<f32>) {
  // CHECK-NOT: vector
  // CHECK:     %y = arith.select {{.*}} : f32
  // CHECK-NEXT: memref.store %y
  %y = math.tanh %x : f32
  memref.store %y, %o[] : memref<f32>
  tir.return
}

// What is smaller is computed in f32 and rounded once.
// CHECK-LABEL: tir.func @half(
tir.func @half(read %x: f16, write %o: memref<f16>) {
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %x : f16 to f32
  // CHECK:      %y = arith.truncf %{{.*}} : f32 to f16
  // CHECK-NEXT: memref.store %y
  %y = math.erf %x : f16
  memref.store %y, %o[] : memref<f16>
  tir.return
}

// The C library computes f64.
// CHECK-LABEL: tir.func @double(
tir.func @double(read %x: f64, write %o: memref<f64>) {
  // CHECK-NEXT: %y = math.exp %x : f64
  %y = math.exp %x : f64
  memref.store %y, %o[] : memref<f64>
  tir.return
}

// No polynomial is known for these.
// CHECK-LABEL: func.func @others(
func.func @others(%x: vector<4xf32>) -> vector<4xf32> {
  // CHECK:      math.atan %x : vector<4xf32>
  // CHECK-NEXT: math.sqrt
  %a = math.atan %x : vector<4xf32>
  %b = math.sqrt %a : vector<4xf32>
  func.return %b : vector<4xf32>
}

// Large arguments take a branch, in which the C library computes lane by lane in f64.
// CHECK-LABEL: func.func @sin(
// FMA-LABEL:   func.func @sin(
func.func @sin(%x: vector<2xf32>) -> vector<2xf32> {
  // FMA:        %[[MOST:.*]] = arith.constant dense<6.553600e+04> : vector<2xf32>
  // CHECK:      %[[SIZE:.*]] = math.absf %x : vector<2xf32>
  // CHECK:      %[[MOST:.*]] = arith.constant dense<4.096000e+03> : vector<2xf32>
  // CHECK-NEXT: %[[FAR:.*]] = arith.cmpf ugt, %{{.*}}, %[[MOST]] : vector<2xf32>
  // CHECK-NEXT: %[[ANY:.*]] = vector.reduction <or>, %[[FAR]] : vector<2xi1> into i1
  // CHECK-NEXT: %y = scf.if %[[ANY]] -> (vector<2xf32>) {
  // CHECK-NEXT:   %[[LANE:.*]] = vector.extract %x[0]
  // CHECK-NEXT:   %[[WIDE:.*]] = arith.extf %[[LANE]] : f32 to f64
  // CHECK-NEXT:   %[[SINE:.*]] = math.sin %[[WIDE]] : f64
  // CHECK:        %[[ALL:.*]] = vector.insert %{{.*}}, %{{.*}} [1]
  // CHECK-NEXT:   %[[MIXED:.*]] = arith.select %[[FAR]], %[[ALL]], %[[NEAR:.*]] : vector<2xi1>
  // CHECK-NEXT:   scf.yield %[[MIXED]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   scf.yield %[[NEAR]]
  %y = math.sin %x : vector<2xf32>
  func.return %y : vector<2xf32>
}

// CHECK-LABEL: func.func @inverse_of_three_quarters(
func.func @inverse_of_three_quarters(%x: vector<8xf32>) -> vector<8xf32> {
  %e = arith.constant dense<-0.75> : vector<8xf32>
  // CHECK:      %[[ROOT:.*]] = math.sqrt %{{.*}} : vector<8xf32>
  // CHECK-NEXT: %[[FOURTH:.*]] = math.sqrt %[[ROOT]] : vector<8xf32>
  // CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[ROOT]], %[[FOURTH]] : vector<8xf32>
  // CHECK-NEXT: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<8xf32>
  // CHECK-NEXT: %y = arith.divf %[[ONE]], %[[PRODUCT]] : vector<8xf32>
  %y = math.powf %x, %e : vector<8xf32>
  func.return %y : vector<8xf32>
}

// No number of quarters, and one of too many: by the logarithm, in f64.
// CHECK-LABEL: tir.func @other_exponents(
tir.func @other_exponents(read %x: f32, write %o: memref<f32>) {
  %a = arith.constant 0.3 : f32
  %b = arith.constant 4.25 : f32
  // CHECK:      arith.extf %{{.*}} : f32 to f64
  // CHECK:      %y = arith.select
  %y = math.powf %x, %a : f32
  // CHECK:      arith.extf %{{.*}} : f32 to f64
  // CHECK:      %z = arith.select
  %z = math.powf %y, %b : f32
  memref.store %z, %o[] : memref<f32>
  tir.return
}

// Neighbours are computed side by side, up to four.
// CHECK-LABEL: func.func @neighbours(
func.func @neighbours(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32) -> (f32, f32, f32, f32, f32) {
  // CHECK:      arith.cmpf ogt, %[[LOW:.*]], %a : f32
  // CHECK-NEXT: arith.cmpf ogt, %[[LOW]], %b : f32
  // CHECK-NEXT: arith.cmpf ogt, %[[LOW]], %c : f32
  // CHECK-NEXT: arith.cmpf ogt, %[[LOW]], %d : f32
  // CHECK-NEXT: arith.select {{.*}}, %[[LOW]], %a : f32
  // CHECK:      arith.cmpf ogt, %{{.*}}, %e : f32
  // CHECK-NEXT: arith.select
  %v = math.exp %a : f32
  %w = math.exp %b : f32
  %x = math.exp %c : f32
  %y = math.exp %d : f32
  %z = math.exp %e : f32
  func.return %v, %w, %x, %y, %z : f32, f32, f32, f32, f32
}

// The second waits for the first; powers of other exponents are computed otherwise.
// CHECK-LABEL: func.func @no_neighbours(
func.func @no_neighbours(%a: f32) -> (f32, f32) {
  %half = arith.constant 0.5 : f32
  %two = arith.constant 2.0 : f32
  // CHECK:      %v = arith.select
  // CHECK-NEXT: arith.mulf %v, %v : f32
  // CHECK:      %x = math.sqrt %{{.*}} : f32
  // CHECK:      %y = arith.mulf %w, %w : f32
  %v = math.tanh %a : f32
  %w = math.tanh %v : f32
  %x = math.powf %w, %half : f32
  %y = math.powf %w, %two : f32
  func.return %x, %y : f32, f32
}

// Constant factors become part of the coefficients; they are in all lanes, or a divisor.
// CHECK-LABEL: func.func @scaled(
func.func @scaled(%x: vector<4xf32>) -> vector<4xf32> {
  // CHECK:      %[[SQUARE:.*]] = arith.mulf %x, %x : vector<4xf32>
  // CHECK:      %[[BOUNDED:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SQUARE]]
  // CHECK:      %[[PRODUCT:.*]] = arith.mulf %x, %{{.*}}
  // The divisor starts with a sum.
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: arith.addf %[[BOUNDED]]
  // CHECK:      arith.divf %[[PRODUCT]]
  // CHECK:      arith.constant dense<-5.000000e-01>
  // CHECK:      arith.constant dense<5.000000e-01>
  // CHECK:      %y = arith.select {{.*}} {test.hint, test.other}
  // CHECK-NEXT: func.return %y
  %c = arith.constant 2.0 : f32
  %h = arith.constant dense<-0.5> : vector<4xf32>
  %lanes = vector.broadcast %c : f32 to vector<4xf32>
  %s = arith.divf %x, %lanes : vector<4xf32>
  %e = math.tanh %s {test.hint} : vector<4xf32>
  %y = arith.mulf %h, %e {test.other} : vector<4xf32>
  func.return %y : vector<4xf32>
}

// A product that is used otherwise stays, and so do factors that are no constants, or too
// large, and those of numbers that are rounded in between.
// CHECK-LABEL: func.func @products_that_stay(
func.func @products_that_stay(%x: f32, %z: f32, %n: f16) -> (f32, f32, f32, f16) {
  %c = arith.constant 2.0 : f32
  %l = arith.constant 4.5 : f32
  %d = arith.constant 2.0 : f16
  // CHECK:      %s = arith.mulf %x, %c : f32
  // CHECK-NEXT: arith.mulf %x, %x : f32
  %s = arith.mulf %x, %c : f32
  %a = math.erf %s : f32
  %b = arith.mulf %a, %s : f32
  // CHECK:      %t = arith.mulf %z, %l : f32
  // CHECK-NEXT: arith.mulf %t, %t : f32
  %t = arith.mulf %z, %l : f32
  %u = math.erf %t : f32
  // CHECK:      arith.divf %c, %{{.*}} : f32
  %v = arith.divf %c, %u : f32
  // CHECK-NEXT: %m = arith.mulf %n, %d : f16
  // CHECK-NEXT: arith.extf %m : f16 to f32
  %m = arith.mulf %n, %d : f16
  %o = math.erf %m : f16
  func.return %b, %v, %s, %o : f32, f32, f32, f16
}

// Neighbours with other factors are computed one after the other.
// CHECK-LABEL: func.func @other_factors(
func.func @other_factors(%x: f32) -> (f32, f32) {
  // CHECK-COUNT-2: arith.mulf %x, %x : f32
  %c = arith.constant 2.0 : f32
  %s = arith.mulf %x, %c : f32
  %a = math.erf %s : f32
  %b = math.erf %x : f32
  func.return %a, %b : f32, f32
}

// A target that takes nests takes their functions as they are.
// CHECK-LABEL: tir.func @in_nest
// CHECK:         math.exp
tir.func @in_nest(read %x: memref<4xf32>, write %y: memref<4xf32>) {
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%y[d0] : memref<4xf32>)
    finish (%v: f32) {
      %e = math.exp %v : f32
      tir.yield %e : f32
    }
  tir.return
}
