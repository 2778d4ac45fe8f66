// RUN: transom-opt -p tir-plan-memory %s | filecheck %s
// RUN: transom-opt -p tir-plan-memory,tir-plan-memory,tir-verify-plan %s | filecheck %s

module attributes {target.config = #target.config<in_pools = [constants, inputs, outputs]>} {
tir.func @k(read memref<16xf32>, write memref<16xf32>)
graph.weight @small = dense<1.0> : tensor<4xf32>
graph.weight @unread_weight = dense<3.0> : tensor<4xf32>
graph.weight @large = dense<2.0> : tensor<16xf32>
// CHECK:       executor.pool @constants {size = 80, alignment = 64, kind = constants, content = {{\[}}[@large, 0], [@small, 64]]}
tir.func @two(read memref<16xf32>, read memref<16xf32>, write memref<16xf32>)

// The input is dead when the output is written, but not when the buffer is.
// CHECK:       executor.pool @chain.workspace {size = 128, alignment = 64}
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    executor.places = {inputs = {x = [@chain.workspace, 0 : i64, 64 : i64]}, outputs = {y = [@chain.workspace, 0 : i64, 64 : i64]}}
func.func @chain(%x: memref<16xf32>, %y: memref<16xf32> {tir.result = 0 : i64}) attributes {executor.signature = #executor.signature<(x : tensor<16xf32>) -> (y : tensor<16xf32>)>} {
  // CHECK-NEXT:    %a = tir.alloc {pool = @chain.workspace, offset = 64} : memref<16xf32>
  // CHECK-NEXT:    tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  // CHECK-NEXT:    tir.call @k(%a : memref<16xf32>) outs(%y : memref<16xf32>)
  // CHECK-NEXT:    func.return
  %a = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @k(%a : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}

// An input that is read again is in the way.
// CHECK:       executor.pool @read_again.workspace {size = 192, alignment = 64}
// CHECK-LABEL: func.func @read_again(
func.func @read_again(%x: memref<16xf32>, %y: memref<16xf32> {tir.result = 0 : i64}) attributes {executor.signature = #executor.signature<(x : tensor<16xf32>) -> (y : tensor<16xf32>)>} {
  %a = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @two(%a : memref<16xf32>, %x : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}

// Weights are read from their pool, which all functions share; the largest is first.
// CHECK-LABEL: func.func @weights(
func.func @weights(%x: memref<16xf32>, %y: memref<4xf32>) {
  // CHECK-NEXT:    %s = executor.view @constants[64] : memref<4xf32>
  // CHECK-NEXT:    %l = executor.view @constants[0] : memref<16xf32>
  %s = executor.constant @small : memref<4xf32>
  %l = executor.constant @large : memref<16xf32>
  tir.call @k(%l : memref<16xf32>) outs(%x : memref<16xf32>)
  tir.copy %s, %y : memref<4xf32>, memref<4xf32>
  func.return
}

// What nothing reads any more, such as what a packed form was made of, is not placed.
// CHECK-LABEL: func.func @unread(
func.func @unread(%x: memref<4xf32>) {
  // CHECK-NEXT:    func.return
  %u = executor.constant @unread_weight : memref<4xf32>
  func.return
}

// A function that is no entry keeps its arguments.
// CHECK-LABEL: func.func @no_entry(%x: memref<16xf32>, %y: memref<16xf32>) {
func.func @no_entry(%x: memref<16xf32>, %y: memref<16xf32>) {
  tir.call @k(%x : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
}
