// RUN: transom-opt -p 'tir-choose-schedule{vector-bytes=64 register-count=32 l1-bytes=32768 l2-bytes=1048576}' %s | filecheck %s
// RUN: transom-opt -p 'tir-choose-schedule{vector-bytes=64 register-count=32 l1-bytes=6144 l2-bytes=8388608}' %s | filecheck %s --check-prefix=OTHER

graph.weight @w = dense<1.0> : tensor<1024x1024xf32>
func.func @main(%x: tensor<4x1024xf32>, %y: tensor<8x1024xf32>, %v: tensor<1024x1024xf32>) -> (tensor<4x1024xf32>, tensor<8x1024xf32>, tensor<4x1024xf32>) {
  %w = graph.weight_ref @w : tensor<1024x1024xf32>
  %0 = tensor.empty() : tensor<4x1024xf32>
  %1 = tensor.empty() : tensor<8x1024xf32>
  %a = tir.call @weights(%x : tensor<4x1024xf32>, %w : tensor<1024x1024xf32>) outs(%0 : tensor<4x1024xf32>)
  %b = tir.call @many_rows(%y : tensor<8x1024xf32>, %w : tensor<1024x1024xf32>) outs(%1 : tensor<8x1024xf32>)
  %c = tir.call @not_packed(%x : tensor<4x1024xf32>, %v : tensor<1024x1024xf32>) outs(%0 : tensor<4x1024xf32>)
  func.return %a, %b, %c : tensor<4x1024xf32>, tensor<8x1024xf32>, tensor<4x1024xf32>
}

// The next row, while the second nest reads a row that is near already: all that a point
// touches and the next row fit the nearest cache.
// CHECK-LABEL: tir.func @rows(
// OTHER-LABEL: tir.func @rows(
tir.func @rows(read %x: memref<64x1024xf32>, write %o: memref<64x1024xf32>) {
  tir.block (%i: index) in dims [parallel 64] {
    %sum = tir.alloc : memref<1xf32>
    // CHECK:     tir.nest dims [reduction 1024]
    // CHECK:     schedule #tir.schedule<register = [d0 : 64], vector = d0 : 16>
    // CHECK:     tir.nest dims [parallel 1024]
    // CHECK:     schedule #tir.schedule<vector = d0 : 16, prefetch = [in0 : 1024]>
    // CHECK:     tir.nest dims [parallel 1024]
    // CHECK:     schedule #tir.schedule<vector = d0 : 16>
    // OTHER-NOT: prefetch
    tir.nest dims [reduction 1024] at (%i)
        ins(%x[s0, d0] : memref<64x1024xf32>) outs(%sum[0] : memref<1xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%v: f32, %acc: f32) {
        %s = arith.addf %acc, %v : f32
        tir.yield %s : f32
      }
      finish (%acc: f32) {
        tir.yield %acc : f32
      }
    tir.nest dims [parallel 1024] at (%i)
        ins(%x[s0, d0] : memref<64x1024xf32>, %sum[0] : memref<1xf32>) outs(%o[s0, d0] : memref<64x1024xf32>)
      finish (%v: f32, %m: f32) {
        %d = arith.subf %v, %m : f32
        tir.yield %d : f32
      }
    tir.nest dims [parallel 1024] at (%i)
        ins(%x[s0, d0] : memref<64x1024xf32>, %sum[0] : memref<1xf32>) outs(%o[s0, d0] : memref<64x1024xf32>)
      finish (%v: f32, %m: f32) {
        %d = arith.subf %v, %m : f32
        tir.yield %d : f32
      }
  }
  tir.return
}

