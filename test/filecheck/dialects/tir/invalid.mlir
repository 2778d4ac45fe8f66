// RUN: %diagnose

tir.func @bound(write %o: memref<4xf32>) {
  // expected-error @+1 {{expected a bound of at least 0, but got -1}}
  tir.nest dims [parallel -1] outs(%o[d0] : memref<4xf32>) finish { }
}

// -----

tir.func @kind(write %o: memref<4xf32>) {
  // expected-error @+1 {{expected 'parallel', 'reduction', or 'sequential', but got}}
  tir.nest dims [vector 4] outs(%o[d0] : memref<4xf32>) finish { }
}

// -----

tir.func @unknown_dim(write %o: memref<4xf32>) {
  // expected-error @+1 {{unknown 'd1'; there are 1 dims}}
  tir.nest dims [parallel 4] outs(%o[d1] : memref<4xf32>) finish { }
}

// -----

tir.func @product_of_dims(write %o: memref<16xf32>) {
  // expected-error @+1 {{expected at most one dim per product, but got 'd0 * d1'}}
  tir.nest dims [parallel 4, parallel 4] outs(%o[d0 * d1] : memref<16xf32>) finish { }
}

// -----

tir.func @divisor(write %o: memref<16xf32>) {
  // expected-error @+1 {{expected a positive divisor, but got -2}}
  tir.nest dims [parallel 4] outs(%o[d0 floordiv -2] : memref<16xf32>) finish { }
}

// -----

tir.func @divisor_with_dim(write %o: memref<16xf32>) {
  // expected-error @+1 {{expected a divisor without dims, but got 'd0 + 1'}}
  tir.nest dims [parallel 4] outs(%o[4 mod (d0 + 1)] : memref<16xf32>) finish { }
}

// -----

