// RUN: %diagnose -t llvm-ir

// expected-error @+1 {{no LLVM form for 'func.func'}}
func.func @function() {
  func.return
}

// -----

// expected-error @+1 {{expected linkage external or extern_weak of a declaration, but got 'internal'}}
llvm.func internal @declared()

// -----

// expected-error @+1 {{no LLVM form for attribute 'personality' of 'llvm.func'}}
llvm.func @attribute() attributes {personality = @p}

// -----

// expected-error @+1 {{no LLVM form for argument attribute 'llvm.odd'}}
llvm.func @argument(i32 {llvm.odd})

// -----

llvm.func @shape(%p: !llvm.ptr) {
  // expected-error @+1 {{expected a vector of one dimension, but got 'vector<2x2xf32>'}}
  %v = llvm.load %p : !llvm.ptr -> vector<2x2xf32>
  llvm.return
}

// -----

// expected-error @+1 {{expected a value, or linkage external or extern_weak, but got linkage 'internal'}}
llvm.mlir.global internal @value() : i32

// -----

llvm.func @wide_integer(%p: !llvm.ptr) {
  // expected-error @+1 {{expected integers of 1 to 1024 bits, not 'i1025'}}
  %v = llvm.load %p : !llvm.ptr -> i1025
  llvm.return
}

// -----

llvm.func @no_integer(%p: !llvm.ptr) {
  // expected-error @+1 {{expected integers of 1 to 1024 bits, not 'i0'}}
  %v = llvm.load %p : !llvm.ptr -> i0
  llvm.return
}

// -----

llvm.func @wide_vector(%p: !llvm.ptr) {
  // expected-error @+1 {{expected a vector of 1 to 131072 bits, not 'vector<4097xf32>'}}
  %v = llvm.load %p : !llvm.ptr -> vector<4097xf32>
  llvm.return
}
