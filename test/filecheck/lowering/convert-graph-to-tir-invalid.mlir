// RUN: %diagnose -p convert-graph-to-tir

// All ops that have no form are named in one run, and nothing is said of the functions
// that stand for kernels.
func.func private @several(%x: tensor<1x4x8x8xf32>, %w: tensor<?x2x3x3xf32>) -> (tensor<1x?x6x6xf32>, tensor<1x?x6x6xf32>) attributes {target.for = #target.place<@cpu, ?, ?>} {
  // expected-error @+1 {{no legal form for 'graph.conv2d' x2 (ConvertConv2d: expected a weight of static shape for several groups); its type is (tensor<1x4x8x8xf32>, tensor<?x2x3x3xf32>) -> tensor<1x?x6x6xf32>; 1 more op lacks an operand because of this}}
  %z = graph.conv2d %x, %w groups 2 : tensor<1x4x8x8xf32>, tensor<?x2x3x3xf32> -> tensor<1x?x6x6xf32>
  %m = graph.fused (%a = %x : tensor<1x4x8x8xf32>, %b = %w : tensor<?x2x3x3xf32>) -> (tensor<1x?x6x6xf32>) {
    // expected-note @+1 {{also here}}
    %c = graph.conv2d %a, %b groups 2 : tensor<1x4x8x8xf32>, tensor<?x2x3x3xf32> -> tensor<1x?x6x6xf32>
    %d = graph.exp %c : tensor<1x?x6x6xf32>
    graph.yield %d : tensor<1x?x6x6xf32>
  }
  func.return %z, %m : tensor<1x?x6x6xf32>, tensor<1x?x6x6xf32>
}

// -----

!blocked = tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>

func.func private @r(%x: !blocked) -> !blocked attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.relu %x : !blocked
  func.return %y : !blocked
}

func.func @main(%x: !blocked) -> !blocked {
  // expected-error @+1 {{expected tensors without a layout in main, but got 'tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>'}}
  %y = func.call @r(%x) : (!blocked) -> !blocked
  func.return %y : !blocked
}

// -----

!blocked = tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>

func.func private @indices_are_computed(%x: !blocked, %i: tensor<2xi64>) -> tensor<2x16xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // expected-error @+1 {{no legal form for 'graph.gather' x1 (ConvertGather: expected a tensor without a layout where indices are computed); its type is (tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>, tensor<2xi64>) -> tensor<2x16xf32>}}
  %y = graph.gather %x, %i axis 0 : !blocked, tensor<2xi64> -> tensor<2x16xf32>
  func.return %y : tensor<2x16xf32>
}

// -----

!blocked = tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>

func.func private @reshape(%x: !blocked) -> tensor<64xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.fused (%a = %x : !blocked) -> (tensor<64xf32>) {
    // expected-error @+1 {{no legal form for 'graph.reshape' x1 (ConvertReshape: expected a tensor without a layout, as its elements stay where they are); its type is (tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>) -> tensor<64xf32>}}
    %b = graph.reshape %a to [64] : !blocked -> tensor<64xf32>
    graph.yield %b : tensor<64xf32>
  }
  func.return %y : tensor<64xf32>
}

// -----

!blocked = tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>

func.func private @r(%x: tensor<4x16xf32>) -> tensor<64xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %a = graph.relayout %x : tensor<4x16xf32> -> !blocked
  // expected-error @+1 {{expected tensors without a layout in main, but got 'tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>'}}
  %b = graph.reshape %a to [64] : !blocked -> tensor<64xf32>
  func.return %b : tensor<64xf32>
}

func.func @main(%x: tensor<4x16xf32>) -> tensor<64xf32> {
  %y = func.call @r(%x) : (tensor<4x16xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

!open = tensor<?x16xf32, #graph.desc<layout = #graph.layout<border = [1, 1]>>>

func.func private @open_size(%x: tensor<?x16xf32>) -> !open attributes {target.for = #target.place<@cpu, ?, ?>} {
  // expected-error @+1 {{expected a known size under blocks and borders, but got 'tensor<?x16xf32, #graph.desc<layout = #graph.layout<border = [1, 1]>>>'}}
  %y = graph.relayout %x : tensor<?x16xf32> -> !open
  func.return %y : !open
}

// -----

!both = tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [1]>>>

func.func private @border_of_blocks(%x: tensor<4x16xf32>) -> !both attributes {target.for = #target.place<@cpu, ?, ?>} {
  // expected-error @+1 {{expected blocks and borders on different dims, but got 'tensor<4x16xf32, #graph.desc<layout = #graph.layout<block = [1, 8], border = [1]>>>'}}
  %y = graph.relayout %x : tensor<4x16xf32> -> !both
  func.return %y : !both
}

// -----

!rank = tensor<16xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>

func.func private @rank(%x: tensor<16xf32>) -> !rank attributes {target.for = #target.place<@cpu, ?, ?>} {
  // expected-error @+1 {{expected a layout of 1 dimensions, but got 'tensor<16xf32, #graph.desc<layout = #graph.layout<block = [1, 8]>>>'}}
  %y = graph.relayout %x : tensor<16xf32> -> !rank
  func.return %y : !rank
}

// -----

!there = tensor<4xf32, #graph.desc<place = #target.place<@npu, ?, ?>>>

func.func private @copy_in_a_kernel(%x: tensor<4xf32>) -> !there attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.fused (%a = %x : tensor<4xf32>) -> (!there) {
    // expected-error @+1 {{no legal form for 'graph.copy' x1 (RefuseCopy: expected copies between places in main, not in a kernel); its type is (tensor<4xf32>) -> tensor<4xf32, #graph.desc<place = #target.place<@npu, ?, ?>>>}}
    %b = graph.copy %a : tensor<4xf32> -> !there
    graph.yield %b : !there
  }
  func.return %y : !there
}

// -----

func.func private @mark_in_a_kernel(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  %y = graph.fused (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @+1 {{no legal form for 'graph.on_device' x1 (RefuseOnDevice: expected no mark that 'target-plan-devices' has not resolved); its type is (tensor<4xf32>) -> tensor<4xf32>}}
    %b = graph.on_device %a hint #target.place<@cpu, ?, ?> : tensor<4xf32>
    graph.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
