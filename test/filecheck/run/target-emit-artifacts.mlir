// RUN: transom-run %s --input 2x4xf32=1,2,3,4,5,6,7,8 | filecheck %s
// RUN: transom-opt %s --to=scheduled | transom-run - --interpret --input 2x4xf32=1,2,3,4,5,6,7,8 | filecheck %s
// RUN: transom-opt %s --to=executable | transom-run - --interpret --input 2x4xf32=1,2,3,4,5,6,7,8 | filecheck %s
// RUN: transom-opt %s --to=machine | transom-run - --input 2x4xf32=1,2,3,4,5,6,7,8 | filecheck %s

// The accelerator sums rows, the virtual machine adds its own constant, the CPU takes the
// root: each by what its target emits and brings to run it.
// CHECK: result0: 2xfloat32 = [4, 6]

target.device @soc {targets = [
  #llvm_cpu.target<cpu = "host">, #toy_npu.target, #toy_vm.target
]}
graph.weight @six = dense<[6.0, 10.0]> : tensor<2xf32>
func.func @main(%x: tensor<2x4xf32>) -> tensor<2xf32> {
  %six = graph.weight_ref @six : tensor<2xf32>
  %s = graph.region #target.place<@soc, #toy_npu.target, ?> (%a = %x : tensor<2x4xf32>) -> (tensor<2xf32>) {
    %b = graph.reduce sum %a axes [1] : tensor<2x4xf32> -> tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  %t = graph.region #target.place<@soc, #toy_vm.target, ?> (%a = %s : tensor<2xf32>, %c = %six : tensor<2xf32>) -> (tensor<2xf32>) {
    %b = graph.add %a, %c : tensor<2xf32>
    graph.yield %b : tensor<2xf32>
  }
  %y = graph.sqrt %t : tensor<2xf32>
  func.return %y : tensor<2xf32>
}
