// RUN: transom-run %s -q --input '2x5xf32=1,2,3,4,5,1,1,1,1,1' --input '4xi64=3,0,3,1' --expected '2x5xf32=1,3,6,10,15,1,2,3,4,5' --expected '4x2xf32=10,4,1,1,10,4,3,2' --expected '5xf32=2,5,0,28,0' --expected '2x5xf32=3,3,4,5,5,3,1,1,1,3'
// RUN: transom-run %s -q --interpret --input '2x5xf32=1,2,3,4,5,1,1,1,1,1' --input '4xi64=3,0,3,1' --expected '2x5xf32=1,3,6,10,15,1,2,3,4,5' --expected '4x2xf32=10,4,1,1,10,4,3,2' --expected '5xf32=2,5,0,28,0' --expected '2x5xf32=3,3,4,5,5,3,1,1,1,3'

// Kernels written by hand, compiled and run: sums along rows, a gather of their columns,
// what was gathered added up by where it came from, and the maximum of a padded window.

#cpu = #target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, ?>

builtin.module attributes {target.config = #target.config<host = @cpu, phase = "tensor">} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}

  func.func @main(%x: tensor<2x5xf32>, %which: tensor<4xi64>) -> (tensor<2x5xf32>, tensor<4x2xf32>, tensor<5xf32>, tensor<2x5xf32>) attributes {target.for = #cpu} {
    %d = tensor.empty() : tensor<2x5xf32>
    %sums = tir.call @cumsum(%x : tensor<2x5xf32>) outs(%d : tensor<2x5xf32>)
    %e = tensor.empty() : tensor<4x2xf32>
    %columns = tir.call @gather(%sums : tensor<2x5xf32>, %which : tensor<4xi64>) outs(%e : tensor<4x2xf32>)
    %f = tensor.empty() : tensor<5xf32>
    %classes = tir.call @scatter_add(%columns : tensor<4x2xf32>, %which : tensor<4xi64>) outs(%f : tensor<5xf32>)
    %g = tensor.empty() : tensor<2x5xf32>
    %high = tir.call @window(%x : tensor<2x5xf32>) outs(%g : tensor<2x5xf32>)
    func.return %sums, %columns, %classes, %high : tensor<2x5xf32>, tensor<4x2xf32>, tensor<5xf32>, tensor<2x5xf32>
  }

  tir.func @cumsum(read %x: memref<2x5xf32>, write %o: memref<2x5xf32>) attributes {target.for = #cpu} {
    tir.nest dims [parallel 2, sequential 5] ins(%x[d0, d1] : memref<2x5xf32>) outs(%o[d0, d1] : memref<2x5xf32>)
      init {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
      body (%v: f32, %acc: f32) {
        %s = arith.addf %acc, %v : f32
        tir.yield %s : f32
      }
      finish (%acc: f32, %v: f32) {
        tir.yield %acc : f32
      }
    tir.return
  }

  tir.func @gather(read %x: memref<2x5xf32>, read %which: memref<4xi64>, write %o: memref<4x2xf32>) attributes {target.for = #cpu} {
    tir.nest dims [parallel 4, parallel 2] ins(%x[*] : memref<2x5xf32>, %which[d0] : memref<4xi64>) outs(%o[d0, d1] : memref<4x2xf32>)
        schedule #tir.schedule<vector = d1 : 2>
      finish (%table: memref<2x5xf32>, %w: i64) {
        %column = arith.index_cast %w : i64 to index
        %row = tir.index 1 : index
        %v = memref.load %table[%row, %column] : memref<2x5xf32>
        tir.yield %v : f32
      }
    tir.return
  }

  tir.func @scatter_add(read %x: memref<4x2xf32>, read %which: memref<4xi64>, write %o: memref<5xf32>) attributes {target.for = #cpu} {
    tir.nest dims [parallel 5] outs(%o[d0] : memref<5xf32>)
      finish {
        %zero = arith.constant 0.0 : f32
        tir.yield %zero : f32
      }
    tir.nest dims [parallel 4, parallel 2] ins(%x[d0, d1] : memref<4x2xf32>, %which[d0] : memref<4xi64>) outs(%o[*] combine add : memref<5xf32>)
      finish (%v: f32, %w: i64) {
        %class = arith.index_cast %w : i64 to index
        tir.yield %v, %class : f32, index
      }
    tir.return
  }

  tir.func @window(read %x: memref<2x5xf32>, write %o: memref<2x5xf32>) attributes {target.for = #cpu} {
    tir.nest dims [parallel 2, parallel 5, reduction 3] ins(%x[d0, d1 + d2 - 1] pad 3.0 : f32 : memref<2x5xf32>) outs(%o[d0, d1] : memref<2x5xf32>)
        schedule #tir.schedule<register = [d0 : 2], vector = d1 : 4, unroll = [d2 : 3]>
      init {
        %low = arith.constant 0xFF800000 : f32
        tir.yield %low : f32
      }
      body (%v: f32, %best: f32) {
        %m = arith.maximumf %best, %v : f32
        tir.yield %m : f32
      }
      finish (%best: f32) {
        tir.yield %best : f32
      }
    tir.return
  }
}
