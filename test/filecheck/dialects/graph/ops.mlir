// RUN: %roundtrip | filecheck %s

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<4x?xf32>, %i: tensor<4xi32>, %b: tensor<4xi1>) {
  // CHECK-NEXT:  graph.neg %x : tensor<4x?xf32>
  %neg = graph.neg %x : tensor<4x?xf32>
  %abs = graph.abs %x : tensor<4x?xf32>
  %exp = graph.exp %x : tensor<4x?xf32>
  %log = graph.log %x : tensor<4x?xf32>
  %sqrt = graph.sqrt %x : tensor<4x?xf32>
  %rsqrt = graph.rsqrt %x : tensor<4x?xf32>
  %reciprocal = graph.reciprocal %x : tensor<4x?xf32>
  %tanh = graph.tanh %x : tensor<4x?xf32>
  %sigmoid = graph.sigmoid %x : tensor<4x?xf32>
  %relu = graph.relu %x : tensor<4x?xf32>
  %erf = graph.erf %x : tensor<4x?xf32>
  %gelu = graph.gelu %x : tensor<4x?xf32>
  %sin = graph.sin %x : tensor<4x?xf32>
  %cos = graph.cos %x : tensor<4x?xf32>
  %floor = graph.floor %x : tensor<4x?xf32>
  %ceil = graph.ceil %x : tensor<4x?xf32>
  %round = graph.round %x : tensor<4x?xf32>
  %sign = graph.sign %i : tensor<4xi32>
  // CHECK:       graph.not %b : tensor<4xi1>
  %not = graph.not %b : tensor<4xi1>
  // CHECK-NEXT:  graph.leaky_relu %x alpha 1.000000e-01 : tensor<4x?xf32>
  %leaky = graph.leaky_relu %x alpha 0.1 : tensor<4x?xf32>
  // CHECK-NEXT:  graph.clamp %x min 0.000000e+00 : f32 max 6.000000e+00 : f32 : tensor<4x?xf32>
  %both = graph.clamp %x min 0.0 : f32 max 6.0 : f32 : tensor<4x?xf32>
  // CHECK-NEXT:  graph.clamp %i max 3 : i32 : tensor<4xi32>
  %upper = graph.clamp %i max 3 : i32 : tensor<4xi32>
  func.return
}

// CHECK-LABEL: @binary
func.func @binary(%a: tensor<4x1xf32>, %b: tensor<3xf32>, %i: tensor<2xui8>, %t: tensor<2xi1>) {
  // CHECK-NEXT:  graph.add %a, %b : tensor<4x1xf32>, tensor<3xf32> -> tensor<4x3xf32>
  %add = graph.add %a, %b : tensor<4x1xf32>, tensor<3xf32> -> tensor<4x3xf32>
  // CHECK-NEXT:  graph.sub %b, %b : tensor<3xf32>
  %sub = graph.sub %b, %b : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  %mul = graph.mul %i, %i : tensor<2xui8>
  %div = graph.div %i, %i : tensor<2xui8>
  %mod = graph.mod %i, %i : tensor<2xui8>
  %pow = graph.pow %b, %b : tensor<3xf32>
  %minimum = graph.minimum %b, %b : tensor<3xf32>
  %maximum = graph.maximum %b, %b : tensor<3xf32>
  %and = graph.and %t, %t : tensor<2xi1>
  %or = graph.or %i, %i : tensor<2xui8>
  // CHECK:       graph.xor %t, %t {test.hint = 1 : i64} : tensor<2xi1>
  %xor = graph.xor %t, %t {test.hint = 1} : tensor<2xi1>
  func.return
}

