// Every element-wise op on f32, with broadcasting.
func.func @main(%x: tensor<2x3x4xf32>, %y: tensor<3x1xf32>, %p: tensor<4xf32>) -> (
    tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<2x3x4xi1>, tensor<2x3x4xf32>) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %a = graph.add %x, %y : tensor<2x3x4xf32>, tensor<3x1xf32> -> tensor<2x3x4xf32>
  %b = graph.sub %a, %p : tensor<2x3x4xf32>, tensor<4xf32> -> tensor<2x3x4xf32>
  %c = graph.mul %b, %half : tensor<2x3x4xf32>, tensor<f32> -> tensor<2x3x4xf32>
  %abs = graph.abs %x : tensor<2x3x4xf32>
  %pos = graph.add %abs, %one : tensor<2x3x4xf32>, tensor<f32> -> tensor<2x3x4xf32>
  %d = graph.div %c, %pos : tensor<2x3x4xf32>
  %lo = graph.minimum %d, %x : tensor<2x3x4xf32>
  %hi = graph.maximum %lo, %y : tensor<2x3x4xf32>, tensor<3x1xf32> -> tensor<2x3x4xf32>
  %pow = graph.pow %pos, %half : tensor<2x3x4xf32>, tensor<f32> -> tensor<2x3x4xf32>
  %log = graph.log %pos : tensor<2x3x4xf32>
  %exp = graph.exp %x : tensor<2x3x4xf32>
  %sqrt = graph.sqrt %pos : tensor<2x3x4xf32>
  %rsqrt = graph.rsqrt %pos : tensor<2x3x4xf32>
  %rec = graph.reciprocal %pos : tensor<2x3x4xf32>
  %s0 = graph.add %pow, %log : tensor<2x3x4xf32>
  %s1 = graph.add %s0, %exp : tensor<2x3x4xf32>
  %s2 = graph.add %s1, %sqrt : tensor<2x3x4xf32>
  %s3 = graph.mul %s2, %rsqrt : tensor<2x3x4xf32>
  %s4 = graph.add %s3, %rec : tensor<2x3x4xf32>
  %tanh = graph.tanh %x : tensor<2x3x4xf32>
  %sig = graph.sigmoid %x : tensor<2x3x4xf32>
  %relu = graph.relu %x : tensor<2x3x4xf32>
  %erf = graph.erf %x : tensor<2x3x4xf32>
  %gelu = graph.gelu %x : tensor<2x3x4xf32>
  %sin = graph.sin %x : tensor<2x3x4xf32>
  %cos = graph.cos %x : tensor<2x3x4xf32>
  %t0 = graph.add %tanh, %sig : tensor<2x3x4xf32>
  %t1 = graph.add %t0, %relu : tensor<2x3x4xf32>
  %t2 = graph.sub %t1, %erf : tensor<2x3x4xf32>
  %t3 = graph.mul %t2, %gelu : tensor<2x3x4xf32>
  %t4 = graph.add %t3, %sin : tensor<2x3x4xf32>
  %t5 = graph.sub %t4, %cos : tensor<2x3x4xf32>
  %ten = graph.constant dense<10.0> : tensor<f32>
  %large = graph.mul %x, %ten : tensor<2x3x4xf32>, tensor<f32> -> tensor<2x3x4xf32>
  %floor = graph.floor %large : tensor<2x3x4xf32>
  %ceil = graph.ceil %large : tensor<2x3x4xf32>
  %round = graph.round %large : tensor<2x3x4xf32>
  %sign = graph.sign %x : tensor<2x3x4xf32>
  %neg = graph.neg %round : tensor<2x3x4xf32>
  %u0 = graph.add %floor, %ceil : tensor<2x3x4xf32>
  %u1 = graph.sub %u0, %neg : tensor<2x3x4xf32>
  %u2 = graph.mul %u1, %sign : tensor<2x3x4xf32>
  %mod = graph.mod %large, %pos : tensor<2x3x4xf32>
  %leaky = graph.leaky_relu %mod alpha 1.0e-1 : tensor<2x3x4xf32>
  %cmp = graph.compare lt %x, %y : tensor<2x3x4xf32>, tensor<3x1xf32> -> tensor<2x3x4xi1>
  %ncmp = graph.not %cmp : tensor<2x3x4xi1>
  %ge = graph.compare ge %x, %p : tensor<2x3x4xf32>, tensor<4xf32> -> tensor<2x3x4xi1>
  %both = graph.xor %ncmp, %ge : tensor<2x3x4xi1>
  %sel = graph.select %both, %leaky, %u2 : tensor<2x3x4xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  %outer = graph.mul %y, %p : tensor<3x1xf32>, tensor<4xf32> -> tensor<3x4xf32>
  func.return %hi, %s4, %t5, %u2, %outer, %both, %sel : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<2x3x4xi1>, tensor<2x3x4xf32>
}
