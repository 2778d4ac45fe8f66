// RUN: transom-opt -p convert-to-llvm %s | filecheck %s

// The library and the variable that forbids teams may be there or not.
// CHECK-DAG: llvm.mlir.global extern_weak @transom_serial() {{.*}} : i32
// CHECK-DAG: llvm.func extern_weak @GOMP_parallel(!llvm.ptr, !llvm.ptr, i32, i32)
// CHECK-DAG: llvm.func extern_weak @omp_get_num_threads() -> i32
// CHECK-DAG: llvm.func extern_weak @omp_get_thread_num() -> i32

tir.func @part(read %w: index, read %t: index, read %n: index, read_write %y: memref<?xf32>) {
  tir.return
}

// CHECK-LABEL: llvm.func internal @k
// CHECK:         %[[DATA:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(i64, !llvm.ptr, i64)>
// CHECK:         llvm.store %{{.*}}, %[[DATA]]
// CHECK:         %[[GOMP:.*]] = llvm.mlir.addressof @GOMP_parallel
// CHECK:         %[[HAS:.*]] = llvm.icmp "ne" %[[GOMP]]
// CHECK:         llvm.cond_br %[[HAS]], ^[[LOOK:.*]], ^[[ALONE:.*]]
// CHECK:       ^[[LOOK]]:
// CHECK:         %[[SERIAL:.*]] = llvm.mlir.addressof @transom_serial
// CHECK:         llvm.cond_br %{{.*}}, ^[[ASK:.*]], ^[[TEAM:.*]]
// CHECK:       ^[[ASK]]:
// CHECK:         %[[FLAG:.*]] = llvm.load %[[SERIAL]]
// CHECK:         %[[MAY:.*]] = llvm.icmp "eq" %[[FLAG]]
// CHECK:         llvm.cond_br %[[MAY]], ^[[TEAM]], ^[[ALONE]]
// CHECK:       ^[[TEAM]]:
// CHECK:         %[[START:.*]] = llvm.mlir.addressof @part.start
// CHECK:         llvm.call @GOMP_parallel(%[[START]], %[[DATA]],
// CHECK:       ^[[ALONE]]:
// CHECK:         llvm.call @part(
tir.func @k(read %n: index, write %y: memref<?xf32>) {
  tir.fork @part(%n, %y : index, memref<?xf32>) threads 2
  tir.return
}

// CHECK-LABEL: llvm.func internal @part.start
// CHECK:         %[[ID:.*]] = llvm.call @omp_get_thread_num()
// CHECK:         %[[W:.*]] = llvm.zext %[[ID]]
// CHECK:         %[[COUNT:.*]] = llvm.call @omp_get_num_threads()
// CHECK:         %[[T:.*]] = llvm.zext %[[COUNT]]
// CHECK:         llvm.call @part(%[[W]], %[[T]],