tir.func @rank(read %x: memref<4x4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{input 0: expected 2 indices for 'memref<4x4xf32>', but got 1}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4x4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

tir.func @too_far(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{input 0: expected indices below 4 on axis 0, but 'd0 + 1' is 1 to 4}}
  tir.nest dims [parallel 4] ins(%x[d0 + 1] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

tir.func @too_low(read %x: memref<4xf32>, write %o: memref<?xf32>) {
  // expected-error @+1 {{output 0: expected indices of at least 0 on axis 0, but 'd0 - 1' is -1 to 2}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%o[d0 - 1] : memref<?xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

// Intervals would say 0 to 3; d0 and d0 mod 2 are not independent.
tir.func @enumerated(read %x: memref<3xf32>, read %y: memref<2xf32>, write %o: memref<4xf32>) {
  tir.nest dims [parallel 4] ins(%x[d0 - d0 mod 2] : memref<3xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  // expected-error @+1 {{input 0: expected indices below 2 on axis 0, but 'd0 - (d0 mod 2)' is 0 to 2}}
  tir.nest dims [parallel 4] ins(%y[d0 - d0 mod 2] : memref<2xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

tir.func @pad_type(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{input 0: expected a pad value of type 'f32', but got 'f64'}}
  tir.nest dims [parallel 4] ins(%x[d0] pad 0.0 : f64 : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

tir.func @pad_not_a_number(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{expected a number as pad value, but got '"zero"'}}
  tir.nest dims [parallel 4] ins(%x[d0] pad "zero" : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
}

// -----

tir.func @pad_indirect(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{expected no pad value for an indirect access}}
  tir.nest dims [parallel 4] ins(%x[*] pad 0.0 : f32 : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
}

// -----

tir.func @no_outputs(read %x: memref<4xf32>) {
  // expected-error @+1 {{expected at least one output}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield }
  tir.return
}

// -----

tir.func @reduced_output(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{output 0: expected no reduction dim in the map, but got 'd0'}}
  tir.nest dims [reduction 4] ins(%x[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    init { %z = arith.constant 0.0 : f32 tir.yield %z : f32 }
    body (%v: f32, %a: f32) { tir.yield %v : f32 }
    finish (%a: f32) { tir.yield %a : f32 }
  tir.return
}

// -----

tir.func @many_writes(read %x: memref<4x2xf32>, write %o: memref<4xf32>) {
  // Adding is fine, and so is a dim of one point.
  tir.nest dims [parallel 4, parallel 2] ins(%x[d0, d1] : memref<4x2xf32>) outs(%o[d0] combine add : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.nest dims [parallel 4, parallel 1] ins(%x[d0, d1] : memref<4x2xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  // expected-error @+1 {{output 0: expected all parallel and sequential dims in the map, but 'd1' is missing; 'combine' folds many values into one element}}
  tir.nest dims [parallel 4, parallel 2] ins(%x[d0, d1] : memref<4x2xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

tir.func @combine_bits(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{output 0: expected integers for combine and, but got 'f32'}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%o[d0] combine and : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

tir.func @shared(read_write %x: memref<8xf32>) {
  // expected-error @+1 {{output 0 is input 0 too: expected the same map, but got '[d0]' and '[d0 + 1]'}}
  tir.nest dims [parallel 4] ins(%x[d0 + 1] : memref<8xf32>) outs(%x[d0] : memref<8xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

tir.func @shared_and_combined(read_write %x: memref<4xf32>) {
  // expected-error @+1 {{output 0 is input 0 too: expected no combine, because the order of reading and writing is not said}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%x[d0] combine add : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

tir.func @threads_combine(read %x: memref<4x4xf32>, read_write %o: memref<4xf32>) {
  // expected-error @+1 {{schedule: expected 'd1', which is parallel, in the map of output 0, which combines}}
  tir.nest dims [parallel 4, parallel 4] ins(%x[d0, d1] : memref<4x4xf32>) outs(%o[d0] combine add : memref<4xf32>)
      schedule #tir.schedule<parallel = [d0, d1]>
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

tir.func @no_accumulator(read %x: memref<4xf32>, write %o: memref<f32>) {
  // expected-error @+1 {{expected init and body with an accumulator, because 'd0' is a reduction dim}}
  tir.nest dims [reduction 4] ins(%x[d0] : memref<4xf32>) outs(%o[] : memref<f32>)
    finish { %z = arith.constant 0.0 : f32 tir.yield %z : f32 }
  tir.return
}

// -----

tir.func @init_without_body(write %o: memref<f32>) {
  // expected-error @+1 {{expected both init and body, or neither}}
  tir.nest dims [] outs(%o[] : memref<f32>)
    init { %z = arith.constant 0.0 : f32 tir.yield %z : f32 }
    finish (%a: f32) { tir.yield %a : f32 }
  tir.return
}

// -----

tir.func @body_arguments(read %x: memref<4xf32>, write %o: memref<f32>) {
  // expected-error @+1 {{body: expected arguments (f32, f32), but got (f32)}}
  tir.nest dims [reduction 4] ins(%x[d0] : memref<4xf32>) outs(%o[] : memref<f32>)
    init { %z = arith.constant 0.0 : f32 tir.yield %z : f32 }
    body (%v: f32) { tir.yield %v : f32 }
    finish (%a: f32) { tir.yield %a : f32 }
  tir.return
}

// -----

// The input is summed over d0, so finish does not see it.
tir.func @finish_arguments(read %x: memref<4xf32>, write %o: memref<f32>) {
  // expected-error @+1 {{finish: expected arguments (f32), but got (f32, f32)}}
  tir.nest dims [reduction 4] ins(%x[d0] : memref<4xf32>) outs(%o[] : memref<f32>)
    init { %z = arith.constant 0.0 : f32 tir.yield %z : f32 }
    body (%v: f32, %a: f32) { tir.yield %v : f32 }
    finish (%a: f32, %v: f32) { tir.yield %a : f32 }
  tir.return
}

// -----

tir.func @finish_yield(read %x: memref<4xf32>, write %o: memref<4x4xf32>) {
  // One value, then the two indices of the indirect output.
  // expected-error @+1 {{finish: expected a yield of (f32, index, index), but got (f32)}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%o[*] : memref<4x4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
  tir.return
}

// -----

tir.func @no_yield(write %o: memref<4xf32>) {
  // expected-error @+1 {{finish: expected 'tir.yield' at the end}}
  tir.nest dims [parallel 4] outs(%o[d0] : memref<4xf32>)
    finish { "test.termop"() : () -> () }
  tir.return
}

// -----

tir.func @store_in_region(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{finish: expected ops without effects, but got 'memref.store'}}
  tir.nest dims [parallel 4] ins(%x[*] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%t: memref<4xf32>) {
      %i = tir.index 0 : index
      %v = memref.load %t[%i] : memref<4xf32>
      memref.store %v, %t[%i] : memref<4xf32>
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @load_from_outside(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{finish: expected loads from indirect inputs only, which are arguments of the region}}
  tir.nest dims [parallel 4] outs(%o[d0] : memref<4xf32>)
    finish {
      %i = tir.index 0 : index
      %v = memref.load %x[%i] : memref<4xf32>
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @index_outside() {
  // expected-error @+1 {{expected an enclosing 'tir.nest'}}
  %i = tir.index 0 : index
  tir.return
}

// -----

tir.func @index_range(write %o: memref<4xindex>) {
  tir.nest dims [parallel 4] outs(%o[d0] : memref<4xindex>)
    finish {
      // expected-error @+1 {{expected a dim from 0 to 0, but got 1}}
      %i = tir.index 1 : index
      tir.yield %i : index
    }
  tir.return
}

// -----

tir.func @index_in_finish(write %o: memref<index>) {
  tir.nest dims [reduction 4] outs(%o[] : memref<index>)
    init { %z = arith.constant 0 : index tir.yield %z : index }
    body (%a: index) { %k = tir.index 0 : index tir.yield %k : index }
    finish (%a: index) {
      // expected-error @+1 {{finish: dim 0 is reduction and has no index}}
      %i = tir.index 0 : index
      tir.yield %i : index
    }
  tir.return
}

// -----

tir.func @index_in_init(write %o: memref<4xindex>) {
  tir.nest dims [sequential 4] outs(%o[d0] : memref<4xindex>)
    init {
      // expected-error @+1 {{init: dim 0 is sequential and has no index}}
      %z = tir.index 0 : index
      tir.yield %z : index
    }
    body (%a: index) { tir.yield %a : index }
    finish (%a: index) { tir.yield %a : index }
  tir.return
}

// -----

tir.func @block_reduction() {
  // expected-error @+1 {{expected parallel and sequential dims, but 'd0' is reduction}}
  tir.block (%i: index) in dims [reduction 4] { }
  tir.return
}

// -----

tir.func @block_arguments() {
  // expected-error @+1 {{expected 2 arguments of type 'index', but got (index)}}
  tir.block (%i: index) in dims [parallel 4, parallel 4] { }
  tir.return
}

// -----

tir.func @schedule_rank() {
  // expected-error @+1 {{schedule: expected dims below d1 in 'vector', but got 'd1'}}
  tir.block (%i: index) in dims [parallel 4] schedule #tir.schedule<vector = d1 : 4> { }
  tir.return
}

// -----

tir.func @schedule_kind() {
  // expected-error @+1 {{schedule: expected parallel dims in 'parallel', but 'd0' is sequential}}
  tir.block (%i: index) in dims [sequential 4] schedule #tir.schedule<parallel = [d0]> { }
  tir.return
}

// -----

tir.func @schedule_vector() {
  // expected-error @+1 {{schedule: expected a parallel or reduction dim in 'vector', but 'd0' is sequential}}
  tir.block (%i: index) in dims [sequential 4] schedule #tir.schedule<vector = d0 : 4> { }
  tir.return
}

// -----

tir.func @schedule_register() {
  // expected-error @+1 {{schedule: expected parallel dims, or the one of 'vector', in 'register', but 'd0' is sequential}}
  tir.block (%i: index) in dims [sequential 4] schedule #tir.schedule<register = [d0 : 4]> { }
  tir.return
}

// -----

tir.func @schedule_order() {
  // expected-error @+1 {{schedule: expected all 2 dims in 'order', but got 1}}
  tir.block (%i: index, %j: index) in dims [parallel 4, parallel 4] schedule #tir.schedule<order = [d0]> { }
  tir.return
}

// -----

// expected-error @+1 {{unknown schedule entry 'vectors'; expected one of cache, register, vector, unroll, parallel, order, compute_at, pack, widen, edges, dot, prefetch}}
builtin.module attributes {a = #tir.schedule<vectors = d0 : 4>} {}

// -----

// expected-error @+1 {{expected an input such as 'in0'}}
builtin.module attributes {a = #tir.schedule<pack = [d0]>} {}

// -----

// expected-error @+1 {{schedule: expected each input once in 'pack', but 'in2' stands 2 times}}
builtin.module attributes {a = #tir.schedule<pack = [in2, in2]>} {}

// -----

// expected-error @+1 {{schedule: expected each input once in 'widen', but 'in2' stands 2 times}}
builtin.module attributes {a = #tir.schedule<widen = [in2, in2]>} {}

// -----

// expected-error @+1 {{expected 'masked'}}
builtin.module attributes {a = #tir.schedule<edges = narrow>} {}

// -----

tir.func @schedule_dot() {
  // expected-error @+1 {{schedule: expected a reduction dim in 'dot', but 'd0' is parallel}}
  tir.block (%i: index) in dims [parallel 4] schedule #tir.schedule<dot = d0 : 4> { }
  tir.return
}

// -----

func.func @dot_accumulator(%s: vector<4xi64>, %a: vector<4xi8>, %b: vector<4x4xi8>) {
  // expected-error @+1 {{expected an accumulator of one dimension of i32, but got 'vector<4xi64>'}}
  %y = tir.dot %s, %a, %b : vector<4xi64>, vector<4xi8>, vector<4x4xi8>
  func.return
}

// -----

func.func @dot_element(%s: vector<4xi32>, %a: vector<4xi32>, %b: vector<4x1xi32>) {
  // expected-error @+1 {{expected 'rhs' of i8 or i16, but got 'i32'}}
  %y = tir.dot %s, %a, %b : vector<4xi32>, vector<4xi32>, vector<4x1xi32>
  func.return
}

// -----

func.func @dot_group(%s: vector<4xi32>, %a: vector<2xi8>, %b: vector<4x2xi8>) {
  // expected-error @+1 {{expected 'rhs' of type 'vector<4x4xi8>', but got 'vector<4x2xi8>'}}
  %y = tir.dot %s, %a, %b : vector<4xi32>, vector<2xi8>, vector<4x2xi8>
  func.return
}

// -----

func.func @dot_lhs(%s: vector<4xi32>, %a: vector<4xi16>, %b: vector<4x4xi8>) {
  // expected-error @+1 {{expected 'lhs' of type 'vector<4xi8>' or 'vector<4x4xi8>', but got 'vector<4xi16>'}}
  %y = tir.dot %s, %a, %b : vector<4xi32>, vector<4xi16>, vector<4x4xi8>
  func.return
}

// -----

func.func @dot_instructions(%s: vector<4xi32>, %a: vector<2xi16>, %b: vector<4x2xi16>) {
  // expected-error @+1 {{unknown instructions "sse"; expected one of none, pairs, vnni, dotprod, i8mm}}
  %y = tir.dot %s, %a, %b using "sse" : vector<4xi32>, vector<2xi16>, vector<4x2xi16>
  func.return
}

// -----

func.func @dot_sign(%s: vector<4xi32>, %a: vector<2xi16>, %b: vector<4x2xi16>) {
  // expected-error @+1 {{expected i16 to be signed}}
  %y = tir.dot %s, %a, %b lhs_unsigned : vector<4xi32>, vector<2xi16>, vector<4x2xi16>
  func.return
}

// -----

tir.func @schedule_dot_size(read %x: memref<8x8xi8>, write %o: memref<8xi8>) {
  // expected-error @+1 {{schedule: expected 2 or 4 points in 'dot', but got 3}}
  tir.nest dims [parallel 8, reduction 8] ins(%x[d0, d1] : memref<8x8xi8>) outs(%o[d0] : memref<8xi8>) schedule #tir.schedule<vector = d0 : 8, dot = d1 : 3>
    init {
      %z = arith.constant 0 : i8
      tir.yield %z : i8
    }
    body (%v: i8, %s: i8) {
      tir.yield %v : i8
    }
    finish (%v: i8) {
      tir.yield %v : i8
    }
  tir.return
}

// -----

tir.func @schedule_dot_lanes(read %x: memref<8x8xi8>, write %o: memref<8xi8>) {
  // expected-error @+1 {{schedule: expected lanes along another dim than 'd1' for 'dot'}}
  tir.nest dims [parallel 8, reduction 8] ins(%x[d0, d1] : memref<8x8xi8>) outs(%o[d0] : memref<8xi8>) schedule #tir.schedule<dot = d1 : 4>
    init {
      %z = arith.constant 0 : i8
      tir.yield %z : i8
    }
    body (%v: i8, %s: i8) {
      tir.yield %v : i8
    }
    finish (%v: i8) {
      tir.yield %v : i8
    }
  tir.return
}

// -----

tir.func @schedule_pack(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{schedule: expected inputs below in1 in 'pack', but got 'in1'}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>) schedule #tir.schedule<pack = [in1]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @schedule_widen(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{schedule: expected inputs below in1 in 'widen', but got 'in1'}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>) schedule #tir.schedule<widen = [in1]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @schedule_pack_indirect(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{schedule: expected inputs with a map in 'pack', but 'in0' is indirect}}
  tir.nest dims [parallel 4] ins(%x[*] : memref<4xf32>) outs(%o[d0] : memref<4xf32>) schedule #tir.schedule<pack = [in0]>
    finish (%m: memref<4xf32>) {
      %i = tir.index 0 : index
      %v = memref.load %m[%i] : memref<4xf32>
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @schedule_prefetch_indirect(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{schedule: expected inputs with a map in 'prefetch', but 'in0' is indirect}}
  tir.nest dims [parallel 4] ins(%x[*] : memref<4xf32>) outs(%o[d0] : memref<4xf32>) schedule #tir.schedule<prefetch = [in0 : 4]>
    finish (%m: memref<4xf32>) {
      %i = tir.index 0 : index
      %v = memref.load %m[%i] : memref<4xf32>
      tir.yield %v : f32
    }
  tir.return
}

// -----

tir.func @schedule_prefetch(read %x: memref<4xf32>, write %o: memref<4xf32>) {
  // expected-error @+1 {{schedule: expected inputs below in1 in 'prefetch', but got 'in1'}}
  tir.nest dims [parallel 4] ins(%x[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>) schedule #tir.schedule<prefetch = [in1 : 4]>
    finish (%v: f32) {
      tir.yield %v : f32
    }
  tir.return
}

// -----

// expected-error @+1 {{schedule: expected each input once in 'prefetch', but 'in1' stands 2 times}}
builtin.module attributes {a = #tir.schedule<prefetch = [in1 : 4, in1 : 8]>} {}

// -----

// expected-error @+1 {{expected a distance of 1 to 1073741824 elements, but got 0}}
builtin.module attributes {a = #tir.schedule<prefetch = [in1 : 0]>} {}

// -----

// expected-error @+1 {{expected a distance of 1 to 1073741824 elements, but got 1073741825}}
builtin.module attributes {a = #tir.ahead<in1 : 1073741825>} {}

// -----

// expected-error @+1 {{expected an input such as 'in0'}}
builtin.module attributes {a = #tir.ahead<d0 : 4>} {}

// -----

tir.func @schedule_pack_block() {
  // expected-error @+1 {{schedule: expected inputs below in0 in 'pack', but got 'in0'}}
  tir.block (%i: index) in dims [parallel 4] schedule #tir.schedule<pack = [in0]> { }
  tir.return
}

// -----

// expected-error @+1 {{schedule entry 'vector' stands twice}}
builtin.module attributes {a = #tir.schedule<vector = d0 : 4, vector = d0 : 4>} {}

// -----

// expected-error @+1 {{schedule: expected each dim once in 'register', but 'd0' stands 2 times}}
builtin.module attributes {a = #tir.schedule<register = [d0 : 4, d0 : 2]>} {}

// -----

// expected-error @+1 {{expected a size of 1 to 1073741824, but got 0}}
builtin.module attributes {a = #tir.schedule<vector = d0 : 0>} {}

// -----

// expected-error @+1 {{expected a size of 1 to 1073741824, but got 9999999999999999999999}}
builtin.module attributes {a = #tir.schedule<cache = [d0 : 9999999999999999999999]>} {}

// -----

// expected-error @+1 {{schedule: expected at most 4096 lanes in 'vector', but got 8192}}
builtin.module attributes {a = #tir.schedule<vector = d0 : 8192>} {}

// -----

// expected-error @+1 {{schedule: expected 'register' and 'unroll' to write out at most 1024 points or vectors, but got 2048; 'cache' makes loops over larger tiles}}
builtin.module attributes {a = #tir.schedule<register = [d0 : 32, d1 : 64], vector = d1 : 4, unroll = [d2 : 4]>} {}

// -----

// expected-error @+1 {{expected a dim such as 'd0'}}
builtin.module attributes {a = #tir.schedule<vector = 0 : 4>} {}

// -----

// expected-error @+1 {{expected the names d0, d1, …}}
builtin.module attributes {a = #tir.access<(i, j) -> (i)>} {}