// CHECK-LABEL: @selection
func.func @selection(%a: tensor<4xf32>, %s: tensor<f32>) {
  // CHECK-NEXT:  %[[C:.*]] = graph.compare lt %a, %s : tensor<4xf32>, tensor<f32> -> tensor<4xi1>
  %c = graph.compare lt %a, %s : tensor<4xf32>, tensor<f32> -> tensor<4xi1>
  // CHECK-NEXT:  graph.select %[[C]], %a, %s : tensor<4xi1>, tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %r = graph.select %c, %a, %s : tensor<4xi1>, tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  // CHECK-NEXT:  graph.compare eq %[[C]], %[[C]] : tensor<4xi1>
  %e = graph.compare eq %c, %c : tensor<4xi1>
  // CHECK-NEXT:  graph.cast %a : tensor<4xf32> -> tensor<4xui8>
  %i = graph.cast %a : tensor<4xf32> -> tensor<4xui8>
  func.return
}

// CHECK-LABEL: @contraction
func.func @contraction(%a: tensor<2x1x4x8xf16>, %b: tensor<3x8x5xf16>, %x: tensor<1x6x9x9xi8>, %w: tensor<4x3x3x3xi8>) {
  // CHECK-NEXT:  graph.matmul %a, %b : tensor<2x1x4x8xf16>, tensor<3x8x5xf16> -> tensor<2x3x4x5xf32>
  %m = graph.matmul %a, %b : tensor<2x1x4x8xf16>, tensor<3x8x5xf16> -> tensor<2x3x4x5xf32>
  // CHECK-NEXT:  graph.conv2d %x, %w groups 2 : tensor<1x6x9x9xi8>, tensor<4x3x3x3xi8> -> tensor<1x4x7x7xi32>
  %y = graph.conv2d %x, %w strides [1, 1] groups 2 : tensor<1x6x9x9xi8>, tensor<4x3x3x3xi8> -> tensor<1x4x7x7xi32>
  // CHECK-NEXT:  graph.conv2d %x, %w strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] groups 2 : tensor<1x6x9x9xi8>, tensor<4x3x3x3xi8> -> tensor<1x4x5x5xi8>
  %z = graph.conv2d %x, %w strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] groups 2 : tensor<1x6x9x9xi8>, tensor<4x3x3x3xi8> -> tensor<1x4x5x5xi8>
  // CHECK-NEXT:  graph.conv2d %x, %w padding [1, 1, 1, 1] groups 2 fill -128 : tensor<1x6x9x9xi8>, tensor<4x3x3x3xi8> -> tensor<1x4x9x9xi32>
  %f = graph.conv2d %x, %w padding [1, 1, 1, 1] groups 2 fill -128 : tensor<1x6x9x9xi8>, tensor<4x3x3x3xi8> -> tensor<1x4x9x9xi32>
  func.return
}

// CHECK-LABEL: @pooling
func.func @pooling(%x: tensor<1x2x8x8xf32>) {
  // CHECK-NEXT:  graph.max_pool2d %x kernel [3, 3] strides [2, 2] padding [1, 1, 1, 1] ceil_mode : tensor<1x2x8x8xf32> -> tensor<1x2x5x5xf32>
  %m = graph.max_pool2d %x kernel [3, 3] strides [2, 2] padding [1, 1, 1, 1] ceil_mode : tensor<1x2x8x8xf32> -> tensor<1x2x5x5xf32>
  // CHECK-NEXT:  %{{.*}}, %{{.*}} = graph.max_pool2d %x kernel [2, 2] dilations [2, 2] : tensor<1x2x8x8xf32> -> tensor<1x2x6x6xf32>, tensor<1x2x6x6xi64>
  %n, %i = graph.max_pool2d %x kernel [2, 2] dilations [2, 2] : tensor<1x2x8x8xf32> -> tensor<1x2x6x6xf32>, tensor<1x2x6x6xi64>
  // CHECK-NEXT:  graph.avg_pool2d %x kernel [2, 2] dilations [2, 3] ceil_mode : tensor<1x2x8x8xf32> -> tensor<1x2x6x5xf32>
  %ad = graph.avg_pool2d %x kernel [2, 2] dilations [2, 3] ceil_mode : tensor<1x2x8x8xf32> -> tensor<1x2x6x5xf32>
  // CHECK-NEXT:  graph.avg_pool2d %x kernel [3, 3] padding [1, 1, 1, 1] count_include_pad : tensor<1x2x8x8xf32>
  %a = graph.avg_pool2d %x kernel [3, 3] padding [1, 1, 1, 1] count_include_pad : tensor<1x2x8x8xf32>
  func.return
}

