// RUN: transom-opt -p tir-plan-memory --memory-report=%t.json %s -o %t.mlir && cat %t.json | filecheck %s
// RUN: transom-opt -p tir-plan-memory --memory-report=%t.html %s -o %t.mlir && cat %t.html | filecheck %s --check-prefix=PAGE

tir.func @k(read memref<16xf32>, write memref<16xf32>)

// CHECK:      "program": "main"
// CHECK:      "call @k"
// CHECK:      "main.x": 64
// CHECK:      "name": "main.workspace"
// CHECK-NEXT: "memory": null
// CHECK-NEXT: "size": 128
// CHECK-NEXT: "capacity": null
// CHECK-NEXT: "lower_bound": 128
// CHECK-NEXT: "proved": "optimal"

// PAGE:       <td>@main.workspace</td><td>host</td>
// PAGE:       <td class="n">128</td>
// PAGE:       <td>optimal</td>
// PAGE:       <svg
// PAGE:       <rect class="b"
// PAGE:       <title>%a in @main
// PAGE-NEXT:  memref&lt;16xf32&gt;
// PAGE-NEXT:  64 bytes at 0
// PAGE:       call @k … call @k
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc : memref<16xf32>
  %b = tir.alloc : memref<16xf32>
  tir.call @k(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  tir.call @k(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  tir.call @k(%b : memref<16xf32>) outs(%y : memref<16xf32>)
  func.return
}
