// RUN: transom-opt -p tir-bufferize-main %s | filecheck %s

tir.func @k(read memref<4xf32>, write memref<4xf32>)
tir.func @update(read memref<4xf32>, read_write memref<4xf32>)

// Both arms write to the memory of the result.
// CHECK-LABEL: @branch
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:    %[[C:.*]] = memref.load %c[] : memref<i1>
  // CHECK-NEXT:    scf.if %[[C]] {
  // CHECK-NEXT:      tir.call @k(%x : {{.*}}) outs(%[[Y:.*]] : memref<4xf32>)
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      tir.copy %x, %[[Y]]
  // CHECK-NEXT:    }
  // CHECK-NEXT:    func.return
  %b = tensor.extract %c[] : tensor<i1>
  %r = scf.if %b -> (tensor<4xf32>) {
    %d = tensor.empty() : tensor<4xf32>
    %y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// Numbers are still results.
// CHECK-LABEL: @branch_with_number
func.func @branch_with_number(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:         %[[N:.*]] = scf.if %{{.*}} -> (index) {
  // CHECK:           scf.yield %{{.*}} : index
  // CHECK:         "test.op"(%[[N]])
  %b = tensor.extract %c[] : tensor<i1>
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r, %n = scf.if %b -> (tensor<4xf32>, index) {
    scf.yield %x, %one : tensor<4xf32>, index
  } else {
    scf.yield %x, %two : tensor<4xf32>, index
  }
  "test.op"(%n) : (index) -> ()
  func.return %r : tensor<4xf32>
}

// The loop works on the memory of the result.
// CHECK-LABEL: @loop_in_place
func.func @loop_in_place(%x: tensor<4xf32>, %n: tensor<index>) -> tensor<4xf32> {
  // CHECK:         tir.copy %x, %[[Y:.*]] :
  // CHECK-NEXT:    scf.for %{{.*}} {
  // CHECK-NEXT:      tir.call @update(%x : {{.*}}) outs(%[[Y]] : memref<4xf32>)
  // CHECK-NEXT:    }
  // CHECK-NEXT:    func.return
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = tensor.extract %n[] : tensor<index>
  %r = scf.for %i = %zero to %end step %one iter_args(%a = %x) -> (tensor<4xf32>) {
    %b = tir.call @update(%x : tensor<4xf32>) outs(%a : tensor<4xf32>)
    scf.yield %b : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// A kernel cannot write what it reads.
// CHECK-LABEL: @loop_with_copy
func.func @loop_with_copy(%x: tensor<4xf32>, %n: tensor<index>) -> tensor<4xf32> {
  // CHECK:         scf.for %{{.*}} {
  // CHECK-NEXT:      %[[B:.*]] = tir.alloc : memref<4xf32>
  // CHECK-NEXT:      tir.call @k(%[[Y:.*]] : memref<4xf32>) outs(%[[B]] : memref<4xf32>)
  // CHECK-NEXT:      tir.copy %[[B]], %[[Y]]
  // CHECK-NEXT:    }
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = tensor.extract %n[] : tensor<index>
  %r = scf.for %i = %zero to %end step %one iter_args(%a = %x) -> (tensor<4xf32>) {
    %d = tensor.empty() : tensor<4xf32>
    %b = tir.call @k(%a : tensor<4xf32>) outs(%d : tensor<4xf32>)
    scf.yield %b : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// One of the two is saved.
// CHECK-LABEL: @swap
// CHECK-SAME:    (%x: {{.*}}, %y: {{.*}}, %n: {{.*}}, %[[A:.*]]: memref<4xf32> {{.*}}, %[[B:.*]]: memref<4xf32> {{.*}})
func.func @swap(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: tensor<index>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK:         tir.copy %x, %[[A]]
  // CHECK-NEXT:    tir.copy %y, %[[B]]
  // CHECK-NEXT:    scf.for %{{.*}} {
  // CHECK-NEXT:      %[[T:.*]] = tir.alloc : memref<4xf32>
  // CHECK-NEXT:      tir.copy %[[B]], %[[T]]
  // CHECK-NEXT:      tir.copy %[[A]], %[[B]]
  // CHECK-NEXT:      tir.copy %[[T]], %[[A]]
  // CHECK-NEXT:    }
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = tensor.extract %n[] : tensor<index>
  %r:2 = scf.for %i = %zero to %end step %one iter_args(%a = %x, %b = %y)
      -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  func.return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// What is carried before and after the condition is one buffer.
// CHECK-LABEL: @while_in_place
func.func @while_in_place(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:         tir.copy %x, %[[Y:.*]] :
  // CHECK-NEXT:    %{{.*}} = scf.while (%{{.*}} = %{{.*}}) : (index) -> index {
  // CHECK-NEXT:      arith.cmpi
  // CHECK-NEXT:      scf.condition(%{{.*}}) %{{.*}} : index
  // CHECK-NEXT:    } do {
  // CHECK-NEXT:    ^{{.*}}(%{{.*}}: index):
  // CHECK-NEXT:      arith.addi
  // CHECK-NEXT:      tir.call @update(%x : {{.*}}) outs(%[[Y]] : memref<4xf32>)
  // CHECK-NEXT:      scf.yield %{{.*}} : index
  // CHECK-NEXT:    }
  // CHECK-NEXT:    func.return
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.while (%i = %zero, %a = %x) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %more = arith.cmpi slt, %i, %one : index
    scf.condition(%more) %i, %a : index, tensor<4xf32>
  } do {
  ^bb0(%j: index, %b: tensor<4xf32>):
    %k = arith.addi %j, %one : index
    %c = tir.call @update(%x : tensor<4xf32>) outs(%b : tensor<4xf32>)
    scf.yield %k, %c : index, tensor<4xf32>
  }
  func.return %r#1 : tensor<4xf32>
}
