// RUN: transom-opt -p convert-to-llvm %s | filecheck %s

// Loads and stores are aligned to the element, or as they say.
// CHECK-LABEL: @alignment
func.func @alignment(%x: memref<16xf32>, %i: index) {
  // CHECK:         %[[A:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  // CHECK:         llvm.store %[[A]], %{{.*}} {alignment = 64 : i64, nontemporal} : vector<8xf32>, !llvm.ptr
  %a = vector.load %x[%i] : memref<16xf32>, vector<8xf32>
  vector.store %a, %x[%i] {alignment = 64 : i64, nontemporal = true} : memref<16xf32>, vector<8xf32>
  func.return
}

// CHECK-LABEL: @masked
func.func @masked(%x: memref<?xf32>, %i: index, %n: index, %o: vector<4xf32>) {
  // CHECK:         %[[M:.*]] = llvm.icmp "slt" %{{.*}}, %{{.*}} : vector<4xi32>
  // CHECK:         %[[V:.*]] = llvm.intr.masked.load %{{.*}}, %[[M]], %{{.*}} {alignment = 4 : i32}
  // CHECK:         llvm.intr.masked.store %[[V]], %{{.*}}, %[[M]] {alignment = 4 : i32}
  %m = vector.create_mask %n : vector<4xi1>
  %v = vector.maskedload %x[%i], %m, %o : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %x[%i], %m, %v : memref<?xf32>, vector<4xi1>, vector<4xf32>
  func.return
}

// CHECK-LABEL: @broadcast
// CHECK-SAME:    (%[[A:.*]]: f32)
func.func @broadcast(%a: f32) -> vector<4xf32> {
  // CHECK:         %[[F:.*]] = llvm.insertelement %[[A]], %[[P:.*]][%{{.*}} : i64] : vector<4xf32>
  // CHECK-NEXT:    %[[V:.*]] = llvm.shufflevector %[[F]], %[[P]] [0, 0, 0, 0] : vector<4xf32>
  %v = vector.broadcast %a : f32 to vector<4xf32>
  func.return %v : vector<4xf32>
}

// A constant in every lane is a constant.
// CHECK-LABEL: @splat
func.func @splat() -> vector<4xf32> {
  // CHECK:         llvm.mlir.constant(dense<2.500000e+00> : vector<4xf32>) : vector<4xf32>
  // CHECK-NOT:     shufflevector
  %a = arith.constant 2.5 : f32
  %v = vector.broadcast %a : f32 to vector<4xf32>
  func.return %v : vector<4xf32>
}

// Several dims are one, the last innermost.
// CHECK-LABEL: @dims
// CHECK-SAME:    (%[[V:.*]]: vector<6xf32>) -> vector<3xf32>
func.func @dims(%v: vector<2x3xf32>) -> vector<3xf32> {
  // CHECK-NEXT:    %[[W:.*]] = llvm.fadd %[[V]], %[[V]] : vector<6xf32>
  // CHECK-NEXT:    llvm.shufflevector %[[W]], %[[W]] [3, 4, 5] : vector<6xf32>
  %w = arith.addf %v, %v : vector<2x3xf32>
  %r = vector.extract %w[1] : vector<3xf32> from vector<2x3xf32>
  func.return %r : vector<3xf32>
}

// Without `reassoc` a sum goes from lane to lane.
// CHECK-LABEL: @sums
func.func @sums(%v: vector<4xf32>, %a: f32) -> (f32, f32) {
  // CHECK:         %[[Z:.*]] = llvm.mlir.constant(-0.000000e+00 : f32) : f32
  // CHECK-NEXT:    llvm.intr.vector.reduce.fadd(%[[Z]], %{{.*}}) : (f32, vector<4xf32>) -> f32
  // CHECK-NEXT:    llvm.intr.vector.reduce.fadd(%{{.*}}, %{{.*}}) {fastmathFlags = #llvm.fastmath<reassoc>} : (f32, vector<4xf32>) -> f32
  %r = vector.reduction <add>, %v : vector<4xf32> into f32
  %s = vector.reduction <add>, %v, %a fastmath<reassoc> : vector<4xf32> into f32
  func.return %r, %s : f32, f32
}

// bf16 is computed in f32, and rounded in integers.
// CHECK-LABEL: @bf16
// CHECK-SAME:    (%{{.*}}: vector<8xi16>) -> vector<8xi16>
func.func @bf16(%v: vector<8xbf16>) -> vector<8xbf16> {
  // CHECK-NOT:     bf16
  // CHECK:         %[[S:.*]] = llvm.fadd %{{.*}}, %{{.*}} : vector<8xf32>
  // CHECK-NEXT:    llvm.bitcast %[[S]] : vector<8xf32> to vector<8xi32>
  // CHECK:         llvm.trunc %{{.*}} : vector<8xi32> to vector<8xi16>
  // CHECK-NOT:     bf16
  %w = arith.addf %v, %v : vector<8xbf16>
  func.return %w : vector<8xbf16>
}

// Flags are kept.
// CHECK-LABEL: @flags
func.func @flags(%a: f32, %i: i32) -> (f32, i32) {
  // CHECK-NEXT:    llvm.fmul %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<contract>} : f32
  // CHECK-NEXT:    llvm.intr.exp(%{{.*}}) {fastmathFlags = #llvm.fastmath<fast>} : (f32) -> f32
  // CHECK-NEXT:    llvm.add %{{.*}}, %{{.*}} overflow<nsw,nuw> : i32
  %b = arith.mulf %a, %a fastmath<contract> : f32
  %c = math.exp %b fastmath<fast> : f32
  %j = arith.addi %i, %i overflow<nsw, nuw> : i32
  func.return %c, %j : f32, i32
}

// What has no intrinsic is a call for each lane.
// CHECK-LABEL: @library
func.func @library(%v: vector<2xf64>, %h: f16) -> (vector<2xf64>, f16) {
  // CHECK:         llvm.call @tanh(%{{.*}}) : (f64) -> f64
  // CHECK:         llvm.call @tanh(%{{.*}}) : (f64) -> f64
  // CHECK:         %[[W:.*]] = llvm.fpext %{{.*}} : f16 to f32
  // CHECK-NEXT:    %[[T:.*]] = llvm.call @erff(%[[W]]) : (f32) -> f32
  // CHECK-NEXT:    llvm.fptrunc %[[T]] : f32 to f16
  %w = math.tanh %v : vector<2xf64>
  %e = math.erf %h : f16
  func.return %w, %e : vector<2xf64>, f16
}
