// RUN: transom-opt -p convert-graph-to-toy-npu %s | filecheck %s

target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}
target.device @npu {targets = [#toy_npu.target<features = ["matmul"]>], memories = [@toy_sram]}

// CHECK-LABEL: @main
func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
  // CHECK-NEXT:    %[[S:.*]] = tir.call @[[ADD:add_.*]](%x : tensor<4x8xf32>, %b : tensor<8xf32>) outs(%[[E]] : tensor<4x8xf32>)
  // CHECK-NEXT:    %[[F:.*]] = tensor.empty() : tensor<8xf32>
  // CHECK-NEXT:    tir.call @[[SUM:reduce_mul_.*]](%[[S]] : tensor<4x8xf32>) outs(%[[F]] : tensor<8xf32>)
  %y = func.call @r(%x, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

func.func private @r(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<8xf32>
    attributes {target.for = #target.place<@npu, ?, ?>} {
  %s = graph.add %x, %b : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  %y = graph.fused (%a = %s : tensor<4x8xf32>) -> (tensor<8xf32>) {
    %h = graph.constant dense<0.5> : tensor<f32>
    %t = graph.reduce sum %a axes [0] : tensor<4x8xf32> -> tensor<8xf32>
    %m = graph.mul %t, %h : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
    graph.yield %m : tensor<8xf32>
  }
  func.return %y : tensor<8xf32>
}

// Inputs come to the scratchpad, results go back.
// CHECK:       tir.func @[[ADD]](read %[[X:.*]]: memref<4x8xf32>, read %[[B:.*]]: memref<8xf32>, write %[[Y:.*]]: memref<4x8xf32>)
// CHECK-NEXT:    %[[P:.*]] = tir.alloc {memory = @toy_sram} : memref<4x8xf32, @toy_sram>
// CHECK-NEXT:    tir.copy %[[X]], %[[P]] : memref<4x8xf32>, memref<4x8xf32, @toy_sram>
// CHECK-NEXT:    %[[Q:.*]] = tir.alloc {memory = @toy_sram} : memref<8xf32, @toy_sram>
// CHECK-NEXT:    tir.copy %[[B]], %[[Q]]
// CHECK-NEXT:    %[[R:.*]] = tir.alloc {memory = @toy_sram} : memref<4x8xf32, @toy_sram>
// CHECK-NEXT:    toy_npu.compute "add"(%[[P]], %[[Q]]) to %[[R]]
// CHECK-NEXT:    tir.copy %[[R]], %[[Y]]
// CHECK-NEXT:    tir.return

// A constant of one value is filled in, the ops of a group are in one kernel.
// CHECK:       tir.func @[[SUM]]
// CHECK:         toy_npu.compute "fill"() to %[[H:.*]] {value = 5.000000e-01 : f32} : () -> memref<f32, @toy_sram>
// CHECK:         toy_npu.compute "sum"(%{{.*}}) to %[[T:.*]] {axes = [0 : i64]}
// CHECK:         toy_npu.compute "mul"(%[[T]], %[[H]])
