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
