// One module for two devices with three targets. The microcontroller has CMSIS-NN, and a C
// compiler for what that does not compute; the host has LLVM.
//
// Regions say what the microcontroller computes, and with which target. It reads the memory
// of the host, but the host does not reach its: the result is copied over the link.

module attributes {target.config = #target.config<host = @host>} {
  target.memory @dram
  target.memory @sram {size = 65536, alignment = 16}
  target.link @dram -> @sram {bandwidth = 1.0e+07, latency = 1.0e-05}
  target.link @sram -> @dram {bandwidth = 1.0e+07, latency = 1.0e-05}
  target.device @host {targets = [#llvm_cpu.target<cpu = "host">], memories = [@dram]}
  target.device @mcu {
    targets = [#cmsis_nn.target<cpu = "cortex-m4">, #c_source.target],
    memories = [@sram, @dram]
  }

  graph.weight @filters = dense<[[[[40]], [[-90]], [[25]]], [[[-60]], [[30]], [[100]]]]> : tensor<2x3x1x1xi8>

  func.func @main(%image: tensor<1x3x4x4xf32>) -> tensor<1x2xf32> {
    %s = graph.constant dense<0.03125> : tensor<f32>
    %z = graph.constant dense<0> : tensor<i8>

    // llvm_cpu: the image is normalised and quantised.
    %scaled = graph.tanh %image : tensor<1x3x4x4xf32>
    %q = graph.quantize %scaled, %s, %z : tensor<1x3x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x3x4x4xi8>

    // cmsis_nn: a convolution. Its pattern becomes a call of the library.
    %conv = graph.region #target.place<@mcu, #cmsis_nn.target<cpu = "cortex-m4">, ?> (%i = %q : tensor<1x3x4x4xi8>) -> (tensor<1x2x4x4xi8>) {
      %s1 = graph.constant dense<0.03125> : tensor<f32>
      %z1 = graph.constant dense<0> : tensor<i8>
      %t1 = graph.constant dense<0.015625> : tensor<f32>
      %x = graph.dequantize %i, %s1, %z1 : tensor<1x3x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x3x4x4xf32>
      %f = graph.weight_ref @filters : tensor<2x3x1x1xi8>
      %w = graph.dequantize %f, %t1, %z1 : tensor<2x3x1x1xi8>, tensor<f32>, tensor<i8> -> tensor<2x3x1x1xf32>
      %c = graph.conv2d %x, %w : tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32> -> tensor<1x2x4x4xf32>
      %cq = graph.quantize %c, %s1, %z1 : tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xi8>
      graph.yield %cq : tensor<1x2x4x4xi8>
    }

    // c_source: the library has no such function.
    %gate = graph.region #target.place<@mcu, #c_source.target, ?> (%i = %conv : tensor<1x2x4x4xi8>) -> (tensor<1x2x4x4xi8>) {
      %s1 = graph.constant dense<0.03125> : tensor<f32>
      %z1 = graph.constant dense<0> : tensor<i8>
      %t1 = graph.constant dense<0.015625> : tensor<f32>
      %d = graph.dequantize %i, %s1, %z1 : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
      %h = graph.sigmoid %d : tensor<1x2x4x4xf32>
      %hq = graph.quantize %h, %t1, %z1 : tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xi8>
      graph.yield %hq : tensor<1x2x4x4xi8>
    }

    // cmsis_nn again: a product of what both have computed.
    %features = graph.region #target.place<@mcu, #cmsis_nn.target<cpu = "cortex-m4">, ?> (%i = %conv : tensor<1x2x4x4xi8>, %j = %gate : tensor<1x2x4x4xi8>) -> (tensor<1x2x4x4xi8>) {
      %s1 = graph.constant dense<0.03125> : tensor<f32>
      %z1 = graph.constant dense<0> : tensor<i8>
      %t1 = graph.constant dense<0.015625> : tensor<f32>
      %a = graph.dequantize %i, %s1, %z1 : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
      %b = graph.dequantize %j, %t1, %z1 : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
      %m = graph.mul %a, %b : tensor<1x2x4x4xf32>
      %mq = graph.quantize %m, %s1, %z1 : tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xi8>
      graph.yield %mq : tensor<1x2x4x4xi8>
    }

    // llvm_cpu: what is left.
    %back = graph.dequantize %features, %s, %z : tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8> -> tensor<1x2x4x4xf32>
    %mean = graph.reduce mean %back axes [2, 3] : tensor<1x2x4x4xf32> -> tensor<1x2xf32>
    %y = graph.softmax %mean axis 1 : tensor<1x2xf32>
    func.return %y : tensor<1x2xf32>
  }
}
