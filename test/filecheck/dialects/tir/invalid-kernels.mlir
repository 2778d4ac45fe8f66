// RUN: %diagnose

// expected-error @+1 {{expected a memref, number or vector as argument 0, but got 'tensor<4xf32>'}}
tir.func @tensor(read tensor<4xf32>)

// -----

// expected-error @+1 {{expected a memref as argument 0, which is write, but got 'f32'}}
tir.func @number(write f32)

// -----

// expected-error @+1 {{expected 'read', 'write', 'read_write', or 'scratch', but got}}
tir.func @effect(reads memref<4xf32>)

// -----

// expected-error @+1 {{expected all arguments to be named, or none}}
tir.func @names(read %a: memref<4xf32>, read memref<4xf32>)

// -----

// expected-error @+1 {{expected no results; kernels write into arguments}}
"tir.func"() <{sym_name = "f", function_type = () -> i32, effects = [], sym_visibility = "private"}> ({}) : () -> ()

// -----

// expected-error @+1 {{expected 1 effects, but got 0}}
"tir.func"() <{sym_name = "f", function_type = (i32) -> (), effects = [], sym_visibility = "private"}> ({}) : () -> ()

// -----

// expected-error @+1 {{expected a visibility of private, public or nested, but got 'hidden'}}
"tir.func"() <{sym_name = "f", function_type = () -> (), effects = [], sym_visibility = "hidden"}> ({}) : () -> ()

// -----

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error @+1 {{unknown kernel '@kernel'}}
  tir.call @kernel(%x : tensor<4xf32>)
  func.return
}

// -----

func.func private @other()
func.func @not_a_kernel() {
  // expected-error @+1 {{expected '@other' to be a kernel or an artifact, but it is a 'func.func'}}
  tir.call @other()
  func.return
}

// -----

tir.func @kernel(read memref<4xf32>, write memref<4xf32>)
func.func @count(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 inputs, outputs and scratch together, but got 1}}
  %y = tir.call @kernel() outs(%x : tensor<4xf32>)
  func.return
}

// -----

tir.func @kernel(read memref<4xf32>, write memref<4xf32>)
func.func @effects(%x: tensor<4xf32>) {
  // expected-error @+1 {{input 1: expected an argument that is read, but the kernel has write}}
  tir.call @kernel(%x : tensor<4xf32>, %x : tensor<4xf32>)
  func.return
}

// -----

executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", workspace = 64, signature = (memref<4xf32>) -> ()}
func.func @workspace(%x: memref<4xf32>) {
  // expected-error @+1 {{expected 2 inputs, outputs and scratch together, but got 1}}
  tir.call @a() outs(%x : memref<4xf32>)
  func.return
}

// -----

// Without effects, memrefs are read and written.
executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = (memref<4xf32>) -> ()}
func.func @no_effects(%x: memref<4xf32>) {
  // expected-error @+1 {{input 0: expected an argument that is read, but the kernel has read_write}}
  tir.call @a(%x : memref<4xf32>)
  func.return
}

// -----

tir.func @kernel(read memref<4xf32>, read_write memref<4xf32>)
func.func @shape(%x: tensor<5xf32>, %o: tensor<4xf32>) {
  // expected-error @+1 {{input 0: expected a value for 'memref<4xf32>', but got 'tensor<5xf32>'}}
  %y = tir.call @kernel(%x : tensor<5xf32>) outs(%o : tensor<4xf32>)
  func.return
}

// -----

tir.func @kernel(read memref<4xi8>, write memref<4xi8>)
func.func @element(%x: tensor<4xui16>, %o: tensor<4xi8>) {
  // expected-error @+1 {{input 0: expected a value for 'memref<4xi8>', but got 'tensor<4xui16>'}}
  %y = tir.call @kernel(%x : tensor<4xui16>) outs(%o : tensor<4xi8>)
  func.return
}

// -----

tir.func @kernel(write memref<4xf32>)
func.func @results(%o: tensor<4xf32>) {
  // expected-error @+1 {{expected one result for each tensor in outs, (tensor<4xf32>), but got ()}}
  "tir.call"(%o) <{callee = @kernel, operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<4xf32>) -> ()
  func.return
}

// -----

tir.func @kernel(write memref<4xf32>)
func.func @output(%x: i32) {
  // expected-error @+1 {{expected a tensor or memref as output 0, but got 'i32'}}
  "tir.call"(%x) <{callee = @kernel, operandSegmentSizes = array<i32: 0, 1, 0>}> : (i32) -> ()
  func.return
}

// -----

tir.func @kernel(read memref<4xf32>)
func.func @input(%t: !tir.token) {
  // expected-error @+1 {{expected a tensor, memref or number as input 0, but got '!tir.token'}}
  tir.call @kernel(%t : !tir.token)
  func.return
}

// -----

tir.func @name() {
  // expected-error @+1 {{expected a C name, but got 'f()'}}
  tir.extern "f()"() : () -> ()
  tir.return
}

// -----

func.func @tensor_argument(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a number, memref or struct as argument 0, but got 'tensor<4xf32>'}}
  tir.extern "f"(%x) : (tensor<4xf32>) -> ()
  func.return
}

