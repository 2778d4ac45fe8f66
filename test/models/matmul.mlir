// Products: bias and GELU in one kernel, batches that broadcast, integers.
func.func @main(%x: tensor<17x33xf32>, %w: tensor<33x19xf32>, %b: tensor<19xf32>, %p: tensor<2x1x5x7xf32>, %q: tensor<3x7x4xf32>, %i: tensor<4x6xi8>, %j: tensor<6x5xi8>) -> (
    tensor<17x19xf32>, tensor<2x3x5x4xf32>, tensor<4x5xi32>) {
  %m = graph.matmul %x, %w : tensor<17x33xf32>, tensor<33x19xf32> -> tensor<17x19xf32>
  %mb = graph.add %m, %b : tensor<17x19xf32>, tensor<19xf32> -> tensor<17x19xf32>
  %y = graph.gelu %mb : tensor<17x19xf32>
  %z = graph.matmul %p, %q : tensor<2x1x5x7xf32>, tensor<3x7x4xf32> -> tensor<2x3x5x4xf32>
  %k = graph.matmul %i, %j : tensor<4x6xi8>, tensor<6x5xi8> -> tensor<4x5xi32>
  func.return %y, %z, %k : tensor<17x19xf32>, tensor<2x3x5x4xf32>, tensor<4x5xi32>
}
