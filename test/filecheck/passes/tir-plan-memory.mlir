// RUN: transom-opt -p tir-plan-memory %s | filecheck %s
// RUN: transom-opt -p tir-plan-memory,tir-plan-memory %s | filecheck %s

tir.func @k(read memref<16xf32>, write memref<16xf32>)
tir.func @work(read memref<16xf32>, write memref<16xf32>, scratch memref<64xf32>)
target.memory @sram {size = 1024, alignment = 16}
target.memory @npu {planned_by = target}

// A chain needs two buffers at a time.
// CHECK:       executor.pool @chain.workspace {size = 128, alignment = 64}
// CHECK-LABEL: func.func @chain(
func.func @chain(%x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK-NEXT:    tir.alloc {pool = @chain.workspace, offset = 0}
  // CHECK-NEXT:    tir.alloc {pool = @chain.workspace, offset = 64}
  // CHECK-NEXT:    tir.alloc {pool = @chain.workspace, offset = 0}
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  %c = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @k(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  tir.call @k(%b : memref<16xf32>) outs(%c : memref<16xf32>)
  tir.call @k(%c : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}

// Arms of a branch share; what is read after it does not.
// CHECK:       executor.pool @branch.workspace {size = 128, alignment = 64}
// CHECK-LABEL: func.func @branch(
func.func @branch(%c: i1, %x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK-NEXT:    %a = tir.alloc {{{.*}} offset = [[A:.*]]} :
  // CHECK-NEXT:    %b = tir.alloc {{{.*}} offset = [[B:.*]]} :
  // CHECK-NEXT:    %d = tir.alloc {{{.*}} offset = [[B]]} :
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  %d = tir.alloc : memref<16xf32>
  scf.if %c {
    tir.call @k(%x : memref<16xf32>) outs(%b : memref<16xf32>)
    tir.call @k(%b : memref<16xf32>) outs(%a : memref<16xf32>)
  } else {
    tir.call @k(%x : memref<16xf32>) outs(%d : memref<16xf32>)
    tir.call @k(%d : memref<16xf32>) outs(%a : memref<16xf32>)
  }
  tir.call @k(%a : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}

// %a is carried from one iteration to the next, %b and %d are not.
// CHECK:       executor.pool @loop.workspace {size = 128, alignment = 64}
// CHECK-LABEL: func.func @loop(
func.func @loop(%n: index, %x: memref<16xf32>) {
  // CHECK:         %a = tir.alloc {{{.*}} offset = [[A:.*]]} :
  // CHECK-NEXT:    %b = tir.alloc {{{.*}} offset = [[B:.*]]} :
  // CHECK-NEXT:    %d = tir.alloc {{{.*}} offset = [[B]]} :
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  %d = tir.alloc : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  scf.for %i = %n to %n step %n {
    tir.call @k(%a : memref<16xf32>) outs(%b : memref<16xf32>)
    tir.copy %b, %x : memref<16xf32>, memref<16xf32>
    tir.call @k(%x : memref<16xf32>) outs(%d : memref<16xf32>)
    tir.copy %d, %x : memref<16xf32>, memref<16xf32>
  }
  func.return
}

// A view keeps its buffer.
// CHECK:       executor.pool @view.workspace {size = 128, alignment = 64}
// CHECK-LABEL: func.func @view(
func.func @view(%x: memref<16xf32>, %y: memref<4x4xf32>) {
  %a = tir.alloc : memref<4x4xf32>
  %v = memref.collapse_shape %a [[0 : i64, 1 : i64]] : memref<4x4xf32> into memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%v : memref<16xf32>)
  tir.call @k(%x : memref<16xf32>) outs(%b : memref<16xf32>)
  tir.copy %a, %y : memref<4x4xf32>, memref<4x4xf32>
  func.return
}

// A part that is written does not end the life of the rest.
// CHECK:       executor.pool @part.workspace {size = 128, alignment = 64}
// CHECK-LABEL: func.func @part(
func.func @part(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<4xf32>) {
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%b : memref<16xf32>)
  %v = memref.subview %a[0] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1]>>
  tir.copy %z, %v : memref<4xf32>, memref<4xf32, strided<[1]>>
  tir.copy %a, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// Scratch lives as long as the call.
// CHECK:       executor.pool @scratch.workspace {size = 256, alignment = 64}
// CHECK-LABEL: func.func @scratch(
func.func @scratch(%x: memref<16xf32>, %y: memref<16xf32>) {
  %s = tir.alloc : memref<64xf32>
  tir.call @work(%x : memref<16xf32>) outs(%y : memref<16xf32>) scratch(%s : memref<64xf32>)
  %t = tir.alloc : memref<64xf32>
  tir.call @work(%x : memref<16xf32>) outs(%y : memref<16xf32>) scratch(%t : memref<64xf32>)
  func.return
}

// A copy in the background uses both buffers until it is waited for; not before.
// CHECK:       executor.pool @background.workspace {size = 192, alignment = 64}
// CHECK-LABEL: func.func @background(
func.func @background(%x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK:         %a = tir.alloc {pool = @background.workspace, offset = [[A:[0-9]+]]}
  // CHECK:         %d = tir.alloc {pool = @background.workspace, offset = [[A]]}
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  %c = tir.alloc : memref<16xf32>
  %d = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %t = tir.copy_async %a, %b : memref<16xf32>, memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%c : memref<16xf32>)
  tir.copy %c, %y : memref<16xf32>, memref<16xf32>
  tir.wait %t
  tir.call @k(%x : memref<16xf32>) outs(%d : memref<16xf32>)
  tir.copy %d, %y : memref<16xf32>, memref<16xf32>
  tir.copy %b, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// Who takes the token may keep both, and so they are not given to another.
// CHECK:       executor.pool @handed_on.workspace {size = 192, alignment = 64}
// CHECK-LABEL: func.func @handed_on(
func.func @handed_on(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  %c = tir.alloc : memref<16xf32>
  %t = tir.copy_async %a, %b : memref<16xf32>, memref<16xf32>
  "test.op"(%t) : (!tir.token) -> ()
  tir.call @k(%x : memref<16xf32>) outs(%c : memref<16xf32>)
  tir.copy %c, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// What an unknown op may keep is never given to another.
// CHECK:       executor.pool @escaped.workspace {size = 128, alignment = 64}
// CHECK-LABEL: func.func @escaped(
func.func @escaped(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  %p = "test.op"(%a) : (memref<16xf32>) -> i64
  tir.call @k(%x : memref<16xf32>) outs(%b : memref<16xf32>)
  tir.copy %b, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// One pool per memory, with its alignment; a target plans its own.
// CHECK-DAG:   executor.pool @memories.workspace {size = 64, alignment = 64}
// CHECK-DAG:   executor.pool @memories.sram {size = 64, alignment = 16, memory = @sram}
// CHECK-LABEL: func.func @memories(
func.func @memories(%x: memref<16xf32>) {
  // CHECK-NEXT:    tir.alloc {pool = @memories.workspace, offset = 0}
  // CHECK-NEXT:    tir.alloc {memory = @sram, pool = @memories.sram, offset = 0}
  // CHECK-NEXT:    tir.alloc : memref<16xf32, @npu>
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc {memory = @sram} : memref<16xf32, @sram>
  %c = tir.alloc : memref<16xf32, @npu>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  tir.copy %a, %b : memref<16xf32>, memref<16xf32, @sram>
  tir.copy %b, %c : memref<16xf32, @sram>, memref<16xf32, @npu>
  func.return
}

// A bounded size is planned at its bound; an unbounded one is taken at run time.
// CHECK:       executor.pool @bounded.workspace {size = 192, alignment = 64}
// CHECK-LABEL: func.func @bounded(
func.func @bounded(%x: memref<?x4xf32>, %y: memref<?xf32>) attributes {
    executor.signature = #executor.signature<(x : tensor<?x4xf32, #graph.desc<dims = ["N" : 1 to 8]>>, y : tensor<?xf32, #graph.desc<dims = ["M" : 4 to ?]>>) -> ()>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %m = memref.dim %y, %c0 : memref<?xf32>
  %c2 = arith.constant 2 : index
  %h = arith.ceildivsi %n, %c2 : index
  // CHECK:         tir.alloc(%n) {pool = @bounded.workspace, offset = 0, reserves = 128} : memref<?x4xf32>
  // CHECK-NEXT:    tir.alloc(%h) {pool = @bounded.workspace, offset = 128, reserves = 64} : memref<?x4xf32>
  // CHECK-NEXT:    tir.alloc(%m) : memref<?xf32>
  %a = tir.alloc(%n) : memref<?x4xf32>
  %b = tir.alloc(%h) : memref<?x4xf32>
  %d = tir.alloc(%m) : memref<?xf32>
  "test.op"(%a, %b, %d) : (memref<?x4xf32>, memref<?x4xf32>, memref<?xf32>) -> ()
  func.return
}

// An offset that was fixed is kept, and the pool grows.
// CHECK:       executor.pool @fixed {size = 192}
executor.pool @fixed {size = 64}
// CHECK-LABEL: func.func @pinned(
func.func @pinned(%x: memref<16xf32>) {
  // CHECK-NEXT:    tir.alloc {pool = @fixed, offset = 128}
  // CHECK-NEXT:    tir.alloc {pool = @fixed, offset = 0}
  %a = tir.alloc {pool = @fixed, offset = 128} : memref<16xf32>
  %b = tir.alloc {pool = @fixed} : memref<16xf32>
  "test.op"(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}

// A pool has room for one activation.
// CHECK-NOT:   @recursive.workspace
func.func private @recursive(%x: memref<16xf32>) {
  %a = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  func.call @recursive(%a) : (memref<16xf32>) -> ()
  func.return
}

// A function that is called has points of its own for each call: its buffers share with
// what does not live then, and with those of other functions.
// CHECK:       executor.pool @calls.workspace {size = 128, alignment = 64}
// CHECK-LABEL: func.func @calls(
func.func @calls(%x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK-NEXT:    %a = tir.alloc {pool = @calls.workspace, offset = [[A:[0-9]+]]}
  // CHECK-NEXT:    %b = tir.alloc {pool = @calls.workspace, offset = [[B:[0-9]+]]}
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  func.call @called(%a, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  tir.call @k(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  tir.copy %b, %y : memref<16xf32>, memref<16xf32>
  func.call @called(%x, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}
// CHECK-LABEL: func.func private @called(
func.func private @called(%x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK-NEXT:    %a = tir.alloc {pool = @calls.workspace, offset = [[B]]}
  %a = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.copy %a, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// Memory of the caller that a function writes lives from there.
// CHECK:       executor.pool @handed_in.workspace {size = 64, alignment = 64}
func.func @handed_in(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  tir.copy %a, %y : memref<16xf32>, memref<16xf32>
  func.call @fill(%x, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  tir.copy %b, %y : memref<16xf32>, memref<16xf32>
  func.return
}
func.func private @fill(%x: memref<16xf32>, %y: memref<16xf32>) {
  tir.call @k(%x : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}

// Functions that are entered from outside share what both call.
// CHECK:       executor.pool @one.workspace {size = 128, alignment = 64}
// CHECK-LABEL: func.func @one(
func.func @one(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  func.call @shared(%a, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}
func.func @two(%x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK:         tir.alloc {pool = @one.workspace
  %a = tir.alloc : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  func.call @shared(%a, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}
func.func private @shared(%x: memref<16xf32>, %y: memref<16xf32>) {
  // CHECK:         tir.alloc {pool = @one.workspace
  %a = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.copy %a, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// What does not fit into the first memory of the device is in the next one.
target.memory @tcm {size = 64, alignment = 16}
target.memory @dram
target.device @mcu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@tcm, @dram]}
// CHECK:       executor.pool @fallback.workspace {size = 64, alignment = 16, memory = @tcm}
// CHECK-NEXT:  executor.pool @fallback.dram {size = 128, alignment = 16, memory = @dram}
// CHECK-LABEL: func.func @fallback(
func.func @fallback(%x: memref<32xf32>, %y: memref<16xf32>) attributes {target.for = #target.place<@mcu, ?, @tcm>} {
  // CHECK-NEXT:    %a = tir.alloc {pool = @fallback.dram, offset = 0} : memref<32xf32>
  // CHECK-NEXT:    %b = tir.alloc {pool = @fallback.workspace, offset = 0} : memref<16xf32>
  %a = tir.alloc : memref<32xf32>
  %b = tir.alloc : memref<16xf32>
  tir.copy %x, %a : memref<32xf32>, memref<32xf32>
  tir.copy %y, %b : memref<16xf32>, memref<16xf32>
  tir.copy %a, %x : memref<32xf32>, memref<32xf32>
  tir.copy %b, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// A part of a buffer is where the rest is: what is put together is written in place.
// CHECK:       executor.pool @in_place.workspace {size = 128, alignment = 64}
func.func @in_place(%x: memref<16xf32>, %y: memref<32xf32>) {
  %a = tir.alloc : memref<32xf32>
  %l = memref.subview %a[0] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1]>>
  %r = memref.subview %a[16] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1], offset: 16>>
  tir.copy %x, %l : memref<16xf32>, memref<16xf32, strided<[1]>>
  tir.copy %x, %r : memref<16xf32>, memref<16xf32, strided<[1], offset: 16>>
  tir.copy %a, %y : memref<32xf32>, memref<32xf32>
  func.return
}
