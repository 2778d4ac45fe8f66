// RUN: %roundtrip | filecheck %s

// CHECK:       graph.weight @file = #graph.file<"m.safetensors", "w"> : tensor<4x3xf32>
graph.weight @file = #graph.file<"m.safetensors", "w"> : tensor<4x3xf32>
// CHECK-NEXT:  graph.weight @hashed = #graph.file<"m.onnx", "w", sha256 = "{{[0-9a-f]+}}"> : tensor<4x3xbf16> attributes {test.tag}
graph.weight @hashed = #graph.file<"m.onnx", "w", sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"> : tensor<4x3xbf16> attributes {test.tag}
// CHECK-NEXT:  graph.weight @written = dense<1.000000e+00> : tensor<3xf32>
graph.weight @written = dense<1.0> : tensor<3xf32>
// CHECK-NEXT:  graph.weight @derived : tensor<3x4xf32> {
// CHECK-NEXT:    %[[W:.*]] = graph.weight_ref @file : tensor<4x3xf32>
// CHECK-NEXT:    %[[T:.*]] = graph.transpose %[[W]] permutation [1, 0]
// CHECK-NEXT:    graph.yield %[[T]] : tensor<3x4xf32>
graph.weight @derived : tensor<3x4xf32> {
  %w = graph.weight_ref @file : tensor<4x3xf32>
  %t = graph.transpose %w permutation [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  graph.yield %t : tensor<3x4xf32>
}

// CHECK-LABEL: @constants
func.func @constants() {
  // CHECK-NEXT:  graph.constant dense<[true, false]> : tensor<2xi1>
  %b = graph.constant dense<[true, false]> : tensor<2xi1>
  // CHECK-NEXT:  graph.constant {test.tag} dense<0.000000e+00> : tensor<4xbf16>
  %h = graph.constant {test.tag} dense<0.0> : tensor<4xbf16>
  // CHECK-NEXT:  graph.constant dense<> : tensor<0xi64>
  %e = graph.constant dense<> : tensor<0xi64>
  func.return
}

// CHECK-LABEL: @groups
func.func @groups(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:  %{{.*}}, %[[C:.*]] = graph.composite "acme.swap" (%{{.*}} = %x : tensor<4xf32>, %{{.*}} = %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {test.tag} {
  // CHECK-NEXT:    graph.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %c:2 = graph.composite "acme.swap" (%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {test.tag} {
    graph.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK:       graph.region #target.place<@npu, ?, ?> (%{{.*}} = %[[C]] : tensor<4xf32>) -> (tensor<4xf32>) {
  %r = graph.region #target.place<@npu, ?, ?> (%a = %c#1 : tensor<4xf32>) -> (tensor<4xf32>) {
    // CHECK-NEXT:  %[[F:.*]] = graph.fused (%[[IN:.*]] = %{{.*}} : tensor<4xf32>) -> (tensor<4xf32>) {
    // CHECK-NEXT:    %[[N:.*]] = graph.neg %[[IN]] : tensor<4xf32>
    // CHECK-NEXT:    graph.yield %[[N]] : tensor<4xf32>
    %f = graph.fused (%b = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      %n = graph.neg %b : tensor<4xf32>
      graph.yield %n : tensor<4xf32>
    }
    graph.yield %f : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: @marks
func.func @marks(%x: tensor<1x32x8x8xf32>) {
  // CHECK-NEXT:  graph.on_device %x pinned #target.place<@npu, ?, ?> : tensor<1x32x8x8xf32>
  %p = graph.on_device %x pinned #target.place<@npu, ?, ?> : tensor<1x32x8x8xf32>
  // CHECK-NEXT:  graph.on_device %x hint #target.any_of<[#target.place<@cpu, ?, ?>, #target.place<@npu, ?, ?>]> : tensor<1x32x8x8xf32>
  %h = graph.on_device %x hint #target.any_of<[#target.place<@cpu, ?, ?>, #target.place<@npu, ?, ?>]> : tensor<1x32x8x8xf32>
  // CHECK-NEXT:  graph.copy %x : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32, #graph.desc<place = #target.place<?, ?, @sram>>>
  %c = graph.copy %x : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32, #graph.desc<place = #target.place<?, ?, @sram>>>
  // CHECK-NEXT:  graph.relayout %x : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1], fill = -1.000000e+00>>>
  %l = graph.relayout %x : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1], fill = -1.0>>>
  // CHECK-NEXT:  graph.relu %{{.*}} : tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1], fill = -1.000000e+00>>>
  %r = graph.relu %l : tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1], fill = -1.0>>>
  func.return
}

// CHECK-LABEL: @symbols
func.func @symbols(
  // CHECK-SAME:  tensor<?x3x?x?xf32, #graph.desc<dims = ["N" : 1 to 8, ?, "W"]>>
  %x: tensor<?x3x?x?xf32, #graph.desc<dims = ["N" : 1 to 8, ?, "W"]>>,
  // CHECK-SAME:  tensor<?x?xf32, #graph.desc<dims = ["M" : ? to 8, "N" : 1 to ?], layout = #graph.layout<block = [4]>, place = #target.place<@cpu, ?, @dram>>>
  %y: tensor<?x?xf32, #graph.desc<place = #target.place<@cpu, ?, @dram>, layout = #graph.layout<block = [4]>, dims = ["M" : ? to 8, "N" : 1 to ?]>>) {
  // CHECK-NEXT:  #graph.symbol<"N" : 1 to 8>
  "test.op"() {symbol = #graph.symbol<"N" : 1 to 8>, none = #graph.symbol<?>} : () -> ()
  func.return
}
