// RUN: transom-opt %s -t 'c-source{prefix="net_" index-bits=32}' | filecheck %s
// RUN: not transom-opt %s -t 'c-source{index-bits=16}' 2>&1 | filecheck %s --check-prefix=BITS
// RUN: not transom-opt %s -t 'c-source{bits=16}' 2>&1 | filecheck %s --check-prefix=NAME

// BITS: argument -t/--target: 'c-source': expected 32 or 64 as 'index-bits', but got 16
// NAME: argument -t/--target: unknown option 'bits' of 'c-source'

// CHECK:       int32_t net_k(const float *restrict x, int32_t x_size0, float *restrict y)
// CHECK:           for (int32_t i = 0; i < x_size0; ++i) {
tir.func public @k(read %x: memref<?xf32>, write %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %y[%c0] : memref<1xf32>
  }
  tir.return
}
