// RUN: transom-opt -p tir-verify-plan %s | filecheck %s

executor.pool @p {size = 128}
tir.func @k(read memref<16xf32>, write memref<16xf32>)

// What is dead may be overwritten.
// CHECK-LABEL: @dead
func.func @dead(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %b = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.copy %a, %y : memref<16xf32>, memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%b : memref<16xf32>)
  tir.copy %b, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// Once a copy is waited for, its source may be overwritten.
// CHECK-LABEL: @waited_for
func.func @waited_for(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %b = tir.alloc {pool = @p, offset = 64} : memref<16xf32>
  %c = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  %t = tir.copy_async %a, %b : memref<16xf32>, memref<16xf32>
  tir.wait %t
  tir.copy %x, %c : memref<16xf32>, memref<16xf32>
  tir.copy %b, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// Each region of the loop writes before the other one reads.
// CHECK-LABEL: @while_loop
func.func @while_loop(%c: i1, %x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %b = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  scf.while () : () -> () {
    tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
    scf.condition(%c)
  } do {
    tir.copy %a, %y : memref<16xf32>, memref<16xf32>
    tir.call @k(%x : memref<16xf32>) outs(%b : memref<16xf32>)
    tir.copy %b, %y : memref<16xf32>, memref<16xf32>
    scf.yield
  }
  func.return
}

// Only one arm runs.
// CHECK-LABEL: @arms
func.func @arms(%c: i1, %x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %b = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  scf.if %c {
    tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
    tir.copy %a, %y : memref<16xf32>, memref<16xf32>
  } else {
    tir.call @k(%x : memref<16xf32>) outs(%b : memref<16xf32>)
    tir.copy %b, %y : memref<16xf32>, memref<16xf32>
  }
  func.return
}
