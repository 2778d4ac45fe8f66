// RUN: transom-run %s --library %library -q \
// RUN:   --input 2x3xf32=1,2,3,4,5,6 --input 3x2xf32=1,2,3,4,5,6 \
// RUN:   --expected 2x2xf32=22,28,49,64

module attributes {target.config = #target.config<host = @cpu>} {
  target.device @cpu {targets = [#woofles.target<lanes = 1>, #llvm_cpu.target<cpu = "host">]}
  func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {
    %p = graph.matmul %a, %b : tensor<2x3xf32>, tensor<3x2xf32> -> tensor<2x2xf32>
    func.return %p : tensor<2x2xf32>
  }
}
