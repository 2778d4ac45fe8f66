// Integer arithmetic of every signedness: wraps, divides towards zero, compares.
func.func @main(%a: tensor<33xi8>, %b: tensor<33xi8>, %u: tensor<33xui8>, %v: tensor<33xui8>, %i: tensor<33xi32>, %l: tensor<33xi64>) -> (
    tensor<33xi8>, tensor<33xui8>, tensor<33xi32>, tensor<33xi64>, tensor<33xi1>) {
  %c100 = graph.constant dense<100> : tensor<i8>
  %one = graph.constant dense<1> : tensor<i8>
  %a0 = graph.mul %a, %c100 : tensor<33xi8>, tensor<i8> -> tensor<33xi8>
  %a1 = graph.sub %a0, %b : tensor<33xi8>
  %b1 = graph.add %b, %one : tensor<33xi8>, tensor<i8> -> tensor<33xi8>
  %q = graph.div %a1, %b1 : tensor<33xi8>
  %m = graph.mod %a1, %b1 : tensor<33xi8>
  %n = graph.neg %m : tensor<33xi8>
  %abs = graph.abs %n : tensor<33xi8>
  %s = graph.sign %a1 : tensor<33xi8>
  %mx = graph.maximum %q, %abs : tensor<33xi8>
  %mn = graph.minimum %mx, %s : tensor<33xi8>
  %x = graph.xor %mn, %a0 : tensor<33xi8>
  %r = graph.relu %x : tensor<33xi8>
  %cl = graph.clamp %r min 3 : i8 max 90 : i8 : tensor<33xi8>
  %c30 = graph.constant dense<30> : tensor<ui8>
  %u0 = graph.mul %u, %c30 : tensor<33xui8>, tensor<ui8> -> tensor<33xui8>
  %uone = graph.constant dense<1> : tensor<ui8>
  %v1 = graph.add %v, %uone : tensor<33xui8>, tensor<ui8> -> tensor<33xui8>
  %u1 = graph.div %u0, %v1 : tensor<33xui8>
  %u2 = graph.mod %u0, %v1 : tensor<33xui8>
  %u3 = graph.maximum %u1, %u2 : tensor<33xui8>
  %u4 = graph.or %u3, %u0 : tensor<33xui8>
  %u5 = graph.not %u4 : tensor<33xui8>
  %lt = graph.compare lt %u5, %u0 : tensor<33xui8>, tensor<33xui8> -> tensor<33xi1>
  %gt = graph.compare gt %a0, %b : tensor<33xi8>, tensor<33xi8> -> tensor<33xi1>
  %both = graph.and %lt, %gt : tensor<33xi1>
  %w = graph.cast %cl : tensor<33xi8> -> tensor<33xi32>
  %uw = graph.cast %u5 : tensor<33xui8> -> tensor<33xi32>
  %sum = graph.add %w, %uw : tensor<33xi32>
  %si = graph.mul %sum, %i : tensor<33xi32>
  %lw = graph.cast %si : tensor<33xi32> -> tensor<33xi64>
  %ll = graph.mul %lw, %l : tensor<33xi64>
  func.return %cl, %u5, %si, %ll, %both : tensor<33xi8>, tensor<33xui8>, tensor<33xi32>, tensor<33xi64>, tensor<33xi1>
}
