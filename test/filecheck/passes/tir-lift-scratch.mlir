// RUN: transom-opt -p 'tir-lift-scratch{threshold=64}' %s | filecheck %s
// RUN: transom-opt -p 'tir-lift-scratch{threshold=64}' --print-debuginfo %s | filecheck %s --check-prefix=LOC

// Alignment and memory are those that the kernel asked for.
// CHECK-LABEL: tir.func @large
// CHECK-SAME:    (write %{{.*}}: memref<4xf32>, scratch %[[B:.*]]: memref<32xf32>)
// CHECK-NEXT:    "test.op"(%[[B]])
// CHECK-NOT:     tir.alloc
tir.func @large(write %o: memref<4xf32>) {
  %b = tir.alloc {alignment = 128, memory = @sram} : memref<32xf32>
  "test.op"(%b) : (memref<32xf32>) -> ()
  tir.return
}

// Up to the threshold, a buffer stays on the stack.
// CHECK-LABEL: tir.func @small
// CHECK-SAME:    (write %{{.*}}: memref<4xf32>)
// CHECK-NEXT:    tir.alloc : memref<16xf32>
tir.func @small(write %o: memref<4xf32>) {
  %b = tir.alloc : memref<16xf32>
  "test.op"(%b) : (memref<16xf32>) -> ()
  tir.return
}

// A size that follows from the arguments is computed again at each call.
// CHECK-LABEL: tir.func @dynamic
// CHECK-SAME:    (read %a: memref<?xf32>, write %{{.*}}: memref<4xf32>, scratch %{{.*}}: memref<?x32xf32>)
// CHECK-NOT:     tir.alloc
tir.func @dynamic(read %a: memref<?xf32>, write %o: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %m = arith.muli %n, %n : index
  %b = tir.alloc(%m) : memref<?x32xf32>
  "test.op"(%b) : (memref<?x32xf32>) -> ()
  tir.return
}

// A size that depends on data is known in the kernel only.
// CHECK-LABEL: tir.func @from_data
// CHECK:         tir.alloc(%{{.*}}) : memref<?x32xf32>
tir.func @from_data(read %a: memref<index>, write %o: memref<4xf32>) {
  %n = memref.load %a[] : memref<index>
  %b = tir.alloc(%n) : memref<?x32xf32>
  "test.op"(%b) : (memref<?x32xf32>) -> ()
  tir.return
}

// Iterations of one loop follow each other and share.
// CHECK-LABEL: tir.func @in_loop
// CHECK-SAME:    scratch %{{.*}}: memref<32xf32>)
tir.func @in_loop(write %o: memref<4xf32>, read %n: index) {
  scf.for %i = %n to %n step %n {
    %b = tir.alloc : memref<32xf32>
    "test.op"(%b) : (memref<32xf32>) -> ()
  }
  tir.return
}

// Each thread needs its own.
// CHECK-LABEL: tir.func @in_parallel_loop
// CHECK-NOT:     scratch
tir.func @in_parallel_loop(write %o: memref<4xf32>, read %n: index) attributes {tir.threads = 2} {
  "scf.parallel"(%n, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %b = tir.alloc : memref<32xf32>
    "test.op"(%b) : (memref<32xf32>) -> ()
    scf.reduce
  }) : (index, index, index) -> ()
  tir.return
}

// On one thread a parallel loop is as good as any.
// CHECK-LABEL: tir.func @in_serial_loop
// CHECK-SAME:    scratch %{{.*}}: memref<32xf32>
tir.func @in_serial_loop(write %o: memref<4xf32>, read %n: index) {
  "scf.parallel"(%n, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %b = tir.alloc : memref<32xf32>
    "test.op"(%b) : (memref<32xf32>) -> ()
    scf.reduce
  }) : (index, index, index) -> ()
  tir.return
}

// Somebody else may call it.
// CHECK-LABEL: tir.func public @visible
// CHECK-NEXT:    tir.alloc : memref<32xf32>
tir.func public @visible(write %o: memref<4xf32>) {
  %b = tir.alloc : memref<32xf32>
  "test.op"(%b) : (memref<32xf32>) -> ()
  tir.return
}

// What a called kernel needs is passed through.
// CHECK-LABEL: tir.func @caller
// CHECK-SAME:    (write %[[O:.*]]: memref<4xf32>, scratch %[[S:.*]]: memref<32xf32>)
// CHECK-NEXT:    tir.call @large() outs(%[[O]] : memref<4xf32>) scratch(%[[S]] : memref<32xf32>)
tir.func @caller(write %o: memref<4xf32>) {
  tir.call @large() outs(%o : memref<4xf32>)
  tir.return
}

// CHECK-LABEL: @main
func.func @main(%d: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[A:.*]] = tir.alloc {alignment = 128, memory = @sram} : memref<32xf32>
  // CHECK-NEXT:    tir.call @large() outs(%{{.*}} : tensor<4xf32>) scratch(%[[A]] : memref<32xf32>) {test.hint}
  // LOC:           tir.alloc {{.*}} loc("m.onnx":3:1)
  %y = tir.call @large() outs(%d : tensor<4xf32>) {test.hint} loc("m.onnx":3:1)
  // CHECK-NEXT:    %[[B:.*]] = tir.alloc {alignment = 128, memory = @sram} : memref<32xf32>
  // CHECK-NEXT:    tir.call @caller() {{.*}} scratch(%[[B]] : memref<32xf32>)
  %z = tir.call @caller() outs(%y : tensor<4xf32>)
  func.return %z : tensor<4xf32>
}

// CHECK-LABEL: @sizes_at_call
func.func @sizes_at_call(%x: tensor<?xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:         %[[N:.*]] = tensor.dim %x, %{{.*}} : tensor<?xf32>
  // CHECK-NEXT:    %[[M:.*]] = arith.muli %[[N]], %[[N]] : index
  // CHECK-NEXT:    %[[A:.*]] = tir.alloc(%[[M]]) : memref<?x32xf32>
  // CHECK-NEXT:    tir.call @dynamic({{.*}}) outs({{.*}}) scratch(%[[A]] : memref<?x32xf32>)
  %y = tir.call @dynamic(%x : tensor<?xf32>) outs(%d : tensor<4xf32>)
  func.return %y : tensor<4xf32>
}
