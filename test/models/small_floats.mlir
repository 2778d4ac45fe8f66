// bf16 and f16: stored in 16 bits, computed in f32, rounded once per op.
func.func @main(%x: tensor<5x19xbf16>, %y: tensor<19xbf16>, %h: tensor<5x19xf16>, %w: tensor<19x7xbf16>) -> (
    tensor<5x19xbf16>, tensor<5x19xf16>, tensor<5x7xbf16>, tensor<5x1xbf16>, tensor<5x19xf32>) {
  %a = graph.add %x, %y : tensor<5x19xbf16>, tensor<19xbf16> -> tensor<5x19xbf16>
  %b = graph.mul %a, %x : tensor<5x19xbf16>
  %c = graph.relu %b : tensor<5x19xbf16>
  %d = graph.exp %h : tensor<5x19xf16>
  %e = graph.add %d, %h : tensor<5x19xf16>
  %m = graph.matmul %x, %w : tensor<5x19xbf16>, tensor<19x7xbf16> -> tensor<5x7xbf16>
  %r = graph.reduce mean %x axes [1] keepdims : tensor<5x19xbf16> -> tensor<5x1xbf16>
  %f = graph.cast %c : tensor<5x19xbf16> -> tensor<5x19xf32>
  %g = graph.cast %e : tensor<5x19xf16> -> tensor<5x19xf32>
  %s = graph.add %f, %g : tensor<5x19xf32>
  func.return %c, %e, %m, %r, %s : tensor<5x19xbf16>, tensor<5x19xf16>, tensor<5x7xbf16>, tensor<5x1xbf16>, tensor<5x19xf32>
}
