// RUN: transom-opt -p graph-inline-regions %s | filecheck %s

// Functions of a place, regions and composites are put where they are called.
// CHECK-LABEL: @main
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:    %[[A:.*]] = graph.add %[[X:.*]], %[[X]]
  // CHECK-NEXT:    %[[R:.*]] = graph.relu %[[A]]
  // CHECK-NEXT:    %[[N:.*]] = graph.neg %[[R]]
  // CHECK-NEXT:    %[[E:.*]] = graph.exp %[[N]]
  // CHECK-NEXT:    %[[K:.*]] = func.call @kept(%[[E]])
  // CHECK-NEXT:    func.return %[[A]], %[[K]]
  %a, %r = func.call @main_region_0(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %n = graph.region #target.place<@cpu, ?, ?> (%i = %r : tensor<4xf32>) -> (tensor<4xf32>) {
    %c = graph.composite "acme.neg" (%j = %i : tensor<4xf32>) -> (tensor<4xf32>) {
      %m = graph.neg %j : tensor<4xf32>
      graph.yield %m : tensor<4xf32>
    }
    graph.yield %c : tensor<4xf32>
  }
  %e = func.call @nested(%n) : (tensor<4xf32>) -> tensor<4xf32>
  %k = func.call @kept(%e) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %k : tensor<4xf32>, tensor<4xf32>
}

// CHECK-NOT: @main_region_0
func.func private @main_region_0(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {target.for = #target.place<@cpu, ?, ?>} {
  %a = graph.add %x, %x : tensor<4xf32>
  %r = graph.relu %a : tensor<4xf32>
  func.return %a, %r : tensor<4xf32>, tensor<4xf32>
}

// One that calls such a function is one afterwards.
// CHECK-NOT: @nested
func.func private @nested(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = func.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.exp %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// A function that has been lowered, or that nobody calls, stays.
// CHECK: @kept
func.func private @kept(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>, target.lowered_to = [@k]} {
  %y = graph.exp %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
// CHECK: @uncalled
func.func private @uncalled(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.exp %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
tir.func @k(read %x: memref<4xf32>, write %y: memref<4xf32>)
target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