// -----

tir.func @ref(read %x: i32) {
  // expected-error @+1 {{expected a struct as argument 0, which is passed by pointer, but got 'i32'}}
  tir.extern "f"(ref %x) : (i32) -> ()
  tir.return
}

// -----

tir.func @written_number(read %x: i32) {
  // expected-error @+1 {{expected a memref or struct as argument 0, which is write, but got 'i32'}}
  tir.extern "f"(write %x) : (i32) -> ()
  tir.return
}

// -----

tir.func @status() {
  // expected-error @+1 {{expected an integer result to compare with status}}
  tir.extern "f"() status 0 : () -> ()
  tir.return
}

// -----

tir.func @result() {
  // expected-error @+1 {{expected a number as result, but got '!tir.token'}}
  %t = tir.extern "f"() : () -> !tir.token
  tir.return
}

// -----

tir.func @two_results() {
  // expected-error @+1 {{expected at most one result}}
  %t:2 = tir.extern "f"() : () -> (i32, i32)
  tir.return
}

// -----

tir.func @fields(read %n: i32) {
  // expected-error @+1 {{expected the fields of '!tir.struct<"s", (i64)>', but got (i32)}}
  %s = "tir.struct"(%n) : (i32) -> !tir.struct<"s", (i64)>
  tir.return
}

// -----

// expected-error @+1 {{expected a number, memref or struct as field 0, but got 'tensor<4xf32>'}}
func.func private @field(!tir.struct<"s", (tensor<4xf32>)>)

// -----

// expected-error @+1 {{expected a C name, but got 'int'}}
func.func @keyword(%s: !tir.struct<"int", (i32)>) {
  func.return
}

// -----

// expected-error @+1 {{expected a C name, but got 'a b'}}
func.func private @struct_name(!tir.struct<"a b", (i32)>)

// -----

tir.func @sizes(read %n: index) {
  // expected-error @+1 {{expected 1 sizes for 'memref<?xf32>', but got 0}}
  %a = tir.alloc : memref<?xf32>
  tir.return
}

// -----

tir.func @alignment() {
  // expected-error @+1 {{expected an alignment that is a power of 2, but got 48}}
  %a = tir.alloc {alignment = 48} : memref<4xf32>
  tir.return
}

// -----

tir.func @offset_without_pool() {
  // expected-error @+1 {{expected a pool for the offset}}
  %a = tir.alloc {offset = 0} : memref<4xf32>
  tir.return
}

// -----

tir.func @offset() {
  // expected-error @+1 {{expected an offset of at least 0, but got -4}}
  %a = tir.alloc {pool = @p, offset = -4} : memref<4xf32>
  tir.return
}

// -----

tir.func @twice() {
  // expected-error @+1 {{'offset' stands twice}}
  %a = tir.alloc {offset = 0, offset = 0} : memref<4xf32>
  tir.return
}

// -----

tir.func @locality(read %a: memref<4xf32>, read %i: index) {
  // expected-error @+1 {{expected a locality from 0 to 3, but got 4}}
  tir.prefetch %a[%i] locality 4 : memref<4xf32>
  tir.return
}

// -----

tir.func @indices(read %a: memref<4xf32>) {
  // expected-error @+1 {{expected 1 indices, but got 0}}
  tir.prefetch %a[] : memref<4xf32>
  tir.return
}

// -----

tir.func @copy(read %a: memref<4xf32>, write %b: memref<5xf32>) {
  // expected-error @+1 {{expected equal elements and extents, but got 'memref<4xf32>' and 'memref<5xf32>'}}
  tir.copy %a, %b : memref<4xf32>, memref<5xf32>
  tir.return
}

// -----

tir.func @copy_async(read %a: memref<4xf32>, write %b: memref<4xf64>) {
  // expected-error @+1 {{expected equal elements and extents, but got 'memref<4xf32>' and 'memref<4xf64>'}}
  %t = tir.copy_async %a, %b : memref<4xf32>, memref<4xf64>
  tir.return
}

// -----

// expected-error @+1 {{expected an integer of at least 1 for 'tir.threads', but got '0 : i64'}}
tir.func @no_threads() attributes {tir.threads = 0} {
  tir.return
}

// -----

tir.func @forks() {
  // expected-error @+1 {{unknown kernel '@nobody'}}
  tir.fork @nobody() threads 2
  tir.return
}

// -----

tir.func @part(read %w: index, read %x: memref<4xf32>)
tir.func @forks(read %x: memref<4xf32>) {
  // expected-error @+1 {{expected '@part' to take (index, index, memref<4xf32>), but it takes (index, memref<4xf32>)}}
  tir.fork @part(%x : memref<4xf32>) threads 2
  tir.return
}

// -----

tir.func @part(read %w: index, read %t: index)
tir.func @forks() {
  // expected-error @+1 {{expected at least 1 thread, but got 0}}
  tir.fork @part() threads 0
  tir.return
}

// -----

func.func private @part()
tir.func @forks() {
  // expected-error @+1 {{expected '@part' to be a kernel, but it is a 'func.func'}}
  tir.fork @part() threads 1
  tir.return
}
