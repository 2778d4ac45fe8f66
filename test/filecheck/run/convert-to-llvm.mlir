// RUN: transom-run %s --input 10xf32=1,2,3,4,5,6,7,8,9,10 --expected 10xf32=4,8,12,16,20,24,28,32,36,40 --expected 1xf32=55 | filecheck %s
// RUN: transom-opt --to=machine %s | transom-run - --input 10xf32=1,2,3,4,5,6,7,8,9,10 --expected 10xf32=4,8,12,16,20,24,28,32,36,40 --expected 1xf32=55 | filecheck %s

// Twice twice, in whole vectors and a masked one, and the sum.
// CHECK: doubled
builtin.module attributes {target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>, phase = "executable">} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
  executor.pool @ws {size = 64}
  func.func @main(%x: memref<?xf32>, %y: memref<?xf32>, %s: memref<1xf32>) attributes {
      executor.signature = #executor.signature<(x : tensor<?xf32, #graph.desc<dims = ["N" : 1 to 10]>>) -> (doubled : tensor<?xf32, #graph.desc<dims = ["N" : 1 to 10]>>, sum : tensor<1xf32>)>} {
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %t = executor.view @ws[0](%n) reserves 40 : memref<?xf32>
    executor.call @double(%x, %t : memref<?xf32>, memref<?xf32>)
    executor.call @double(%t, %y : memref<?xf32>, memref<?xf32>)
    executor.call @sum(%x, %s : memref<?xf32>, memref<1xf32>)
    func.return
  }
  tir.func @double(read %x: memref<?xf32>, write %y: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %n = memref.dim %x, %c0 : memref<?xf32>
    scf.for %i = %c0 to %n step %c4 {
      %left = arith.subi %n, %i : index
      %whole = arith.cmpi sge, %left, %c4 : index
      scf.if %whole {
        %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
        %w = arith.addf %v, %v : vector<4xf32>
        vector.store %w, %y[%i] : memref<?xf32>, vector<4xf32>
      } else {
        %m = vector.create_mask %left : vector<4xi1>
        %v = vector.maskedload %x[%i], %m, %zero : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
        %w = arith.addf %v, %v : vector<4xf32>
        vector.maskedstore %y[%i], %m, %w : memref<?xf32>, vector<4xi1>, vector<4xf32>
      }
    }
    tir.return
  }
  tir.func @sum(read %x: memref<?xf32>, write %s: memref<1xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %x, %c0 : memref<?xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) {
      %v = memref.load %x[%i] : memref<?xf32>
      %b = arith.addf %a, %v : f32
      scf.yield %b : f32
    }
    // A loop that is known to run: the sum is where it is after three swaps.
    %c3 = arith.constant 3 : index
    %p, %q = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %r, %b = %zero) -> (f32, f32) {
      scf.yield %b, %a : f32, f32
    }
    memref.store %q, %s[%c0] : memref<1xf32>
    tir.return
  }
}
