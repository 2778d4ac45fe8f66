// RUN: %diagnose

func.func @channels(%x: tensor<1x8x8x4xi8>, %w: tensor<6x3x3x3xi8>, %b: tensor<6xi32>) {
  // expected-error @+1 {{expected channels of 'input' and filters in groups of 3, but got 4 channels and 6 filters}}
  %c = cmsis_nn.conv %x, %w, %b, %b, %b offsets [0, 0] : tensor<1x8x8x4xi8>, tensor<6x3x3x3xi8>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32> -> tensor<1x6x6x6xi8>
  func.return
}

// -----

func.func @table(%x: tensor<1x8x8x4xi8>, %w: tensor<6x3x3x4xi8>, %b: tensor<6xi32>, %m: tensor<1xi32>) {
  // expected-error @+1 {{expected 'multipliers' to have 6 elements, one per channel of the result, but got 1}}
  %c = cmsis_nn.conv %x, %w, %b, %m, %b offsets [0, 0] : tensor<1x8x8x4xi8>, tensor<6x3x3x4xi8>, tensor<6xi32>, tensor<1xi32>, tensor<6xi32> -> tensor<1x6x6x6xi8>
  func.return
}

// -----

func.func @elements(%x: tensor<1x8x8x4xui8>, %w: tensor<6x3x3x4xi8>, %b: tensor<6xi32>) {
  // expected-error @+1 {{expected 'input' to have i8 elements, but got 'ui8'}}
  %c = cmsis_nn.conv %x, %w, %b, %b, %b offsets [0, 0] : tensor<1x8x8x4xui8>, tensor<6x3x3x4xi8>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32> -> tensor<1x6x6x6xi8>
  func.return
}

// -----

func.func @multiple(%x: tensor<1x8x8x4xi8>, %w: tensor<1x3x3x6xi8>, %b: tensor<6xi32>) {
  // expected-error @+1 {{expected 'weights' of one filter for each of 4 channels, or for a multiple, but got 'tensor<1x3x3x6xi8>'}}
  %c = cmsis_nn.depthwise_conv %x, %w, %b, %b, %b offsets [0, 0] : tensor<1x8x8x4xi8>, tensor<1x3x3x6xi8>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32> -> tensor<1x6x6x6xi8>
  func.return
}

// -----

func.func @rows(%r: tensor<2x8xi8>, %f: tensor<6x9xi8>, %b: tensor<6xi32>) {
  // expected-error @+1 {{expected rows of 'input' and 'weights' of one length, but got 8 and 9}}
  %e = cmsis_nn.fully_connected %r, %f, %b offsets [3, 1, -5] scale [1073741824, -4] : tensor<2x8xi8>, tensor<6x9xi8>, tensor<6xi32> -> tensor<2x6xi8>
  func.return
}

// -----

func.func @count(%r: tensor<2x8xi8>, %f: tensor<6x8xi8>, %b: tensor<6xi32>) {
  // expected-error @+1 {{expected 3 numbers in 'offsets', but got 2: [3, 1]}}
  %e = cmsis_nn.fully_connected %r, %f, %b offsets [3, 1] scale [1073741824, -4] : tensor<2x8xi8>, tensor<6x8xi8>, tensor<6xi32> -> tensor<2x6xi8>
  func.return
}

// -----

func.func @range(%x: tensor<1x8x8x4xi8>) {
  // expected-error @+1 {{expected -128 <= least <= greatest <= 127 as 'activation', but got [0, 128]}}
  %a = cmsis_nn.max_pool %x kernel [2, 2] activation [0, 128] : tensor<1x8x8x4xi8> -> tensor<1x7x7x4xi8>
  func.return
}

// -----

func.func @no_range(%x: tensor<2x8xi8>) {
  // expected-error @+1 {{expected no 'activation': the library has none here}}
  %a = cmsis_nn.softmax %x scale [1073741824, 20] diff_min -1984 activation [0, 127] : tensor<2x8xi8>
  func.return
}

// -----

func.func @shapes(%a: tensor<2x8xi8>, %b: tensor<8xi8>) {
  // expected-error @+1 {{expected operands of one shape, or 'rhs' of the channels of an image 'lhs', but got 'tensor<2x8xi8>' and 'tensor<8xi8>'}}
  %e = cmsis_nn.mul %a, %b offsets [1, 2, -3] scale [1518500250, -6] : tensor<2x8xi8>, tensor<8xi8> -> tensor<2x8xi8>
  func.return
}

// -----

func.func @static(%x: tensor<?x8x8x4xi8>) {
  // expected-error @+1 {{expected a static shape of 'input', but got 'tensor<?x8x8x4xi8>'}}
  %a = cmsis_nn.max_pool %x kernel [2, 2] : tensor<?x8x8x4xi8> -> tensor<?x7x7x4xi8>
  func.return
}
