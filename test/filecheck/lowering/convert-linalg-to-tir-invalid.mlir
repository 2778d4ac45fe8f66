// RUN: %diagnose -p convert-linalg-to-tir

func.func @window_loops(%x: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error @+1 {{expected parallel and reduction loops, but got 'window'}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "window"]} ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%o : memref<4xf32>) {
  ^bb0(%i: f32, %j: f32, %old: f32):
    linalg.yield %i : f32
  }
  func.return
}

// -----

func.func @written_twice(%x: memref<4x8xf32>, %o: memref<4xf32>) {
  // expected-error @+1 {{expected each parallel loop in the map of output 0, but got '(d0, d1) -> (d0)'}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x8xf32>) outs(%o : memref<4xf32>) {
  ^bb0(%i: f32, %old: f32):
    linalg.yield %i : f32
  }
  func.return
}

// -----

func.func @in_place_elsewhere(%x: memref<4x4xf32>) {
  // expected-error @+1 {{expected output 0, which is an input too, to be read where it is written}}
  linalg.transpose ins(%x : memref<4x4xf32>) outs(%x : memref<4x4xf32>) permutation = [1, 0]
  func.return
}

// -----

func.func @may_be_empty(%x: memref<8x?xf32>, %o: memref<8xf32>) {
  // expected-error @+1 {{expected reductions of static sizes, because the body does more than fold output 0, which is not filled before}}
  linalg.reduce ins(%x : memref<8x?xf32>) outs(%o : memref<8xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %c = arith.mulf %b, %b : f32
    %d = arith.addf %a, %c : f32
    linalg.yield %d : f32
  }
  func.return
}
