// RUN: transom-opt -p graph-outline-regions %s | filecheck %s

// A region in a region is outlined of the function that the outer one becomes, at its own place.
// CHECK-LABEL: func.func @nested(
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.region #target.place<@npu, ?, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %b = graph.neg %a : tensor<4xf32>
    %c = graph.region #target.place<@npu, #llvm_cpu.target<cpu = "cortex-a53">, ?> (%d = %b : tensor<4xf32>) -> (tensor<4xf32>) {
      %e = graph.abs %d : tensor<4xf32>
      graph.yield %e : tensor<4xf32>
    }
    graph.yield %c : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
// CHECK:       func.func private @nested_region_0(
// CHECK-SAME:    target.for = #target.place<@npu, ?, ?>
// CHECK-NEXT:    %[[B:.*]] = func.call @nested_region_0_region_0
// CHECK-NEXT:    func.call @nested_region_0_region_1(%[[B]])
// CHECK:       func.func private @nested_region_0_region_0(
// CHECK-NEXT:    graph.neg
// CHECK:       func.func private @nested_region_0_region_1(
// CHECK-SAME:    target.for = #target.place<@npu, #llvm_cpu.target<cpu = "cortex-a53">, ?>
// CHECK-NEXT:    graph.abs
