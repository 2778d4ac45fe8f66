// RUN: transom-opt -p tir-bufferize-main %s | filecheck %s

tir.func @k(read memref<4xf32>, write memref<4xf32>)
tir.func @k6(read memref<6xf32>, write memref<6xf32>)

// Views take no memory, and the result is computed through the inverse view.
// CHECK-LABEL: @reshapes
func.func @reshapes(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT:    %[[A:.*]] = memref.collapse_shape %x {{.*}} : memref<2x3xf32> into memref<6xf32>
  // CHECK-NEXT:    %[[B:.*]] = memref.collapse_shape %0 {{.*}} : memref<3x2xf32> into memref<6xf32>
  // CHECK-NEXT:    tir.call @k6(%[[A]] : memref<6xf32>) outs(%[[B]] : memref<6xf32>)
  // CHECK-NEXT:    func.return
  %a = tensor.collapse_shape %x [[0 : i64, 1 : i64]] : tensor<2x3xf32> into tensor<6xf32>
  %d = tensor.empty() : tensor<6xf32>
  %b = tir.call @k6(%a : tensor<6xf32>) outs(%d : tensor<6xf32>)
  %c = tensor.expand_shape %b [[0 : i64, 1 : i64]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  func.return %c : tensor<3x2xf32>
}

// A view of an input is the input's memory, which the caller gets a copy of.
// CHECK-LABEL: @reshaped_input
func.func @reshaped_input(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  // CHECK-NEXT:    %[[A:.*]] = memref.collapse_shape %x
  // CHECK-NEXT:    tir.copy %[[A]], %0
  %a = tensor.collapse_shape %x [[0 : i64, 1 : i64]] : tensor<2x3xf32> into tensor<6xf32>
  func.return %a : tensor<6xf32>
}

// CHECK-LABEL: @reshape_by_sizes
func.func @reshape_by_sizes(%x: tensor<2x3xf32>) -> tensor<f32> {
  // CHECK-NOT:     memref.store
  // CHECK:         %[[A:.*]] = memref.collapse_shape %x {{.*}} : memref<2x3xf32> into memref<6xf32>
  // CHECK-NEXT:    %[[B:.*]] = memref.expand_shape %[[A]] {{\[\[}}0 : i64, 1 : i64, 2 : i64]] output_shape [1, 3, 2] : memref<6xf32> into memref<1x3x2xf32>
  // CHECK:         memref.load %[[B]]
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %s = tensor.from_elements %one, %three, %two : tensor<3xindex>
  %r = tensor.reshape %x(%s) : (tensor<2x3xf32>, tensor<3xindex>) -> tensor<1x3x2xf32>
  %e = tensor.extract %r[%zero, %one, %one] : tensor<1x3x2xf32>
  %f = tensor.from_elements %e : tensor<f32>
  func.return %f : tensor<f32>
}

// A slice is read in place where strides do not matter.
// CHECK-LABEL: @slice
func.func @slice(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[A:.*]] = memref.subview %x[0, 2] [4, 1] [1, 1] : memref<4x6xf32> to memref<4xf32, strided<[6], offset: 2>>
  // CHECK-NEXT:    tir.copy %[[A]], %0
  // CHECK-NEXT:    func.return
  %a = tensor.extract_slice %x[0, 2] [4, 1] [1, 1] : tensor<4x6xf32> to tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// Kernels want rows.
// CHECK-LABEL: @slice_for_kernel
func.func @slice_for_kernel(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  // CHECK:         %[[B:.*]] = tir.alloc : memref<4xf32>
  // CHECK-NEXT:    %[[A:.*]] = memref.subview %x[0, 2]
  // CHECK-NEXT:    tir.copy %[[A]], %[[B]]
  // CHECK-NEXT:    tir.call @k(%[[B]] : memref<4xf32>) outs(%y : memref<4xf32>)
  %a = tensor.extract_slice %x[0, 2] [4, 1] [1, 1] : tensor<4x6xf32> to tensor<4xf32>
  %d = tensor.empty() : tensor<4xf32>
  %y = tir.call @k(%a : tensor<4xf32>) outs(%d : tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// All of a tensor is no slice.
// CHECK-LABEL: @whole_slice
func.func @whole_slice(%x: tensor<1x4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[A:.*]] = memref.collapse_shape %x {{.*}} : memref<1x4xf32> into memref<4xf32>
  // CHECK-NEXT:    tir.call @k(%[[A]] : memref<4xf32>) outs(%y : memref<4xf32>)
  %a = tensor.extract_slice %x[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> to tensor<4xf32>
  %d = tensor.empty() : tensor<4xf32>
  %y = tir.call @k(%a : tensor<4xf32>) outs(%d : tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// The result is put together in the memory of the caller.
// CHECK-LABEL: @inserts
func.func @inserts(%x: tensor<2xf32>, %i: tensor<index>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[I:.*]] = memref.load %i[] : memref<index>
  // CHECK-NEXT:    %[[A:.*]] = memref.subview %[[Y:.*]][0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
  // CHECK-NEXT:    tir.copy %x, %[[A]]
  // CHECK-NEXT:    %[[B:.*]] = memref.subview %[[Y]][%[[I]]] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: ?>>
  // CHECK-NEXT:    tir.copy %x, %[[B]]
  // CHECK-NEXT:    %[[F:.*]] = memref.load %x[%[[I]]] : memref<2xf32>
  // CHECK-NEXT:    memref.store %[[F]], %[[Y]][%[[I]]] : memref<4xf32>
  // CHECK-NEXT:    func.return
  %j = tensor.extract %i[] : tensor<index>
  %d = tensor.empty() : tensor<4xf32>
  %a = tensor.insert_slice %x into %d[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %b = tensor.insert_slice %x into %a[%j] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %f = tensor.extract %x[%j] : tensor<2xf32>
  %c = tensor.insert %f into %b[%j] : tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// CHECK-LABEL: @filled
func.func @filled(%x: tensor<f32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  // CHECK-NEXT:    %[[F:.*]] = memref.load %x[] : memref<f32>
  // CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
  // CHECK-NEXT:      scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
  // CHECK-NEXT:        memref.store %[[F]], %{{.*}}[%[[I]], %[[J]]] : memref<2x2xf32>
  // CHECK:         memref.store %[[F]], %{{.*}}[%{{.*}}] : memref<2xf32>
  // CHECK-NEXT:    memref.store %[[F]], %{{.*}}[%{{.*}}] : memref<2xf32>
  %f = tensor.extract %x[] : tensor<f32>
  %s = tensor.splat %f : tensor<2x2xf32>
  %e = tensor.from_elements %f, %f : tensor<2xf32>
  func.return %s, %e : tensor<2x2xf32>, tensor<2xf32>
}
