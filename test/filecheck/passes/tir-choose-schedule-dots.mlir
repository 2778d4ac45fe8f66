// RUN: transom-opt -p 'tir-choose-schedule{dot=vnni}' %s | filecheck %s --check-prefix=VNNI
// RUN: transom-opt -p 'tir-choose-schedule{dot=pairs}' %s | filecheck %s --check-prefix=PAIRS
// RUN: transom-opt -p 'tir-choose-schedule{dot=dotprod vector-bytes=16}' %s | filecheck %s --check-prefix=DOTPROD
// RUN: transom-opt -p 'tir-choose-schedule' %s | filecheck %s --check-prefix=NONE

graph.weight @w = dense<1> : tensor<32x64xi8>
graph.weight @v = dense<1> : tensor<31x64xi8>

func.func @main(%a: tensor<64x32xi8>, %r: tensor<64x31xi8>) -> (tensor<64x64xi32>, tensor<64x64xi32>, tensor<64x64xi32>) {
  %e = tensor.empty() : tensor<64x64xi32>
  %w = graph.weight_ref @w : tensor<32x64xi8>
  %v = graph.weight_ref @v : tensor<31x64xi8>
  %x = tir.call @mixed(%a : tensor<64x32xi8>, %w : tensor<32x64xi8>) outs(%e : tensor<64x64xi32>)
  %y = tir.call @signed(%a : tensor<64x32xi8>, %w : tensor<32x64xi8>) outs(%e : tensor<64x64xi32>)
  %z = tir.call @odd(%r : tensor<64x31xi8>, %v : tensor<31x64xi8>) outs(%e : tensor<64x64xi32>)
  func.return %x, %y, %z : tensor<64x64xi32>, tensor<64x64xi32>, tensor<64x64xi32>
}

// VNNI-LABEL:    tir.func @mixed
// VNNI:            vector = d1 : 8, order = [d1, d0, d2], pack = [in1], dot = d2 : 4>
// PAIRS-LABEL:   tir.func @mixed
// PAIRS:           pack = [in1], dot = d2 : 2>
// DOTPROD-LABEL: tir.func @mixed
// DOTPROD-NOT:     dot =
// NONE-LABEL:    tir.func @mixed
// NONE-NOT:        dot =
tir.func @mixed(read %a: memref<64x32xi8>, read %b: memref<32x64xi8>, write %c: memref<64x64xi32>) {
  tir.nest dims [parallel 64, parallel 64, reduction 32] ins(%a[d0, d2] : memref<64x32xi8>, %b[d2, d1] : memref<32x64xi8>) outs(%c[d0, d1] : memref<64x64xi32>)
    init {
      %zero = arith.constant 0 : i32
      tir.yield %zero : i32
    }
    body (%x: i8, %y: i8, %acc: i32) {
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %acc, %p : i32
      tir.yield %s : i32
    }
    finish (%acc: i32) {
      tir.yield %acc : i32
    }
  tir.return
}

// VNNI-LABEL:    tir.func @signed
// VNNI:            dot = d2 : 2>
// DOTPROD-LABEL: tir.func @signed
// DOTPROD:         dot = d2 : 4>
tir.func @signed(read %a: memref<64x32xi8>, read %b: memref<32x64xi8>, write %c: memref<64x64xi32>) {
  tir.nest dims [parallel 64, parallel 64, reduction 32] ins(%a[d0, d2] : memref<64x32xi8>, %b[d2, d1] : memref<32x64xi8>) outs(%c[d0, d1] : memref<64x64xi32>)
    init {
      %zero = arith.constant 0 : i32
      tir.yield %zero : i32
    }
    body (%x: i8, %y: i8, %acc: i32) {
      %u = arith.extsi %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %acc, %p : i32
      tir.yield %s : i32
    }
    finish (%acc: i32) {
      tir.yield %acc : i32
    }
  tir.return
}

// A sum of an odd number of products.
// VNNI-LABEL:    tir.func @odd
// VNNI-NOT:        dot =
tir.func @odd(read %a: memref<64x31xi8>, read %b: memref<31x64xi8>, write %c: memref<64x64xi32>) {
  tir.nest dims [parallel 64, parallel 64, reduction 31] ins(%a[d0, d2] : memref<64x31xi8>, %b[d2, d1] : memref<31x64xi8>) outs(%c[d0, d1] : memref<64x64xi32>)
    init {
      %zero = arith.constant 0 : i32
      tir.yield %zero : i32
    }
    body (%x: i8, %y: i8, %acc: i32) {
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %acc, %p : i32
      tir.yield %s : i32
    }
    finish (%acc: i32) {
      tir.yield %acc : i32
    }
  tir.return
}
