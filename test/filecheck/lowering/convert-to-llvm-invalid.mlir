// RUN: %diagnose -p convert-to-llvm

// All that is in the way is named at once.
func.func @several(%a: i32, %v: memref<4x8xf32>, %i: index) -> i32 {
  // expected-error @+1 {{no legal form for 'math.ipowi'}}
  %b = math.ipowi %a, %a : i32
  // expected-note @+1 {{no legal form for 'vector.load' x1 (the target does not mention it; ConvertLoad: expected the lanes of 'vector<2x4xf32>' without gaps in between, but got a memref of type 'memref<4x8xf32>')}}
  %w = vector.load %v[%i, %i] : memref<4x8xf32>, vector<2x4xf32>
  func.return %b : i32
}

// -----

// expected-error @+1 {{ConvertFunction: no LLVM type for 'tensor<4xf32>'}}
func.func @tensor(%x: tensor<4xf32>) {
  // expected-note @+1 {{no legal form for 'tensor.empty' x1 (the target does not mention it; no pattern)}}
  %t = tensor.empty() : tensor<4xf32>
  func.return
}

// -----

// A function with results has no status.
func.func @assertion(%c: i1) -> i1 {
  // expected-error @+1 {{ConvertAssert: expected a function without results, which returns a status, around an op that may fail}}
  cf.assert %c, "no"
  func.return %c : i1
}

// -----

// expected-error @+1 {{ConvertFunction: expected an element of 8, 16, 32, 64 or 128 bits, but got 'i4'}}
func.func @nibbles(%x: memref<4xi4>) {
  func.return
}

// -----

// expected-error @+1 {{ConvertFunction: no element of type 'complex<f32>' in memory}}
func.func @complex(%x: memref<4xcomplex<f32>>) {
  func.return
}

// -----

// expected-error @+1 {{ConvertFunction: expected a layout of strides, but got 'memref<2x4xf32, affine_map<(d0, d1) -> (d1, d0)>>'}}
func.func @layout(%x: memref<2x4xf32, affine_map<(d0, d1) -> (d1, d0)>>) {
  func.return
}

// -----

// expected-error @+1 {{ConvertFunction: expected a vector of a fixed length, but got 'vector<[4]xf32>'}}
func.func @scalable(%x: vector<[4]xf32>) {
  func.return
}

// -----

func.func @stride(%x: memref<4x4xf32, strided<[8, 2]>>, %i: index) {
  // expected-error @+1 {{ConvertLoad: expected a last stride of 1, but got a memref of type 'memref<4x4xf32, strided<[8, 2]>>'}}
  %v = vector.load %x[%i, %i] : memref<4x4xf32, strided<[8, 2]>>, vector<2xf32>
  func.return
}

// -----

func.func @stack(%n: index) {
  // expected-error @+1 {{ConvertAlloca: expected at most 1048576 bytes of static size for the stack, but got 'memref<?xf32>'}}
  %t = tir.alloc(%n) : memref<?xf32>
  func.return
}

// -----

func.func @heap_layout() {
  // expected-error @+1 {{ConvertAlloc: expected the identity layout, but got 'memref<4x4xf32, strided<[8, 1]>>'}}
  %t = memref.alloc() : memref<4x4xf32, strided<[8, 1]>>
  func.return
}

// -----

func.func @axis(%x: memref<4xf32>) -> index {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{ConvertDim: expected an axis of 'memref<4xf32>', but got 1}}
  %n = memref.dim %x, %c1 : memref<4xf32>
  func.return %n : index
}

// -----

func.func @place(%v: vector<2x4xf32>, %i: index) -> vector<4xf32> {
  // expected-error @+1 {{ConvertExtract: expected a constant position of a vector in a vector}}
  %r = vector.extract %v[%i] : vector<4xf32> from vector<2x4xf32>
  func.return %r : vector<4xf32>
}

// -----

