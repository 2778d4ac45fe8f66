// RUN: transom-opt %s -p 'func.func(canonicalize,cse)' --print-ir-after-change -o /dev/null 2>&1 | filecheck %s
// RUN: transom-opt %s -p 'func.func(cse)' --print-ir-before=cse --print-ir-module-scope -o /dev/null 2>&1 | filecheck %s --check-prefix=SCOPE
// RUN: transom-opt %s --print-value-users | filecheck %s --check-prefix=USERS
// RUN: transom-opt %s --print-skip-regions | filecheck %s --check-prefix=SKIP
// RUN: transom-opt %s --elide-elements-larger=2 | filecheck %s --check-prefix=ELIDE
// RUN: transom-opt %s --elide-elements-larger=2 | not transom-opt 2>&1 | filecheck %s --check-prefix=ELIDED

// Passes that change nothing are left out.
// CHECK-NOT:     Canonicalize
// CHECK:         // -----// IR Dump After CommonSubexpressionElimination (cse) ('func.func' operation: @twice) //----- //
// CHECK-NEXT:    func.func @twice
// CHECK-NEXT:      %[[SUM:.*]] = arith.addi
// CHECK-NEXT:      arith.muli %[[SUM]], %[[SUM]]

// SCOPE:         // -----// IR Dump Before CommonSubexpressionElimination (cse) ('func.func' operation: @twice) //----- //
// SCOPE-NEXT:    builtin.module {

// SKIP:          builtin.module {...}

func.func @twice(%x: i32) -> i32 {
  // USERS:       // %x users: %a, %b
  // USERS-NEXT:  %a = arith.addi %x, %x : i32  // user: %c
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  func.return %c : i32
}

// What was left out is not taken for something else.
// ELIDE:         graph.weight @w = dense<__elided__> : tensor<3xf32>
// ELIDED:        error: expected what '__elided__' stands for, which was left out when this was printed
graph.weight @w = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