// Rows that lie apart; of two dims of the block it is the last that moves, but not one
// with a single point.
// CHECK-LABEL: tir.func @pitch(
// OTHER-LABEL: tir.func @pitch(
tir.func @pitch(read %x: memref<64x2x1024xf32>, write %o: memref<64x2x1024xf32>) {
  tir.block (%h: index, %i: index, %j: index) in dims [parallel 2, parallel 64, parallel 1] {
    %sum = tir.alloc : memref<1xf32>
    // CHECK:     prefetch = [in0 : 2048]
    // OTHER-NOT: prefetch
    tir.nest dims [reduction 1024] at (%i)
        ins(%x[s0, 1, d0] : memref<64x2x1024xf32>) outs(%sum[0] : memref<1xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%v: f32, %acc: f32) {
        %s = arith.addf %acc, %v : f32
        tir.yield %s : f32
      }
      finish (%acc: f32) {
        tir.yield %acc : f32
      }
    tir.nest dims [parallel 1024] at (%i)
        ins(%x[s0, 1, d0] : memref<64x2x1024xf32>, %sum[0] : memref<1xf32>) outs(%o[s0, 1, d0] : memref<64x2x1024xf32>)
      finish (%v: f32, %m: f32) {
        %d = arith.subf %v, %m : f32
        tir.yield %d : f32
      }
  }
  tir.return
}

// Of short rows the next one comes by itself.
// CHECK-LABEL: tir.func @short(
// OTHER-LABEL: tir.func @short(
tir.func @short(read %x: memref<64x128xf32>, write %o: memref<64x128xf32>) {
  tir.block (%i: index) in dims [parallel 64] {
    %sum = tir.alloc : memref<1xf32>
    // CHECK-NOT: prefetch
    // OTHER-NOT: prefetch
    tir.nest dims [reduction 128] at (%i)
        ins(%x[s0, d0] : memref<64x128xf32>) outs(%sum[0] : memref<1xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%v: f32, %acc: f32) {
        %s = arith.addf %acc, %v : f32
        tir.yield %s : f32
      }
      finish (%acc: f32) {
        tir.yield %acc : f32
      }
    tir.nest dims [parallel 128] at (%i)
        ins(%x[s0, d0] : memref<64x128xf32>, %sum[0] : memref<1xf32>) outs(%o[s0, d0] : memref<64x128xf32>)
      finish (%v: f32, %m: f32) {
        %d = arith.subf %v, %m : f32
        tir.yield %d : f32
      }
  }
  tir.return
}

// Each point reads the same, or it is not known where the next one does.
// CHECK-LABEL: tir.func @same(
// OTHER-LABEL: tir.func @same(
tir.func @same(read %x: memref<64x1024xf32>, write %o: memref<64x1024xf32>) {
  tir.block (%i: index) in dims [parallel 64] {
    %sum = tir.alloc : memref<1xf32>
    // CHECK-NOT: prefetch
    // OTHER-NOT: prefetch
    tir.nest dims [reduction 1024] at (%i)
        ins(%x[0, d0] : memref<64x1024xf32>) outs(%sum[0] : memref<1xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%v: f32, %acc: f32) {
        %s = arith.addf %acc, %v : f32
        tir.yield %s : f32
      }
      finish (%acc: f32) {
        tir.yield %acc : f32
      }
    tir.nest dims [parallel 1024] at (%i)
        ins(%x[0, d0] : memref<64x1024xf32>, %sum[0] : memref<1xf32>) outs(%o[0, d0] : memref<64x1024xf32>)
      finish (%v: f32, %m: f32) {
        %d = arith.subf %v, %m : f32
        tir.yield %d : f32
      }
  }
  tir.return
}

// A column is not a row.
// CHECK-LABEL: tir.func @columns(
// OTHER-LABEL: tir.func @columns(
tir.func @columns(read %x: memref<1024x64xf32>, write %o: memref<1024x64xf32>) {
  tir.block (%i: index) in dims [parallel 64] {
    %sum = tir.alloc : memref<1xf32>
    // CHECK-NOT: prefetch
    // OTHER-NOT: prefetch
    tir.nest dims [reduction 1024] at (%i)
        ins(%x[d0, s0] : memref<1024x64xf32>) outs(%sum[0] : memref<1xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%v: f32, %acc: f32) {
        %s = arith.addf %acc, %v : f32
        tir.yield %s : f32
      }
      finish (%acc: f32) {
        tir.yield %acc : f32
      }
    tir.nest dims [parallel 1024] at (%i)
        ins(%x[d0, s0] : memref<1024x64xf32>, %sum[0] : memref<1xf32>) outs(%o[d0, s0] : memref<1024x64xf32>)
      finish (%v: f32, %m: f32) {
        %d = arith.subf %v, %m : f32
        tir.yield %d : f32
      }
  }
  tir.return
}

