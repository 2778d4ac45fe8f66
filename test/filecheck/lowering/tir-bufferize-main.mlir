// RUN: transom-opt -p tir-bufferize-main %s | filecheck %s
// RUN: transom-opt -p tir-bufferize-main --print-debuginfo %s | filecheck %s --check-prefix=LOC

// CHECK:       graph.weight @constant_0 = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
// CHECK-NOT:   @constant_1
tir.func @k(read memref<4xf32>, write memref<4xf32>)
tir.func @two(read memref<4xf32>, write memref<4xf32>, write memref<4xf32>)
tir.func @update(read memref<4xf32>, read_write memref<4xf32>)
graph.weight @w = dense<0.0> : tensor<4xf32>

// The names and types that callers see are kept.
// CHECK-LABEL: @destination
// CHECK-SAME:    (%[[X:.*]]: memref<4xf32> {graph.name = "x"}, %[[Y:.*]]: memref<4xf32> {graph.name = "y", tir.result = 0 : i64})
// CHECK-SAME:    executor.signature = #executor.signature<(x : tensor<4xf32>) -> (y : tensor<4xf32>)>
func.func @destination(%x: tensor<4xf32> {graph.name = "x"})
    -> (tensor<4xf32> {graph.name = "y"}) {
  // CHECK-NEXT:    tir.call @k(%[[X]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>) {test.hint}
  // CHECK-NEXT:    func.return
  // LOC:           tir.call @k({{.*}} loc("m.onnx":3:1)
  %d = tensor.empty() : tensor<4xf32>
  %y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {test.hint} loc("m.onnx":3:1)
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: @input_returned
func.func @input_returned(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    tir.copy %x, %0
  // CHECK-NEXT:    func.return
  func.return %x : tensor<4xf32>
}

// CHECK-LABEL: @returned_twice
func.func @returned_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:    tir.call @k(%x : memref<4xf32>) outs(%[[Y:.*]] : memref<4xf32>)
  // CHECK-NEXT:    tir.copy %[[Y]], %{{.*}} :
  // CHECK-NEXT:    func.return
  %d = tensor.empty() : tensor<4xf32>
  %y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  func.return %y, %y : tensor<4xf32>, tensor<4xf32>
}

// One buffer may be undefined for two results.
// CHECK-LABEL: @two_results
// CHECK-SAME:    (%[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32> {{.*}}, %[[Z:.*]]: memref<4xf32> {{.*}})
func.func @two_results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:    tir.call @two(%[[X]] : memref<4xf32>) outs(%[[Z]] : memref<4xf32>, %[[Y]] : memref<4xf32>)
  %d = tensor.empty() : tensor<4xf32>
  %y:2 = tir.call @two(%x : tensor<4xf32>) outs(%d : tensor<4xf32>, %d : tensor<4xf32>)
  func.return %y#1, %y#0 : tensor<4xf32>, tensor<4xf32>
}

// Equal constants are one weight.
// CHECK-LABEL: @constants
func.func @constants() -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:    %[[A:.*]] = executor.constant @constant_0 : memref<4xf32>
  // CHECK-NEXT:    executor.constant @constant_0
  // CHECK-NEXT:    %[[W:.*]] = executor.constant @w : memref<4xf32>
  // CHECK-NEXT:    tir.call @k(%[[A]] : {{.*}}) outs(%[[Y:.*]] : memref<4xf32>)
  // CHECK-NEXT:    tir.copy %[[W]], %{{.*}} :
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %w = graph.weight_ref @w : tensor<4xf32>
  %d = tensor.empty() : tensor<4xf32>
  %y = tir.call @k(%a : tensor<4xf32>) outs(%d : tensor<4xf32>)
  func.return %y, %w : tensor<4xf32>, tensor<4xf32>
}

// What is updated is dead afterwards.
// CHECK-LABEL: @update_in_place
func.func @update_in_place(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    tir.call @k(%x : {{.*}}) outs(%[[Y:.*]] : memref<4xf32>)
  // CHECK-NEXT:    tir.call @update(%x : {{.*}}) outs(%[[Y]] : memref<4xf32>)
  // CHECK-NEXT:    func.return
  %d = tensor.empty() : tensor<4xf32>
  %y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  %z = tir.call @update(%x : tensor<4xf32>) outs(%y : tensor<4xf32>)
  func.return %z : tensor<4xf32>
}

