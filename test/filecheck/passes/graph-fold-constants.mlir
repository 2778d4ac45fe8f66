// RUN: transom-opt -p 'graph-fold-constants{max-elements=8}' %s | filecheck %s
// RUN: transom-opt -p graph-fold-constants --print-debuginfo %s | filecheck %s --check-prefix=LOC

// CHECK-LABEL: @chain
func.func @chain() -> tensor<3x1xi64> {
  // CHECK-NEXT:  %[[C:.*]] = graph.constant dense<{{\[}}[8], [3], [2]]> : tensor<3x1xi64>
  // CHECK-NEXT:  func.return %[[C]]
  %shape = graph.constant dense<[1, 3, 8]> : tensor<3xi64>
  %one = graph.constant dense<1> : tensor<i64>
  %first = graph.slice %shape starts [0] sizes [1] steps [1] : tensor<3xi64> -> tensor<1xi64>
  %more = graph.add %first, %one : tensor<1xi64>, tensor<i64> -> tensor<1xi64>
  %rest = graph.slice %shape starts [2] sizes [2] steps [-1] : tensor<3xi64> -> tensor<2xi64>
  %all = graph.concat %rest, %more axis 0 : tensor<2xi64>, tensor<1xi64> -> tensor<3xi64>
  %column = graph.reshape %all to [3, 1] : tensor<3xi64> -> tensor<3x1xi64>
  func.return %column : tensor<3x1xi64>
}

// CHECK-LABEL: @floats
func.func @floats() -> (tensor<2xf32>, tensor<2xbf16>, tensor<f64>) {
  // CHECK-NEXT:  graph.constant dense<[0.333333343, 0x7fc00000]> : tensor<2xf32>
  // CHECK-NEXT:  graph.constant dense<[1.000000e+00, 1.0078{{[0-9]+}}e+00]> : tensor<2xbf16>
  // CHECK-NEXT:  graph.constant dense<{{.*}}> : tensor<f64>
  %a = graph.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %b = graph.constant dense<[3.0, 0.0]> : tensor<2xf32>
  %q = graph.div %a, %b : tensor<2xf32>
  %c = graph.constant dense<[1.00390625, 1.00390637]> : tensor<2xf32>
  %h = graph.cast %c : tensor<2xf32> -> tensor<2xbf16>
  %d = graph.constant dense<1.0> : tensor<f64>
  %e = graph.exp %d : tensor<f64>
  func.return %q, %h, %e : tensor<2xf32>, tensor<2xbf16>, tensor<f64>
}

// A splat stays one; one element is computed.
// CHECK-LABEL: @splat
func.func @splat() -> tensor<100xf32> {
  // CHECK-NEXT:  graph.constant dense<5.000000e+00> : tensor<100xf32>
  %a = graph.constant dense<2.0> : tensor<100xf32>
  %b = graph.constant dense<3.0> : tensor<f32>
  %c = graph.add %a, %b : tensor<100xf32>, tensor<f32> -> tensor<100xf32>
  func.return %c : tensor<100xf32>
}

// More than 8 elements, which no operand has.
// CHECK-LABEL: @large
func.func @large() -> tensor<3x3xf32> {
  // CHECK:       graph.broadcast
  %a = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = graph.broadcast %a : tensor<3xf32> -> tensor<3x3xf32>
  func.return %b : tensor<3x3xf32>
}

// By zero both are 0; the quotient of the least number by -1 is that number.
// CHECK-LABEL: @divided
func.func @divided() -> (tensor<3xi32>, tensor<3xi32>) {
  // CHECK-DAG:   %[[Q:.*]] = graph.constant dense<[1, 0, -2147483648]> : tensor<3xi32>
  // CHECK-DAG:   %[[R:.*]] = graph.constant dense<0> : tensor<3xi32>
  // CHECK:       func.return %[[Q]], %[[R]]
  %a = graph.constant dense<[1, 2, -2147483648]> : tensor<3xi32>
  %b = graph.constant dense<[1, 0, -1]> : tensor<3xi32>
  %q = graph.div %a, %b : tensor<3xi32>
  %r = graph.mod %a, %b : tensor<3xi32>
  func.return %q, %r : tensor<3xi32>, tensor<3xi32>
}

// Places out of range are clamped; of two updates of one place the last stays.
// CHECK-LABEL: @scatter
func.func @scatter() -> tensor<4xf32> {
  // CHECK-NEXT:  graph.constant dense<[0.000000e+00, 0.000000e+00, 0.000000e+00, 2.000000e+00]>
  %d = graph.constant dense<0.0> : tensor<4xf32>
  %i = graph.constant dense<[9, 3]> : tensor<2xi64>
  %u = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = graph.scatter none %d, %i, %u axis 0 : tensor<4xf32>, tensor<2xi64>, tensor<2xf32> -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// An operand that is no constant, a weight, a result of unknown size.
// CHECK-LABEL: @not_constant
func.func @not_constant(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<?xf32>) {
  // CHECK:       graph.add
  // CHECK:       graph.neg
  // CHECK:       graph.neg
  %a = graph.constant dense<1.0> : tensor<2xf32>
  %b = graph.add %x, %a : tensor<2xf32>
  %w = graph.weight_ref @w : tensor<2xf32>
  %c = graph.neg %w : tensor<2xf32>
  %d = graph.neg %a : tensor<2xf32> -> tensor<?xf32>
  func.return %b, %c, %d : tensor<2xf32>, tensor<2xf32>, tensor<?xf32>
}
graph.weight @w = #graph.file<"m.safetensors", "w"> : tensor<2xf32>

// CHECK-LABEL: @regions
func.func @regions(%c: i1) -> tensor<2xf32> {
  // CHECK:       scf.if
  // CHECK-NEXT:    graph.constant dense<-1.000000e+00>
  %a = graph.constant dense<1.0> : tensor<2xf32>
  %r = scf.if %c -> (tensor<2xf32>) {
    %b = graph.neg %a : tensor<2xf32>
    scf.yield %b : tensor<2xf32>
  } else {
    scf.yield %a : tensor<2xf32>
  }
  func.return %r : tensor<2xf32>
}

// The location and the discardable attributes survive.
// LOC-LABEL: @keep
func.func @keep() -> tensor<2xf32> {
  // LOC:         graph.constant {test.hint = 1 : i32} dense<-1.000000e+00> : tensor<2xf32> loc("m.onnx":3:1)
  %a = graph.constant dense<1.0> : tensor<2xf32>
  %b = graph.neg %a {test.hint = 1 : i32} : tensor<2xf32> loc("m.onnx":3:1)
  func.return %b : tensor<2xf32>
}