// CHECK-LABEL: tir.func @divided(
// OTHER-LABEL: tir.func @divided(
tir.func @divided(read %x: memref<64x1024xf32>, write %o: memref<64x1024xf32>) {
  tir.block (%i: index) in dims [parallel 64] {
    %sum = tir.alloc : memref<1xf32>
    // CHECK-NOT: prefetch
    // OTHER-NOT: prefetch
    tir.nest dims [reduction 1024] at (%i)
        ins(%x[s0 floordiv 2, d0] : memref<64x1024xf32>) outs(%sum[0] : memref<1xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%v: f32, %acc: f32) {
        %s = arith.addf %acc, %v : f32
        tir.yield %s : f32
      }
      finish (%acc: f32) {
        tir.yield %acc : f32
      }
    tir.nest dims [parallel 1024] at (%i)
        ins(%x[s0 floordiv 2, d0] : memref<64x1024xf32>, %sum[0] : memref<1xf32>) outs(%o[s0 floordiv 2, d0] : memref<64x1024xf32>)
      finish (%v: f32, %m: f32) {
        %d = arith.subf %v, %m : f32
        tir.yield %d : f32
      }
  }
  tir.return
}

// CHECK-LABEL: tir.func @one_point(
// OTHER-LABEL: tir.func @one_point(
tir.func @one_point(read %x: memref<1x1024xf32>, write %o: memref<1x1024xf32>) {
  tir.block (%i: index) in dims [parallel 1] {
    %sum = tir.alloc : memref<1xf32>
    // CHECK-NOT: prefetch
    // OTHER-NOT: prefetch
    tir.nest dims [reduction 1024] at (%i)
        ins(%x[s0, d0] : memref<1x1024xf32>) outs(%sum[0] : memref<1xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%v: f32, %acc: f32) {
        %s = arith.addf %acc, %v : f32
        tir.yield %s : f32
      }
      finish (%acc: f32) {
        tir.yield %acc : f32
      }
    tir.nest dims [parallel 1024] at (%i)
        ins(%x[s0, d0] : memref<1x1024xf32>, %sum[0] : memref<1xf32>) outs(%o[s0, d0] : memref<1x1024xf32>)
      finish (%v: f32, %m: f32) {
        %d = arith.subf %v, %m : f32
        tir.yield %d : f32
      }
  }
  tir.return
}

// Rows that leave no room for the next one.
// CHECK-LABEL: tir.func @large(
// OTHER-LABEL: tir.func @large(
tir.func @large(read %x: memref<64x4096xf32>, write %o: memref<64x4096xf32>) {
  tir.block (%i: index) in dims [parallel 64] {
    %sum = tir.alloc : memref<1xf32>
    // CHECK-NOT: prefetch
    // OTHER-NOT: prefetch
    tir.nest dims [reduction 4096] at (%i)
        ins(%x[s0, d0] : memref<64x4096xf32>) outs(%sum[0] : memref<1xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%v: f32, %acc: f32) {
        %s = arith.addf %acc, %v : f32
        tir.yield %s : f32
      }
      finish (%acc: f32) {
        tir.yield %acc : f32
      }
    tir.nest dims [parallel 4096] at (%i)
        ins(%x[s0, d0] : memref<64x4096xf32>, %sum[0] : memref<1xf32>) outs(%o[s0, d0] : memref<64x4096xf32>)
      finish (%v: f32, %m: f32) {
        %d = arith.subf %v, %m : f32
        tir.yield %d : f32
      }
  }
  tir.return
}