// The old value is read once more.
// CHECK-LABEL: @update_of_live_value
func.func @update_of_live_value(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    tir.call @k(%x : {{.*}}) outs(%[[A:.*]] : memref<4xf32>)
  // CHECK-NEXT:    %[[B:.*]] = tir.alloc : memref<4xf32>
  // CHECK-NEXT:    tir.copy %[[A]], %[[B]]
  // CHECK-NEXT:    tir.call @update(%x : {{.*}}) outs(%[[B]] : memref<4xf32>)
  // CHECK-NEXT:    tir.call @update(%[[B]] : {{.*}}) outs(%[[A]] : memref<4xf32>)
  // CHECK-NEXT:    func.return
  %d = tensor.empty() : tensor<4xf32>
  %y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  %z = tir.call @update(%x : tensor<4xf32>) outs(%y : tensor<4xf32>)
  %u = tir.call @update(%z : tensor<4xf32>) outs(%y : tensor<4xf32>)
  func.return %u : tensor<4xf32>
}

// Callers own what they pass.
// CHECK-LABEL: @update_of_input
func.func @update_of_input(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    tir.copy %x, %[[Y:.*]] :
  // CHECK-NEXT:    tir.call @update(%x : {{.*}}) outs(%[[Y]] : memref<4xf32>)
  %z = tir.call @update(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
  func.return %z : tensor<4xf32>
}

// What stays unsigned for callers is signless in memory.
// CHECK-LABEL: @unsigned
// CHECK-SAME:    (%x: memref<4xi8>, %{{.*}}: memref<4xi8> {{.*}}) attributes {executor.signature = #executor.signature<(arg0 : tensor<4xui8>) -> (result0 : tensor<4xui8>)>}
func.func @unsigned(%x: tensor<4xui8>) -> tensor<4xui8> {
  func.return %x : tensor<4xui8>
}

// A function of the host gets memory for its results; numbers are still results.
// CHECK-LABEL: func.func private @host
// CHECK-SAME:    (memref<4xf32>, memref<4xf32>) -> i32
func.func private @host(tensor<4xf32>) -> (i32, tensor<4xf32>)
// CHECK-LABEL: @calls_host
func.func @calls_host(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %n = func.call @host(%x, %y) : (memref<4xf32>, memref<4xf32>) -> i32
  %n, %y = func.call @host(%x) : (tensor<4xf32>) -> (i32, tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// A copy to another memory is done.
// CHECK-LABEL: @moved
func.func @moved(%x: tensor<4xf32>) {
  // CHECK-NEXT:    %[[A:.*]] = tir.alloc {memory = @sram} : memref<4xf32, @sram>
  // CHECK-NEXT:    tir.copy %x, %[[A]] : memref<4xf32>, memref<4xf32, @sram>
  %y = graph.copy %x : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@cpu, ?, @sram>>>
  func.return
}

// What was kept to be lowered again goes, with the weights that only it reads.
// CHECK-NOT:   @lowered
// CHECK-NOT:   @read_by_lowered
// CHECK:       graph.weight @read_by_both
graph.weight @read_by_lowered = dense<2.0> : tensor<4xf32>
graph.weight @read_by_both = dense<2.0> : tensor<4xf32>
func.func private @lowered(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {target.lowered_to = [@k]} {
  %v = graph.weight_ref @read_by_lowered : tensor<4xf32>
  %w = graph.weight_ref @read_by_both : tensor<4xf32>
  %y = graph.add %v, %w : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
// CHECK-LABEL: @reads_weight
func.func @reads_weight() -> tensor<4xf32> {
  %w = graph.weight_ref @read_by_both : tensor<4xf32>
  func.return %w : tensor<4xf32>
}

// Attributes go to what takes the place of an op.
// CHECK-LABEL: @attributes
func.func private @attributes(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  // CHECK-NEXT:    %w = executor.constant @marked {test.weight} : memref<4xf32>
  // CHECK-NEXT:    %e = memref.load %x[%i] {test.extract} : memref<4xf32>
  %w = graph.weight_ref @marked {test.weight} : tensor<4xf32>
  %e = tensor.extract %x[%i] {test.extract} : tensor<4xf32>
  // CHECK-NEXT:    tir.copy %w, %y
  // CHECK-NEXT:    memref.store %e, %y[%i] {test.insert} : memref<4xf32>
  %y = tensor.insert %e into %w[%i] {test.insert} : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
graph.weight @marked = dense<1.0> : tensor<4xf32>
