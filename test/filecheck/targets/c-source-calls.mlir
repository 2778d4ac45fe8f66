// RUN: transom-opt %s -t c-source | filecheck %s

// Structs and C functions are declared as they are used, inner structs first.
// CHECK:       typedef struct {
// CHECK-NEXT:      int32_t field0;
// CHECK-NEXT:      int32_t field1;
// CHECK-NEXT:  } tile;
// CHECK:       typedef struct {
// CHECK-NEXT:      int8_t *field0;
// CHECK-NEXT:      tile field1;
// CHECK-NEXT:  } ctx;
// CHECK:       int32_t relu_s8(const ctx *, const int8_t *, int8_t *, int32_t);
// CHECK-NEXT:  float scale(tile);

// What can fail returns a status, and so does what calls it.
// CHECK:       static int32_t with_status(
// CHECK:           tile [[TILE:[a-z0-9]+]] = {2, 3};
// CHECK-NEXT:      ctx [[CTX:[a-z0-9]+]] = {(int8_t *)w, [[TILE]]};
// CHECK-NEXT:      if (relu_s8(&[[CTX]], x, y, 3) != 0) {
// CHECK-NEXT:          return 1;
// CHECK-NEXT:      }
// CHECK-NEXT:      return 0;
tir.func @with_status(read %w: memref<4xi8>, read %x: memref<8xi8>, write %y: memref<8xi8>) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %t = tir.struct(%c2, %c3) : !tir.struct<"tile", (i32, i32)>
  %c = tir.struct(%w, %t) : !tir.struct<"ctx", (memref<4xi8>, !tir.struct<"tile", (i32, i32)>)>
  %s = tir.extern "relu_s8"(ref %c, %x, write %y, %c3) status 0
      : (!tir.struct<"ctx", (memref<4xi8>, !tir.struct<"tile", (i32, i32)>)>, memref<8xi8>, memref<8xi8>, i32) -> i32
  tir.return
}

// CHECK:       static void with_value(float *restrict y)
// CHECK:           const float v = scale([[T:[a-z0-9]+]]);
// CHECK-NEXT:      y[0] = v;
tir.func @with_value(write %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : i32
  %t = tir.struct(%c2, %c2) : !tir.struct<"tile", (i32, i32)>
  %v = tir.extern "scale"(%t) : (!tir.struct<"tile", (i32, i32)>) -> f32
  memref.store %v, %y[%c0] : memref<1xf32>
  tir.return
}

// A parameter that is called as a struct is called otherwise: it would hide that.
// CHECK:       static void with_names(const float *restrict tile2)
tir.func @with_names(read %tile: memref<1xf32>) {
  tir.return
}

// CHECK:       int32_t model_main(
// CHECK:           /* c-source-calls.mlir:{{[0-9]+}} */
// CHECK-NEXT:      {
// CHECK-NEXT:          const int32_t status = with_status(w, x, y);
// CHECK-NEXT:          if (status != 0) {
// CHECK-NEXT:              return status;
// CHECK-NEXT:          }
// CHECK-NEXT:      }
// CHECK:           with_value(z);
// CHECK:           with_names(z);
// CHECK-NEXT:      return 0;
func.func @main(%w: memref<4xi8>, %x: memref<8xi8>, %y: memref<8xi8>, %z: memref<1xf32>) {
  executor.call @with_status(%w, %x, %y : memref<4xi8>, memref<8xi8>, memref<8xi8>)
  executor.call @with_value(%z : memref<1xf32>)
  executor.call @with_names(%z : memref<1xf32>)
  func.return
}

// CHECK:       const char *model_status_text(int32_t status)
// CHECK:           case 1:
// CHECK-NEXT:          return "{{.*}}: 'relu_s8' did not return 0";
