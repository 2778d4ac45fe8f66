// RUN: transom-opt %s --to=planned --check-each -o /dev/null 2>&1 | filecheck %s
// RUN: transom-opt %s --to=planned --check-each=phase -o /dev/null 2>&1 | filecheck %s --check-prefix=PHASE
// RUN: transom-opt %s -p dce --audit-attributes -o /dev/null 2>&1 | filecheck %s --check-prefix=AUDIT
// RUN: transom-opt %s -p dce --audit-attributes=error -o /dev/null
// RUN: transom-opt %s --to=partitioned --pass-statistics -o /dev/null 2>&1 | filecheck %s --check-prefix=COUNTS
// RUN: transom-opt %s --to=partitioned --timing -o /dev/null 2>&1 | filecheck %s --check-prefix=TIMES

// CHECK:         numbers after each pass
// CHECK:         graph-fuse interpreted: right, largest error 0
// CHECK:         convert-graph-to-tir interpreted: right, largest error
// CHECK:         tir-bufferize-main interpreted: right, largest error

// PHASE:         numbers after each pass
// PHASE-NEXT:    phase graph interpreted: right
// PHASE-NEXT:    phase placed
// PHASE-NEXT:    phase partitioned
// PHASE-NEXT:    phase tensor
// PHASE-NEXT:    phase scheduled
// PHASE-NEXT:    phase planned
// PHASE-NOT:     phase

// What goes with an op is no mistake of the pass.
// AUDIT:         pass  what       lost  of  ops                      first
// AUDIT-NEXT:    dce   test.hint     1   2  'graph.neg' x1 (erased)

// COUNTS:        Pass statistics report
// COUNTS:        graph-fuse
// COUNTS-NEXT:     (S) 1 groups    - groups of ops that become one kernel
// COUNTS-NEXT:     (S) 2 fused-ops - ops in those groups

// TIMES:         Execution time report
// TIMES:         Parser
// TIMES:         Phase 'partitioned'
// TIMES:           graph-fuse
// TIMES:         Total

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %unused = graph.neg %x {test.hint} : tensor<4x8xf32>
  %e = graph.exp %x {test.hint} : tensor<4x8xf32>
  %y = graph.softmax %e axis 1 : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
