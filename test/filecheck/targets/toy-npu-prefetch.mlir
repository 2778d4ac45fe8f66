// RUN: transom-opt -p toy-npu-prefetch %s | filecheck %s

target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}
target.device @npu {targets = [#toy_npu.target], memories = [@toy_sram]}
graph.weight @w = dense<1.0> : tensor<8xf32>

// Weights of a kernel are loaded by the kernel before it; other inputs are not there yet.
// CHECK-LABEL: @border
func.func @border(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK:         %[[W:.*]] = graph.weight_ref @w
  // CHECK-NEXT:    %[[B:.*]] = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  // CHECK-NEXT:    %[[A:.*]] = tir.call @first(%x : tensor<8xf32>, %[[W]] : tensor<8xf32>) outs(%e : tensor<8xf32>, %[[B]] : memref<8xf32, @toy_sram>) {test.first}
  // CHECK:         tir.call @second(%[[A]] : tensor<8xf32>, %[[B]] : memref<8xf32, @toy_sram>) outs(%e : tensor<8xf32>)
  %e = tensor.empty() : tensor<8xf32>
  %a = tir.call @first(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {test.first}
  %w = graph.weight_ref @w : tensor<8xf32>
  %y = tir.call @second(%a : tensor<8xf32>, %w : tensor<8xf32>) outs(%e : tensor<8xf32>)
  func.return %y : tensor<8xf32>
}

// A kernel that is called twice is left alone.
// CHECK-LABEL: @shared
func.func @shared(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK:         tir.call @overlapping(%{{.*}} : tensor<8xf32>, %w : tensor<8xf32>)
  // CHECK-NEXT:    tir.call @overlapping(%{{.*}} : tensor<8xf32>, %w : tensor<8xf32>)
  %e = tensor.empty() : tensor<8xf32>
  %w = graph.weight_ref @w : tensor<8xf32>
  %a = tir.call @overlapping(%x : tensor<8xf32>, %w : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %y = tir.call @overlapping(%a : tensor<8xf32>, %w : tensor<8xf32>) outs(%e : tensor<8xf32>)
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: tir.func @first(read %x: memref<8xf32>, read %{{.*}}: memref<8xf32>, write %y: memref<8xf32>, write %{{.*}}: memref<8xf32, @toy_sram>)
tir.func @first(read %x: memref<8xf32>, write %y: memref<8xf32>)
    attributes {target.for = #target.place<@npu, ?, ?>} {
  // CHECK-NEXT:    %[[T:.*]] = tir.copy_async
  // CHECK:         toy_npu.compute "relu"
  // CHECK-NEXT:    tir.copy
  // CHECK-NEXT:    tir.wait %[[T]]
  // CHECK-NEXT:    tir.return
  %a = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  tir.copy %x, %a : memref<8xf32>, memref<8xf32, @toy_sram>
  %b = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  toy_npu.compute "relu"(%a) to %b : (memref<8xf32, @toy_sram>) -> memref<8xf32, @toy_sram>
  tir.copy %b, %y : memref<8xf32, @toy_sram>, memref<8xf32>
  tir.return
}

// CHECK-LABEL: tir.func @second(read %x: memref<8xf32>, read %w: memref<8xf32, @toy_sram>, write %y: memref<8xf32>)
tir.func @second(read %x: memref<8xf32>, read %w: memref<8xf32>, write %y: memref<8xf32>)
    attributes {target.for = #target.place<@npu, ?, ?>} {
  // CHECK-NEXT:    %a = tir.alloc
  // CHECK-NEXT:    tir.copy %x, %a
  // CHECK-NEXT:    %c = tir.alloc
  // CHECK-NEXT:    toy_npu.compute "add"(%a, %w) to %c
  %a = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  tir.copy %x, %a : memref<8xf32>, memref<8xf32, @toy_sram>
  %b = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  tir.copy %w, %b : memref<8xf32>, memref<8xf32, @toy_sram>
  %c = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  toy_npu.compute "add"(%a, %b) to %c : (memref<8xf32, @toy_sram>, memref<8xf32, @toy_sram>) -> memref<8xf32, @toy_sram>
  tir.copy %c, %y : memref<8xf32, @toy_sram>, memref<8xf32>
  tir.return
}

// In a kernel a load is started before the op in front of the one that needs it.
// CHECK-LABEL: tir.func @overlapping
tir.func @overlapping(read %x: memref<8xf32>, read %w: memref<8xf32>, write %y: memref<8xf32>)
    attributes {target.for = #target.place<@npu, ?, ?>} {
  // CHECK:         %c = tir.alloc
  // CHECK-NEXT:    %[[T:.*]] = tir.copy_async %w, %c
  // CHECK-NEXT:    toy_npu.compute "relu"
  // CHECK:         tir.wait %[[T]]
  // CHECK-NEXT:    toy_npu.compute "add"(%b, %c)
  %a = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  tir.copy %x, %a : memref<8xf32>, memref<8xf32, @toy_sram>
  %b = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  toy_npu.compute "relu"(%a) to %b : (memref<8xf32, @toy_sram>) -> memref<8xf32, @toy_sram>
  %c = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  tir.copy %w, %c : memref<8xf32>, memref<8xf32, @toy_sram>
  %d = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  toy_npu.compute "add"(%b, %c) to %d : (memref<8xf32, @toy_sram>, memref<8xf32, @toy_sram>) -> memref<8xf32, @toy_sram>
  tir.copy %d, %y : memref<8xf32, @toy_sram>, memref<8xf32>
  tir.return
}
