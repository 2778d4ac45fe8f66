// RUN: transom-opt -p 'tir-distribute-loops{threshold=64}' %s | filecheck %s

// Each thread gets as many steps as the others, one after the other.
// CHECK-LABEL: tir.func @even
// CHECK:         %[[C2:.*]] = arith.constant 2 : index
// CHECK:         "scf.parallel"(%{{.*}}, %[[C2]], %{{.*}})
// CHECK-NEXT:    ^{{.*}}(%[[W:.*]]: index):
// CHECK-NEXT:      %[[C16:.*]] = arith.constant 16 : index
// CHECK-NEXT:      %[[FROM:.*]] = arith.muli %[[W]], %[[C16]] : index
// CHECK-NEXT:      %[[SIZE:.*]] = arith.constant 16 : index
// CHECK-NEXT:      %[[TO:.*]] = arith.addi %[[FROM]], %[[SIZE]] : index
// CHECK-NEXT:      scf.for %[[I:.*]] = %[[FROM]] to %[[TO]] step %{{.*}} {
// CHECK-NEXT:        "test.op"(%[[I]])
tir.func @even() attributes {tir.threads = 2} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c4 = arith.constant 4 : index
  "scf.parallel"(%c0, %c32, %c4) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    "test.op"(%i) : (index) -> ()
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  tir.return
}

// Seven steps for three threads: from 7 w / 3 to 7 (w + 1) / 3.
// CHECK-LABEL: tir.func @uneven
// CHECK:         %{{.*}} = arith.constant 1 : index
// CHECK-NEXT:    %[[N:.*]] = arith.constant 7 : index
// CHECK:         "scf.parallel"(
// CHECK-NEXT:    ^{{.*}}(%[[W:.*]]: index):
// CHECK:           %[[NEXT:.*]] = arith.addi %[[W]],
// CHECK:           %[[P:.*]] = arith.muli %[[W]], %[[N]] : index
// CHECK:           arith.divui %[[P]],
// CHECK:           %[[Q:.*]] = arith.muli %[[NEXT]], %[[N]] : index
// CHECK:           arith.divui %[[Q]],
tir.func @uneven() attributes {tir.threads = 3} {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %c7, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    "test.op"(%i) : (index) -> ()
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  tir.return
}

// No more threads than steps; loops inside are no more than loops.
// CHECK-LABEL: tir.func @few
// CHECK:         %c2 = arith.constant 2 : index
// CHECK-NEXT:    %{{.*}} = arith.constant 0 : index
// CHECK-NEXT:    %[[END:.*]] = arith.constant 2 : index
// CHECK-NEXT:    %[[STEP:.*]] = arith.constant 1 : index
// CHECK-NEXT:    "scf.parallel"(%{{.*}}, %[[END]], %[[STEP]])
// CHECK:           scf.for
// CHECK-NEXT:        "scf.parallel"(%{{.*}}, %{{.*}}, %{{.*}})
tir.func @few(read %n: index) attributes {tir.threads = 4} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  "scf.parallel"(%c0, %c0, %c2, %n, %c1, %c1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    "test.op"(%i, %j) : (index, index) -> ()
    "scf.reduce"() : () -> ()
  }) : (index, index, index, index, index, index) -> ()
  tir.return
}

// Buffers that are large are parts of one, with room for each thread.
// CHECK-LABEL: tir.func @memory
// CHECK:         %[[B:.*]] = tir.alloc {alignment = 64, memory = @sram} : memref<256xi8>
// CHECK:         "scf.parallel"(
// CHECK-NEXT:    ^{{.*}}(%[[W:.*]]: index):
// CHECK:           %[[STRIDE:.*]] = arith.constant 128 : index
// CHECK-NEXT:      %[[SHIFT:.*]] = arith.muli %[[W]], %[[STRIDE]] : index
// CHECK-NEXT:      %[[V:.*]] = memref.view %[[B]][%[[SHIFT]]][] : memref<256xi8> to memref<20xf32>
// CHECK:           scf.for
// CHECK-NEXT:        %[[S:.*]] = tir.alloc : memref<4xf32>
// CHECK-NEXT:        "test.op"(%[[V]], %[[S]])
tir.func @memory() attributes {tir.threads = 2} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  "scf.parallel"(%c0, %c8, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %b = tir.alloc {memory = @sram} : memref<20xf32>
    %s = tir.alloc : memref<4xf32>
    "test.op"(%b, %s) : (memref<20xf32>, memref<4xf32>) -> ()
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  tir.return
}

// CHECK-LABEL: tir.func @dynamic_memory
// CHECK-SAME:    read %[[N:.*]]: index
// CHECK:         %[[BYTES:.*]] = arith.muli %[[N]], %{{.*}} : index
// CHECK:         %[[STRIDE:.*]] = arith.muli
// CHECK:         %[[ALL:.*]] = arith.muli %[[STRIDE]],
// CHECK-NEXT:    %[[B:.*]] = tir.alloc(%[[ALL]]) {alignment = 64} : memref<?xi8>
// CHECK:         memref.view %[[B]][%{{.*}}][%[[N]]] : memref<?xi8> to memref<?x4xf32>
tir.func @dynamic_memory(read %n: index) attributes {tir.threads = 2} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %b = tir.alloc(%n) : memref<?x4xf32>
    "test.op"(%b) : (memref<?x4xf32>) -> ()
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  tir.return
}

// A loop that gives a value stays as it is: a sum is not split.
// CHECK-LABEL: tir.func @sum
// CHECK-NOT:     scf.for
tir.func @sum(read %n: index) attributes {tir.threads = 2} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "scf.parallel"(%c0, %n, %c1, %c0) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%i: index):
    "scf.reduce"(%i) ({
    ^bb1(%a: index, %b: index):
      %t = arith.addi %a, %b : index
      "scf.reduce.return"(%t) : (index) -> ()
    }) : (index) -> ()
  }) : (index, index, index, index) -> index
  tir.return
}

// So does one that can fail, and one of a kernel that is serial.
// CHECK-LABEL: tir.func @failing
// CHECK-NOT:     scf.for
tir.func @failing(read %n: index, read %c: i1) attributes {tir.threads = 2} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    cf.assert %c, "wrong"
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  tir.return
}

// CHECK-LABEL: tir.func @serial
// CHECK-NOT:     scf.for
tir.func @serial(read %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    "test.op"(%i) : (index) -> ()
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  tir.return
}
