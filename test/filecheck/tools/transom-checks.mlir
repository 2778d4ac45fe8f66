// RUN: transom-checks %S/Inputs/to-check.mlir | filecheck %s --match-full-lines
// RUN: cp %S/Inputs/to-check.mlir %t.mlir && transom-checks -i %t.mlir
// RUN: transom-checks --check %t.mlir && transom-opt -p canonicalize %t.mlir | filecheck %t.mlir

// Captures are named for values, or for what makes them; brackets are left out.

// CHECK:      // transom-checks: begin
// CHECK-NEXT: // CHECK-LABEL: func.func @relu(
// CHECK-NEXT{LITERAL}: // CHECK-SAME:    {{^}}%[[X:[^ ,:)]+]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT{LITERAL}: // CHECK-NEXT:    %[[RELU:.*]] = graph.relu %[[X]] : tensor<4xf32>
// CHECK-NEXT{LITERAL}: // CHECK-NEXT:    func.return %[[RELU]] : tensor<4xf32>
// CHECK-NEXT: // transom-checks: end
// CHECK-NEXT: func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
