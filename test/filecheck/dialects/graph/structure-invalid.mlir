// RUN: %diagnose

// expected-error @+1 {{expected a static shape, but got 'tensor<?xf32>'}}
graph.weight @w = #graph.file<"m.safetensors", "w"> : tensor<?xf32>

// -----

// expected-error @+1 {{expected a weight to have number or i1 elements, but got 'f80'}}
graph.weight @w = #graph.file<"m.safetensors", "w"> : tensor<4xf80>

// -----

// expected-error @+1 {{expected '#graph.file<…>' or 'dense<…>'}}
graph.weight @w = 4 : i32

// -----

// expected-error @+1 {{expected a path}}
graph.weight @w = #graph.file<"", "w"> : tensor<4xf32>

// -----

// expected-error @+1 {{expected 'sha256' of 64 lower-case hexadecimal digits, but got 'abc'}}
graph.weight @w = #graph.file<"m.safetensors", "w", sha256 = "abc"> : tensor<4xf32>

// -----

// expected-error @+1 {{expected either a value or a body}}
"graph.weight"() <{sym_name = "w", type = tensor<4xf32>}> ({}) : () -> ()

// -----

// expected-error @+1 {{expected a value of type 'tensor<4xf32>', but got 'tensor<4xf16>'}}
"graph.weight"() <{sym_name = "w", type = tensor<4xf32>, value = dense<1.0> : tensor<4xf16>}> ({}) : () -> ()

// -----

// expected-error @+1 {{expected the body to end with 'graph.yield' of one 'tensor<4xf32>'}}
graph.weight @w : tensor<4xf32> {
  %c = graph.constant dense<0.0> : tensor<3xf32>
  graph.yield %c : tensor<3xf32>
}

// -----

// expected-error @+1 {{expected a body without arguments}}
graph.weight @w : tensor<4xf32> {
^bb0(%c: tensor<4xf32>):
  graph.yield %c : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected graph ops in the body, but got 'test.op'}}
graph.weight @w : tensor<4xf32> {
  %c = "test.op"() : () -> tensor<4xf32>
  graph.yield %c : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected an expression over other weights, but '@a' is derived from itself}}
graph.weight @a : tensor<4xf32> {
  %b = graph.weight_ref @b : tensor<4xf32>
  graph.yield %b : tensor<4xf32>
}
graph.weight @b : tensor<4xf32> {
  %a = graph.weight_ref @a : tensor<4xf32>
  graph.yield %a : tensor<4xf32>
}

// -----

graph.weight @bias = dense<0.0> : tensor<4xf32>
func.func @no_weight() {
  // expected-error @+1 {{no weight '@bais'; did you mean '@bias'?}}
  %w = graph.weight_ref @bais : tensor<4xf32>
  func.return
}

// -----

graph.weight @bias = dense<0.0> : tensor<4xf32>
func.func @weight_type() {
  // expected-error @+1 {{expected the type 'tensor<4xf32>' of '@bias', but got 'tensor<3xf32>'}}
  %w = graph.weight_ref @bias : tensor<3xf32>
  func.return
}

// -----

func.func @not_dense() {
  // expected-error @+1 {{expected 'dense<…>'}}
  %c = graph.constant 4 : i32
  func.return
}

// -----

func.func @constant_elements() {
  // expected-error @+1 {{expected a constant to have number or i1 elements, but got 'i4'}}
  %c = graph.constant dense<0> : tensor<4xi4>
  func.return
}

// -----

func.func @constant_type() {
  // expected-error @+1 {{expected the result to have type 'tensor<4xf32>', but got 'tensor<?xf32>'}}
  %c = "graph.constant"() <{value = dense<0.0> : tensor<4xf32>}> : () -> tensor<?xf32>
  func.return
}

// -----

