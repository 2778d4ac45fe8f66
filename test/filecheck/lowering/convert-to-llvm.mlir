// RUN: transom-opt -p convert-to-llvm %s | filecheck %s
// RUN: transom-opt -p convert-to-llvm --print-debuginfo %s | filecheck %s --check-prefix=LOC

// Assertions are numbered in module order, equal texts once.
// CHECK:         executor.messages = ["sizes differ", "too many", "'run' did not return 0, in '@extern'", "out of memory", "artifact 'emitted' failed"]

// What is called and not there is declared.
// CHECK:         llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
// CHECK-NEXT:    llvm.func @artifact.emitted(!llvm.ptr, i64, i32, !llvm.ptr) -> i32
// CHECK-NEXT:    llvm.func @free(!llvm.ptr)
// CHECK-NEXT:    llvm.func @run(i8 {llvm.signext}, !llvm.ptr) -> i32

// A memref is a pointer and what its type leaves open; attributes go to the pointer.
// CHECK-LABEL:   llvm.func @arguments(
// CHECK-SAME:      %{{.*}}: !llvm.ptr {test.x}, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: f32, %{{.*}}: i64) -> i32 attributes {test.f} {
func.func @arguments(%a: memref<?x4xf32> {test.x}, %b: memref<?x?xf32, strided<[?, 1], offset: ?>>, %c: memref<4xi1>, %d: f32, %e: index) attributes {test.f} {
  // CHECK-NEXT:      %[[OK:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NEXT:      llvm.return %[[OK]] : i32
  func.return
}

// A function with results returns them, several as a struct.
// CHECK-LABEL:   llvm.func internal @results(
// CHECK-SAME:      %[[A:.*]]: i32, %[[B:.*]]: f32) -> !llvm.struct<(f32, i32)> {
func.func private @results(%a: i32, %b: f32) -> (f32, i32) {
  // CHECK-NEXT:      %[[P:.*]] = llvm.mlir.poison : !llvm.struct<(f32, i32)>
  // CHECK-NEXT:      %[[Q:.*]] = llvm.insertvalue %[[B]], %[[P]][0]
  // CHECK-NEXT:      %[[R:.*]] = llvm.insertvalue %[[A]], %[[Q]][1]
  // CHECK-NEXT:      llvm.return %[[R]] : !llvm.struct<(f32, i32)>
  func.return %b, %a : f32, i32
}

// CHECK-LABEL:   llvm.func @takes_results
func.func @takes_results(%a: i32, %b: f32) -> i32 {
  // CHECK-NEXT:      %[[R:.*]] = llvm.call @results
  // CHECK-NEXT:      %{{.*}} = llvm.extractvalue %[[R]][0]
  // CHECK-NEXT:      %[[I:.*]] = llvm.extractvalue %[[R]][1]
  // CHECK-NEXT:      llvm.return %[[I]] : i32
  %f, %i = func.call @results(%a, %b) : (i32, f32) -> (f32, i32)
  func.return %i : i32
}

// CHECK-LABEL:   llvm.func @assertions
// CHECK-SAME:      (%[[A:.*]]: i1, %[[B:.*]]: i1)
func.func @assertions(%a: i1, %b: i1) {
  // CHECK-NEXT:      llvm.cond_br %[[A]], ^[[NEXT:bb.*]], ^[[FAIL:bb.*]]
  // CHECK-NEXT:    ^[[FAIL]]:
  // CHECK-NEXT:      %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
  // CHECK-NEXT:      llvm.return %[[ONE]] : i32
  // CHECK-NEXT:    ^[[NEXT]]:
  // CHECK-NEXT:      llvm.cond_br %[[B]], ^[[LAST:bb.*]], ^[[FAIL2:bb.*]]
  // CHECK-NEXT:    ^[[FAIL2]]:
  // CHECK-NEXT:      %[[TWO:.*]] = llvm.mlir.constant(2 : i32) : i32
  cf.assert %a, "sizes differ"
  cf.assert %b, "too many"
  cf.assert %b, "sizes differ"
  func.return
}

// CHECK-LABEL:   llvm.func internal @cannot_fail
func.func private @cannot_fail() {
  func.return
}

// A status that may not be zero is passed on.
// CHECK-LABEL:   llvm.func @calls
func.func @calls(%a: i1) {
  // CHECK-NEXT:      %{{.*}} = llvm.call @cannot_fail()
  // CHECK-NEXT:      %[[S:.*]] = llvm.call @assertions
  // CHECK-NEXT:      %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NEXT:      %[[GOOD:.*]] = llvm.icmp "eq" %[[S]], %[[ZERO]] : i32
  // CHECK-NEXT:      llvm.cond_br %[[GOOD]], ^[[NEXT:bb.*]], ^[[FAIL:bb.*]]
  // CHECK-NEXT:    ^[[FAIL]]:
  // CHECK-NEXT:      llvm.return %[[S]] : i32
  func.call @cannot_fail() : () -> ()
  func.call @assertions(%a, %a) : (i1, i1) -> ()
  func.return
}

