// RUN: transom-opt -p target-claim-ops,target-plan-devices --split-input-file %s | filecheck %s
// RUN: transom-opt -p target-claim-ops,target-plan-devices,target-claim-ops,target-plan-devices --split-input-file %s | filecheck %s

// Two devices whose memories are apart.
module attributes {target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @dram
  target.memory @vram
  target.link @dram -> @vram {bandwidth = 1.0e+09}
  target.link @vram -> @dram {bandwidth = 1.0e+09}
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v2">], memories = [@dram]}
  target.device @gpu {targets = [#llvm_cpu.target<cpu = "x86-64-v2">], memories = [@vram]}

  // What both read stays where it is, and there is one copy of it.
  // CHECK-LABEL: @shared
  func.func @shared(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT:    %[[S:.*]] = graph.add %a, %b : tensor<4xf32>
    // CHECK-NEXT:    %[[B:.*]] = graph.copy %b : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>>
    // CHECK-NEXT:    %[[C:.*]] = graph.copy %c
    // CHECK-NEXT:    %[[R:.*]] = graph.region #target.place<@gpu, #llvm_cpu.target<cpu = "x86-64-v2">, @vram>
    // CHECK-SAME:      (%{{.*}} = %[[B]] : {{.*}}, %{{.*}} = %[[C]] :
    // CHECK:         %[[U:.*]] = graph.copy %[[R]] : {{.*}} -> tensor<4xf32>
    // CHECK-NEXT:    graph.sub %[[S]], %[[U]] : tensor<4xf32>
    // CHECK-NOT:     graph.copy
    // CHECK:         func.return
    %s = graph.add %a, %b : tensor<4xf32>
    %t = graph.add %b, %c : tensor<4xf32>
    %p = graph.on_device %t pinned #target.place<@gpu, ?, ?> : tensor<4xf32>
    %u = graph.mul %b, %p : tensor<4xf32>
    %q = graph.on_device %u pinned #target.place<@gpu, ?, ?> : tensor<4xf32>
    %y = graph.sub %s, %q : tensor<4xf32>
    func.return %y : tensor<4xf32>
  }

  // A loop carries what its iterations compute; what they all read is copied before it.
  // Constants are at hand everywhere.
  // CHECK-LABEL: @loop
  func.func @loop(%x: tensor<4xf32>, %k: tensor<4xf32>, %n: index) -> tensor<4xf32> {
    // CHECK:         %[[X:.*]] = graph.copy %x
    // CHECK-NEXT:    %[[K:.*]] = graph.copy %k
    // CHECK-NEXT:    %[[R:.*]] = scf.for {{.*}} iter_args(%[[V:.*]] = %[[X]]) -> (tensor<4xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>>)
    // CHECK-NOT:       graph.copy
    // CHECK:         graph.copy %[[R]] : {{.*}} -> tensor<4xf32>
    // CHECK-NEXT:    func.return
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %w = graph.constant dense<2.0> : tensor<4xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<4xf32>) {
      %m = graph.region #target.place<@gpu, ?, ?> (%vv = %v : tensor<4xf32>, %kk = %k : tensor<4xf32>, %ww = %w : tensor<4xf32>) -> (tensor<4xf32>) {
        %u = graph.mul %vv, %kk : tensor<4xf32>
        %z = graph.mul %u, %ww : tensor<4xf32>
        graph.yield %z : tensor<4xf32>
      }
      scf.yield %m : tensor<4xf32>
    }
    func.return %r : tensor<4xf32>
  }