// CHECK-LABEL: @normalization
func.func @normalization(%x: tensor<2x8x4xf32>, %p: tensor<8xf32>) {
  // CHECK-NEXT:  graph.batch_norm %x, %p, %p, %p, %p epsilon 1.000000e-05 : tensor<2x8x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<2x8x4xf32>
  %b = graph.batch_norm %x, %p, %p, %p, %p epsilon 1.0e-5 : tensor<2x8x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<2x8x4xf32>
  // CHECK-NEXT:  graph.softmax %x axis 2 : tensor<2x8x4xf32>
  %s = graph.softmax %x axis 2 : tensor<2x8x4xf32>
  // CHECK-NEXT:  graph.log_softmax %x axis 0 : tensor<2x8x4xf32>
  %l = graph.log_softmax %x axis 0 : tensor<2x8x4xf32>
  func.return
}

// CHECK-LABEL: @reduction
func.func @reduction(%x: tensor<2x8x4xf32>) {
  // CHECK-NEXT:  graph.reduce sum %x axes [0, 2] : tensor<2x8x4xf32> -> tensor<8xf32>
  %s = graph.reduce sum %x axes [0, 2] : tensor<2x8x4xf32> -> tensor<8xf32>
  // CHECK-NEXT:  graph.reduce mean %x axes [1] keepdims : tensor<2x8x4xf32> -> tensor<2x1x4xf32>
  %m = graph.reduce mean %x axes [1] keepdims : tensor<2x8x4xf32> -> tensor<2x1x4xf32>
  %a = graph.reduce max %x axes [1] : tensor<2x8x4xf32> -> tensor<2x4xf32>
  %i = graph.reduce min %x axes [1] : tensor<2x8x4xf32> -> tensor<2x4xf32>
  %p = graph.reduce prod %x axes [] : tensor<2x8x4xf32>
  // CHECK:       graph.arg_reduce argmax %x axis 1 keepdims : tensor<2x8x4xf32> -> tensor<2x1x4xi64>
  %x1 = graph.arg_reduce argmax %x axis 1 keepdims : tensor<2x8x4xf32> -> tensor<2x1x4xi64>
  // CHECK-NEXT:  graph.arg_reduce argmin %x axis 0 : tensor<2x8x4xf32> -> tensor<8x4xi64>
  %x2 = graph.arg_reduce argmin %x axis 0 : tensor<2x8x4xf32> -> tensor<8x4xi64>
  func.return
}

