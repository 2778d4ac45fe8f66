// RUN: transom-opt -p target-emit-artifacts %s | filecheck %s
// RUN: transom-opt -p target-emit-artifacts %s | transom-opt -p target-emit-artifacts | filecheck %s

target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}
target.device @soc {targets = [#llvm_cpu.target<cpu = "znver4">, #toy_npu.target], memories = [@toy_sram]}

// Calls stay as they are.
// CHECK-LABEL: @main
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %w: memref<32xi8, @toy_sram>) {
  // CHECK-NEXT:    executor.call @double(%x, %y, %w : memref<4xf32>, memref<4xf32>, memref<32xi8, @toy_sram>)
  // CHECK-NEXT:    executor.call @by_llvm(%y : memref<4xf32>)
  executor.call @double(%x, %y, %w : memref<4xf32>, memref<4xf32>, memref<32xi8, @toy_sram>)
  executor.call @by_llvm(%y : memref<4xf32>)
  func.return
}

// A target without the hook leaves its kernels to LLVM.
// CHECK:       tir.func @by_llvm
tir.func @by_llvm(read_write %y: memref<4xf32>)
    attributes {target.for = #target.place<@soc, #llvm_cpu.target<cpu = "znver4">, ?>} {
  tir.return
}

// What is only declared has no code.
// CHECK:       tir.func @declared
tir.func @declared(read memref<4xf32>)
    attributes {target.for = #target.place<@soc, #toy_npu.target, ?>}

// The signature and the effects are those of the kernel.
// CHECK-NEXT:  executor.artifact @double {format = "toy_npu.commands", target = #toy_npu.target, payload = "{{.*}}", signature = (memref<4xf32>, memref<4xf32>, memref<32xi8, @toy_sram>) -> (), effects = [read, write, scratch]}
tir.func @double(read %x: memref<4xf32>, write %y: memref<4xf32>, scratch %w: memref<32xi8, @toy_sram>)
    attributes {target.for = #target.place<@soc, #toy_npu.target, ?>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %a = memref.view %w[%c0][] : memref<32xi8, @toy_sram> to memref<4xf32, @toy_sram>
  %b = memref.view %w[%c16][] : memref<32xi8, @toy_sram> to memref<4xf32, @toy_sram>
  tir.copy %x, %a : memref<4xf32>, memref<4xf32, @toy_sram>
  toy_npu.compute "add"(%a, %a) to %b : (memref<4xf32, @toy_sram>, memref<4xf32, @toy_sram>) -> memref<4xf32, @toy_sram>
  tir.copy %b, %y : memref<4xf32, @toy_sram>, memref<4xf32>
  tir.return
}

// Kernels in one payload share it.
// CHECK-NEXT:  executor.artifact @nothing {format = "toy_npu.commands", target = #toy_npu.target, payload = @double, signature = () -> (), effects = []}
tir.func @nothing() attributes {target.for = #target.place<@soc, #toy_npu.target, ?>} {
  tir.return
}
