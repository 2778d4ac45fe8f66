// RUN: %diagnose -t c-source

tir.func public @vectors(read %v: f32) {
  // expected-error @+1 {{no C form for 'vector.broadcast'}}
  %w = vector.broadcast %v : f32 to vector<4xf32>
  tir.return
}

// -----

func.func @allocates(%n: index) {
  // expected-error @+1 {{no C form for memory that is taken while the program runs; bounds of the sizes let it be planned}}
  %a = executor.alloc(%n) : memref<?xf32>
  func.return
}

// -----

tir.func public @unknown(read %n: index) {
  // expected-error @+1 {{no C form for a local buffer of unknown size, but got 'memref<?xf32>'; 'tir-lift-scratch' makes it an argument}}
  %a = tir.alloc(%n) : memref<?xf32>
  tir.return
}

// -----

tir.func public @large() {
  // expected-error @+1 {{expected a local buffer of at most 65536 bytes, but got 'memref<20000xf32>'; 'tir-lift-scratch' makes it an argument}}
  %a = tir.alloc : memref<20000xf32>
  tir.return
}

// -----

// expected-error @+1 {{no C form for functions that call themselves}}
func.func @again() {
  func.call @again() : () -> ()
  func.return
}

// -----

// expected-error @+1 {{no C form for a function with several results}}
func.func @two(%a: i32) -> (i32, i32) {
  func.return %a, %a : i32, i32
}

// -----

// expected-error @+1 {{expected an integer of 1, 8, 16, 32 or 64 bits, but got 'i4'}}
tir.func public @narrow(read %a: memref<4xi4>) {
  tir.return
}

// -----

tir.func public @structs(read %a: i32, read %b: f32) {
  %s = tir.struct(%a) : !tir.struct<"s", (i32)>
  // expected-error @+1 {{expected one struct 's', but got}}
  %t = tir.struct(%b) : !tir.struct<"s", (f32)>
  tir.return
}

// -----

tir.func public @two_kinds(read %a: i32) {
  %s = tir.struct(%a) : !tir.struct<"f", (i32)>
  // expected-error @+1 {{'f' is a C function, and a struct too}}
  tir.extern "f"(ref %s) : (!tir.struct<"f", (i32)>) -> ()
  tir.return
}

// -----

tir.func public @calls_itself(read %a: i32) {
  // expected-error @+1 {{'model_calls_itself' is a C function, and a function of the file too}}
  tir.extern "model_calls_itself"(%a) : (i32) -> ()
  tir.return
}

// -----

tir.func public @type_of_c(read %a: i32) {
  // expected-error @+1 {{'int32_t' is a struct, and a type of C too}}
  %s = tir.struct(%a) : !tir.struct<"int32_t", (i32)>
  tir.return
}

// -----

tir.func public @no_fields() {
  // expected-error @+1 {{no C form for a struct without fields, '!tir.struct<"empty", ()>'}}
  %s = tir.struct() : !tir.struct<"empty", ()>
  tir.return
}

// -----

tir.func public @declarations(read %a: i32, read %b: f32) {
  tir.extern "f"(%a) : (i32) -> ()
  // expected-error @+1 {{expected one declaration of 'f', but got 'void f(int32_t);' and 'void f(float);'}}
  tir.extern "f"(%b) : (f32) -> ()
  tir.return
}

// -----

// expected-error @+1 {{expected a weight of at most 67108864 bytes, to be written out in C, but got 'tensor<17000000xf32>'}}
graph.weight @w = dense<1.0> : tensor<17000000xf32>
func.func @main(%y: memref<17000000xf32>) {
  %w = executor.constant @w : memref<17000000xf32>
  executor.copy %w, %y : memref<17000000xf32>, memref<17000000xf32>
  func.return
}

// -----

// expected-error @+1 {{expected a public function to write as C}}
builtin.module {
  tir.func @private() {
    tir.return
  }
}
