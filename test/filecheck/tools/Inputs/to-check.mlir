// RUN: transom-opt -p canonicalize %s | filecheck %s

func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : tensor<4xf32>
  %1 = graph.relu %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
