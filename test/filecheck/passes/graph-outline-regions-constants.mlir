// RUN: transom-opt -p 'graph-outline-regions{constants=passed}' %s | filecheck %s
// RUN: transom-opt -p 'graph-outline-regions{constants=passed},graph-inline-regions' %s | filecheck %s --check-prefix=BACK

// Constants and weights are arguments, in the order of first use with the others.
graph.weight @w = dense<1.0> : tensor<4xf32>
// CHECK-LABEL: func.func @main
// BACK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         %[[W:.*]] = graph.weight_ref @w
  // CHECK:         %[[C:.*]] = graph.constant
  // CHECK:         %[[M:.*]] = func.call @main_region_0(%x, %[[W]], %[[C]])
  // CHECK:         func.call @main_region_1(%[[M]], %[[C]])
  // CHECK:       func.func private @main_region_0(%x: tensor<4xf32>, %w: tensor<4xf32>, %c: tensor<4xf32>)
  // CHECK-NEXT:    graph.add
  // CHECK-NEXT:    graph.mul
  // CHECK:       func.func private @main_region_1(%m: tensor<4xf32>, %c: tensor<4xf32>)
  // CHECK-NEXT:    graph.sub
  // BACK-NEXT:     graph.weight_ref
  // BACK-NEXT:     graph.constant
  // BACK-NEXT:     graph.add
  // BACK-NEXT:     graph.mul
  // BACK-NEXT:     graph.sub
  // BACK-NEXT:     func.return
  %w = graph.weight_ref @w : tensor<4xf32>
  %c = graph.constant dense<2.0> : tensor<4xf32>
  %a = graph.add %x, %w : tensor<4xf32>
  %m = graph.mul %a, %c : tensor<4xf32>
  %y = graph.region #target.place<@cpu, ?, ?> (%i = %m : tensor<4xf32>, %j = %c : tensor<4xf32>) -> (tensor<4xf32>) {
    %n = graph.sub %i, %j : tensor<4xf32>
    graph.yield %n : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
