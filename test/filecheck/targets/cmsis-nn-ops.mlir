// RUN: %roundtrip | filecheck %s

// CHECK-LABEL: @products
func.func @products(
    %x: tensor<1x8x8x4xi8>, %w: tensor<6x3x3x2xi8>, %v: tensor<1x3x3x8xi8>, %r: tensor<2x8xi8>,
    %f: tensor<6x8xi8>, %b: tensor<6xi32>, %m: tensor<6xi32>, %s: tensor<6xi32>, %t: tensor<8xi32>
) {
  // CHECK:         cmsis_nn.conv %x, %w, %b, %m, %s strides [2, 2] padding [1, 1, 1, 1] offsets [3, -5] activation [-5, 127] {test.a} :
  // CHECK-SAME:      -> tensor<1x4x4x6xi8>
  // CHECK-NEXT:    cmsis_nn.depthwise_conv %x, %v, %t, %t, %t offsets [3, -5] :
  // CHECK-SAME:      -> tensor<1x6x6x8xi8>
  // CHECK-NEXT:    cmsis_nn.fully_connected %r, %f, %b offsets [3, 1, -5] scale [1073741824, -4] :
  // CHECK-SAME:      -> tensor<2x6xi8>
  // CHECK-NEXT:    cmsis_nn.fully_connected_per_channel %r, %f, %b, %m, %s offsets [3, -5] activation [0, 9] :
  // CHECK-SAME:      -> tensor<2x6xi8>
  %c = cmsis_nn.conv %x, %w, %b, %m, %s strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] offsets [3, -5] activation [-5, 127] {test.a} : tensor<1x8x8x4xi8>, tensor<6x3x3x2xi8>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32> -> tensor<1x4x4x6xi8>
  %d = cmsis_nn.depthwise_conv %x, %v, %t, %t, %t offsets [3, -5] : tensor<1x8x8x4xi8>, tensor<1x3x3x8xi8>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32> -> tensor<1x6x6x8xi8>
  %e = cmsis_nn.fully_connected %r, %f, %b offsets [3, 1, -5] scale [1073741824, -4] : tensor<2x8xi8>, tensor<6x8xi8>, tensor<6xi32> -> tensor<2x6xi8>
  %g = cmsis_nn.fully_connected_per_channel %r, %f, %b, %m, %s offsets [3, -5] activation [0, 9] : tensor<2x8xi8>, tensor<6x8xi8>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32> -> tensor<2x6xi8>
  func.return
}

// CHECK-LABEL: @others
func.func @others(%x: tensor<1x8x8x4xi8>, %r: tensor<2x8xi8>) {
  // CHECK:         cmsis_nn.max_pool %x kernel [2, 2] strides [2, 2] padding [0, 1, 0, 1] : tensor<1x8x8x4xi8> -> tensor<1x4x5x4xi8>
  // CHECK-NEXT:    cmsis_nn.avg_pool %x kernel [8, 8] activation [-9, 9] : tensor<1x8x8x4xi8> -> tensor<1x1x1x4xi8>
  // CHECK-NEXT:    cmsis_nn.softmax %r scale [1073741824, 20] diff_min -1984 : tensor<2x8xi8>
  // CHECK-NEXT:    cmsis_nn.add %r, %r offsets [1, 2, -3] multipliers [1073741824, 1073741824, 1518500250] shifts [0, 0, -19] left_shift 20 : tensor<2x8xi8>
  // CHECK-NEXT:    cmsis_nn.mul %r, %r offsets [1, 2, -3] scale [1518500250, -6] activation [-3, 127] : tensor<2x8xi8>
  %a = cmsis_nn.max_pool %x kernel [2, 2] strides [2, 2] padding [0, 1, 0, 1] : tensor<1x8x8x4xi8> -> tensor<1x4x5x4xi8>
  %b = cmsis_nn.avg_pool %x kernel [8, 8] activation [-9, 9] : tensor<1x8x8x4xi8> -> tensor<1x1x1x4xi8>
  %c = cmsis_nn.softmax %r scale [1073741824, 20] diff_min -1984 : tensor<2x8xi8>
  %d = cmsis_nn.add %r, %r offsets [1, 2, -3] multipliers [1073741824, 1073741824, 1518500250] shifts [0, 0, -19] left_shift 20 : tensor<2x8xi8>
  %e = cmsis_nn.mul %r, %r offsets [1, 2, -3] scale [1518500250, -6] activation [-3, 127] : tensor<2x8xi8>
  func.return
}
