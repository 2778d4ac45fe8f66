// RUN: transom-opt --to=tensor --split-input-file %s | filecheck %s

module attributes {target.config = #target.config<host = @mcu>} {
  target.device @mcu {targets = [#llvm_cpu.target<cpu = "cortex-m55">, #cmsis_nn.target<cpu = "cortex-m55">]}
  func.func private @r(%x: tensor<2x8xi8>, %w: tensor<4x8xi8>, %b: tensor<4xi32>) -> tensor<2x4xi8> attributes {target.for = #target.place<@mcu, #cmsis_nn.target<cpu = "cortex-m55">, ?>} {
    %y = cmsis_nn.fully_connected %x, %w, %b offsets [3, 1, -5] scale [1073741824, -4] : tensor<2x8xi8>, tensor<4x8xi8>, tensor<4xi32> -> tensor<2x4xi8>
    func.return %y : tensor<2x4xi8>
  }
  func.func @main(%x: tensor<2x8xi8>, %w: tensor<4x8xi8>, %b: tensor<4xi32>) -> tensor<2x4xi8> {
    %y = func.call @r(%x, %w, %b) : (tensor<2x8xi8>, tensor<4x8xi8>, tensor<4xi32>) -> tensor<2x4xi8>
    func.return %y : tensor<2x4xi8>
  }
}

// With vectors, sums over the kernel are in the scratch memory before the call.
// CHECK-LABEL: tir.func @cmsis_nn_fully_connected_
// CHECK:         %[[S:.*]] = tir.alloc {alignment = 16} : memref<4xi32>
// CHECK:         %[[K:.*]] = arith.constant 8 : i32
// CHECK:         %[[M:.*]] = arith.constant 4 : i32
// CHECK:         tir.extern "arm_vector_sum_s8"(write %[[S]], %[[K]], %[[M]], %{{.*}}, %[[IN:.*]], %[[W:.*]], %{{.*}}) status 0
// CHECK:         %[[BYTES:.*]] = arith.constant 16 : i32
// CHECK:         %[[CTX:.*]] = tir.struct(%[[S]], %[[BYTES]]) : !tir.struct<"cmsis_nn_context", (memref<4xi32>, i32)>
// CHECK:         %[[OUT:.*]] = arith.constant -5 : i32
// CHECK:         %[[P:.*]] = tir.struct(%[[IN]], %[[W]], %[[OUT]], %{{.*}}) : !tir.struct<"cmsis_nn_fc_params", (i32, i32, i32, !tir.struct<"cmsis_nn_activation", (i32, i32)>)>
// CHECK:         tir.struct(%{{.*}}, %{{.*}}) : !tir.struct<"cmsis_nn_per_tensor_quant_params", (i32, i32)>
// CHECK:         tir.extern "arm_fully_connected_s8"(read_write ref %[[CTX]], ref %[[P]], {{.*}}) status 0

// -----

module attributes {target.config = #target.config<host = @mcu>} {
  target.device @mcu {targets = [#llvm_cpu.target<cpu = "cortex-m4">, #cmsis_nn.target<cpu = "cortex-m4">]}
  func.func private @r(%x: tensor<1x8x6x4xi8>) -> tensor<1x4x3x4xi8> attributes {target.for = #target.place<@mcu, #cmsis_nn.target<cpu = "cortex-m4">, ?>} {
    %y = cmsis_nn.avg_pool %x kernel [2, 2] strides [2, 2] : tensor<1x8x6x4xi8> -> tensor<1x4x3x4xi8>
    func.return %y : tensor<1x4x3x4xi8>
  }
  func.func @main(%x: tensor<1x8x6x4xi8>) -> tensor<1x4x3x4xi8> {
    %y = func.call @r(%x) : (tensor<1x8x6x4xi8>) -> tensor<1x4x3x4xi8>
    func.return %y : tensor<1x4x3x4xi8>
  }
}

// The scratch memory of a mean is four bytes per channel with DSP instructions.
// CHECK-LABEL: tir.func @cmsis_nn_avg_pool_
// CHECK:         %[[S:.*]] = tir.alloc {alignment = 16} : memref<16xi8>
// CHECK:         %[[CTX:.*]] = tir.struct(%[[S]], %{{.*}}) : !tir.struct<"cmsis_nn_context", (memref<16xi8>, i32)>
// CHECK:         tir.extern "arm_avgpool_s8"(scratch ref %[[CTX]], ref %{{.*}}, ref %{{.*}}, %{{.*}}, ref %{{.*}}, ref %{{.*}}, write %{{.*}}) status 0

// -----

module attributes {target.config = #target.config<host = @mcu>} {
  target.device @mcu {targets = [#llvm_cpu.target<cpu = "cortex-m4">, #cmsis_nn.target<cpu = "cortex-m4">]}
  func.func private @r(%x: tensor<1x8x6x4xi8>, %w: tensor<1x5x3x8xi8>, %b: tensor<8xi32>) -> tensor<1x4x4x8xi8> attributes {target.for = #target.place<@mcu, #cmsis_nn.target<cpu = "cortex-m4">, ?>} {
    %y = cmsis_nn.depthwise_conv %x, %w, %b, %b, %b strides [2, 1] padding [2, 0, 1, 0] offsets [3, -5] : tensor<1x8x6x4xi8>, tensor<1x5x3x8xi8>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32> -> tensor<1x4x4x8xi8>
    func.return %y : tensor<1x4x4x8xi8>
  }
  func.func @main(%x: tensor<1x8x6x4xi8>, %w: tensor<1x5x3x8xi8>, %b: tensor<8xi32>) -> tensor<1x4x4x8xi8> {
    %y = func.call @r(%x, %w, %b) : (tensor<1x8x6x4xi8>, tensor<1x5x3x8xi8>, tensor<8xi32>) -> tensor<1x4x4x8xi8>
    func.return %y : tensor<1x4x4x8xi8>
  }
}

// Tiles have the width first; two results of each channel; no scratch memory, at some address.
// CHECK-LABEL: tir.func @cmsis_nn_depthwise_conv_
// CHECK:         %[[ONE:.*]] = arith.constant 1 : i32
// CHECK:         %[[MULTIPLE:.*]] = arith.constant 2 : i32
// CHECK:         %[[STRIDE:.*]] = tir.struct(%[[ONE]], %[[MULTIPLE]]) : !tir.struct<"cmsis_nn_tile", (i32, i32)>
// CHECK:         tir.struct(%{{.*}}, %{{.*}}, %[[MULTIPLE]], %[[STRIDE]], %{{.*}}) : !tir.struct<"cmsis_nn_dw_conv_params", (i32, i32, i32,
// CHECK:         tir.alloc {alignment = 16} : memref<0xi8>
// CHECK:         tir.extern "arm_depthwise_conv_wrapper_s8"(

// -----

module attributes {target.config = #target.config<host = @mcu>} {
  target.device @mcu {targets = [#llvm_cpu.target<cpu = "cortex-m4">, #cmsis_nn.target<cpu = "cortex-m4">]}
  func.func private @r(%x: tensor<1x8x6x4xi8>, %y: tensor<1x1x1x4xi8>) -> tensor<1x8x6x4xi8> attributes {target.for = #target.place<@mcu, #cmsis_nn.target<cpu = "cortex-m4">, ?>} {
    %z = cmsis_nn.mul %x, %y offsets [1, 2, -3] scale [1518500250, -6] : tensor<1x8x6x4xi8>, tensor<1x1x1x4xi8> -> tensor<1x8x6x4xi8>
    func.return %z : tensor<1x8x6x4xi8>
  }
  func.func @main(%x: tensor<1x8x6x4xi8>, %y: tensor<1x1x1x4xi8>) -> tensor<1x8x6x4xi8> {
    %z = func.call @r(%x, %y) : (tensor<1x8x6x4xi8>, tensor<1x1x1x4xi8>) -> tensor<1x8x6x4xi8>
    func.return %z : tensor<1x8x6x4xi8>
  }
}

// Each pixel is a call.
// CHECK-LABEL: tir.func @cmsis_nn_mul_
// CHECK:         scf.for %[[N:.*]] =
// CHECK:           scf.for %[[Y:.*]] =
// CHECK:             scf.for %[[X:.*]] =
// CHECK:               %[[A:.*]] = memref.subview %0[%[[N]], %[[Y]], %[[X]], 0] [1, 1, 1, 4]
// CHECK:               %[[B:.*]] = memref.subview %1[%[[N]], %{{.*}}, %{{.*}}, 0] [1, 1, 1, 4]
// CHECK:               %[[C:.*]] = memref.subview %2[%[[N]], %[[Y]], %[[X]], 0] [1, 1, 1, 4]
// CHECK:               tir.extern "arm_elementwise_mul_s8"(%[[A]], %[[B]], {{.*}}, write %[[C]],
