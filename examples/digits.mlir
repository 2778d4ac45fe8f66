// A small image classifier, as an exporter writes it: two convolutions with bias, residual
// and ReLU, a pool, a dense layer and a softmax. The batch is symbolic.

!images = tensor<?x1x28x28xf32, #graph.desc<dims = ["N" : 1 to 16]>>
!maps = tensor<?x8x28x28xf32, #graph.desc<dims = ["N" : 1 to 16]>>
!pooled = tensor<?x8x14x14xf32, #graph.desc<dims = ["N" : 1 to 16]>>
!flat = tensor<?x1568xf32, #graph.desc<dims = ["N" : 1 to 16]>>
!scores = tensor<?x10xf32, #graph.desc<dims = ["N" : 1 to 16]>>

func.func @main(
    %image: !images {graph.name = "image"},
    %w1: tensor<8x1x3x3xf32> {graph.name = "w1"}, %b1: tensor<8x1x1xf32> {graph.name = "b1"},
    %w2: tensor<8x8x3x3xf32> {graph.name = "w2"}, %b2: tensor<8x1x1xf32> {graph.name = "b2"},
    %w3: tensor<1568x10xf32> {graph.name = "w3"}, %b3: tensor<10xf32> {graph.name = "b3"})
    -> (!scores {graph.name = "logits"}, !scores {graph.name = "probabilities"}) {
  %c1 = graph.conv2d %image, %w1 padding [1, 1, 1, 1] : !images, tensor<8x1x3x3xf32> -> !maps
  %s1 = graph.add %c1, %b1 : !maps, tensor<8x1x1xf32> -> !maps
  %r1 = graph.relu %s1 : !maps
  %c2 = graph.conv2d %r1, %w2 padding [1, 1, 1, 1] : !maps, tensor<8x8x3x3xf32> -> !maps
  %s2 = graph.add %c2, %b2 : !maps, tensor<8x1x1xf32> -> !maps
  %t2 = graph.add %s2, %r1 : !maps
  %r2 = graph.relu %t2 : !maps
  %p = graph.max_pool2d %r2 kernel [2, 2] strides [2, 2] : !maps -> !pooled
  %f = graph.reshape %p to [dim(0), 1568] : !pooled -> !flat
  %m = graph.matmul %f, %w3 : !flat, tensor<1568x10xf32> -> !scores
  %l = graph.add %m, %b3 : !scores, tensor<10xf32> -> !scores
  %y = graph.softmax %l axis 1 : !scores
  func.return %l, %y : !scores, !scores
}
