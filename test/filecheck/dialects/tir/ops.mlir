// RUN: transom-opt %s | filecheck %s
// RUN: %roundtrip

// CHECK: tir.func @declared(read memref<4xf32>, write memref<?xf32>, scratch memref<8xi8>, read index)
tir.func @declared(read memref<4xf32>, write memref<?xf32>, scratch memref<8xi8>, read index)

// CHECK: tir.func public @visible(read %x: memref<4xf32> {test.a = 1 : i32}, read_write %y: memref<4xf32>) attributes {test.b} {
tir.func public @visible(read %x: memref<4xf32> {test.a = 1 : i32}, read_write %y: memref<4xf32>) attributes {test.b} {
  tir.return
}

// CHECK-LABEL: tir.func @rows(
tir.func @rows(read %x: memref<?x8xf32>, write %o: memref<?x8xf32>, read %n: index) {
  // CHECK: tir.block (%i: index, %j: index) in dims [parallel %n, sequential 2] schedule #tir.schedule<parallel = [d0]> attributes {test.c} {
  tir.block (%i: index, %j: index) in dims [parallel %n, sequential 2] schedule #tir.schedule<parallel = [d0]> attributes {test.c} {
    // CHECK-NEXT: %t = tir.alloc {alignment = 64, memory = @sram, test.d} : memref<8xf32>
    %t = tir.alloc {alignment = 64, memory = @sram, test.d} : memref<8xf32>
    tir.nest dims [parallel 8] at (%i) ins(%x[s0, d0] : memref<?x8xf32>) outs(%t[d0] : memref<8xf32>)
      finish (%v: f32) {
        tir.yield %v : f32
      }
    tir.nest dims [parallel 8] at (%i) ins(%t[d0] : memref<8xf32>) outs(%o[s0, d0] : memref<?x8xf32>)
      finish (%v: f32) {
        tir.yield %v : f32
      }
  // CHECK-NOT: tir.yield{{$}}
  }
  tir.return
}

// CHECK-LABEL: tir.func @memory(
tir.func @memory(read %a: memref<64xf32>, read %i: index, read %n: index) {
  // CHECK: %b = tir.alloc(%n, %n) {pool = @arena, offset = 128} : memref<?x4x?xf32>
  %b = tir.alloc(%n, %n) {pool = @arena, offset = 128} : memref<?x4x?xf32>
  // CHECK: %c = tir.alloc : memref<64xf32>
  %c = tir.alloc : memref<64xf32>
  // CHECK: tir.prefetch %a[%i] : memref<64xf32>
  tir.prefetch %a[%i] locality 3 : memref<64xf32>
  // CHECK: tir.prefetch %c[%i] write locality 0 : memref<64xf32>
  tir.prefetch %c[%i] write locality 0 : memref<64xf32>
  // CHECK: tir.copy %a, %c : memref<64xf32>, memref<64xf32>
  tir.copy %a, %c : memref<64xf32>, memref<64xf32>
  // CHECK: %t = tir.copy_async %a, %c : memref<64xf32>, memref<64xf32>
  %t = tir.copy_async %a, %c : memref<64xf32>, memref<64xf32>
  // CHECK: tir.wait %t
  tir.wait %t
  tir.return
}

// CHECK-LABEL: tir.func @externs(
tir.func @externs(read_write %x: memref<64xi8>, read %n: i32) {
  %w = tir.alloc : memref<16xi8>
  // CHECK: %s = tir.struct(%w, %n) : !tir.struct<"ctx", (memref<16xi8>, i32)>
  %s = tir.struct(%w, %n) : !tir.struct<"ctx", (memref<16xi8>, i32)>
  // CHECK: tir.extern "f"(ref %s, read_write %x, %n) status 0 : (!tir.struct<"ctx", (memref<16xi8>, i32)>, memref<64xi8>, i32) -> i32
  %status = tir.extern "f"(ref %s, read_write %x, read %n) status 0 : (!tir.struct<"ctx", (memref<16xi8>, i32)>, memref<64xi8>, i32) -> i32
  // CHECK: tir.extern "g"(%s, scratch %w) : (!tir.struct<"ctx", (memref<16xi8>, i32)>, memref<16xi8>) -> ()
  tir.extern "g"(%s, scratch %w) : (!tir.struct<"ctx", (memref<16xi8>, i32)>, memref<16xi8>) -> ()
  // CHECK: %r = tir.extern "h"() : () -> f64
  %r = tir.extern "h"() : () -> f64
  tir.return
}

