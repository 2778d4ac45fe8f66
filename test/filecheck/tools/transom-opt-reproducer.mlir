// RUN: transom-opt %s -p 'func.func(cse),tir-choose-schedule' --generate-reproducer=- 2>/dev/null | filecheck %s
// RUN: not transom-opt %s --to=partitioned --crash-reproducer=- 2>&1 | filecheck %s --check-prefix=CRASH
// RUN: not transom-opt %s --to=partitioned --crash-reproducer=- 2>/dev/null | not transom-opt --run-reproducer 2>&1 | filecheck %s --check-prefix=RUN-AGAIN
// RUN: not transom-opt %s --run-reproducer 2>&1 | filecheck %s --check-prefix=NONE

// All options are spelled out.
// CHECK:         external_resources: {
// CHECK-NEXT:      mlir_reproducer: {
// CHECK-NEXT:        pipeline: "builtin.module(func.func(cse),tir-choose-schedule{vector-bytes=32 register-count=16 l1-bytes=32768 l2-bytes=262144 mask-bytes=4 chains=8 dot=\22none\22})",
// CHECK-NEXT:        disable_threading: true,
// CHECK-NEXT:        verify_each: true

// CRASH:         target-set-phase{phase=partitioned}
// CRASH:         transom-opt-reproducer.mlir:25:5: error: phase 'partitioned' expects no 'graph.relu' outside a function with a place
// CRASH:         note: reproducer written to standard output; it fails in the same way when run again

// The place is still that of the input.
// RUN-AGAIN:     transom-opt-reproducer.mlir:25:5: error: phase 'partitioned' expects no 'graph.relu'

// NONE:          error: expected a section 'mlir_reproducer' in the external resources of the file, as '--generate-reproducer' writes it

builtin.module attributes {target.config = #target.config<phase = "placed">} {
  target.device @d {targets = [#llvm_cpu.target<cpu = "znver4">]}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = graph.relu %x : tensor<4xf32>
    func.return %y : tensor<4xf32>
  }
}
