// Sizes without a name: that they broadcast is found when the program runs.
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %s = graph.add %x, %y : tensor<?x?xf32>, tensor<?xf32> -> tensor<?x?xf32>
  %r = graph.relu %s : tensor<?x?xf32>
  func.return %r : tensor<?x?xf32>
}
