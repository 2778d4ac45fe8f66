// RUN: transom-opt --to=tensor %s | filecheck %s
// RUN: transom-run %s -q --input '2x11xf16=1,2,3,4,5,6,7,8,9,10,0,0,0,0,0,0,0,0,0,0,0,11' --expected '2x11xf16=-8,-6,-4,-2,0,2,4,6,8,10,-10,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,20'
// RUN: transom-opt --to=tensor %s | transom-run - -q --interpret --input '2x11xf16=1,2,3,4,5,6,7,8,9,10,0,0,0,0,0,0,0,0,0,0,0,11' --expected '2x11xf16=-8,-6,-4,-2,0,2,4,6,8,10,-10,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,20'

// The scale of rows of f16 is a weight of f32, of whole vectors.

// CHECK: graph.weight @w.packed : tensor<2x8xf32>
// CHECK: graph.cast

builtin.module {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
  graph.weight @w = dense<2.0> : tensor<11xf16>
  func.func @main(%h: tensor<2x11xf16>) -> tensor<2x11xf16> {
    %w = graph.weight_ref @w : tensor<11xf16>
    %x = graph.cast %h : tensor<2x11xf16> -> tensor<2x11xf32>
    %m = graph.reduce mean %x axes [1] keepdims : tensor<2x11xf32> -> tensor<2x1xf32>
    %d = graph.sub %x, %m : tensor<2x11xf32>, tensor<2x1xf32> -> tensor<2x11xf32>
    %c = graph.cast %d : tensor<2x11xf32> -> tensor<2x11xf16>
    %y = graph.mul %c, %w : tensor<2x11xf16>, tensor<11xf16> -> tensor<2x11xf16>
    func.return %y : tensor<2x11xf16>
  }
}
