// RUN: %roundtrip
// RUN: transom-opt %s | filecheck %s

// CHECK-LABEL: llvm.func internal fastcc hidden unnamed_addr @header(
// CHECK-SAME:    %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64) -> (i32 {llvm.noundef}) attributes {test.a, no_inline} {
llvm.func internal fastcc hidden unnamed_addr @header(%p: !llvm.ptr {llvm.noalias}, %n: i64) -> (i32 {llvm.noundef}) attributes {test.a, no_inline} {
  %z = llvm.mlir.constant(0 : i32) : i32
  llvm.return %z : i32
}

// A declaration keeps the attributes of its arguments.
// CHECK: llvm.func extern_weak @declared(!llvm.ptr {llvm.nonnull}, i64, ...) -> f32
llvm.func extern_weak @declared(!llvm.ptr {llvm.nonnull}, i64, ...) -> f32

// CHECK-LABEL: @compare
llvm.func @compare(%v: vector<4xf32>, %i: vector<4xi32>, %p: !llvm.ptr, %a: f32) {
  // CHECK-NEXT:    llvm.fcmp "olt" %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
  // CHECK-NEXT:    llvm.fcmp "_true" %{{.*}}, %{{.*}} : f32
  // CHECK-NEXT:    llvm.icmp "ugt" %{{.*}}, %{{.*}} : vector<4xi32>
  // CHECK-NEXT:    llvm.icmp "eq" %{{.*}}, %{{.*}} : !llvm.ptr
  // CHECK-NEXT:    llvm.select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xf32>
  %0 = llvm.fcmp "olt" %v, %v {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
  %1 = llvm.fcmp "_true" %a, %a : f32
  %2 = llvm.icmp "ugt" %i, %i : vector<4xi32>
  %3 = llvm.icmp "eq" %p, %p : !llvm.ptr
  %4 = llvm.select %0, %v, %v : vector<4xi1>, vector<4xf32>
  llvm.return
}

// CHECK-LABEL: @memory
llvm.func @memory(%p: !llvm.ptr, %i: i32) {
  // CHECK-NEXT:    %[[V:.*]] = llvm.load volatile %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  // CHECK-NEXT:    llvm.load %{{.*}} atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  // CHECK-NEXT:    llvm.load %{{.*}} invariant {nontemporal} : !llvm.ptr -> f32
  // CHECK-NEXT:    llvm.store volatile %[[V]], %{{.*}} {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  // CHECK-NEXT:    llvm.store %{{.*}}, %{{.*}} atomic seq_cst {alignment = 4 : i64} : i32, !llvm.ptr
  // CHECK-NEXT:    llvm.atomicrmw umax %{{.*}}, %{{.*}} acq_rel : !llvm.ptr, i32
  %v = llvm.load volatile %p {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  %w = llvm.load %p atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  %x = llvm.load %p invariant {nontemporal} : !llvm.ptr -> f32
  llvm.store volatile %v, %p {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  llvm.store %i, %p atomic seq_cst {alignment = 4 : i64} : i32, !llvm.ptr
  %o = llvm.atomicrmw umax %p, %i acq_rel : !llvm.ptr, i32
  llvm.return
}

// CHECK-LABEL: @values
llvm.func @values(%v: vector<4xi32>, %i: i32, %p: !llvm.ptr) {
  // CHECK-NEXT:    llvm.mlir.constant(1.500000e+00 : f32) {test.a} : f32
  // CHECK-NEXT:    llvm.mlir.zero : vector<4xf32>
  // CHECK-NEXT:    llvm.mlir.poison : !llvm.ptr
  // CHECK-NEXT:    llvm.uitofp nneg %{{.*}} : i32 to f32
  // CHECK-NEXT:    llvm.freeze %{{.*}} : vector<4xi32>
  // CHECK-NEXT:    llvm.extractelement %{{.*}}[%{{.*}} : i32] : vector<4xi32>
  // CHECK-NEXT:    llvm.addrspacecast %{{.*}} : !llvm.ptr to !llvm.ptr<3>
  %0 = llvm.mlir.constant(1.5 : f32) {test.a} : f32
  %1 = llvm.mlir.zero : vector<4xf32>
  %2 = llvm.mlir.poison : !llvm.ptr
  %3 = llvm.uitofp nneg %i : i32 to f32
  %4 = llvm.freeze %v : vector<4xi32>
  %5 = llvm.extractelement %v[%i : i32] : vector<4xi32>
  %6 = llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<3>
  llvm.return
}

// CHECK-LABEL: @switch
llvm.func @switch(%x: i32, %a: f32) -> f32 {
  // CHECK:         llvm.switch %{{.*}} : i32, ^[[DEFAULT:.*]] [
  // CHECK-NEXT:      1: ^[[ONE:.*]](%{{.*}} : f32),
  // CHECK-NEXT:      -1: ^[[DEFAULT]]
  // CHECK-NEXT:    ]
  llvm.switch %x : i32, ^default [
    1: ^one(%a : f32),
    -1: ^default
  ]
^default:
  llvm.return %a : f32
^one(%b: f32):
  llvm.return %b : f32
}

// CHECK-LABEL: @calls
llvm.func @calls(%f: !llvm.ptr, %i: i32) -> f32 {
  // CHECK:         llvm.call fastcc tail %{{.*}}(%{{.*}}) : !llvm.ptr, (i32) -> f32
  %r = llvm.call fastcc tail %f(%i) : !llvm.ptr, (i32) -> f32
  llvm.return %r : f32
}
