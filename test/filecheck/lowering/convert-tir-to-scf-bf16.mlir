// RUN: transom-opt -p 'convert-tir-to-scf{bf16=true}' %s | filecheck %s
// RUN: transom-opt -p 'convert-tir-to-scf{bf16=true},lower-scf-to-cf,convert-to-llvm' %s | filecheck %s --check-prefix=LLVM
// RUN: transom-opt -p convert-tir-to-scf %s | filecheck %s --check-prefix=WITHOUT

// WITHOUT-NOT: tir.rounds

// Vectors that are stored are rounded by the instruction, which flushes small numbers:
// they are raised before, and lowered afterwards. The rest of a row that is too short
// is not.

// CHECK-LABEL: @stored
// CHECK:         arith.truncf %{{.*}} {tir.rounds} : vector<8xf32> to vector<8xbf16>
// CHECK:         arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
// LLVM-LABEL:  @stored
// LLVM:          %[[SMALL:.*]] = llvm.icmp "eq" %{{.*}} : vector<8xi32>
// LLVM:          %[[RAISED:.*]] = llvm.or %[[BITS:.*]], %{{.*}} : vector<8xi32>
// LLVM:          %[[SAFE:.*]] = llvm.select %[[SMALL]], %[[RAISED]], %[[BITS]]
// LLVM:          %[[NUMBER:.*]] = llvm.bitcast %[[SAFE]] : vector<8xi32> to vector<8xf32>
// LLVM:          llvm.fptrunc %[[NUMBER]] : vector<8xf32> to vector<8xbf16>
// LLVM:          %[[HALF:.*]] = llvm.bitcast %{{.*}} : vector<8xbf16> to vector<8xi16>
// LLVM:          %[[LOWERED:.*]] = llvm.sub %[[HALF]], %{{.*}} : vector<8xi16>
// LLVM:          llvm.select %[[SMALL]], %[[LOWERED]], %[[HALF]]
tir.func @stored(read %x: memref<11xf32>, write %o: memref<11xbf16>) {
  tir.nest dims [parallel 11] ins(%x[d0] : memref<11xf32>) outs(%o[d0] : memref<11xbf16>)
      schedule #tir.schedule<vector = d0 : 8>
    finish (%v: f32) {
      %r = arith.truncf %v : f32 to bf16
      tir.yield %r : bf16
    }
  tir.return
}

// What is extended again at once is rounded where it is.

// CHECK-LABEL: @extended
// CHECK:         arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
tir.func @extended(read %x: memref<8xf32>, write %o: memref<8xf32>) {
  tir.nest dims [parallel 8] ins(%x[d0] : memref<8xf32>) outs(%o[d0] : memref<8xf32>)
      schedule #tir.schedule<vector = d0 : 8>
    finish (%v: f32) {
      %r = arith.truncf %v : f32 to bf16
      %w = arith.extf %r : bf16 to f32
      tir.yield %w : f32
    }
  tir.return
}
