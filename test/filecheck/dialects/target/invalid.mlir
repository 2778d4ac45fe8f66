// RUN: %diagnose

// expected-error @+1 {{expected a size > 0, but got 0}}
target.memory @m {size = 0}

// -----

// expected-error @+1 {{expected an alignment that is a power of two, but got 48}}
target.memory @m {alignment = 48}

// -----

// expected-error @+1 {{unknown key 'sise' of 'target.memory'; did you mean 'size'?}}
target.memory @m {sise = 64}

// -----

// expected-error @+1 {{expected an integer for 'size' of 'target.memory', but got '"64"'}}
target.memory @m {size = "64"}

// -----

// expected-error @+1 {{key 'size' of 'target.memory' is given twice}}
target.memory @m {size = 64, size = 64}

// -----

// expected-error @+1 {{unknown value 'targte' of 'planned_by'; did you mean 'target'?}}
target.memory @m {planned_by = targte}

// -----

// expected-error @+1 {{expected 'targets' in 'target.device'}}
target.device @d

// -----

// expected-error @+1 {{expected at least one target of device '@d'}}
target.device @d {targets = []}

// -----

// expected-error @+1 {{target '#llvm_cpu.target<cpu = "znver4">' is listed twice}}
target.device @d {targets = [#llvm_cpu.target<cpu = "znver4">, #llvm_cpu.target<cpu = "znver4">]}

// -----

target.memory @m
// expected-error @+1 {{memory '@m' is listed twice}}
target.device @d {targets = [#llvm_cpu.target<cpu = "znver4">], memories = [@m, @m]}

// -----

target.memory @sram
// expected-error @+1 {{unknown memory '@sran'; did you mean '@sram'?}}
target.device @d {targets = [#llvm_cpu.target<cpu = "znver4">], memories = [@sran]}

// -----

func.func private @f()
// expected-error @+1 {{expected a memory, but '@f' is a 'func.func'}}
target.device @d {targets = [#llvm_cpu.target<cpu = "znver4">], memories = [@f]}

// -----

target.memory @sram
// expected-error @+1 {{unknown memory '@dram'; did you mean '@sram'?}}
target.link @sram -> @dram {bandwidth = 1.0}

// -----

target.memory @a
target.memory @b
// expected-error @+1 {{expected a bandwidth > 0, but got 0.0}}
target.link @a -> @b {bandwidth = 0.0}

// -----

target.memory @a
target.memory @b
// expected-error @+1 {{expected a latency >= 0, but got -1.0}}
target.link @a -> @b {bandwidth = 1.0, latency = -1.0}

// -----

target.memory @a
// expected-error @+1 {{expected a link between two memories, but got '@a' twice}}
target.link @a -> @a {bandwidth = 1.0}

// -----

target.memory @a
target.memory @b
target.link @a -> @b {bandwidth = 1.0}
target.link @b -> @a {bandwidth = 1.0}
// expected-error @+1 {{the link from '@a' to '@b' is declared twice}}
target.link @a -> @b {bandwidth = 2.0}

// -----

target.memory @a
target.memory @b
// expected-error @+1 {{expected 'bandwidth' in 'target.link'}}
target.link @a -> @b

// -----

// expected-error @+1 {{expected a device or '?' in a place, but got '"cpu"'}}
"test.op"() {at = #target.place<"cpu", ?, ?>} : () -> ()

// -----

// expected-error @+1 {{expected a target or '?' in a place, but got '@t'}}
"test.op"() {at = #target.place<@cpu, @t, ?>} : () -> ()

// -----

// expected-error @+1 {{expected a flat symbol in '#target.place', but got '@a::@b'}}
"test.op"() {at = #target.place<@a::@b, ?, ?>} : () -> ()

// -----

// expected-error @+1 {{expected at least one place in '#target.any_of'}}
"test.op"() {at = #target.any_of<[]>} : () -> ()

// -----

// expected-error @+1 {{place '#target.place<?, ?, @m>' is listed twice}}
"test.op"() {at = #target.any_of<[#target.place<?, ?, @m>, #target.place<?, ?, @m>]>} : () -> ()

// -----

// expected-error @+1 {{unknown phase 'palced'; did you mean 'placed'?}}
module attributes {target.config = #target.config<phase = "palced">} {}

// -----

// expected-error @+1 {{unknown option 'winogard'; did you mean 'winograd'?}}
module attributes {target.config = #target.config<options = {winogard = true}>} {}

// -----

// expected-error @+1 {{expected true or false for option 'winograd', but got '1 : i64'}}
module attributes {target.config = #target.config<options = {winograd = 1}>} {}

// -----

// expected-error @+1 {{unknown value 'jit' of 'executor'; expected one of 'aot', 'graph', 'vm'}}
module attributes {target.config = #target.config<executor = jit>} {}

// -----

// expected-error @+1 {{expected a flat symbol in '#target.config', but got '@a::@b'}}
module attributes {target.config = #target.config<host = @a::@b>} {}

// -----

// expected-error @+1 {{expected a '#target.config' for 'target.config', but got '1 : i32'}}
module attributes {target.config = 1 : i32, test.load = #target.config} {}

// -----

// expected-error @+1 {{expected 'target.config' on a module, not on 'func.func'}}
func.func private @f() attributes {target.config = #target.config}

// -----

// expected-error @+1 {{expected 'target.for' on a function, not on 'test.op'}}
"test.op"() {target.for = #target.place<@a, ?, ?>} : () -> ()

// -----

// expected-error @+1 {{expected a '#target.place' for 'target.for', but got '@cpu'}}
func.func private @f() attributes {target.for = @cpu, test.load = #target.config}

// -----

// expected-error @+1 {{unknown phase 'tensors'; did you mean 'tensor'?}}
func.func private @f() attributes {target.phase = "tensors", test.load = #target.config}

// -----

// expected-error @+1 {{expected a string for 'target.phase', but got '1 : i64'}}
func.func private @f() attributes {target.phase = 1, test.load = #target.config}

// -----

// expected-error @+1 {{expected a list of symbols for 'target.lowered_to', but got '@k'}}
func.func private @f() attributes {target.lowered_to = @k, test.load = #target.config}

// -----

// expected-error @+1 {{unknown attribute 'target.fro'; did you mean 'target.for'?}}
func.func private @f() attributes {target.fro = #target.place<@a, ?, ?>}

// -----

target.device @cpu {targets = [#llvm_cpu.target<cpu = "znver4">]}
// expected-error @+1 {{expected a target of device '@cpu' ('#llvm_cpu.target<cpu = "znver4">'), but got '#llvm_cpu.target<cpu = "znver5">'}}
func.func private @f() attributes {target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "znver5">, ?>}

// -----

target.memory @dram
target.memory @sram
target.device @cpu {targets = [#llvm_cpu.target<cpu = "znver4">], memories = [@dram]}
func.func @f() {
  // expected-error @+1 {{expected a memory of device '@cpu' ('@dram'), but got '@sram'}}
  %x = "test.op"() : () -> memref<4xf32, #target.place<@cpu, ?, @sram>>
  func.return
}

// -----

target.memory @sram
func.func @f() {
  // expected-error @+1 {{unknown memory '@sran' in '#target.place<@cpu, ?, @sran>'; did you mean '@sram'?}}
  %x = "test.op"() : () -> tensor<4xf32, #graph.desc<place = #target.place<@cpu, ?, @sran>>>
  func.return
}

// -----

// expected-error @+1 {{expected a target in '#target.refusal', but got '@cpu'}}
"test.op"() {t = #target.refusal<@cpu, "no">} : () -> ()

// -----

// expected-error @+1 {{string literal expected for the reason in '#target.refusal'}}
"test.op"() {t = #target.refusal<#llvm_cpu.target<cpu = "znver4">, no>} : () -> ()

// -----

// expected-error @+1 {{expected a list of '#target.refusal' for 'target.refused', but got '"no"'}}
"test.op"() {target.refused = "no", test.load = #target.config} : () -> ()

// -----

// expected-error @+1 {{expected 1 to 1024 threads, but got 0}}
module attributes {target.config = #target.config<threads = 0>} {}

// -----

// expected-error @+1 {{unknown value 'input' of 'in_pools'; did you mean 'inputs'?}}
module attributes {target.config = #target.config<in_pools = [input]>} {}
