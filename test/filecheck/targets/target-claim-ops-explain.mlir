// RUN: transom-opt -p 'target-claim-ops{explain}' --split-input-file %s | filecheck %s
// RUN: transom-opt -p 'target-claim-ops{explain},target-plan-devices,graph-outline-regions' --split-input-file %s | filecheck %s

// An op says which targets would have come first, and why they do not run it.
target.device @soc {targets = [#toy_npu.target<lanes = 1, features = ["matmul"]>, #toy_npu.target, #llvm_cpu.target<cpu = "cortex-a53">]}
// CHECK-LABEL: @main
func.func @main(%x: tensor<64xf32>, %d: tensor<64xf64>) -> (tensor<64xf32>, tensor<64xf64>) {
  // CHECK-DAG:     graph.exp {{.*}} {target.refused = [#target.refusal<#toy_npu.target<lanes = 1, features = ["matmul"]>, "no claim is for it">, #target.refusal<#toy_npu.target, "no claim is for it">]} : tensor<64xf32>
  %e = graph.exp %x : tensor<64xf32>
  // CHECK-DAG:     graph.add {{.*}} {target.refused = [#target.refusal<#toy_npu.target<lanes = 1, features = ["matmul"]>, "takes 7.4e-08 s, but '#toy_npu.target' takes 2.6e-08 s">]} : tensor<64xf32>
  %s = graph.add %e, %x : tensor<64xf32>
  // CHECK-DAG:     graph.relu {{.*}} {target.refused = [#target.refusal<#toy_npu.target<lanes = 1, features = ["matmul"]>, "expected f32, but got 'f64'">, #target.refusal<#toy_npu.target, "expected f32, but got 'f64'">]} : tensor<64xf64>
  %r = graph.relu %d : tensor<64xf64>
  // CHECK-DAG:     graph.fused {{.*}} attributes {target.refused = [#target.refusal<#toy_npu.target<lanes = 1, features = ["matmul"]>, "'graph.exp' in it: no claim is for it">, {{.*}}]}
  %f = graph.fused (%a = %r : tensor<64xf64>) -> (tensor<64xf64>) {
    %q = graph.exp %a : tensor<64xf64>
    graph.yield %q : tensor<64xf64>
  }
  func.return %s, %f : tensor<64xf32>, tensor<64xf64>
}

// -----

// Without another target in front there is nothing to say.
target.device @soc {targets = [#toy_npu.target, #llvm_cpu.target<cpu = "cortex-a53">]}
// CHECK-LABEL: @first
// CHECK-NOT:     target.refused
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.add %x, %x : tensor<4xf32>
  func.return %s : tensor<4xf32>
}