// CHECK-LABEL: @movement
func.func @movement(%x: tensor<?x3x4xf32>, %s: tensor<3x4xf32>) {
  // CHECK-NEXT:  graph.reshape %x to [dim(0), -1] : tensor<?x3x4xf32> -> tensor<?x12xf32>
  %r = graph.reshape %x to [dim(0), -1] : tensor<?x3x4xf32> -> tensor<?x12xf32>
  // CHECK-NEXT:  graph.transpose %x permutation [2, 0, 1] : tensor<?x3x4xf32> -> tensor<4x?x3xf32>
  %t = graph.transpose %x permutation [2, 0, 1] : tensor<?x3x4xf32> -> tensor<4x?x3xf32>
  // CHECK-NEXT:  graph.broadcast %s : tensor<3x4xf32> -> tensor<2x3x4xf32>
  %b = graph.broadcast %s : tensor<3x4xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT:  graph.concat %s, %s axis 1 : tensor<3x4xf32>, tensor<3x4xf32> -> tensor<3x8xf32>
  %c = graph.concat %s, %s axis 1 : tensor<3x4xf32>, tensor<3x4xf32> -> tensor<3x8xf32>
  // CHECK-NEXT:  graph.pad %s low [1, 0] high [0, 2] value 1.000000e+00 : f32 : tensor<3x4xf32> -> tensor<4x6xf32>
  %p = graph.pad %s low [1, 0] high [0, 2] value 1.0 : f32 : tensor<3x4xf32> -> tensor<4x6xf32>
  // CHECK-NEXT:  graph.cumulate sum %s axis 1 exclusive reverse : tensor<3x4xf32>
  %u = graph.cumulate sum %s axis 1 exclusive reverse : tensor<3x4xf32>
  // CHECK-NEXT:  graph.cumulate max %s axis 0 : tensor<3x4xf32>
  %v = graph.cumulate max %s axis 0 : tensor<3x4xf32>
  // CHECK-NEXT:  graph.argsort %x axis 1 descending : tensor<?x3x4xf32> -> tensor<?x3x4xi64>
  %d = graph.argsort %x axis 1 descending : tensor<?x3x4xf32> -> tensor<?x3x4xi64>
  // CHECK-NEXT:  graph.argsort %x axis 1 first 2 descending : tensor<?x3x4xf32> -> tensor<?x2x4xi64>
  %first = graph.argsort %x axis 1 first 2 descending : tensor<?x3x4xf32> -> tensor<?x2x4xi64>
  // CHECK-NEXT:  graph.argsort %s axis 0 : tensor<3x4xf32> -> tensor<3x4xi64>
  %e = graph.argsort %s axis 0 : tensor<3x4xf32> -> tensor<3x4xi64>
  // CHECK-NEXT:  graph.bitcast %x : tensor<?x3x4xf32> -> tensor<?x3x4xui32>
  %f = graph.bitcast %x : tensor<?x3x4xf32> -> tensor<?x3x4xui32>
  func.return
}

// CHECK-LABEL: @trigonometry
func.func @trigonometry(%x: tensor<4x?xf32>, %i: tensor<4xui8>) {
  // CHECK-NEXT:  graph.acos %x : tensor<4x?xf32>
  %acos = graph.acos %x : tensor<4x?xf32>
  // CHECK-NEXT:  graph.acosh %x : tensor<4x?xf32>
  %acosh = graph.acosh %x : tensor<4x?xf32>
  // CHECK-NEXT:  graph.asin %x : tensor<4x?xf32>
  %asin = graph.asin %x : tensor<4x?xf32>
  // CHECK-NEXT:  graph.asinh %x : tensor<4x?xf32>
  %asinh = graph.asinh %x : tensor<4x?xf32>
  // CHECK-NEXT:  graph.atan %x : tensor<4x?xf32>
  %atan = graph.atan %x : tensor<4x?xf32>
  // CHECK-NEXT:  graph.atanh %x : tensor<4x?xf32>
  %atanh = graph.atanh %x : tensor<4x?xf32>
  // CHECK-NEXT:  graph.cosh %x : tensor<4x?xf32>
  %cosh = graph.cosh %x : tensor<4x?xf32>
  // CHECK-NEXT:  graph.sinh %x : tensor<4x?xf32>
  %sinh = graph.sinh %x : tensor<4x?xf32>
  // CHECK-NEXT:  graph.tan %x : tensor<4x?xf32>
  %tan = graph.tan %x : tensor<4x?xf32>
  // CHECK-NEXT:  graph.shift_left %i, %i : tensor<4xui8>
  %shift_left = graph.shift_left %i, %i : tensor<4xui8>
  // CHECK-NEXT:  graph.shift_right %i, %i : tensor<4xui8>
  %shift_right = graph.shift_right %i, %i : tensor<4xui8>
  func.return
}

