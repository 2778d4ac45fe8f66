// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s

// Integers are divided by 1 where `arith` has no result: by 0, and by -1, by which the
// least number has none.

target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}

// CHECK-LABEL: tir.func @div_
func.func private @div(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish (%[[A:.*]]: i32, %[[B:.*]]: i32)
  // CHECK-NEXT:      %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[B]], %[[ONE]]
  // CHECK-NEXT:      %[[FAULTS:.*]] = arith.cmpi ule, %[[NEXT]], %[[ONE]]
  // CHECK-NEXT:      %[[SAFE:.*]] = arith.select %[[FAULTS]], %[[ONE]], %[[B]]
  // CHECK-NEXT:      %[[Q:.*]] = arith.divsi %[[A]], %[[SAFE]]
  // CHECK-NEXT:      %[[P:.*]] = arith.muli %[[A]], %[[B]]
  // CHECK-NEXT:      arith.select %[[FAULTS]], %[[P]], %[[Q]]
  // CHECK-NEXT:      tir.yield
  %y = graph.div %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK-LABEL: tir.func @div_
func.func private @div_unsigned(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xui8> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           %[[FAULTS:.*]] = arith.cmpi eq, %[[B:.*]], %{{.*}} : i8
  // CHECK-NEXT:      %[[SAFE:.*]] = arith.select %[[FAULTS]], %{{.*}}, %[[B]]
  // CHECK-NEXT:      %[[Q:.*]] = arith.divui %[[A:.*]], %[[SAFE]]
  // CHECK-NEXT:      %[[P:.*]] = arith.muli %[[A]], %[[B]]
  // CHECK-NEXT:      arith.select %[[FAULTS]], %[[P]], %[[Q]]
  // CHECK-NEXT:      tir.yield
  %y = graph.div %a, %b : tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// CHECK-LABEL: tir.func @mod_
func.func private @mod(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           %[[SAFE:.*]] = arith.select
  // CHECK-NEXT:      %[[R:.*]] = arith.remsi %{{.*}}, %[[SAFE]]
  %y = graph.mod %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// The rest by 1 is 0 already.
// CHECK-LABEL: tir.func @mod_
func.func private @mod_unsigned(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xui8> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           %[[SAFE:.*]] = arith.select
  // CHECK-NEXT:      %[[R:.*]] = arith.remui %{{.*}}, %[[SAFE]]
  // CHECK-NEXT:      tir.yield %[[R]]
  %y = graph.mod %a, %b : tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// By another constant, every number has a quotient.
// CHECK-LABEL: tir.func @div_
func.func private @by_three(%a: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           %[[THREE:.*]] = arith.constant 3 : i32
  // CHECK-NEXT:      %[[Q:.*]] = arith.divsi %{{.*}}, %[[THREE]]
  // CHECK-NEXT:      tir.yield %[[Q]]
  %b = graph.constant dense<3> : tensor<4xi32>
  %y = graph.div %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// Of unsigned numbers that is the largest, not -1.
// CHECK-LABEL: tir.func @mod_
func.func private @by_largest(%a: tensor<4xui8>) -> tensor<4xui8> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NOT:       arith.select
  // CHECK:           arith.remui
  %b = graph.constant dense<255> : tensor<4xui8>
  %y = graph.mod %a, %b : tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// CHECK-LABEL: tir.func @div_
func.func private @by_minus_one(%a: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:           %[[SAFE:.*]] = arith.select
  // CHECK-NEXT:      arith.divsi %{{.*}}, %[[SAFE]]
  %b = graph.constant dense<-1> : tensor<4xi32>
  %y = graph.div %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// Floats have a quotient by everything.
// CHECK-LABEL: tir.func @div_
func.func private @floats(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK-NOT:       arith.select
  // CHECK:           arith.divf
  %y = graph.div %a, %b : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
