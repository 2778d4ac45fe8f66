// RUN: %roundtrip | filecheck %s

// CHECK:         executor.messages = ["expected N >= 1"]
module attributes {executor.messages = ["expected N >= 1"]} {
  target.memory @dram {alignment = 128}
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "znver4">], memories = [@dram]}
  graph.weight @w = dense<1.0> : tensor<4xf32>

  // CHECK:         executor.pool @ws {size = 4096, alignment = 128, memory = @dram, kind = workspace}
  // CHECK-NEXT:    executor.pool @constants {size = 0, kind = constants}
  // CHECK-NEXT:    executor.pool @io {size = 64, kind = io}
  executor.pool @ws {size = 4096, alignment = 128, memory = @dram, kind = workspace}
  executor.pool @constants {size = 0, kind = constants}
  executor.pool @io {kind = io, size = 64}

  // CHECK-NEXT:    executor.artifact @c {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "void c(float *x);\0A", workspace = 256, signature = (memref<4xf32>) -> (), effects = [read_write]}
  executor.artifact @c {
    format = "c", target = #llvm_cpu.target<cpu = "znver4">,
    payload = "void c(float *x);\0A", workspace = 256, signature = (memref<4xf32>) -> (),
    effects = [read_write]
  }
  // CHECK-NEXT:    executor.artifact @d {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = @c, signature = (memref<4xf32>, memref<4xf32>, index) -> (), effects = [read, write, read]}
  executor.artifact @d {
    format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = @c,
    signature = (memref<4xf32>, memref<4xf32>, index) -> (), effects = [read, write, read]
  }
  // CHECK-NEXT:    executor.artifact @elf {format = "elf", target = #llvm_cpu.target<cpu = "znver4">, payload = #executor.bytes<"7f454c46">, signature = (memref<4xi8>, index) -> (), entry = "elf.0"}
  executor.artifact @elf {
    format = "elf", target = #llvm_cpu.target<cpu = "znver4">, entry = "elf.0",
    payload = #executor.bytes<"7F454C46">, signature = (memref<4xi8>, index) -> ()
  }

  func.func private @half(index, memref<4xf32>) -> (index, i64)

  // CHECK-LABEL: @memory
  func.func @memory(%n: index) {
    // CHECK-NEXT:    %{{.*}} = executor.view @ws[0] : memref<4x8xf32, @dram>
    // CHECK-NEXT:    %[[S:.*]] = executor.view @ws[128] : memref<f64>
    // CHECK-NEXT:    %{{.*}} = executor.view @ws[256] (%n) reserves 1024 {test.a = 1 : i64} : memref<?x8xf32>
    %a = executor.view @ws[0] : memref<4x8xf32, @dram>
    %s = executor.view @ws[128] : memref<f64>
    %b = executor.view @ws[256] (%n) reserves 1024 {test.a = 1} : memref<?x8xf32>
    // CHECK-NEXT:    %[[A:.*]] = executor.alloc(%n) align 128 : memref<?x8xf32>
    // CHECK-NEXT:    %{{.*}} = executor.alloc() : memref<4xf32>
    // CHECK-NEXT:    executor.free %[[A]] : memref<?x8xf32>
    %c = executor.alloc(%n) align 128 : memref<?x8xf32>
    %d = executor.alloc() : memref<4xf32>
    executor.free %c : memref<?x8xf32>
    func.return
  }

  // Elements may differ in signedness from those of the callee.
  // CHECK-LABEL: @calls
  func.func @calls(%x: memref<4xf32>, %y: memref<4xui8>, %n: index, %w: memref<256xi8>) {
    // CHECK-NEXT:    executor.call @c(%x, %w : memref<4xf32>, memref<256xi8>)
    // CHECK-NEXT:    executor.call @elf(%y, %n : memref<4xui8>, index)
    // CHECK-NEXT:    %{{.*}}, %{{.*}} = executor.shape_call @half(%n, %x : index, memref<4xf32>) : index, i64
    // CHECK-NEXT:    executor.sync @cpu
    executor.call @c(%x, %w : memref<4xf32>, memref<256xi8>)
    executor.call @elf(%y, %n : memref<4xui8>, index)
    %h, %k = executor.shape_call @half(%n, %x : index, memref<4xf32>) : index, i64
    executor.sync @cpu
    func.return
  }

  // CHECK-LABEL: @moves
  func.func @moves(%x: memref<?xf32>, %y: memref<4xf32, strided<[2]>, @dram>) {
    // CHECK-NEXT:    executor.copy %x, %y : memref<?xf32>, memref<4xf32, strided<[2]>, @dram>
    // CHECK-NEXT:    %{{.*}} = executor.constant @w : memref<4xf32>
    executor.copy %x, %y : memref<?xf32>, memref<4xf32, strided<[2]>, @dram>
    %w = executor.constant @w : memref<4xf32>
    func.return
  }

  // CHECK:         executor.signature = #executor.signature<(x : tensor<?x3xf32, #graph.desc<dims = ["N"]>>) -> ("y 0" : tensor<?xf32>, z.0 : tensor<f32>)>
  // CHECK-SAME:    test.empty = #executor.signature<() -> ()>
  func.func private @main() attributes {
    executor.signature = #executor.signature<
      (x : tensor<?x3xf32, #graph.desc<dims = ["N"]>>)
        -> ("y 0" : tensor<?xf32>, "z.0" : tensor<f32>)>,
    test.empty = #executor.signature<() -> ()>
  }
}
