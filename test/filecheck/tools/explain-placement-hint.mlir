// RUN: transom-opt --to=placed --explain-placement=%t.txt %s -o /dev/null
// RUN: filecheck %s --input-file=%t.txt

target.device @cpu {targets = [#toy_npu.target, #llvm_cpu.target<cpu = "x86-64-v3">]}

// CHECK-LABEL: @main
// CHECK-NEXT:    graph.relu x1: #llvm_cpu.target<cpu = "x86-64-v3"> on @cpu: the hint '#target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, ?>' prefers it
// CHECK-NEXT:      #toy_npu.target{{.*}} on @cpu: takes it, but the hint '#target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, ?>' prefers another
func.func @main(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %r = graph.relu %x : tensor<4x32xf32>
  %h = graph.on_device %r hint #target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, ?> : tensor<4x32xf32>
  func.return %h : tensor<4x32xf32>
}

// A hint for a target that does not take the op decides nothing.
// CHECK-LABEL: @unheard
// CHECK-NEXT:    graph.softmax x1: #llvm_cpu.target<cpu = "x86-64-v3"> on @cpu: takes what is left
// CHECK-NEXT:      #toy_npu.target{{.*}} on @cpu: no claim is for it
func.func @unheard(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %r = graph.softmax %x axis 1 : tensor<4x32xf32>
  %h = graph.on_device %r hint #target.place<@cpu, #toy_npu.target, ?> : tensor<4x32xf32>
  func.return %h : tensor<4x32xf32>
}
