// RUN: %roundtrip | filecheck %s

// CHECK-LABEL: @compute
func.func @compute(%x: memref<4x8xf32>, %y: memref<8xf32>, %s: memref<f32>) {
  // CHECK-NEXT:    toy_npu.compute "add"(%x, %y) to %x : (memref<4x8xf32>, memref<8xf32>) -> memref<4x8xf32>
  // CHECK-NEXT:    toy_npu.compute "sum"(%x) to %y {test.a, axes = [0 : i64]} : (memref<4x8xf32>) -> memref<8xf32>
  // CHECK-NEXT:    toy_npu.compute "fill"() to %s {value = 1.000000e+00 : f32} : () -> memref<f32>
  toy_npu.compute "add"(%x, %y) to %x : (memref<4x8xf32>, memref<8xf32>) -> memref<4x8xf32>
  toy_npu.compute "sum"(%x) to %y {axes = [0], test.a} : (memref<4x8xf32>) -> memref<8xf32>
  toy_npu.compute "fill"() to %s {value = 1.0 : f32} : () -> memref<f32>
  func.return
}
