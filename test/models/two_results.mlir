// One kernel with two results, and one value that two kernels read.
func.func @main(%x: tensor<6x10xf32>, %y: tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>) {
  %s = graph.add %x, %y : tensor<6x10xf32>
  %p = graph.mul %s, %y : tensor<6x10xf32>
  %t = graph.tanh %s : tensor<6x10xf32>
  %r = graph.reduce sum %t axes [1] keepdims : tensor<6x10xf32> -> tensor<6x1xf32>
  func.return %s, %p, %r : tensor<6x10xf32>, tensor<6x10xf32>, tensor<6x1xf32>
}
