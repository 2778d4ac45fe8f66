// RUN: transom-opt -p toy-npu-merge-kernels %s | filecheck %s

target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}
target.device @npu {targets = [#toy_npu.target], memories = [@toy_sram]}

// A branch is finished before the next is begun: of what may be next, that is first
// which leaves the least live. Values go on in the scratchpad, and inputs are loaded once.
// CHECK-LABEL: @interleaved
func.func @interleaved(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2xf32>) {
  // CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<8xf32>
  // CHECK-NEXT:    %[[F:.*]] = tensor.empty() : tensor<2xf32>
  // CHECK-NEXT:    %[[R:.*]], %[[S:.*]] = tir.call @[[MERGED:npu_.*]](%x : tensor<8xf32>) outs(%[[F]] : tensor<2xf32>, %[[E]] : tensor<8xf32>) {test.of_first, test.of_last}
  // CHECK-NEXT:    func.return %[[S]], %[[R]]
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<2xf32>
  %a = tir.call @double(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {test.of_first}
  %b = tir.call @sums(%x : tensor<8xf32>) outs(%f : tensor<2xf32>)
  %c = tir.call @double(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
  %d = tir.call @relu(%b : tensor<2xf32>) outs(%f : tensor<2xf32>) {test.of_last}
  func.return %c, %d : tensor<8xf32>, tensor<2xf32>
}

// What reads a result in between keeps calls apart, and so does what has an effect.
// CHECK-LABEL: @apart
func.func @apart(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK:         %[[A:.*]] = tir.call @relu(%x
  // CHECK-NEXT:    %[[C:.*]] = tensor.cast %[[A]]
  // CHECK-NEXT:    %[[B:.*]] = tir.call @relu(%[[C]]
  // CHECK-NEXT:    "test.op"()
  // CHECK-NEXT:    tir.call @relu(%[[B]]
  %f = tensor.empty() : tensor<2xf32>
  %a = tir.call @relu(%x : tensor<2xf32>) outs(%f : tensor<2xf32>)
  %c = tensor.cast %a : tensor<2xf32> to tensor<?xf32>
  %b = tir.call @relu(%c : tensor<?xf32>) outs(%f : tensor<2xf32>)
  "test.op"() : () -> ()
  %d = tir.call @relu(%b : tensor<2xf32>) outs(%f : tensor<2xf32>)
  func.return %d : tensor<2xf32>
}

// Kept functions say what they are lowered to now; kernels without calls are gone.
// CHECK:       func.func private @kept() -> () attributes {target.lowered_to = [@[[MERGED]], @relu]}
func.func private @kept() -> () attributes {target.lowered_to = [@double, @sums, @relu]}
// CHECK-NOT:   tir.func @double
// CHECK-NOT:   tir.func @sums
tir.func @double(read %x: memref<8xf32>, write %y: memref<8xf32>)
    attributes {target.for = #target.place<@npu, ?, ?>} {
  %a = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  tir.copy %x, %a : memref<8xf32>, memref<8xf32, @toy_sram>
  %b = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  toy_npu.compute "add"(%a, %a) to %b : (memref<8xf32, @toy_sram>, memref<8xf32, @toy_sram>) -> memref<8xf32, @toy_sram>
  tir.copy %b, %y : memref<8xf32, @toy_sram>, memref<8xf32>
  tir.return
}
tir.func @sums(read %x: memref<8xf32>, write %y: memref<2xf32>)
    attributes {target.for = #target.place<@npu, ?, ?>} {
  %a = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
  tir.copy %x, %a : memref<8xf32>, memref<8xf32, @toy_sram>
  %b = tir.alloc {memory = @toy_sram} : memref<2xf32, @toy_sram>
  toy_npu.compute "sum"(%a) to %b {axes = [0]} : (memref<8xf32, @toy_sram>) -> memref<2xf32, @toy_sram>
  tir.copy %b, %y : memref<2xf32, @toy_sram>, memref<2xf32>
  tir.return
}
tir.func @relu(read %x: memref<2xf32>, write %y: memref<2xf32>)
    attributes {target.for = #target.place<@npu, ?, ?>} {
  %a = tir.alloc {memory = @toy_sram} : memref<2xf32, @toy_sram>
  tir.copy %x, %a : memref<2xf32>, memref<2xf32, @toy_sram>
  %b = tir.alloc {memory = @toy_sram} : memref<2xf32, @toy_sram>
  toy_npu.compute "relu"(%a) to %b : (memref<2xf32, @toy_sram>) -> memref<2xf32, @toy_sram>
  tir.copy %b, %y : memref<2xf32, @toy_sram>, memref<2xf32>
  tir.return
}

// CHECK:       tir.func @relu
// CHECK:       tir.func @[[MERGED]](read %[[X:.*]]: memref<8xf32>, write %[[U:.*]]: memref<2xf32>, write %[[V:.*]]: memref<8xf32>)
// CHECK-NEXT:    %[[A:.*]] = tir.alloc
// CHECK-NEXT:    tir.copy %[[X]], %[[A]]
// CHECK-NEXT:    %[[B:.*]] = tir.alloc
// CHECK-NEXT:    toy_npu.compute "sum"(%[[A]]) to %[[B]]
// CHECK-NEXT:    %[[C:.*]] = tir.alloc
// CHECK-NEXT:    toy_npu.compute "relu"(%[[B]]) to %[[C]]
// CHECK-NEXT:    tir.copy %[[C]], %[[U]]
// CHECK-NEXT:    %[[D:.*]] = tir.alloc
// CHECK-NEXT:    toy_npu.compute "add"(%[[A]], %[[A]]) to %[[D]]
// CHECK-NEXT:    %[[E:.*]] = tir.alloc
// CHECK-NEXT:    toy_npu.compute "add"(%[[D]], %[[D]]) to %[[E]]
// CHECK-NEXT:    tir.copy %[[E]], %[[V]]
// CHECK-NEXT:    tir.return
