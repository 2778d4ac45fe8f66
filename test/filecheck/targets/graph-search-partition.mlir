// RUN: transom-opt -p graph-search-partition --split-input-file %s | filecheck %s
// RUN: transom-opt -p graph-search-partition,target-claim-ops --split-input-file %s | filecheck %s

// What costs less together goes to another device, with copies counted once; what it
// would not earn stays.
module attributes {target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @dram
  target.memory @sram {size = 65536}
  target.link @dram -> @sram {bandwidth = 1.0e+09, latency = 1.0e-07}
  target.link @sram -> @dram {bandwidth = 1.0e+09, latency = 1.0e-07}
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">], memories = [@dram], flops = 1.0e+08, bandwidth = 1.0e+08}
  target.device @npu {targets = [#toy_npu.target], memories = [@sram], launch = 1.0e-05}

  // CHECK-LABEL: @chain
  // CHECK-SAME:    target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, ?>
  func.func @chain(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    // CHECK-NEXT:    graph.region #target.place<@npu, #toy_npu.target, ?>
    // CHECK-NEXT:      graph.add
    // CHECK-NEXT:      graph.relu
    // CHECK-NEXT:      graph.mul
    // CHECK-NEXT:      graph.yield
    // CHECK:         graph.exp
    %a = graph.add %x, %x : tensor<64x64xf32>
    %b = graph.relu %a : tensor<64x64xf32>
    %c = graph.mul %b, %a : tensor<64x64xf32>
    %e = graph.exp %c : tensor<64x64xf32>
    func.return %e : tensor<64x64xf32>
  }

  // CHECK-LABEL: @small
  // CHECK-NOT:     graph.region
  func.func @small(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = graph.add %x, %x : tensor<4xf32>
    func.return %a : tensor<4xf32>
  }

  // A function that is placed by hand stays where it is.
  // CHECK-LABEL: @placed
  // CHECK-NOT:     graph.region
  func.func @placed(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
    %a = graph.add %x, %x : tensor<64x64xf32>
    %b = graph.mul %a, %a : tensor<64x64xf32>
    %c = graph.mul %b, %a : tensor<64x64xf32>
    func.return %c : tensor<64x64xf32>
  }

  // So does an op that is pinned; the arms of a branch are searched for themselves.
  // CHECK-LABEL: @pinned
  func.func @pinned(%c: i1, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    // CHECK:         scf.if
    // CHECK-NEXT:      graph.region #target.place<@npu, #toy_npu.target, ?>
    // CHECK-COUNT-2:     graph.mul
    // CHECK:         } else {
    // CHECK-NEXT:      graph.add
    // CHECK-NEXT:      scf.yield
    %y = scf.if %c -> (tensor<64x64xf32>) {
      %a = graph.mul %x, %x : tensor<64x64xf32>
      %b = graph.mul %a, %a : tensor<64x64xf32>
      scf.yield %b : tensor<64x64xf32>
    } else {
      %a = graph.add %x, %x : tensor<64x64xf32>
      %p = graph.on_device %a pinned #target.place<@cpu, ?, ?> : tensor<64x64xf32>
      scf.yield %p : tensor<64x64xf32>
    }
    func.return %y : tensor<64x64xf32>
  }
}

// -----

// Without a link to the other memory there is no choice.
module attributes {target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @dram
  target.memory @sram {size = 65536}
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">], memories = [@dram], flops = 1.0e+08, bandwidth = 1.0e+08}
  target.device @npu {targets = [#toy_npu.target], memories = [@sram]}
  // CHECK-LABEL: @no_link
  // CHECK-NOT:     graph.region
  func.func @no_link(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %a = graph.add %x, %x : tensor<64x64xf32>
    func.return %a : tensor<64x64xf32>
  }
}