  // Positions of a loop are apart: the second one stays on the host.
  // CHECK-LABEL: @positions
  func.func @positions(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
    // CHECK:         scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %y) : (tensor<4xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>>, tensor<4xf32>)
    // CHECK-SAME:      -> (tensor<4xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>>, tensor<4xf32>)
    %r, %s = scf.while (%a = %x, %b = %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      scf.condition(%c) %a, %b : tensor<4xf32>, tensor<4xf32>
    } do {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %m = graph.region #target.place<@gpu, ?, ?> (%v = %a : tensor<4xf32>) -> (tensor<4xf32>) {
        %u = graph.relu %v : tensor<4xf32>
        graph.yield %u : tensor<4xf32>
      }
      %n = graph.abs %b : tensor<4xf32>
      scf.yield %m, %n : tensor<4xf32>, tensor<4xf32>
    }
    func.return %r, %s : tensor<4xf32>, tensor<4xf32>
  }

  // Only one arm needs the copy.
  // CHECK-LABEL: @arm
  func.func @arm(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
    // CHECK-NEXT:    scf.if
    // CHECK-NEXT:      %[[X:.*]] = graph.copy %x
    // CHECK-NEXT:      graph.region
    // CHECK:         } else {
    // CHECK-NOT:       graph.copy %x
    // CHECK:           graph.abs %x
    %r = scf.if %c -> (tensor<4xf32>) {
      %m = graph.region #target.place<@gpu, ?, ?> (%v = %x : tensor<4xf32>) -> (tensor<4xf32>) {
        %u = graph.relu %v : tensor<4xf32>
        graph.yield %u : tensor<4xf32>
      }
      scf.yield %m : tensor<4xf32>
    } else {
      %n = graph.abs %x : tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    }
    func.return %r : tensor<4xf32>
  }

  // A view is where its operand is, and sizes are read on the host.
  // CHECK-LABEL: @view
  func.func @view(%x: tensor<4xf32>) -> (tensor<2x2xf32>, index) {
    // CHECK:         %[[M:.*]] = graph.region
    // CHECK:         %[[V:.*]] = graph.reshape %[[M]] to [2, 2] : {{.*}} -> tensor<2x2xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>>
    // CHECK:         tensor.dim %[[V]]
    // CHECK:         graph.region
    // CHECK-SAME:      = %[[V]] :
    %m = graph.region #target.place<@gpu, ?, ?> (%v = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %u = graph.relu %v : tensor<4xf32>
      graph.yield %u : tensor<4xf32>
    }
    %v = graph.reshape %m to [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
    %c0 = arith.constant 0 : index
    %d = tensor.dim %v, %c0 : tensor<2x2xf32>
    %n = graph.region #target.place<@gpu, ?, ?> (%w = %v : tensor<2x2xf32>) -> (tensor<2x2xf32>) {
      %u = graph.abs %w : tensor<2x2xf32>
      graph.yield %u : tensor<2x2xf32>
    }
    func.return %n, %d : tensor<2x2xf32>, index
  }

  // A round trip is none.
  // CHECK-LABEL: @round_trip
  func.func @round_trip(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT:    func.return %x
    %c = graph.copy %x : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>>
    %b = graph.copy %c : tensor<4xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>> -> tensor<4xf32>
    func.return %b : tensor<4xf32>
  }

  // A function that says no place is where it is called from, in each place once.
  // CHECK-LABEL: @calls
  func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK:         func.call @helper(%x)
    // CHECK:         %[[X:.*]] = graph.copy %x
    // CHECK:         func.call @on_gpu(%[[X]]) : (tensor<4xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>>) ->
    %a = func.call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %b = func.call @on_gpu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %y = graph.add %a, %b : tensor<4xf32>
    func.return %y : tensor<4xf32>
  }
  // CHECK-LABEL: func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu,
  func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = graph.relu %x : tensor<4xf32>
    func.return %y : tensor<4xf32>
  }
  // CHECK-LABEL: func.func private @on_gpu(%x: tensor<4xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>>)
  func.func private @on_gpu(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@gpu, ?, ?>} {
    // CHECK:         func.call @helper_on_gpu
    %y = func.call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %c = func.call @helper(%y) : (tensor<4xf32>) -> tensor<4xf32>
    func.return %c : tensor<4xf32>
  }
  // CHECK-LABEL: func.func private @helper_on_gpu(%x: tensor<4xf32, #graph.desc<place = #target.place<@gpu, ?, @vram>>>)
}

// -----

// Between memories that no link joins a copy goes by way of the others; where a device
// reaches the memory of the other one there is none.
module attributes {target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>>} {
  target.memory @dram
  target.memory @stage
  target.memory @near
  target.link @dram -> @stage {bandwidth = 1.0e+09}
  target.link @stage -> @near {bandwidth = 1.0e+09}
  target.link @near -> @dram {bandwidth = 1.0e+06}
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v2">], memories = [@dram]}
  target.device @npu {targets = [#llvm_cpu.target<cpu = "x86-64-v2">], memories = [@near]}
  target.device @dsp {targets = [#llvm_cpu.target<cpu = "x86-64-v2">], memories = [@stage, @dram]}

  // CHECK-LABEL: @staged
  func.func @staged(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT:    %[[S:.*]] = graph.copy %x : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@dsp, ?, @stage>>>
    // CHECK-NEXT:    %[[N:.*]] = graph.copy %[[S]] : {{.*}} -> tensor<4xf32, #graph.desc<place = #target.place<@npu, ?, @near>>>
    // CHECK-NEXT:    graph.region #target.place<@npu, {{.*}}, @near>
    // CHECK:         graph.copy %{{.*}} : tensor<4xf32, #graph.desc<place = #target.place<@npu, ?, @near>>> -> tensor<4xf32>
    %m = graph.region #target.place<@npu, ?, ?> (%v = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %u = graph.relu %v : tensor<4xf32>
      graph.yield %u : tensor<4xf32>
    }
    func.return %m : tensor<4xf32>
  }

  // CHECK-LABEL: @reached
  func.func @reached(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT:    graph.region #target.place<@dsp, {{.*}}, @dram> (%{{.*}} = %x : tensor<4xf32>) -> (tensor<4xf32>)
    // CHECK-NOT:     graph.copy
    // CHECK:         func.return
    %m = graph.region #target.place<@dsp, ?, ?> (%v = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %u = graph.relu %v : tensor<4xf32>
      graph.yield %u : tensor<4xf32>
    }
    func.return %m : tensor<4xf32>
  }
}
