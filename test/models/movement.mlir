// Ops that move elements.
func.func @main(%x: tensor<3x4x5xf32>, %y: tensor<3x2x5xf32>, %i: tensor<2x3xi64>, %j: tensor<2x4x5xi32>, %u: tensor<2x4x5xf32>) -> (
    tensor<5x3x4xf32>, tensor<3x6x5xf32>, tensor<3x2x5xf32>, tensor<4x6x5xf32>, tensor<3x2x3x5xf32>, tensor<3x4x5xf32>, tensor<3x4x5xf32>, tensor<6x10xf32>, tensor<2x3x4x5xf32>, tensor<12x5xf32>, tensor<2x4x5xf32>, tensor<3x4x5xi64>) {
  %t = graph.transpose %x permutation [2, 0, 1] : tensor<3x4x5xf32> -> tensor<5x3x4xf32>
  %c = graph.concat %x, %y axis 1 : tensor<3x4x5xf32>, tensor<3x2x5xf32> -> tensor<3x6x5xf32>
  %s = graph.slice %x starts [2, 1, 4] sizes [3, 2, 5] steps [-1, 2, -1] : tensor<3x4x5xf32> -> tensor<3x2x5xf32>
  %p = graph.pad %x low [0, 1, 0] high [1, 1, 0] value 1.5 : f32 : tensor<3x4x5xf32> -> tensor<4x6x5xf32>
  %g = graph.gather %x, %i axis 1 : tensor<3x4x5xf32>, tensor<2x3xi64> -> tensor<3x2x3x5xf32>
  %three = graph.constant dense<3> : tensor<i32>
  %at = graph.mod %j, %three : tensor<2x4x5xi32>, tensor<i32> -> tensor<2x4x5xi32>
  %a = graph.scatter add %x, %at, %u axis 0 : tensor<3x4x5xf32>, tensor<2x4x5xi32>, tensor<2x4x5xf32> -> tensor<3x4x5xf32>
  %m = graph.scatter max %x, %at, %u axis 0 : tensor<3x4x5xf32>, tensor<2x4x5xi32>, tensor<2x4x5xf32> -> tensor<3x4x5xf32>
  %r = graph.reshape %x to [6, -1] : tensor<3x4x5xf32> -> tensor<6x10xf32>
  %b = graph.broadcast %x : tensor<3x4x5xf32> -> tensor<2x3x4x5xf32>
  %d = graph.reshape %t to [12, 5] : tensor<5x3x4xf32> -> tensor<12x5xf32>
  %e = graph.gather_elements %x, %at axis 0 : tensor<3x4x5xf32>, tensor<2x4x5xi32> -> tensor<2x4x5xf32>
  %n = graph.iota %x axis 1 : tensor<3x4x5xf32> -> tensor<3x4x5xi64>
  func.return %t, %c, %s, %p, %g, %a, %m, %r, %b, %d, %e, %n : tensor<5x3x4xf32>, tensor<3x6x5xf32>, tensor<3x2x5xf32>, tensor<4x6x5xf32>, tensor<3x2x3x5xf32>, tensor<3x4x5xf32>, tensor<3x4x5xf32>, tensor<6x10xf32>, tensor<2x3x4x5xf32>, tensor<12x5xf32>, tensor<2x4x5xf32>, tensor<3x4x5xi64>
}
