// RUN: transom-opt -p 'target-bind-devices{device=npu targets=[#toy_npu.target<lanes=8>,#llvm_cpu.target<cpu="cortex-m55">] memories=[dram]}' %s | filecheck %s
// RUN: transom-opt --device 'npu={targets=[#toy_npu.target<lanes=8>,#llvm_cpu.target<cpu="cortex-m55">],memories=[@dram]}' %s | filecheck %s
// RUN: transom-opt --device 'npu={targets=[#toy_npu.target<lanes=8>,#llvm_cpu.target<cpu="cortex-m55">],memories=[@dram]}' --device 'cpu={memories=[@dram],targets=[#llvm_cpu.target<cpu="cortex-a53">]}' %s | filecheck %s
// RUN: transom-opt --device 'second=[#toy_npu.target,#llvm_cpu.target<preset="stm32h7">]' --device 'third=#llvm_cpu.target<cpu="host">' %s | filecheck %s --check-prefix=MORE
// RUN: transom-opt --to=graph %s | filecheck %s --check-prefix=GRAPH
// RUN: transom-opt --to=graph %s | transom-opt --device 'npu={targets=[#toy_npu.target],memories=[@dram]}' --to=placed | filecheck %s --check-prefix=PLACED

// A device is declared after those that stand first; binding one again changes nothing.
// CHECK:         target.memory @dram
// CHECK-NEXT:    target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@dram]}
// CHECK-NEXT:    target.device @npu {targets = [#toy_npu.target<lanes = 8>, #llvm_cpu.target<cpu = "cortex-m55">], memories = [@dram]}
// CHECK-NEXT:    func.func @main

// Several are in the order in which they are bound; a preset is spelled out, and so is
// the host.
// MORE:          target.device @cpu
// MORE-NEXT:     target.device @second {targets = [#toy_npu.target, #llvm_cpu.target<cpu = "cortex-m7", triple = "thumbv7em-none-eabihf", facts = {l1_bytes = 16384, l2_bytes = 0}>]}
// MORE-NEXT:     target.device @third {targets = [#llvm_cpu.target<cpu = "{{[a-z0-9._-]+}}"
// MORE-NOT:      cpu = "host"

// Until it is declared, everything is done that needs no target.
// GRAPH:         phase = "graph"
// GRAPH-NOT:     target.device @npu
// GRAPH:         graph.region #target.place<@npu, ?, ?>

// PLACED:        target.device @npu {targets = [#toy_npu.target], memories = [@dram], brought = [@toy_sram]}
// PLACED:        graph.region #target.place<@npu, #toy_npu.target, @dram>

module attributes {target.config = #target.config<host = @cpu>} {
  target.memory @dram
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@dram]}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = graph.region #target.place<@npu, ?, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %s = graph.add %a, %a : tensor<4xf32>
      graph.yield %s : tensor<4xf32>
    }
    func.return %y : tensor<4xf32>
  }
}
