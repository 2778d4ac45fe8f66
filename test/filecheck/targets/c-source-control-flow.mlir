// RUN: transom-opt %s -t 'c-source{prefix=""}' | filecheck %s

// Sums go on in one variable through nested loops.
// CHECK:       /* @sum, from c-source-control-flow.mlir:{{[0-9]+}}
// CHECK-NEXT:   *   x: float[2][3], read
// CHECK-NEXT:   *   y: float[1], written
// CHECK-NEXT:   */
// CHECK-NEXT:  int32_t sum(const float *restrict x, float *restrict y)
// CHECK-NEXT:  {
// CHECK-NEXT:      float a = 0.0f;
// CHECK-NEXT:      for (int64_t i = 0; i < 2; ++i) {
// CHECK-NEXT:          for (int64_t j = 0; j < 3; ++j) {
// CHECK-NEXT:              a += x[i * 3 + j];
// CHECK-NEXT:          }
// CHECK-NEXT:      }
// CHECK-NEXT:      y[0] = a;
// CHECK-NEXT:      return 0;
// CHECK-NEXT:  }
tir.func public @sum(read %x: memref<2x3xf32>, write %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %zero) -> (f32) {
    %t = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<2x3xf32>
      %w = arith.addf %b, %v : f32
      scf.yield %w : f32
    }
    scf.yield %t : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>
  tir.return
}

// Values that a loop exchanges keep the ones from before.
// CHECK-LABEL: int32_t exchange(
// CHECK:         for (int64_t i = 0; i < 4; i += 2) {
// CHECK-NEXT:        const float next_p = q;
// CHECK-NEXT:        q = p;
// CHECK-NEXT:        p = next_p;
// CHECK-NEXT:    }
tir.func public @exchange(read %x: memref<2xf32>, write %y: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %a = memref.load %x[%c0] : memref<2xf32>
  %b = memref.load %x[%c1] : memref<2xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c2 iter_args(%p = %a, %q = %b) -> (f32, f32) {
    scf.yield %q, %p : f32, f32
  }
  memref.store %r#0, %y[%c0] : memref<2xf32>
  memref.store %r#1, %y[%c1] : memref<2xf32>
  tir.return
}

// What is read before a write is written down before it.
// CHECK-LABEL: int32_t swap(
// CHECK:         const int8_t a = x[0];
// CHECK-NEXT:    x[0] = x[1];
// CHECK-NEXT:    x[1] = a;
tir.func public @swap(read_write %x: memref<2xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.load %x[%c0] : memref<2xi8>
  %b = memref.load %x[%c1] : memref<2xi8>
  memref.store %b, %x[%c0] : memref<2xi8>
  memref.store %a, %x[%c1] : memref<2xi8>
  tir.return
}

// CHECK-LABEL: int32_t choose(
// CHECK:         const float v = x[0];
// CHECK-NEXT:    float r;
// CHECK-NEXT:    if (v < 0.0f) {
// CHECK-NEXT:        r = -v;
// CHECK-NEXT:    } else {
// CHECK-NEXT:        r = v * 2.0f;
// CHECK-NEXT:    }
// CHECK:         y[0] = r;
tir.func public @choose(read %x: memref<1xf32>, write %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %v = memref.load %x[%c0] : memref<1xf32>
  %c = arith.cmpf olt, %v, %zero : f32
  %r = scf.if %c -> (f32) {
    %n = arith.negf %v : f32
    scf.yield %n : f32
  } else {
    %d = arith.mulf %v, %two : f32
    scf.yield %d : f32
  }
  memref.store %r, %y[%c0] : memref<1xf32>
  tir.return
}

// CHECK-LABEL: int32_t halve(
// CHECK:         int32_t r;
// CHECK-NEXT:    int32_t a = x[0];
// CHECK-NEXT:    for (;;) {
// CHECK-NEXT:        const int32_t b = a;
// CHECK-NEXT:        if (!(a > 3)) {
// CHECK-NEXT:            r = b;
// CHECK-NEXT:            break;
// CHECK-NEXT:        }
// CHECK-NEXT:        a = b / 2;
// CHECK-NEXT:    }
tir.func public @halve(read %x: memref<1xi32>, write %y: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %three = arith.constant 3 : i32
  %two = arith.constant 2 : i32
  %v = memref.load %x[%c0] : memref<1xi32>
  %r = scf.while (%a = %v) : (i32) -> i32 {
    %c = arith.cmpi sgt, %a, %three : i32
    scf.condition(%c) %a : i32
  } do {
  ^bb0(%b: i32):
    %h = arith.divsi %b, %two : i32
    scf.yield %h : i32
  }
  memref.store %r, %y[%c0] : memref<1xi32>
  tir.return
}

// CHECK-LABEL: int32_t select_case(
// CHECK:         switch (which) {
// CHECK-NEXT:        case 1: {
// CHECK-NEXT:            r = 10.0f;
// CHECK-NEXT:            break;
// CHECK-NEXT:        }
// CHECK-NEXT:        default: {
// CHECK-NEXT:            r = 20.0f;
tir.func public @select_case(read %which: index, write %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %r = scf.index_switch %which -> f32
  case 1 {
    %a = arith.constant 10.0 : f32
    scf.yield %a : f32
  }
  default {
    %b = arith.constant 20.0 : f32
    scf.yield %b : f32
  }
  memref.store %r, %y[%c0] : memref<1xf32>
  tir.return
}

// Parallel loops run one point after the other.
// CHECK-LABEL: int32_t each(
// CHECK:         for (int64_t i = 0; i < x_size0; i += 1) {
// CHECK-NEXT:        x[i] = 1;
// CHECK-NEXT:    }
tir.func public @each(write %x: memref<?xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i16
  %n = memref.dim %x, %c0 : memref<?xi16>
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    memref.store %one, %x[%i] : memref<?xi16>
    scf.reduce
  }) : (index, index, index) -> ()
  tir.return
}
