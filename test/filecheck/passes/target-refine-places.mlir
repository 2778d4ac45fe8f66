// RUN: transom-opt -p target-refine-places %s | filecheck %s
// RUN: transom-opt -p target-refine-places,target-refine-places %s | filecheck %s

module attributes {target.config = #target.config<host = @soc, default_place = #target.place<@soc, ?, @dram>>} {
  target.memory @dram
  target.memory @l1 {size = 4096}
  target.link @dram -> @l1 {bandwidth = 1.0e+09}
  target.link @l1 -> @dram {bandwidth = 1.0e+09}
  target.device @soc {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@dram, @l1]}
  tir.func @near(read memref<4xf32, @l1>, write memref<4xf32, @l1>) attributes {target.for = #target.place<@soc, ?, @dram>}
  tir.func @far(read memref<4xf32, @dram>, write memref<4xf32>) attributes {target.for = #target.place<@soc, ?, @dram>}
  tir.func @any(read memref<4xf32>, write memref<4xf32>) attributes {target.for = #target.place<@soc, ?, @dram>}

  // One copy to the scratchpad and one back, inside one device.
  // CHECK-LABEL: @main
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@soc, ?, @dram>} {
    // CHECK-NEXT:    %[[D:.*]] = tensor.empty() : tensor<4xf32, #graph.desc<place = #target.place<@soc, ?, @l1>>>
    // CHECK-NEXT:    %[[X:.*]] = graph.copy %x : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@soc, ?, @l1>>>
    // CHECK-NEXT:    %[[A:.*]] = tir.call @near(%[[X]] : {{.*}}) outs(%[[D]] :
    // CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<4xf32>
    // CHECK-NEXT:    %[[B:.*]] = graph.copy %[[A]] : {{.*}} -> tensor<4xf32>
    // CHECK-NEXT:    %[[Y:.*]] = tir.call @far(%[[B]] : tensor<4xf32>) outs(%[[E]] : tensor<4xf32>)
    // CHECK-NEXT:    func.return %[[Y]]
    %d = tensor.empty() : tensor<4xf32>
    %a = tir.call @near(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
    %e = tensor.empty() : tensor<4xf32>
    %y = tir.call @far(%a : tensor<4xf32>) outs(%e : tensor<4xf32>)
    func.return %y : tensor<4xf32>
  }

  // A kernel that names no memory reads the scratchpad as well; in between nothing is copied.
  // CHECK-LABEL: @chain
  func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@soc, ?, @dram>} {
    // CHECK:         %[[X:.*]] = graph.copy %x
    // CHECK-NEXT:    %[[A:.*]] = tir.call @near(%[[X]]
    // CHECK-NEXT:    %[[E:.*]] = tensor.empty()
    // CHECK-NEXT:    %[[B:.*]] = tir.call @near(%[[A]]
    // CHECK-NEXT:    %[[F:.*]] = tensor.empty() : tensor<4xf32>
    // CHECK-NEXT:    tir.call @any(%[[B]] : tensor<4xf32, #graph.desc<place = #target.place<@soc, ?, @l1>>>) outs(%[[F]] : tensor<4xf32>)
    %d = tensor.empty() : tensor<4xf32>
    %a = tir.call @near(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
    %e = tensor.empty() : tensor<4xf32>
    %b = tir.call @near(%a : tensor<4xf32>) outs(%e : tensor<4xf32>)
    %f = tensor.empty() : tensor<4xf32>
    %y = tir.call @any(%b : tensor<4xf32>) outs(%f : tensor<4xf32>)
    func.return %y : tensor<4xf32>
  }

  // Where no kernel asks, nothing is touched.
  // CHECK-LABEL: @nobody_asks
  func.func @nobody_asks(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@soc, ?, @dram>} {
    // CHECK-NEXT:    tensor.empty() : tensor<4xf32>
    // CHECK-NEXT:    tir.call @any(%x : tensor<4xf32>)
    %d = tensor.empty() : tensor<4xf32>
    %a = tir.call @any(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
    func.return %a : tensor<4xf32>
  }
}
