// RUN: %diagnose

func.func @else(%c: i1, %x: f32) {
  // expected-error @+1 {{expected an 'else' region that yields the results}}
  %y = "scf.if"(%c) ({ scf.yield %x : f32 }, {}) : (i1) -> f32
  func.return
}

// -----

func.func @arm(%c: i1, %x: f32, %y: f64) {
  // expected-error @+1 {{expected yielded values of type 'f32' at position 0, but got 'f64'}}
  %z = scf.if %c -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %y : f64
  }
  func.return
}

// -----

func.func @arm_arguments(%c: i1) {
  // expected-error @+1 {{expected 0 arguments of a region, but got 1}}
  "scf.if"(%c) ({
  ^bb0(%x: f32):
    scf.yield
  }, {}) : (i1) -> ()
  func.return
}

// -----

func.func @for_results(%i: index, %x: f32) {
  // expected-error @+1 {{expected results of type 'f32' at position 0, but got 'f64'}}
  %y = "scf.for"(%i, %i, %i, %x) ({
  ^bb0(%j: index, %z: f32):
    scf.yield %z : f32
  }) : (index, index, index, f32) -> f64
  func.return
}

// -----

func.func @for_step(%i: index) {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{expected a step above 0, but got 0}}
  scf.for %j = %i to %i step %zero {
  }
  func.return
}

// -----

func.func @while_arguments(%x: f32) {
  // expected-error @+1 {{expected 1 arguments of the first region, but got 0}}
  "scf.while"(%x) ({
    %c = arith.constant true
    scf.condition(%c)
  }, {
    scf.yield %x : f32
  }) : (f32) -> ()
  func.return
}

// -----

func.func @while_passed(%c: i1, %x: f32, %y: f64) {
  // expected-error @+1 {{expected passed values of type 'f32' at position 0, but got 'f64'}}
  %z = scf.while (%a = %x) : (f32) -> f32 {
    scf.condition(%c) %y : f64
  } do {
  ^bb0(%a: f32):
    scf.yield %a : f32
  }
  func.return
}

// -----

func.func @while_yielded(%c: i1, %x: f32) {
  // expected-error @+1 {{expected 1 yielded values, but got 0}}
  %z = scf.while (%a = %x) : (f32) -> f32 {
    scf.condition(%c) %a : f32
  } do {
  ^bb0(%a: f32):
    scf.yield
  }
  func.return
}

// -----

func.func @while_end(%c: i1, %x: f32) {
  // expected-error @+1 {{expected 'scf.condition' at the end of a region, but got 'scf.yield'}}
  %z = scf.while (%a = %x) : (f32) -> f32 {
    scf.yield %a : f32
  } do {
  ^bb0(%a: f32):
    scf.yield %a : f32
  }
  func.return
}

// -----

func.func @branch(%x: f32) {
  // expected-error @+1 {{expected 2 passed values, but got 1}}
  cf.br ^bb1(%x : f32)
^bb1(%y: f32, %z: f32):
  func.return
}

// -----

func.func @conditional_branch(%c: i1, %x: f32, %y: f64) {
  // expected-error @+1 {{expected passed values of type 'f32' at position 0, but got 'f64'}}
  cf.cond_br %c, ^bb1(%x : f32), ^bb1(%y : f64)
^bb1(%z: f32):
  func.return
}

// -----

func.func @extf(%x: f64) {
  // expected-error @+1 {{expected a wider result, but got 'f64' and 'f32'}}
  %y = arith.extf %x : f64 to f32
  func.return
}

// -----

func.func @truncf(%x: bf16) {
  // expected-error @+1 {{expected a narrower result, but got 'bf16' and 'f16'}}
  %y = arith.truncf %x : bf16 to f16
  func.return
}

// -----

func.func @extf_shapes(%x: vector<4xf32>) {
  // expected-error @+1 {{expected equal shapes, but got 'vector<4xf32>' and 'f64'}}
  %y = arith.extf %x : vector<4xf32> to f64
  func.return
}

// -----

func.func @predicate(%x: i32) {
  // expected-error @+1 {{expected a predicate from 0 to 9, but got 10}}
  %y = "arith.cmpi"(%x, %x) <{predicate = 10 : i64}> : (i32, i32) -> i1
  func.return
}

// -----

func.func @index() {
  // expected-error @+1 {{expected an index of 64 bits, but got 9223372036854775808}}
  %y = arith.constant 9223372036854775808 : index
  func.return
}

// -----

func.func @empty(%n: index) {
  // expected-error @+1 {{expected 1 sizes, but got 2}}
  %y = tensor.empty(%n, %n) : tensor<?x4xf32>
  func.return
}

