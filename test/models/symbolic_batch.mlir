// Compiled once, run with several batch sizes.
func.func @main(%x: tensor<?x16xf32, #graph.desc<dims = ["N" : 1 to 64]>> {graph.name = "x"}, %w: tensor<16x9xf32> {graph.name = "w"}, %r: tensor<?x9xf32, #graph.desc<dims = ["N" : 1 to 64]>> {graph.name = "r"}) -> (
    tensor<?x9xf32, #graph.desc<dims = ["N" : 1 to 64]>> {graph.name = "y"}, tensor<?xf32> {graph.name = "z"}) {
  %m = graph.matmul %x, %w : tensor<?x16xf32, #graph.desc<dims = ["N" : 1 to 64]>>, tensor<16x9xf32> -> tensor<?x9xf32, #graph.desc<dims = ["N" : 1 to 64]>>
  %a = graph.add %m, %r : tensor<?x9xf32, #graph.desc<dims = ["N" : 1 to 64]>>
  %s = graph.softmax %a axis 1 : tensor<?x9xf32, #graph.desc<dims = ["N" : 1 to 64]>>
  %c = graph.concat %s, %a axis 0 : tensor<?x9xf32, #graph.desc<dims = ["N" : 1 to 64]>>, tensor<?x9xf32, #graph.desc<dims = ["N" : 1 to 64]>> -> tensor<?x9xf32>
  %f = graph.reshape %c to [-1] : tensor<?x9xf32> -> tensor<?xf32>
  func.return %s, %f : tensor<?x9xf32, #graph.desc<dims = ["N" : 1 to 64]>>, tensor<?xf32>
}
