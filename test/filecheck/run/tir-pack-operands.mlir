// RUN: transom-opt --to=tensor %s | filecheck %s
// RUN: transom-run %s -q --input '2x3xf32=1,2,3,4,5,6' --expected '2x2xf32=14,32,32,77'
// RUN: transom-opt --to=tensor %s | transom-run - -q --interpret --input '2x3xf32=1,2,3,4,5,6' --expected '2x2xf32=14,32,32,77'
// RUN: transom-run %s -q --input '9x3xf32=1,2,3,4,5,6,1,0,0,0,1,0,0,0,1,1,1,1,0,0,0,-1,0,0,2,0,0' --expected '9x9xf32=14,32,1,2,3,6,0,-1,2,32,77,4,5,6,15,0,-4,8,1,4,1,0,0,1,0,-1,2,2,5,0,1,0,1,0,0,0,3,6,0,0,1,1,0,0,0,6,15,1,1,1,3,0,-1,2,0,0,0,0,0,0,0,0,0,-1,-4,-1,0,0,-1,0,1,-2,2,8,2,0,0,2,0,-2,4'

// Rows times rows, as many as there are: one side is packed into tiles of columns.

// CHECK: tir.alloc(%{{.*}}) : memref<?x3x{{[0-9]+}}xf32>
// CHECK: mod

builtin.module {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}
  func.func @main(%x: tensor<?x3xf32, #graph.desc<dims = ["N" : 1 to 64]>>) -> tensor<?x?xf32, #graph.desc<dims = ["N" : 1 to 64, "N" : 1 to 64]>> {
    %t = graph.transpose %x permutation [1, 0] : tensor<?x3xf32, #graph.desc<dims = ["N" : 1 to 64]>> -> tensor<3x?xf32, #graph.desc<dims = ["N" : 1 to 64]>>
    %y = graph.matmul %x, %t : tensor<?x3xf32, #graph.desc<dims = ["N" : 1 to 64]>>, tensor<3x?xf32, #graph.desc<dims = ["N" : 1 to 64]>> -> tensor<?x?xf32, #graph.desc<dims = ["N" : 1 to 64, "N" : 1 to 64]>>
    func.return %y : tensor<?x?xf32, #graph.desc<dims = ["N" : 1 to 64, "N" : 1 to 64]>>
  }
}
