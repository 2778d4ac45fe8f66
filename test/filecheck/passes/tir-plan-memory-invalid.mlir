// RUN: %diagnose -p tir-plan-memory

target.memory @sram {size = 64}
func.func @too_small(%x: memref<16xf32>) {
  %a = tir.alloc {memory = @sram} : memref<12xf32>
  // expected-error @+1 {{expected a plan that fits into the 64 bytes of memory '@sram', but it needs 112; '%b' of type 'memref<12xf32>' finds no room: enlarge the memory, or store it in another}}
  %b = tir.alloc {memory = @sram} : memref<12xf32>
  "test.op"(%a, %b) : (memref<12xf32>, memref<12xf32>) -> ()
  func.return
}

// -----

target.memory @sram {alignment = 16}
func.func @alignment() {
  // expected-error @+1 {{expected an alignment of at most 16, that of memory '@sram', but got 64}}
  %a = tir.alloc {alignment = 64, memory = @sram} : memref<12xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @pins() {
  // expected-error @+1 {{expected fixed offsets that do not overlap, but 64 bytes at 0 and 64 bytes at 32 live together}}
  %a = tir.alloc {alignment = 4, pool = @p, offset = 0} : memref<16xf32>
  %b = tir.alloc {alignment = 4, pool = @p, offset = 32} : memref<16xf32>
  "test.op"(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}

// -----

target.memory @sram
func.func @unknown_memory() {
  // expected-error @+1 {{unknown memory '@sra'; did you mean 'sram'?}}
  %a = tir.alloc {memory = @sra} : memref<12xf32>
  func.return
}

// -----

// Buffers that name no memory are in that of the function's place.
target.memory @dram {size = 64}
target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@dram]}
func.func @place() attributes {target.for = #target.place<@cpu, ?, @dram>} {
  // expected-error @+1 {{expected a plan that fits into the 64 bytes of memory '@dram', but it needs 112; '%a' of type 'memref<28xf32>' finds no room: enlarge the memory, or list another behind it in 'memories' of the device}}
  %a = tir.alloc : memref<28xf32>
  "test.op"(%a) : (memref<28xf32>) -> ()
  func.return
}

// -----

// 48, 16 and 8 bytes that live together.
target.memory @sram {size = 64}
func.func @together() {
  %a = tir.alloc {alignment = 8, memory = @sram} : memref<12xf32>
  %b = tir.alloc {alignment = 8, memory = @sram} : memref<4xf32>
  // expected-error @+1 {{expected a plan that fits into the 64 bytes of memory '@sram', but it needs 72}}
  %c = tir.alloc {alignment = 8, memory = @sram} : memref<2xf32>
  "test.op"(%a, %b, %c) : (memref<12xf32>, memref<4xf32>, memref<2xf32>) -> ()
  func.return
}

// -----

target.memory @sram {size = 64}
target.memory @dram {size = 32}
target.device @mcu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@sram, @dram]}
func.func @all_full() attributes {target.for = #target.place<@mcu, ?, @sram>} {
  // expected-error @+1 {{expected a plan that fits into the 64 bytes of memory '@sram' and the 32 bytes of memory '@dram', but it needs 112}}
  %a = tir.alloc : memref<28xf32>
  "test.op"(%a) : (memref<28xf32>) -> ()
  func.return
}

// -----

target.memory @sram {size = 64}
executor.pool @p {size = 64, memory = @sram}
func.func @pin() {
  // expected-error @+1 {{expected a fixed offset within the 64 bytes of memory '@sram', but the buffer ends at byte 80}}
  %a = tir.alloc {alignment = 16, memory = @sram, pool = @p, offset = 16} : memref<16xf32>
  "test.op"(%a) : (memref<16xf32>) -> ()
  func.return
}
