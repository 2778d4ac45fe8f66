// RUN: %diagnose -p convert-graph-to-toy-npu

target.device @npu {targets = [#toy_npu.target]}
func.func private @r(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {target.for = #target.place<@npu, ?, ?>} {
  // expected-error @+1 {{no engine of the accelerator computes 'graph.tanh'}}
  %y = graph.tanh %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

target.device @npu {targets = [#toy_npu.target]}
func.func private @r(%x: tensor<?xf32>) -> tensor<?xf32>
    attributes {target.for = #target.place<@npu, ?, ?>} {
  // expected-error @+1 {{expected a static shape, but got 'tensor<?xf32>'}}
  %y = graph.relu %x : tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

target.device @npu {targets = [#toy_npu.target]}
func.func private @r(%x: tensor<4xf32>) -> tensor<f32>
    attributes {target.for = #target.place<@npu, ?, ?>} {
  // expected-error @+1 {{expected a sum, but got 'max'}}
  %y = graph.reduce max %x axes [0] : tensor<4xf32> -> tensor<f32>
  func.return %y : tensor<f32>
}