func.func @place(%v: vector<2x4xf32>, %w: vector<4xf32>, %i: index) -> vector<2x4xf32> {
  // expected-error @+1 {{ConvertInsert: expected a constant position of a vector in a vector}}
  %r = vector.insert %w, %v[%i] : vector<4xf32> into vector<2x4xf32>
  func.return %r : vector<2x4xf32>
}

// -----

func.func @mask(%n: index) -> vector<2x4xi1> {
  // expected-error @+1 {{ConvertCreateMask: expected a vector of one dimension, but got 'vector<2x4xi1>'}}
  %m = vector.create_mask %n, %n : vector<2x4xi1>
  func.return %m : vector<2x4xi1>
}

// -----

func.func @permuted(%x: memref<4x8xf32>, %i: index, %p: f32) -> vector<4xf32> {
  // expected-error @+1 {{ConvertTransferRead: expected the permutation map '(d0, d1) -> (d1)', but got '(d0, d1) -> (d0)'}}
  %v = vector.transfer_read %x[%i, %i], %p {permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<4x8xf32>, vector<4xf32>
  func.return %v : vector<4xf32>
}

// -----

func.func @atomic(%x: memref<4xf32>, %v: f32, %i: index) -> f32 {
  // expected-error @+1 {{ConvertAtomic: no instruction for kind 9}}
  %r = "memref.atomic_rmw"(%v, %x, %i) <{kind = 9 : i64}> : (f32, memref<4xf32>, index) -> f32
  func.return %r : f32
}

// -----

func.func @two_types(%a: i32, %b: f32) {
  // expected-note @+1 {{called with '!llvm.func<void (i32)>' here}}
  tir.extern "g"(%a) : (i32) -> ()
  // expected-error @+1 {{expected 'g' to be called with one type, but got '!llvm.func<void (f32)>'}}
  tir.extern "g"(%b) : (f32) -> ()
  func.return
}

// -----

func.func @struct(%a: i32) {
  %s = tir.struct(%a) : !tir.struct<"s", (i32)>
  // expected-error @+1 {{ConvertExtern: expected the module to name its machine by 'llvm.target_triple', as a struct is passed by value}}
  tir.extern "g"(%s) : (!tir.struct<"s", (i32)>) -> ()
  func.return
}

// -----

builtin.module attributes {llvm.target_triple = "riscv64-unknown-elf"} {
  func.func @struct(%a: i32) {
    %s = tir.struct(%a) : !tir.struct<"s", (i32)>
    // expected-error @+1 {{ConvertExtern: no rule to pass a struct by value on 'riscv64-unknown-elf'}}
    tir.extern "g"(%s) : (!tir.struct<"s", (i32)>) -> ()
    func.return
  }
}

// -----

func.func @half_result(%a: i32) -> bf16 {
  // expected-error @+1 {{ConvertExtern: no C function that returns a bf16 is called}}
  %r = tir.extern "g"(%a) : (i32) -> bf16
  func.return %r : bf16
}

// -----

executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = (memref<4xf32>) -> ()}
func.func @artifact(%x: memref<4xf32>) -> index {
  // expected-error @+1 {{expected a function without results, which returns a status, around an op that may fail}}
  executor.call @a(%x : memref<4xf32>)
  %c0 = arith.constant 0 : index
  func.return %c0 : index
}

// -----

func.func @loops(%n: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{no legal form for 'scf.for'}}
  scf.for %i = %c0 to %n step %n {
    // expected-note @+1 {{no legal form for 'scf.yield'}}
    scf.yield
  }
  func.return
}

// -----

// A call for each of many lanes is not written out first.
func.func @wide(%x: f32) -> f32 {
  // expected-error @+1 {{expected a vector of at most 131072 bits, but got 'vector<1000000xf32>'}}
  %v = vector.broadcast %x : f32 to vector<1000000xf32>
  // expected-note @+1 {{expected a vector of at most 131072 bits}}
  %t = math.tanh %v : vector<1000000xf32>
  // expected-note @+1 {{expected a vector of at most 131072 bits}}
  %y = vector.extract %t[0] : f32 from vector<1000000xf32>
  func.return %y : f32
}