// -----

func.func @extract(%x: tensor<2x3xf32>, %i: index) {
  // expected-error @+1 {{expected 2 indices, but got 1}}
  %y = tensor.extract %x[%i] : tensor<2x3xf32>
  func.return
}

// -----

func.func @insert(%x: tensor<2x3xf32>, %i: index, %v: f32) {
  // expected-error @+1 {{expected 2 indices, but got 1}}
  %y = tensor.insert %v into %x[%i] : tensor<2x3xf32>
  func.return
}

// -----

func.func @from_elements(%v: f32) {
  // expected-error @+1 {{expected 3 elements, but got 2}}
  %y = "tensor.from_elements"(%v, %v) : (f32, f32) -> tensor<3xf32>
  func.return
}

// -----

func.func @from_elements_static(%v: f32) {
  // expected-error @+1 {{expected a static shape, but got 'tensor<?xf32>'}}
  %y = "tensor.from_elements"(%v) : (f32) -> tensor<?xf32>
  func.return
}

// -----

func.func @cast(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected elements of type 'f32' as in the operand, but got 'i32'}}
  %y = tensor.cast %x : tensor<2xf32> to tensor<?xi32>
  func.return
}

// -----

func.func @collapse(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected dimension 0 to be of size 6, the product of its group, but got 5}}
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<5xf32>
  func.return
}

// -----

func.func @collapse_groups(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected groups of the dimensions 0 to 1 in order, but got [[0]]}}
  %y = tensor.collapse_shape %x [[0]] : tensor<2x3xf32> into tensor<2xf32>
  func.return
}

// -----

func.func @expand(%x: memref<4x5xf32>) {
  // expected-error @+1 {{expected dimension 0 to be of size 6, the product of its group, but got 4}}
  %y = memref.expand_shape %x [[0, 1], [2]] output_shape [2, 3, 5] : memref<4x5xf32> into memref<2x3x5xf32>
  func.return
}

// -----

func.func @collapse_rank(%x: memref<4x5xf32>) {
  // expected-error @+1 {{expected 2 groups of dimensions, but got 1}}
  %y = memref.collapse_shape %x [[0, 1]] : memref<4x5xf32> into memref<20x1xf32>
  func.return
}

// -----

func.func @slice(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a part of dimension 1 of size 3, but got 2 elements from 2 in steps of 1}}
  %y = tensor.extract_slice %x[0, 2] [2, 2] [1, 1] : tensor<2x3xf32> to tensor<2x2xf32>
  func.return
}

// -----

func.func @slice_sizes(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected sizes 2x1, maybe without 1s, but got 'tensor<3xf32>'}}
  %y = tensor.extract_slice %x[0, 2] [2, 1] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
  func.return
}

// -----

func.func @insert_slice(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a part of dimension 1 of size 3, but got 2 elements from 2 in steps of 1}}
  %z = tensor.insert_slice %x into %y[0, 2] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x3xf32>
  func.return
}

// -----

func.func @subview_stride(%x: memref<4x5xf32>) {
  // expected-error @+1 {{expected a stride of 5, but got 2}}
  %y = memref.subview %x[0, 0] [2, 2] [1, 1] : memref<4x5xf32> to memref<2x2xf32>
  func.return
}

// -----

func.func @subview_offset(%x: memref<4x5xf32>) {
  // expected-error @+1 {{expected an offset of 6, but got 1}}
  %y = memref.subview %x[1, 1] [2, 2] [1, 1] : memref<4x5xf32> to memref<2x2xf32, strided<[5, 1], offset: 1>>
  func.return
}

// -----

func.func @load(%x: memref<4x5xf32>, %i: index) {
  // expected-error @+1 {{expected an index for each dimension}}
  %y = memref.load %x[%i] : memref<4x5xf32>
  func.return
}

// -----

func.func @broadcast(%x: vector<4xf32>) {
  // expected-error @+1 {{expected a vector that broadcasts to 'vector<4x2xf32>', but got 'vector<4xf32>'}}
  %y = vector.broadcast %x : vector<4xf32> to vector<4x2xf32>
  func.return
}

// -----

func.func @position(%x: vector<4xf32>) {
  // expected-error @+1 {{expected an index below 4, but got 4}}
  %y = vector.extract %x[4] : f32 from vector<4xf32>
  func.return
}

// -----

// expected-error @+1 {{expected a name of characters other than NUL, but got ""}}
func.func @""() {
  func.return
}

// -----

// expected-note @+1 {{defined here}}
func.func @twice() {
  func.return
}
// expected-error @+1 {{expected another name, but '@twice' is defined already}}
func.func @twice() {
  func.return
}
