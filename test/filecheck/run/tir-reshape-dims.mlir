// RUN: transom-opt --to=tensor %s | filecheck %s
// RUN: transom-run %s -q --input '1x2x3x3xf32=1,2,3,4,5,6,7,8,9,-1,-2,-3,-4,-5,-6,-7,-8,-9' --expected '1x2x3x3xf32=2,4,6,8,10,12,14,16,18,-1,-2,-3,-4,-5,-6,-7,-8,-9'
// RUN: transom-opt --to=tensor %s | transom-run - -q --interpret --input '1x2x3x3xf32=1,2,3,4,5,6,7,8,9,-1,-2,-3,-4,-5,-6,-7,-8,-9' --expected '1x2x3x3xf32=2,4,6,8,10,12,14,16,18,-1,-2,-3,-4,-5,-6,-7,-8,-9'

// Eighteen pixels in vectors of eight, and not six rows of three.

// CHECK: tir.nest dims [parallel 1, parallel 18]
// CHECK: vector = d1 : 8

builtin.module {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
  func.func @main(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
    %r = graph.relu %x : tensor<1x2x3x3xf32>
    %y = graph.add %x, %r : tensor<1x2x3x3xf32>
    func.return %y : tensor<1x2x3x3xf32>
  }
}
