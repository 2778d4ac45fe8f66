// RUN: transom-opt %s -t c-source | filecheck %s

// Sizes that a type leaves open follow the address; so do strides and the offset.
// CHECK:       int32_t model_strided(
// CHECK-NEXT:      const float *restrict x,
// CHECK-NEXT:      int64_t x_size0,
// CHECK-NEXT:      int64_t x_stride0,
// CHECK-NEXT:      int64_t x_offset,
// CHECK-NEXT:      float *restrict y)
// CHECK:           y[0] = x[x_offset + (x_size0 - 1) * x_stride0];
tir.func public @strided(
  read %x: memref<?xf32, strided<[?], offset: ?>>, write %y: memref<1xf32>
) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant -1 : index
  %n = memref.dim %x, %c0 : memref<?xf32, strided<[?], offset: ?>>
  %last = arith.addi %n, %c1 : index
  %v = memref.load %x[%last] : memref<?xf32, strided<[?], offset: ?>>
  memref.store %v, %y[%c0] : memref<1xf32>
  tir.return
}

// A slice is an offset and strides; a copy of it is loops.
// CHECK-LABEL: int32_t model_slice(
// CHECK:         for (int64_t i = 0; i < 2; ++i) {
// CHECK-NEXT:        for (int64_t j = 0; j < 2; ++j) {
// CHECK-NEXT:            y[i * 2 + j] = x[5 + i * 4 + j * 2];
tir.func public @slice(read %x: memref<4x4xf32>, write %y: memref<2x2xf32>) {
  %s = "memref.subview"(%x) <{
    static_offsets = array<i64: 1, 1>, static_sizes = array<i64: 2, 2>,
    static_strides = array<i64: 1, 2>, operandSegmentSizes = array<i32: 1, 0, 0, 0>
  }> : (memref<4x4xf32>) -> memref<2x2xf32, strided<[4, 2], offset: 5>>
  "memref.copy"(%s, %y) : (memref<2x2xf32, strided<[4, 2], offset: 5>>, memref<2x2xf32>) -> ()
  tir.return
}

// Elements without gaps are copied at once.
// CHECK-LABEL: int32_t model_whole(
// CHECK:         memcpy(y, x, (size_t)(x_size0 * 4 * 2));
tir.func public @whole(read %x: memref<?x4xi16>, write %y: memref<?x4xi16>) {
  "memref.copy"(%x, %y) : (memref<?x4xi16>, memref<?x4xi16>) -> ()
  tir.return
}

// CHECK-LABEL: int32_t model_reshape(
// CHECK:         y[0] = x[5];
tir.func public @reshape(read %x: memref<6xf64>, write %y: memref<1xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = memref.expand_shape %x [[0, 1]] output_shape [2, 3] : memref<6xf64> into memref<2x3xf64>
  %v = memref.load %e[%c1, %c2] : memref<2x3xf64>
  memref.store %v, %y[%c0] : memref<1xf64>
  tir.return
}

// Numbers of 16 bits with a point are converted, and each result is rounded.
// CHECK-LABEL: int32_t model_halves(
// CHECK-SAME:      const uint16_t *restrict x, uint16_t *restrict y)
// CHECK:         const float a = f16_to_float(x[0]);
// CHECK-NEXT:    y[0] = float_to_f16(round_f16(a * a));
tir.func public @halves(read %x: memref<1xf16>, write %y: memref<1xf16>) {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<1xf16>
  %b = arith.mulf %a, %a : f16
  memref.store %b, %y[%c0] : memref<1xf16>
  tir.return
}

// A local buffer is an array; of a byte buffer, elements of any type.
// CHECK-LABEL: int32_t model_local(
// CHECK:         float b[4] = {0};
// CHECK-NEXT:    b[0] = 1.0f;
// CHECK-NEXT:    int32_t *n = (int32_t *)(void *)(bytes + 8);
// CHECK-NEXT:    n[1] = 7;
// CHECK-NEXT:    y[0] = b[0];
tir.func public @local(write %y: memref<1xf32>, scratch %bytes: memref<64xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  %seven = arith.constant 7 : i32
  %b = tir.alloc : memref<4xf32>
  memref.store %one, %b[%c0] : memref<4xf32>
  %n = "memref.view"(%bytes, %c8) : (memref<64xi8>, index) -> memref<4xi32>
  memref.store %seven, %n[%c1] : memref<4xi32>
  %v = memref.load %b[%c0] : memref<4xf32>
  memref.store %v, %y[%c0] : memref<1xf32>
  tir.return
}

// Nothing is asked for ahead of time in C, and nothing computes where it lies, also where
// a later block has a variable of that name.
// CHECK-LABEL: int32_t model_ahead(
// CHECK:         for (int64_t i = 0; i < 8; ++i) {
// CHECK-NEXT:        y[i] = x[i];
// CHECK-NEXT:    }
// CHECK-NEXT:    for (int64_t i = 0; i < 8; ++i) {
// CHECK-NEXT:        const int64_t v = i + 8;
// CHECK-NEXT:        y[v] = x[v];
tir.func public @ahead(read %x: memref<16xf32>, write %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %v = arith.addi %i, %c8 : index
    tir.prefetch %x[%v] : memref<16xf32>
    tir.prefetch %x[%v] locality 2 : memref<16xf32>
    %a = memref.load %x[%i] : memref<16xf32>
    memref.store %a, %y[%i] : memref<16xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %v = arith.addi %i, %c8 : index
    %a = memref.load %x[%v] : memref<16xf32>
    memref.store %a, %y[%v] : memref<16xf32>
  }
  tir.return
}