// A kernel is internal, is not inlined, and says what it does with its arguments.
// CHECK-LABEL:   llvm.func internal @kernel(
// CHECK-SAME:      %{{.*}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i32) -> i32 attributes {no_inline, no_unwind} {
tir.func @kernel(read %x: memref<?xf32>, write %y: memref<4xf32>, scratch %t: memref<4xf32>, read %n: i32) {
  tir.return
}

// Where a kernel knows less of a size than its caller, it is passed.
// CHECK-LABEL:   llvm.func @calls_kernel
// CHECK-SAME:      (%[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr, %[[N:.*]]: i64, %[[T:.*]]: !llvm.ptr)
func.func @calls_kernel(%x: memref<7xf32>, %y: memref<?xf32>, %t: memref<4xf32>) {
  // CHECK:           %[[K:.*]] = llvm.mlir.constant(7) : i64
  // CHECK-NEXT:      %{{.*}} = llvm.call @copy(%[[X]], %[[K]], %[[Y]]) : (!llvm.ptr, i64, !llvm.ptr) -> i32
  tir.call @copy(%x : memref<7xf32>) outs(%y : memref<?xf32>)
  func.return
}
tir.func @copy(read %x: memref<?xf32>, write %y: memref<4xf32>) {
  tir.return
}

// CHECK-LABEL:   llvm.func internal @extern
// CHECK-SAME:      %[[X:.*]]: !llvm.ptr {llvm.noalias}, %[[B:.*]]: i8)
tir.func @extern(read_write %x: memref<4xf32>, read %b: i8) {
  // CHECK-NEXT:      %[[ONE:.*]] = llvm.mlir.constant(1) : i64
  // CHECK-NEXT:      %[[COPY:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(!llvm.ptr, i8)> {alignment = 16 : i64}
  // CHECK:           llvm.store %{{.*}}, %[[COPY]] {alignment = 16 : i64} : !llvm.struct<(!llvm.ptr, i8)>, !llvm.ptr
  // CHECK-NEXT:      %[[S:.*]] = llvm.call @run(%[[B]], %[[COPY]]) {arg_attrs = [{llvm.signext}, {}]} : (i8, !llvm.ptr) -> i32
  // CHECK:           %[[GOOD:.*]] = llvm.icmp "eq" %[[S]], %{{.*}} : i32
  // CHECK-NEXT:      llvm.cond_br %[[GOOD]]
  %s = tir.struct(%x, %b) : !tir.struct<"s", (memref<4xf32>, i8)>
  %r = tir.extern "run"(%b, read_write ref %s) status 0 : (i8, !tir.struct<"s", (memref<4xf32>, i8)>) -> i32
  tir.return
}

// CHECK-LABEL:   llvm.func @heap
func.func @heap(%n: index) {
  // CHECK:           %[[P:.*]] = llvm.call @aligned_alloc
  // CHECK-NEXT:      %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK-NEXT:      %[[GOOD:.*]] = llvm.icmp "ne" %[[P]], %[[NULL]] : !llvm.ptr
  // CHECK-NEXT:      llvm.cond_br %[[GOOD]]
  // CHECK:           llvm.call @free(%[[P]])
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  func.return
}

// An artifact is a C function of another name; its status is one number of ours.
// CHECK-LABEL:   executor.artifact @emitted
executor.artifact @emitted {
  format = "test", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", workspace = 64,
  signature = (memref<?xf32>, i32) -> (), entry = "run"
}
// CHECK:         llvm.func @calls_artifact(%[[X:.*]]: !llvm.ptr, %[[N:.*]]: i64, %[[A:.*]]: i32, %[[W:.*]]: !llvm.ptr) -> i32 {
func.func @calls_artifact(%x: memref<?xf32>, %a: i32, %w: memref<64xi8>) {
  // CHECK-NEXT:      %[[S:.*]] = llvm.call @artifact.emitted(%[[X]], %[[N]], %[[A]], %[[W]])
  // CHECK:           llvm.icmp "eq" %[[S]]
  // CHECK:           %[[C:.*]] = llvm.mlir.constant(5 : i32) : i32
  // CHECK-NEXT:      llvm.return %[[C]] : i32
  executor.call @emitted(%x, %a, %w : memref<?xf32>, i32, memref<64xi8>)
  func.return
}

// Weights and pools stay; a constant is the address of its weight. A weight does not
// keep a name that a function of C may have.
// CHECK:         graph.weight @weight.w
graph.weight @w = dense<1.0> : tensor<4xf32>
// CHECK-LABEL:   llvm.func @weight
func.func @weight(%i: index) -> f32 {
  // CHECK-NEXT:      %[[W:.*]] = llvm.mlir.addressof @weight.w : !llvm.ptr
  %w = executor.constant @w : memref<4xf32>
  %v = memref.load %w[%i] : memref<4xf32>
  func.return %v : f32
}

// LOC-LABEL: @keep
func.func @keep(%a: f32) -> f32 {
  // LOC:         llvm.fadd {{.*}} {test.hint = 1 : i32} : f32 loc("m.onnx":3:1)
  %s = arith.addf %a, %a {test.hint = 1 : i32} : f32 loc("m.onnx":3:1)
  func.return %s : f32
}
