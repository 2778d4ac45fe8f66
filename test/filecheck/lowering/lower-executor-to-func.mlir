// RUN: transom-opt -p lower-executor-to-func %s | filecheck %s
// RUN: transom-opt -p lower-executor-to-func --print-debuginfo %s | filecheck %s --check-prefix=LOC

builtin.module attributes {target.config = #target.config<host = @cpu>} {

target.device @cpu {targets = [#llvm_cpu.target<cpu = "znver4">]}
// CHECK:       executor.pool @p {size = 256}
executor.pool @p {size = 256}
executor.pool @q {size = 64}
graph.weight @w = dense<0.0> : tensor<4xf32>
tir.func @k(read memref<4xf32>, write memref<4xf32>)

// A function gets what it uses, in the order of the declarations.
// CHECK-LABEL: func.func private @views
// CHECK-SAME:    (%[[N:.*]]: index {test.mark}, %[[P:.*]]: memref<256xi8>, %[[Q:.*]]: memref<64xi8>)
func.func private @views(%n: index {test.mark}) {
  // CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
  // CHECK-NEXT:    memref.view %[[Q]][%[[C0]]][] {test.hint} : memref<64xi8> to memref<4xf32>
  // LOC:           memref.view {{.*}} loc("m.onnx":3:1)
  // CHECK-NEXT:    %[[C128:.*]] = arith.constant 128 : index
  // CHECK-NEXT:    memref.view %[[P]][%[[C128]]][%[[N]]] : memref<256xi8> to memref<?x4xf32>
  %a = executor.view @q[0] {test.hint} : memref<4xf32> loc("m.onnx":3:1)
  %b = executor.view @p[128](%n) reserves 128 : memref<?x4xf32>
  func.return
}

// What a callee needs is passed on.
// CHECK-LABEL: func.func private @caller
// CHECK-SAME:    (%[[N:.*]]: index, %[[P:.*]]: memref<256xi8>, %[[Q:.*]]: memref<64xi8>)
func.func private @caller(%n: index) {
  // CHECK-NEXT:    func.call @views(%[[N]], %[[P]], %[[Q]]) : (index, memref<256xi8>, memref<64xi8>) -> ()
  // CHECK-NEXT:    func.call @views(%[[N]], %[[P]], %[[Q]])
  func.call @views(%n) : (index) -> ()
  executor.call @views(%n : index)
  func.return
}

// So is what a shape function needs.
// CHECK-LABEL: func.func private @asks
// CHECK-SAME:    (%[[N:.*]]: index, %[[Q:.*]]: memref<64xi8>)
func.func private @asks(%n: index) {
  // CHECK-NEXT:    func.call @count(%[[N]], %[[Q]]) : (index, memref<64xi8>) -> index
  %s = executor.shape_call @count(%n : index) : index
  func.return
}
func.func private @count(%n: index) -> index {
  %a = executor.view @q[0] : memref<4xf32>
  func.return %n : index
}

// An entry gets all pools: those who call it cannot know which.
// CHECK-LABEL: func.func @entry
// CHECK-SAME:    (%[[X:.*]]: memref<4xf32>, %[[P:.*]]: memref<256xi8>, %[[Q:.*]]: memref<64xi8>)
func.func @entry(%x: memref<4xf32>) attributes {
    executor.signature = #executor.signature<(x : tensor<4xf32>) -> ()>} {
  // CHECK-NEXT:    %[[W:.*]] = executor.constant @w : memref<4xf32>
  // CHECK-NEXT:    executor.call @k(%[[W]], %[[X]] :
  // CHECK-NEXT:    func.return
  %w = executor.constant @w : memref<4xf32>
  executor.call @k(%w, %x : memref<4xf32>, memref<4xf32>)
  executor.sync @cpu
  func.return
}

// CHECK-LABEL: func.func @memory(
func.func @memory(%n: index, %x: memref<4xf32>) {
  // CHECK-NEXT:    %[[A:.*]] = memref.alloc(%n) {alignment = 128 : i64} : memref<?xf32>
  // CHECK-NEXT:    %[[X:.*]] = "memref.cast"(%x) : (memref<4xf32>) -> memref<?xf32>
  // CHECK-NEXT:    "memref.copy"(%[[X]], %[[A]]) : (memref<?xf32>, memref<?xf32>) -> ()
  // CHECK-NEXT:    memref.dealloc %[[A]] : memref<?xf32>
  // CHECK-NEXT:    func.call @half(%n) : (index) -> index
  %a = executor.alloc(%n) align 128 : memref<?xf32>
  executor.copy %x, %a : memref<4xf32>, memref<?xf32>
  executor.free %a : memref<?xf32>
  %h = executor.shape_call @half(%n : index) : index
  func.return
}
func.func private @half(index) -> index

// A view in another memory is that after a cast.
target.memory @sram
executor.pool @s {size = 64, memory = @sram}
// CHECK-LABEL: func.func private @space
// CHECK-SAME:    (%[[S:.*]]: memref<64xi8>)
func.func private @space() {
  // CHECK:         %[[V:.*]] = memref.view %[[S]]
  // CHECK-NEXT:    "memref.memory_space_cast"(%[[V]]) : (memref<4xf32>) -> memref<4xf32, @sram>
  %a = executor.view @s[0] : memref<4xf32, @sram>
  func.return
}

}