func.func @group_arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected block arguments of the types of the operands: ('tensor<4xf32>'), but got ('tensor<3xf32>')}}
  %y = "graph.fused"(%x) ({
  ^bb0(%a: tensor<3xf32>):
    graph.yield %a : tensor<3xf32>
  }) : (tensor<4xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @group_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'graph.yield' of ('tensor<3xf32>'), but got ('tensor<4xf32>')}}
  %y = graph.fused (%a = %x : tensor<4xf32>) -> (tensor<3xf32>) {
    graph.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @group_end(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the block to end with 'graph.yield'}}
  %y = graph.fused (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    "test.termop"() : () -> ()
  }
  func.return
}

// -----

func.func @composite_name(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a name}}
  %y = graph.composite "" (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    graph.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @region_place(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected '#target.place<…>'}}
  %y = graph.region @npu (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    graph.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @on_device_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the result to have type 'tensor<4xf32>', but got 'tensor<?xf32>'}}
  %y = graph.on_device %x pinned #target.place<@npu, ?, ?> : tensor<4xf32> -> tensor<?xf32>
  func.return
}

// -----

func.func @copy_nowhere(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the operand or the result to have a place, but got 'tensor<4xf32>'}}
  %y = graph.copy %x : tensor<4xf32>
  func.return
}

// -----

func.func @copy_layout(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the result to have the layout of the operand, but got 'tensor<4xf32, #graph.desc<layout = #graph.layout<block = [2]>, place = #target.place<@npu, ?, ?>>>'}}
  %y = graph.copy %x : tensor<4xf32> -> tensor<4xf32, #graph.desc<layout = #graph.layout<block = [2]>, place = #target.place<@npu, ?, ?>>>
  func.return
}

// -----

func.func @relayout_place(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the result to have the place of the operand, but got 'tensor<4xf32, #graph.desc<place = #target.place<@npu, ?, ?>>>'}}
  %y = graph.relayout %x : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@npu, ?, ?>>>
  func.return
}

// -----

// expected-error @+1 {{unknown key 'places' of '#graph.desc'; did you mean 'place'?}}
"test.op"() {a = #graph.desc<dims = ["N"], places = 1>} : () -> ()

// -----

// expected-error @+1 {{expected one 'dims' in '#graph.desc'}}
"test.op"() {a = #graph.desc<dims = ["N"], dims = ["M"]>} : () -> ()

// -----

// expected-error @+1 {{expected '#graph.layout', but got '1 : i32'}}
"test.op"() {a = #graph.desc<layout = 1 : i32>} : () -> ()

// -----

// expected-error @+1 {{expected bounds 0 <= lower <= upper, but got '"N" : 4 to 1'}}
"test.op"() {a = #graph.desc<dims = ["N" : 4 to 1]>} : () -> ()

// -----

// expected-error @+1 {{expected a symbol with a name}}
"test.op"() {a = #graph.symbol<"">} : () -> ()

// -----

// expected-error @+1 {{expected a name in quotes or '?'}}
"test.op"() {a = #graph.desc<dims = [N]>} : () -> ()

// -----

// expected-error @+1 {{expected blocks of 1 or more, but got 0}}
"test.op"() {a = #graph.layout<block = [0]>} : () -> ()

// -----

// expected-error @+1 {{expected borders >= 0, but got -1}}
"test.op"() {a = #graph.layout<border = [-1]>} : () -> ()

// -----

// expected-error @+1 {{unknown key 'blocks' of '#graph.layout'; did you mean 'block'?}}
"test.op"() {a = #graph.layout<blocks = [1]>} : () -> ()

// -----

func.func @signature(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected '->' after the types of operands}}
  %y = graph.add %x, %x : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

func.func @signature_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 types of operands, but got 1}}
  %y = graph.add %x, %x : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @signature_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 result type, but got 2}}
  %y = graph.add %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

func.func @not_a_tensor(%x: f32) {
  // expected-error @+1 {{f32 should be of base attribute tensor}}
  %y = graph.neg %x : f32
  func.return
}