tir.func @signless(read memref<?xi8>, write memref<4xi8>, scratch memref<2xf32>)

// CHECK-LABEL: func.func @calls(
func.func @calls(%x: tensor<4xui8>, %s: memref<2xf32>, %m: memref<?xi8>) -> tensor<4xui8> {
  %d = tensor.empty() : tensor<4xui8>
  // Kernels know no signs, and `?` takes any extent.
  // CHECK: %y = tir.call @signless(%x : tensor<4xui8>) outs(%d : tensor<4xui8>) scratch(%s : memref<2xf32>) {test.e}
  %y = tir.call @signless(%x : tensor<4xui8>) outs(%d : tensor<4xui8>) scratch(%s : memref<2xf32>) {test.e}
  // CHECK: tir.call @signless(%m : memref<?xi8>) outs(%m : memref<?xi8>) scratch(%s : memref<2xf32>)
  tir.call @signless(%m : memref<?xi8>) outs(%m : memref<?xi8>) scratch(%s : memref<2xf32>)
  func.return %y : tensor<4xui8>
}

executor.artifact @emitted {
  format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "…", workspace = 64,
  signature = (memref<4xf32>, memref<4xf32>) -> (), effects = [read, write]
}

// CHECK-LABEL: @calls_artifact
func.func @calls_artifact(%x: tensor<4xf32>, %w: memref<64xi8>) -> tensor<4xf32> {
  %d = tensor.empty() : tensor<4xf32>
  // CHECK: %y = tir.call @emitted(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) scratch(%w : memref<64xi8>)
  %y = tir.call @emitted(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) scratch(%w : memref<64xi8>)
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: @dots
func.func @dots(%s: vector<8xi32>, %a: vector<4xi8>, %b: vector<8x4xi8>, %c: vector<8x2xi16>) {
  // CHECK-NEXT:  tir.dot %s, %a, %b lhs_unsigned : vector<8xi32>, vector<4xi8>, vector<8x4xi8>
  %x = tir.dot %s, %a, %b lhs_unsigned : vector<8xi32>, vector<4xi8>, vector<8x4xi8>
  // CHECK-NEXT:  tir.dot %s, %b, %b lhs_unsigned rhs_unsigned : vector<8xi32>, vector<8x4xi8>, vector<8x4xi8>
  %y = tir.dot %s, %b, %b lhs_unsigned rhs_unsigned : vector<8xi32>, vector<8x4xi8>, vector<8x4xi8>
  // CHECK-NEXT:  tir.dot %s, %c, %c : vector<8xi32>, vector<8x2xi16>, vector<8x2xi16>
  %z = tir.dot %s, %c, %c : vector<8xi32>, vector<8x2xi16>, vector<8x2xi16>
  func.return
}

// CHECK-LABEL: func.func private @attributes
func.func private @attributes(!tir.token) attributes {
  // CHECK-SAME: a = #tir.access<(d0, d1)[s0] -> (d0 * s0 + d1 - 1), pad 0.000000e+00 : f32>
  a = #tir.access<(d0, d1)[s0] -> (d1 + d0 * s0 - 1), pad 0.0 : f32>,
  // CHECK-SAME: b = #tir.access<*, combine umax>
  b = #tir.access<*, combine umax>,
  // CHECK-SAME: c = #tir.schedule<cache = [d0 : 64, d1 : 32, d0 : 8], register = [d0 : 4], vector = d1 : 16, unroll = [d2 : 2], parallel = [d0], order = [d2, d0, d1], compute_at = 1, pack = [in1, in0], widen = [in0], edges = masked, dot = d2 : 4, prefetch = [in1 : 1024, in0 : 1]>
  c = #tir.schedule<dot = d2 : 4, prefetch = [in1 : 1024, in0 : 1], widen = [in0], edges = masked, pack = [in1, in0], order = [d2, d0, d1], compute_at = 1, cache = [d0 : 64, d1 : 32, d0 : 8], unroll = [d2 : 2], register = [d0 : 4], parallel = [d0], vector = d1 : 16>,
  // CHECK-SAME: d = #tir.schedule<>
  d = #tir.schedule<>,
  // CHECK-SAME: e = #tir.dim<sequential ?>
  e = #tir.dim<sequential ?>,
  // CHECK-SAME: f = #tir.ahead<in2 : 16>
  f = #tir.ahead<in2 : 16>
}
