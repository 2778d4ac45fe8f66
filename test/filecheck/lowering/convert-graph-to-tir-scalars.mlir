// RUN: transom-opt -p convert-graph-to-tir %s | filecheck %s

// What one element is computed by, for each op of the table.

target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}

// CHECK-LABEL: tir.func @abs_
func.func private @abs(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.absf
  // CHECK:           tir.yield
  %y = graph.abs %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @acos_
func.func private @acos(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.acos
  // CHECK:           tir.yield
  %y = graph.acos %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @acosh_
func.func private @acosh(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.acosh
  // CHECK:           tir.yield
  %y = graph.acosh %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @asin_
func.func private @asin(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.asin
  // CHECK:           tir.yield
  %y = graph.asin %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @asinh_
func.func private @asinh(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.asinh
  // CHECK:           tir.yield
  %y = graph.asinh %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @atan_
func.func private @atan(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.atan
  // CHECK:           tir.yield
  %y = graph.atan %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @atanh_
func.func private @atanh(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.atanh
  // CHECK:           tir.yield
  %y = graph.atanh %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @ceil_
func.func private @ceil(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.ceil
  // CHECK:           tir.yield
  %y = graph.ceil %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @cos_
func.func private @cos(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.cos
  // CHECK:           tir.yield
  %y = graph.cos %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @cosh_
func.func private @cosh(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.cosh
  // CHECK:           tir.yield
  %y = graph.cosh %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @erf_
func.func private @erf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.erf
  // CHECK:           tir.yield
  %y = graph.erf %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @floor_
func.func private @floor(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.floor
  // CHECK:           tir.yield
  %y = graph.floor %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @gelu_
func.func private @gelu(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           %[[HALF:.*]] = arith.constant 5.000000e-01
  // CHECK:           %[[SCALED:.*]] = arith.mulf %[[X:.*]], %{{.*}}
  // CHECK:           %[[ERF:.*]] = math.erf %[[SCALED]]
  // CHECK:           %[[PART:.*]] = arith.mulf %[[ERF]], %[[HALF]]
  // CHECK:           %[[SHARE:.*]] = arith.addf %[[PART]], %[[HALF]]
  // CHECK:           %[[Y:.*]] = arith.mulf %[[X]], %[[SHARE]]
  // CHECK:           tir.yield %[[Y]]
  %y = graph.gelu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @log_
func.func private @log(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.log
  // CHECK:           tir.yield
  %y = graph.log %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @neg_
func.func private @neg(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.negf
  // CHECK:           tir.yield
  %y = graph.neg %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @reciprocal_
func.func private @reciprocal(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.divf
  // CHECK:           tir.yield
  %y = graph.reciprocal %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @round_
func.func private @round(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.roundeven
  // CHECK:           tir.yield
  %y = graph.round %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @sign_
func.func private @sign(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.cmpf ueq
  // CHECK:           math.copysign
  // CHECK:           arith.select
  // CHECK:           tir.yield
  %y = graph.sign %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @sin_
func.func private @sin(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.sin
  // CHECK:           tir.yield
  %y = graph.sin %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @sinh_
func.func private @sinh(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.sinh
  // CHECK:           tir.yield
  %y = graph.sinh %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @sqrt_
func.func private @sqrt(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.sqrt
  // CHECK:           tir.yield
  %y = graph.sqrt %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @tan_
func.func private @tan(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.tan
  // CHECK:           tir.yield
  %y = graph.tan %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @tanh_
func.func private @tanh(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           math.tanh
  // CHECK:           tir.yield
  %y = graph.tanh %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @clamp_
func.func private @clamp(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.maximumf
  // CHECK:           arith.minimumf
  // CHECK:           tir.yield
  %y = graph.clamp %x min 0.0 : f32 max 6.0 : f32 : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @leaky_relu_
func.func private @leaky_relu(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.mulf
  // CHECK:           arith.cmpf olt
  // CHECK:           arith.select
  // CHECK:           tir.yield
  %y = graph.leaky_relu %x alpha 0.25 : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: tir.func @and_
func.func private @and(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.andi
  // CHECK:           tir.yield
  %y = graph.and %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK-LABEL: tir.func @or_
func.func private @or(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.ori
  // CHECK:           tir.yield
  %y = graph.or %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK-LABEL: tir.func @xor_
func.func private @xor(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.xori
  // CHECK:           tir.yield
  %y = graph.xor %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK-LABEL: tir.func @div_
func.func private @div(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.divsi
  // CHECK:           tir.yield
  %y = graph.div %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK-LABEL: tir.func @mod_
func.func private @mod(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.remsi
  // CHECK:           arith.cmpi ne
  // CHECK:           arith.xori
  // CHECK:           arith.cmpi slt
  // CHECK:           arith.andi
  // CHECK:           arith.addi
  // CHECK:           arith.select
  // CHECK:           tir.yield
  %y = graph.mod %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK-LABEL: tir.func @shift_left_
func.func private @shift_left(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.cmpi ult
  // CHECK:           arith.shli
  // CHECK:           arith.select
  // CHECK:           tir.yield
  %y = graph.shift_left %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK-LABEL: tir.func @shift_right_
func.func private @shift_right(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.minui
  // CHECK:           arith.shrsi
  // CHECK:           tir.yield
  %y = graph.shift_right %a, %b : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK-LABEL: tir.func @not_
func.func private @not(%x: tensor<4xi32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.xori
  // CHECK:           tir.yield
  %y = graph.not %x : tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK-LABEL: tir.func @bitcast_
func.func private @bitcast(%x: tensor<4xf32>) -> tensor<4xi32> attributes {target.for = #target.place<@cpu, ?, ?>} {
  // CHECK:         finish
  // CHECK:           arith.bitcast
  // CHECK:           tir.yield
  %y = graph.bitcast %x : tensor<4xf32> -> tensor<4xi32>
  func.return %y : tensor<4xi32>
}
