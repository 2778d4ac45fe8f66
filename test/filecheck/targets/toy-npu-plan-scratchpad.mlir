// RUN: transom-opt -p toy-npu-plan-scratchpad %s | filecheck %s
// RUN: transom-opt -p 'toy-npu-plan-scratchpad,tir-lift-scratch{threshold=0},tir-bufferize-main,tir-plan-memory' %s | filecheck %s --check-prefix=PLAN

target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}
target.device @npu {targets = [#toy_npu.target], memories = [@toy_sram]}

// A buffer between kernels is at the bottom; the shared planner leaves it there, and sees
// that the memory of kernels is apart.
// CHECK-LABEL: @main
// PLAN-LABEL:  @main
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK:         tir.alloc {alignment = 16, memory = @toy_sram, pool = @toy_sram.pool, offset = 0} : memref<5xf32, @toy_sram>
  // PLAN-DAG:      %[[B:.*]] = tir.alloc {alignment = 16, memory = @toy_sram, pool = @toy_sram.pool, offset = 0} : memref<5xf32, @toy_sram>
  // PLAN-DAG:      %[[P:.*]] = tir.alloc {alignment = 16, memory = @toy_sram, pool = @toy_sram.pool, offset = 32} : memref<64xi8, @toy_sram>
  // PLAN-DAG:      %[[A:.*]] = tir.alloc {pool = @main.workspace, offset = 0} : memref<8xf32>
  // PLAN:          tir.call @k(%x : memref<8xf32>) outs(%[[A]] : memref<8xf32>, %[[B]] : memref<5xf32, @toy_sram>) scratch(%[[P]] : memref<64xi8, @toy_sram>)
  // PLAN:          tir.call @l(%[[A]] : memref<8xf32>, %[[B]] : memref<5xf32, @toy_sram>)
  %b = tir.alloc {memory = @toy_sram} : memref<5xf32, @toy_sram>
  %e = tensor.empty() : tensor<8xf32>
  %a = tir.call @k(%x : tensor<8xf32>) outs(%e : tensor<8xf32>, %b : memref<5xf32, @toy_sram>)
  %y = tir.call @l(%a : tensor<8xf32>, %b : memref<5xf32, @toy_sram>) outs(%e : tensor<8xf32>)
  func.return %y : tensor<8xf32>
}

// Buffers of a kernel share bytes where they do not live together, above what is held.
// CHECK-LABEL: tir.func @k
tir.func @k(read %x: memref<8xf32>, write %y: memref<8xf32>, write %b: memref<5xf32, @toy_sram>)
    attributes {target.for = #target.place<@npu, ?, ?>} {
  // CHECK-NEXT:    %[[PAD:.*]] = tir.alloc {alignment = 16, memory = @toy_sram, pool = @toy_sram.pool, offset = 32} : memref<64xi8, @toy_sram>
  // CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
  // CHECK-NEXT:    %p = memref.view %[[PAD]][%[[C0]]][] : memref<64xi8, @toy_sram> to memref<8xf32, @toy_sram>
  // CHECK-NEXT:    tir.copy %x, %p
  // CHECK-NEXT:    %[[C32:.*]] = arith.constant 32 : index
  // CHECK-NEXT:    %q = memref.view %[[PAD]][%[[C32]]][]
  // CHECK-NEXT:    toy_npu.compute "relu"(%p) to %q
  // CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
  // CHECK-NEXT:    %r = memref.view %[[PAD]][%[[C0]]][]
  // CHECK-NEXT:    toy_npu.compute "relu"(%q) to %r
  %p = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  tir.copy %x, %p : memref<8xf32>, memref<8xf32, @toy_sram>
  %q = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  toy_npu.compute "relu"(%p) to %q : (memref<8xf32, @toy_sram>) -> memref<8xf32, @toy_sram>
  %r = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  toy_npu.compute "relu"(%q) to %r : (memref<8xf32, @toy_sram>) -> memref<8xf32, @toy_sram>
  tir.copy %r, %y : memref<8xf32, @toy_sram>, memref<8xf32>
  toy_npu.compute "sum"(%r) to %b {axes = [0]} : (memref<8xf32, @toy_sram>) -> memref<5xf32, @toy_sram>
  tir.return
}

// CHECK-LABEL: tir.func @l
tir.func @l(read %x: memref<8xf32>, read %b: memref<5xf32, @toy_sram>, write %y: memref<8xf32>)
    attributes {target.for = #target.place<@npu, ?, ?>} {
  tir.copy %x, %y : memref<8xf32>, memref<8xf32>
  tir.return
}

// CHECK:       executor.pool @toy_sram.pool {size = 96, alignment = 16, memory = @toy_sram}
