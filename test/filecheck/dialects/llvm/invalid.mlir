// RUN: %diagnose

llvm.func @predicate(%a: f32) {
  // expected-error @+1 {{expected one of _false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, _true, but got 'lt'}}
  %0 = llvm.fcmp "lt" %a, %a : f32
  llvm.return
}

// -----

llvm.func @predicate_number(%a: f32) {
  // expected-error @+1 {{expected a predicate number below 16, but got 16}}
  %0 = "llvm.fcmp"(%a, %a) <{predicate = 16 : i64}> : (f32, f32) -> i1
  llvm.return
}

// -----

llvm.func @lanes(%v: vector<4xf32>) {
  // expected-error @+1 {{expected a result of type 'vector<4xi1>', but got 'i1'}}
  %0 = "llvm.fcmp"(%v, %v) <{predicate = 1 : i64}> : (vector<4xf32>, vector<4xf32>) -> i1
  llvm.return
}

// -----

llvm.func @select(%m: vector<8xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{expected a vector of 8 lanes, but got 'vector<4xf32>'}}
  %0 = llvm.select %m, %v, %v : vector<8xi1>, vector<4xf32>
  llvm.return
}

// -----

llvm.func @element(%i: i32) {
  // expected-error @+1 {{expected a vector type, but got 'i32'}}
  %0 = llvm.extractelement %i[%i : i32] : i32
  llvm.return
}

// -----

llvm.func @ordering(%p: !llvm.ptr) {
  // expected-error @+1 {{expected one of unordered, monotonic, acquire, release, acq_rel, seq_cst, but got 'relaxed'}}
  %0 = llvm.load %p atomic relaxed {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.return
}

// -----

llvm.func @update(%p: !llvm.ptr, %i: i32) {
  // expected-error @+1 {{expected one of xchg, add, sub, and, nand, or, xor, max, min, umax, umin, fadd, fsub, fmax, fmin}}
  %0 = llvm.atomicrmw mul %p, %i monotonic : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @update(%p: !llvm.ptr, %i: i32) {
  // expected-error @+1 {{expected one of unordered, monotonic, acquire, release, acq_rel, seq_cst}}
  %0 = llvm.atomicrmw add %p, %i : !llvm.ptr, i32
  llvm.return
}

// -----

// expected-error @+1 {{expected all arguments to be named, or none}}
llvm.func @names(%x: i32, f32)

// -----

// expected-error @+1 {{expected ')' after '...'}}
llvm.func @variadic(..., i32)

// -----

llvm.func @switch(%x: i32) {
  // expected-error @+1 {{expected as many cases as blocks, but got 0 values, 1 blocks and 1 operand counts}}
  "llvm.switch"(%x) [^bb1, ^bb1] <{case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  llvm.return
}

// -----

llvm.func @switch(%x: i32) {
  // expected-error @+1 {{expected 0 case operands, but got 1}}
  "llvm.switch"(%x, %x) [^bb1, ^bb1] <{case_values = dense<1> : vector<1xi32>, case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (i32, i32) -> ()
^bb1:
  llvm.return
}