// A stream that is larger than the second cache, but no more than 16 times.
// CHECK-LABEL: tir.func @sums(
// OTHER-LABEL: tir.func @sums(
tir.func @sums(read %x: memref<1024x1024xf32>, write %o: memref<1024xf32>) {
  // CHECK:     schedule #tir.schedule<register = [d1 : 64], vector = d1 : 16, prefetch = [in0 : 512]>
  // OTHER:     schedule #tir.schedule<register = [d1 : 64], vector = d1 : 16>
  tir.nest dims [parallel 1024, reduction 1024]
      ins(%x[d0, d1] : memref<1024x1024xf32>) outs(%o[d0] : memref<1024xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @from_memory(
// OTHER-LABEL: tir.func @from_memory(
tir.func @from_memory(read %x: memref<8192x1024xf32>, write %o: memref<8192xf32>) {
  // CHECK:     schedule #tir.schedule<register = [d1 : 64], vector = d1 : 16>
  // OTHER:     schedule #tir.schedule<register = [d1 : 64], vector = d1 : 16, prefetch = [in0 : 512]>
  tir.nest dims [parallel 8192, reduction 1024]
      ins(%x[d0, d1] : memref<8192x1024xf32>) outs(%o[d0] : memref<8192xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// What the loops do not read one after the other is no stream.
// CHECK-LABEL: tir.func @jumping(
// OTHER-LABEL: tir.func @jumping(
tir.func @jumping(read %x: memref<32x32x1024xf32>, write %o: memref<32xf32>) {
  // CHECK:     schedule #tir.schedule<register = [d2 : 64], vector = d2 : 16>
  // OTHER-NOT: prefetch
  tir.nest dims [parallel 32, reduction 32, reduction 1024]
      ins(%x[d1, d0, d2] : memref<32x32x1024xf32>) outs(%o[d0] : memref<32xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @open(
// OTHER-LABEL: tir.func @open(
tir.func @open(read %x: memref<?x1024xf32>, write %o: memref<32xf32>) {
  // CHECK-NOT: prefetch
  // OTHER-NOT: prefetch
  tir.nest dims [parallel 32, reduction 1024]
      ins(%x[d0, d1] : memref<?x1024xf32>) outs(%o[d0] : memref<32xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %acc: f32) {
      %s = arith.addf %acc, %v : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// The panels of a weight that few rows are multiplied by: more rows compute longer than
// the panels take to come.
// CHECK-LABEL: tir.func @weights(
// OTHER-LABEL: tir.func @weights(
tir.func @weights(read %x: memref<4x1024xf32>, read %w: memref<1024x1024xf32>, write %o: memref<4x1024xf32>) {
  // CHECK:     pack = [in0, in1], edges = masked, prefetch = [in1 : 512]>
  // OTHER-NOT: prefetch
  tir.nest dims [parallel 4, parallel 1024, reduction 1024]
      ins(%x[d0, d2] : memref<4x1024xf32>, %w[d2, d1] : memref<1024x1024xf32>) outs(%o[d0, d1] : memref<4x1024xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %c: f32, %acc: f32) {
      %p = arith.mulf %v, %c : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// CHECK-LABEL: tir.func @many_rows(
// OTHER-LABEL: tir.func @many_rows(
tir.func @many_rows(read %x: memref<8x1024xf32>, read %w: memref<1024x1024xf32>, write %o: memref<8x1024xf32>) {
  // CHECK:     pack = [in0, in1], edges = masked>
  // OTHER-NOT: prefetch
  tir.nest dims [parallel 8, parallel 1024, reduction 1024]
      ins(%x[d0, d2] : memref<8x1024xf32>, %w[d2, d1] : memref<1024x1024xf32>) outs(%o[d0, d1] : memref<8x1024xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %c: f32, %acc: f32) {
      %p = arith.mulf %v, %c : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}

// Rows of a matrix that is not packed lie apart.
// CHECK-LABEL: tir.func @not_packed(
// OTHER-LABEL: tir.func @not_packed(
tir.func @not_packed(read %x: memref<4x1024xf32>, read %w: memref<1024x1024xf32>, write %o: memref<4x1024xf32>) {
  // CHECK-NOT: prefetch
  // OTHER-NOT: prefetch
  tir.nest dims [parallel 4, parallel 1024, reduction 1024]
      ins(%x[d0, d2] : memref<4x1024xf32>, %w[d2, d1] : memref<1024x1024xf32>) outs(%o[d0, d1] : memref<4x1024xf32>)
    init {
      %zero = arith.constant 0.0 : f32
      tir.yield %zero : f32
    }
    body (%v: f32, %c: f32, %acc: f32) {
      %p = arith.mulf %v, %c : f32
      %s = arith.addf %acc, %p : f32
      tir.yield %s : f32
    }
    finish (%acc: f32) {
      tir.yield %acc : f32
    }
  tir.return
}
