// RUN: %diagnose
// RUN: not %diagnose --no-implicit-module 2>&1 | filecheck %s

// What is expected but does not happen is an error, and what happens unexpected.

// CHECK:  transom-opt-diagnose.mlir:9:1: error: unexpected error: expected 'builtin.module' around all operations
// CHECK:  transom-opt-diagnose.mlir:10:6: error: expected error "Expected arguments to have the same types" was not produced

func.func @f() -> i32 {
  // expected-error @+1 {{Expected arguments to have the same types}}
  func.return
}

// -----

func.func @f(%x: i32) -> i32 {
  // expected-error @below {{to be defined before it, on every way to it}}
  %a = arith.addi %b, %x : i32
  // expected-note @below {{defined here}}
  %b = arith.addi %x, %x : i32
  func.return %a : i32
}

// -----

func.func @f() attributes {
  // expected-error-re @+1 {{unknown attribute 'builtin.{{[a-z]+}}'; did you mean 'builtin.int'?}}
  a = #builtin.itn<3>
} {
  func.return
}

// -----

// The message of an attribute that does not verify is where the attribute is.
func.func @f() attributes {
  // expected-error @+1 {{is out of range for type i8}}
  a = 300 : i8
} {
  func.return
}
