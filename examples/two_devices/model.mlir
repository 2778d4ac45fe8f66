// One module for two devices with three targets. The microcontroller has CMSIS-NN, and a C
// compiler for what that does not compute; the host has LLVM.
//
// A region says what the microcontroller computes; which of its targets gets what follows
// from what they claim. The devices share a memory, so that nothing is copied.

module attributes {target.config = #target.config<host = @host>} {
  target.memory @dram
  target.device @host {targets = [#llvm_cpu.target<cpu = "host">], memories = [@dram]}
  target.device @mcu {
    targets = [#cmsis_nn.target<cpu = "cortex-m4">, #c_source.target],
    memories = [@dram]
  }

  graph.weight @filters = dense<[[[[40]], [[-90]], [[25]]], [[[-60]], [[30]], [[100]]]]> : tensor<2x3x1x1xi8>

  func.func @main(%image: tensor<1x3x4x4xf32>) -> tensor<1x2xf32> {
    %s = graph.constant dense<0.03125> : tensor<f32>
    %z = graph.constant dense<0> : tensor<i8>

    // llvm_cpu: the image is normalised and quantised.
    %scaled = graph.tanh %image : tensor<1x3x4x4xf32>
    %q = graph.quantize %scaled, %s, %z : tensor<1x3x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x3x4x4xi8>

    %features = graph.region #target.place<@mcu, ?, ?> (%i = %q : tensor<1x3x4x4xi8>) -> (tensor<1x2x4x4xi8>) {
      %s1 = graph.constant dense<0.03125> : tensor<f32>
      %z1 = graph.constant dense<0> : tensor<i8>
      %t1 = graph.constant dense<0.015625> : tensor<f32>

      // cmsis_nn: a convolution becomes a call of the library.
      %x = graph.dequantize %i, %s1, %z1 : tensor<1x3x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x3x4x4xf32>
      %f = graph.weight_ref @filters : tensor<2x3x1x1xi8>
      %w = graph.dequantize %f, %t1, %z1 : tensor<2x3x1x1xi8>, tensor<f32>, tensor<i8> -> tensor<2x3x1x1xf32>
      %c = graph.conv2d %x, %w : tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32> -> tensor<1x2x4x4xf32>
      %conv = graph.quantize %c, %s1, %z1 : tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xi8>

      // c_source: the library has no such function.
      %d = graph.dequantize %conv, %s1, %z1 : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
      %h = graph.sigmoid %d : tensor<1x2x4x4xf32>
      %gate = graph.quantize %h, %t1, %z1 : tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xi8>

      // cmsis_nn again: a product of what both have computed.
      %a = graph.dequantize %conv, %s1, %z1 : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
      %b = graph.dequantize %gate, %t1, %z1 : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
      %m = graph.mul %a, %b : tensor<1x2x4x4xf32>
      %product = graph.quantize %m, %s1, %z1 : tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xi8>
      graph.yield %product : tensor<1x2x4x4xi8>
    }

    // llvm_cpu: what is left.
    %back = graph.dequantize %features, %s, %z : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
    %mean = graph.reduce mean %back axes [2, 3] : tensor<1x2x4x4xf32> -> tensor<1x2xf32>
    %y = graph.softmax %mean axis 1 : tensor<1x2xf32>
    func.return %y : tensor<1x2xf32>
  }
}
