// RUN: transom-opt --to=placed --explain-placement=%t.txt %s -o /dev/null 2>&1 | filecheck %s --check-prefix=NOTE
// RUN: filecheck %s --input-file=%t.txt --check-prefix=TEXT
// RUN: transom-opt -p target-claim-ops --explain-placement=%t.json %s -o /dev/null
// RUN: filecheck %s --input-file=%t.json --check-prefix=JSON
// RUN: not transom-opt --explain-placement=%t.html %s 2>&1 | filecheck %s --check-prefix=SUFFIX

// SUFFIX: transom-opt: error: --explain-placement: expected a file ending in .txt or .json, but got '{{.*}}.html'

// NOTE: explain-placement.mlir:{{.*}}: note: llvm_cpu 4/7 ops (softmax: no claim is for it x2, relu: expected f32, but got 'f64' x1), toy_npu 3/7
target.device @cpu {targets = [#toy_npu.target<features = ["matmul"]>, #llvm_cpu.target<cpu = "x86-64-v3">]}

// TEXT:      @main: llvm_cpu 3/6 ops (softmax: no claim is for it x2, relu: expected f32, but got 'f64' x1), toy_npu 3/6
// TEXT-NEXT:   graph.softmax x2: #llvm_cpu.target<cpu = "x86-64-v3"> on @cpu: takes what is left
// TEXT-NEXT:     #toy_npu.target<features = ["matmul"]> on @cpu: no claim is for it
// TEXT-NEXT:     at {{.*}}explain-placement.mlir:37:3, {{.*}}explain-placement.mlir:38:3
// TEXT:        graph.matmul x1: #toy_npu.target<features = ["matmul"]> on @cpu: claimed as a part of 'toy_npu.matmul_add_relu'
// TEXT-NEXT:     #llvm_cpu.target<cpu = "x86-64-v3"> on @cpu: takes it, but is asked later
// TEXT:        graph.relu x1: #llvm_cpu.target<cpu = "x86-64-v3"> on @cpu: takes what is left
// TEXT-NEXT:     #toy_npu.target<features = ["matmul"]> on @cpu: expected f32, but got 'f64'
// TEXT:      @placed: llvm_cpu 1/1 ops
// TEXT-NEXT:   graph.neg x1: #llvm_cpu.target<cpu = "x86-64-v3"> on @cpu: nothing else is allowed

// JSON:      "summary": "llvm_cpu 4/7 ops (softmax: no claim is for it x2, relu: expected f32, but got 'f64' x1), toy_npu 3/7",
// JSON:      "target": "#toy_npu.target<features = [\"matmul\"]>",
// JSON-NEXT: "device": "cpu",
// JSON-NEXT: "ops": 3
// JSON:      "function": "main",
// JSON-NEXT: "op": "graph.matmul",
// JSON-NEXT: "location": "{{.*}}:34:3",
// JSON:      "why": "claimed as a part of 'toy_npu.matmul_add_relu'",
// JSON-NEXT: "label": "toy_npu.matmul_add_relu",

func.func @main(%x: tensor<4x4xf32>, %d: tensor<4xf64>) -> (tensor<4x4xf32>, tensor<4xf64>) {
  %m = graph.matmul %x, %x : tensor<4x4xf32>
  %a = graph.add %m, %x : tensor<4x4xf32>
  %r = graph.relu %a : tensor<4x4xf32>
  %e = graph.softmax %r axis 1 : tensor<4x4xf32>
  %f = graph.softmax %e axis 1 : tensor<4x4xf32>
  %g = graph.relu %d : tensor<4xf64>
  func.return %f, %g : tensor<4x4xf32>, tensor<4xf64>
}

func.func @placed(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, ?>} {
  %y = graph.neg %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