// CHECK-LABEL: @quantization
func.func @quantization(%x: tensor<4x?xf32>, %s: tensor<4x1xf32>, %z: tensor<i8>) {
  // CHECK-NEXT:  %[[Q:.*]] = graph.quantize %x, %s, %z : tensor<4x?xf32>, tensor<4x1xf32>, tensor<i8> -> tensor<4x?xi8>
  %q = graph.quantize %x, %s, %z : tensor<4x?xf32>, tensor<4x1xf32>, tensor<i8> -> tensor<4x?xi8>
  // CHECK-NEXT:  graph.dequantize %[[Q]], %s, %z : tensor<4x?xi8>, tensor<4x1xf32>, tensor<i8> -> tensor<4x?xf32>
  %y = graph.dequantize %q, %s, %z : tensor<4x?xi8>, tensor<4x1xf32>, tensor<i8> -> tensor<4x?xf32>
  func.return
}

// CHECK-LABEL: @indexing
func.func @indexing(%x: tensor<?x8xf32>, %d: tensor<10x4xf32>, %i: tensor<2x3xi64>, %j: tensor<2x4xi32>, %u: tensor<2x4xf32>) {
  // CHECK-NEXT:  graph.slice %x starts [0, 7] sizes [-1, 4] steps [1, -2] : tensor<?x8xf32> -> tensor<?x4xf32>
  %s = graph.slice %x starts [0, 7] sizes [-1, 4] steps [1, -2] : tensor<?x8xf32> -> tensor<?x4xf32>
  // CHECK-NEXT:  graph.gather_elements %d, %i axis 1 : tensor<10x4xf32>, tensor<2x3xi64> -> tensor<2x3xf32>
  %ge = graph.gather_elements %d, %i axis 1 : tensor<10x4xf32>, tensor<2x3xi64> -> tensor<2x3xf32>
  // CHECK-NEXT:  graph.iota %d axis 0 : tensor<10x4xf32> -> tensor<10x4xi64>
  %io = graph.iota %d axis 0 : tensor<10x4xf32> -> tensor<10x4xi64>
  // CHECK-NEXT:  graph.nonzero %d : tensor<10x4xf32> -> tensor<2x?xi64>
  %nz = graph.nonzero %d : tensor<10x4xf32> -> tensor<2x?xi64>
  // CHECK-NEXT:  graph.gather %d, %i axis 1 : tensor<10x4xf32>, tensor<2x3xi64> -> tensor<10x2x3xf32>
  %g = graph.gather %d, %i axis 1 : tensor<10x4xf32>, tensor<2x3xi64> -> tensor<10x2x3xf32>
  // CHECK-NEXT:  graph.scatter add %d, %j, %u axis 0 : tensor<10x4xf32>, tensor<2x4xi32>, tensor<2x4xf32> -> tensor<10x4xf32>
  %a = graph.scatter add %d, %j, %u axis 0 : tensor<10x4xf32>, tensor<2x4xi32>, tensor<2x4xf32> -> tensor<10x4xf32>
  // CHECK-NEXT:  graph.scatter none %d, %j, %u axis 0 : tensor<10x4xf32>, tensor<2x4xi32>, tensor<2x4xf32> -> tensor<10x4xf32>
  %n = graph.scatter none %d, %j, %u axis 0 : tensor<10x4xf32>, tensor<2x4xi32>, tensor<2x4xf32> -> tensor<10x4xf32>
  func.return
}

// CHECK-LABEL: @scalars_and_empty_tensors
func.func @scalars_and_empty_tensors(%s: tensor<f32>, %e: tensor<0x4xf32>) {
  // CHECK-NEXT:  graph.add %s, %s : tensor<f32>
  %a = graph.add %s, %s : tensor<f32>
  // CHECK-NEXT:  graph.reduce sum %e axes [0] : tensor<0x4xf32> -> tensor<4xf32>
  %r = graph.reduce sum %e axes [0] : tensor<0x4xf32> -> tensor<4xf32>
  // CHECK-NEXT:  graph.reshape %s to [] : tensor<f32>
  %q = graph.reshape %s to [] : tensor<f32>
  func.return
}
