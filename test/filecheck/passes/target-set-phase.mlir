// RUN: transom-opt -p 'target-set-phase{phase=graph}' %s | filecheck %s
// RUN: not transom-opt -p 'target-set-phase{phase=planed}' %s 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not transom-opt -p 'target-set-phase{phase=partitioned}' %s 2>&1 | filecheck %s --check-prefix=BROKEN

// CHECK:          builtin.module attributes {target.config = #target.config<phase = "graph">} {
// CHECK-LABEL:    @main

// UNKNOWN:        error: pass 'target-set-phase': unknown phase 'planed'; did you mean 'planned'?
// UNKNOWN-NEXT:     target-set-phase{phase=planed}

// BROKEN:         target-set-phase.mlir:14:3: error: phase 'partitioned' expects no 'graph.relu' outside a function with a place

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
