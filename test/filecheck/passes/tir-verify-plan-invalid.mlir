// RUN: %diagnose -p tir-verify-plan

executor.pool @p {size = 64}
func.func @overwritten(%x: memref<16xf32>, %y: memref<16xf32>) {
  // expected-note @+1 {{the buffer}}
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %b = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  // expected-note @+1 {{overwritten here}}
  tir.copy %x, %b : memref<16xf32>, memref<16xf32>
  // expected-error @+1 {{expected a buffer that still holds what was written to it, but another one was written over it}}
  tir.copy %a, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// -----

executor.pool @p {size = 128}
func.func @not_waited_for(%x: memref<16xf32>, %y: memref<16xf32>) {
  // expected-note @+1 {{the buffer}}
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %b = tir.alloc {pool = @p, offset = 64} : memref<16xf32>
  %c = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  %t = tir.copy_async %a, %b : memref<16xf32>, memref<16xf32>
  // expected-note @+1 {{overwritten here}}
  tir.copy %x, %c : memref<16xf32>, memref<16xf32>
  // expected-error @+1 {{expected a buffer that still holds what was written to it, but another one was written over it}}
  tir.wait %t
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @in_one_arm(%c: i1, %x: memref<16xf32>, %y: memref<16xf32>) {
  // expected-note @+1 {{the buffer}}
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %v = memref.collapse_shape %a [[0 : i64]] : memref<16xf32> into memref<16xf32>
  %b = tir.alloc {pool = @p, offset = 32} : memref<8xf32>
  %z = memref.subview %x[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  scf.if %c {
    // expected-note @+1 {{overwritten here}}
    tir.copy %z, %b : memref<8xf32, strided<[1]>>, memref<8xf32>
  }
  // expected-error @+1 {{expected a buffer that still holds what was written to it, but another one was written over it}}
  tir.copy %v, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @in_the_iteration_before(%n: index, %x: memref<16xf32>, %y: memref<16xf32>) {
  // expected-note @+1 {{the buffer}}
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  scf.for %i = %n to %n step %n {
    // expected-error @+1 {{expected a buffer that still holds what was written to it, but another one was written over it}}
    tir.copy %a, %y : memref<16xf32>, memref<16xf32>
    %b = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
    // expected-note @+1 {{overwritten here}}
    tir.copy %x, %b : memref<16xf32>, memref<16xf32>
  }
  func.return
}

// -----

executor.pool @p {size = 64}
tir.func @k(read memref<16xf32>, write memref<16xf32>)
func.func @in_one_call(%x: memref<16xf32>) {
  // expected-note @+1 {{the one in use}}
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  // expected-note @+1 {{the written buffer}}
  %b = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  // expected-error @+1 {{expected to write a buffer apart from those in use, but their bytes overlap}}
  tir.call @k(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @address_taken(%x: memref<16xf32>) {
  // expected-note @+1 {{the one in use}}
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  // expected-note @+1 {{the written buffer}}
  %b = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %address = "test.op"(%a) : (memref<16xf32>) -> i64
  // expected-error @+1 {{expected to write a buffer apart from those in use, but their bytes overlap}}
  tir.copy %x, %b : memref<16xf32>, memref<16xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @outside() {
  // expected-error @+1 {{expected a buffer within the 64 bytes of '@p', but it ends at byte 80}}
  %a = tir.alloc {pool = @p, offset = 16} : memref<16xf32>
  func.return
}

// -----

executor.pool @pool {size = 64}
func.func @unknown_pool() {
  // expected-error @+1 {{unknown pool '@pol'; did you mean 'pool'?}}
  %a = tir.alloc {pool = @pol, offset = 16} : memref<16xf32>
  func.return
}

// -----

executor.pool @p {size = 128}
func.func @alignment() {
  // expected-error @+1 {{expected an offset that is a multiple of 32, but got 16}}
  %a = tir.alloc {alignment = 32, pool = @p, offset = 16} : memref<16xf32>
  func.return
}

// -----

executor.pool @p {size = 128, alignment = 64}
func.func @alignment_of_pool() {
  // expected-error @+1 {{expected a pool aligned to 128 bytes, but '@p' is aligned to 64}}
  %a = tir.alloc {alignment = 128, pool = @p, offset = 0} : memref<16xf32>
  func.return
}

// -----

target.memory @sram
executor.pool @p {size = 64, memory = @sram}
func.func @memory() {
  // expected-error @+1 {{expected a pool in the host's memory, but '@p' is in memory '@sram'}}
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @unreserved(%n: index) {
  // expected-error @+1 {{expected 'reserves' on a buffer of dynamic size}}
  %a = tir.alloc(%n) {pool = @p, offset = 0} : memref<?xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @too_little(%x: memref<?xf32>) attributes {
    executor.signature = #executor.signature<(x : tensor<?xf32, #graph.desc<dims = ["N" : 1 to 8]>>) -> ()>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %m = arith.addi %n, %n : index
  // expected-error @+1 {{expected to reserve 64 bytes, which the bounds of sizes allow, but got 60}}
  %a = tir.alloc(%m) {pool = @p, offset = 0, reserves = 60} : memref<?xf32>
  func.return
}

// -----

// What a call overwrites is known from the function that is called.
executor.pool @p {size = 64}
func.func private @callee(%x: memref<16xf32>) {
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  // expected-note @+1 {{overwritten here}}
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  func.return
}
func.func @caller(%x: memref<16xf32>, %y: memref<16xf32>) {
  // expected-note @+1 {{the buffer}}
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  func.call @callee(%x) : (memref<16xf32>) -> ()
  // expected-error @+1 {{expected a buffer that still holds what was written to it, but another one was written over it}}
  tir.copy %a, %y : memref<16xf32>, memref<16xf32>
  func.return
}

// -----

// A buffer that is given to a function is in use there.
executor.pool @p {size = 64}
func.func private @callee(%x: memref<16xf32>) {
  // expected-note @+1 {{the written buffer}}
  %a = tir.alloc {pool = @p, offset = 32} : memref<8xf32>
  %v = memref.subview %x[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  // expected-error @+1 {{expected to write a buffer apart from those in use, but their bytes overlap}}
  tir.copy %v, %a : memref<8xf32, strided<[1]>>, memref<8xf32>
  func.return
}
func.func @caller(%x: memref<16xf32>) {
  // expected-note @+1 {{the one in use}}
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  func.call @callee(%a) : (memref<16xf32>) -> ()
  func.return
}

// -----

executor.pool @p {size = 64}
func.func private @again(%x: memref<16xf32>) {
  // expected-note @+1 {{the buffer}}
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  // expected-error @+1 {{expected '@again' to have no planned buffer, as it calls itself}}
  func.call @again(%x) : (memref<16xf32>) -> ()
  func.return
}

// -----

graph.weight @w = dense<1.0> : tensor<4xf32>
func.func @constant(%x: memref<4xf32>) {
  // expected-note @+1 {{the constant}}
  %w = executor.constant @w : memref<4xf32>
  // expected-error @+1 {{expected to write memory that is no constant}}
  tir.copy %x, %w : memref<4xf32>, memref<4xf32>
  func.return
}

// -----

target.memory @sram {size = 96}
executor.pool @p {size = 64, memory = @sram}
// expected-error @+1 {{expected pools of at most 96 bytes in memory '@sram', but together they have 128}}
executor.pool @q {size = 64, memory = @sram}

// -----

target.memory @dram
target.memory @far
// expected-note @+1 {{the device}}
target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">], memories = [@dram]}
tir.func @k(read memref<16xf32, @far>) attributes {target.for = #target.place<@cpu, ?, @dram>}
executor.pool @p {size = 64, memory = @far}
func.func @access(%x: memref<16xf32>) {
  %a = tir.alloc {memory = @far, pool = @p, offset = 0} : memref<16xf32, @far>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32, @far>
  // expected-error @+1 {{expected memory that device '@cpu' reaches, but got a buffer in '@far'}}
  tir.call @k(%a : memref<16xf32, @far>) outs()
  func.return
}
