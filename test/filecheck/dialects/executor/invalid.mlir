// RUN: %diagnose

// expected-error @+1 {{expected a size >= 0, but got -1}}
executor.pool @p {size = -1}

// -----

// expected-error @+1 {{expected an alignment that is a power of two, but got 0}}
executor.pool @p {size = 64, alignment = 0}

// -----

// expected-error @+1 {{unknown value 'weights' of 'kind'; expected one of 'constants', 'io', 'workspace'}}
executor.pool @p {size = 64, kind = weights}

// -----

target.memory @sram
// expected-error @+1 {{unknown memory '@sran'; did you mean '@sram'?}}
executor.pool @p {size = 64, memory = @sran}

// -----

target.memory @sram {size = 63}
// expected-error @+1 {{expected a size of at most 63, that of memory '@sram', but got 64}}
executor.pool @p {size = 64, memory = @sram}

// -----

target.memory @sram {alignment = 32}
// expected-error @+1 {{expected an alignment of at most 32, that of memory '@sram', but got 64}}
executor.pool @p {size = 64, memory = @sram}

// -----

executor.pool @pool {size = 64}
func.func @f() {
  // expected-error @+1 {{unknown pool '@poll'; did you mean '@pool'?}}
  %a = executor.view @poll[0] : memref<4xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected a pool, but '@f' is a 'func.func'}}
  %a = executor.view @f[0] : memref<4xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f() {
  // expected-error @+1 {{expected a view within the 64 bytes of '@p', but it ends at byte 68}}
  %a = executor.view @p[52] : memref<4xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f(%n: index) {
  // expected-error @+1 {{expected a view within the 64 bytes of '@p', but it ends at byte 96}}
  %a = executor.view @p[32] (%n) reserves 64 : memref<?xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f() {
  // expected-error @+1 {{expected an offset that is a multiple of 4, the size of an element, but got 2}}
  %a = executor.view @p[2] : memref<4xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f() {
  // expected-error @+1 {{expected an offset >= 0, but got -4}}
  %a = executor.view @p[-4] : memref<4xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f() {
  // expected-error @+1 {{expected the identity layout, but got 'memref<4xf32, strided<[2]>>'}}
  %a = executor.view @p[0] : memref<4xf32, strided<[2]>>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f() {
  // expected-error @+1 {{expected elements of a known size, but got 'memref<4xnone>'}}
  %a = executor.view @p[0] : memref<4xnone>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f(%n: index) {
  // expected-error @+1 {{expected 1 dynamic sizes for 'memref<?xf32>', but got 2}}
  %a = executor.view @p[0] (%n, %n) reserves 64 : memref<?xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f(%n: index) {
  // expected-error @+1 {{expected 'reserves' on a view with dynamic sizes}}
  %a = executor.view @p[0] (%n) : memref<?xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f(%n: index) {
  // expected-error @+1 {{expected no 'reserves' on a view of static size}}
  %a = executor.view @p[0] reserves 16 : memref<4xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f(%n: index) {
  // expected-error @+1 {{expected to reserve >= 0 bytes, but got -1}}
  %a = executor.view @p[0] (%n) reserves -1 : memref<?xf32>
  func.return
}

// -----

target.memory @sram
executor.pool @p {size = 64, memory = @sram}
func.func @f() {
  // expected-error @+1 {{expected a pool in memory '@dram', but '@p' is in '@sram'}}
  %a = executor.view @p[0] : memref<4xf32, #target.place<?, ?, @dram>>
  func.return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected 1 dynamic sizes for 'memref<?x4xf32>', but got 0}}
  %a = executor.alloc() : memref<?x4xf32>
  func.return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected the identity layout, but got 'memref<4xf32, strided<[2]>>'}}
  %a = executor.alloc() : memref<4xf32, strided<[2]>>
  func.return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected an alignment that is a power of two, but got 24}}
  %a = executor.alloc() align 24 : memref<4xf32>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f(%n: index) {
  %a = executor.view @p[0] : memref<4xf32>
  // expected-error @+1 {{expected a result of 'executor.alloc', but got one of 'executor.view'}}
  executor.free %a : memref<4xf32>
  func.return
}

// -----

func.func private @kernel(memref<4xf32>)
func.func @f(%a: memref<4xf32>) {
  // expected-error @+1 {{unknown function '@kernal'; did you mean '@kernel'?}}
  executor.call @kernal(%a : memref<4xf32>)
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f(%a: memref<4xf32>) {
  // expected-error @+1 {{expected a function, but '@p' is a 'executor.pool'}}
  executor.call @p(%a : memref<4xf32>)
  func.return
}

// -----

func.func private @k(memref<4xf32>)
func.func @f(%a: memref<4xf32>) {
  // expected-error @+1 {{expected 1 operands for '@k', but got 2}}
  executor.call @k(%a, %a : memref<4xf32>, memref<4xf32>)
  func.return
}

// -----

func.func private @k(index, memref<4xi8>)
func.func @f(%n: index, %a: memref<4xui16>) {
  // expected-error @+1 {{expected 'memref<4xi8>' for operand 1 of '@k', but got 'memref<4xui16>'}}
  executor.call @k(%n, %a : index, memref<4xui16>)
  func.return
}

// -----

func.func private @k() -> index
func.func @f() {
  // expected-error @+1 {{expected 1 results for '@k', but got 0}}
  executor.call @k()
  func.return
}

// -----

func.func private @k(index) -> index
func.func @f(%n: index) {
  // expected-error @+1 {{expected 'index' for result 0 of '@k', but got 'i64'}}
  %m = executor.shape_call @k(%n : index) : i64
  func.return
}

// -----

func.func @f(%a: memref<4xf32>, %b: memref<5xf32>) {
  // expected-error @+1 {{expected memrefs of one shape and element type, but got 'memref<4xf32>' and 'memref<5xf32>'}}
  executor.copy %a, %b : memref<4xf32>, memref<5xf32>
  func.return
}

// -----

target.device @cpu {targets = [#llvm_cpu.target<cpu = "znver4">]}
func.func @f() {
  // expected-error @+1 {{unknown device '@gpu'; did you mean '@cpu'?}}
  executor.sync @gpu
  func.return
}

// -----

graph.weight @w = dense<1.0> : tensor<4xf32>
func.func @f() {
  // expected-error @+1 {{expected a memref of the weight's type 'tensor<4xf32>', but got 'memref<4xf64>'}}
  %a = executor.constant @w : memref<4xf64>
  func.return
}

// -----

executor.pool @p {size = 64}
func.func @f() {
  // expected-error @+1 {{expected a weight, but '@p' is a 'executor.pool'}}
  %a = executor.constant @p : memref<4xf64>
  func.return
}

// -----

graph.weight @w = dense<1.0> : tensor<4xf32>
func.func @f() {
  // expected-error @+1 {{expected a static shape, but got 'memref<?xf32>'}}
  %a = executor.constant @w : memref<?xf32>
  func.return
}

// -----

// expected-error @+1 {{expected a format that is not empty}}
executor.artifact @a {format = "", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = () -> ()}

// -----

// expected-error @+1 {{expected a payload that is not empty}}
executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = #executor.bytes<"">, signature = () -> ()}

// -----

// expected-error @+1 {{expected a workspace >= 0, but got -8}}
executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", workspace = -8, signature = () -> ()}

// -----

// expected-error @+1 {{expected a signature without results, as results are written to arguments, but got '() -> index'}}
executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = () -> index}

// -----

// expected-error @+1 {{unknown artifact '@c'; expected '@a'}}
executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = @c, signature = () -> ()}

// -----

executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = () -> ()}
executor.artifact @b {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = @a, signature = () -> ()}
// expected-error @+1 {{expected '@b' to hold the payload, but it is in '@a'}}
executor.artifact @c {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = @b, signature = () -> ()}

// -----

executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = () -> ()}
// expected-error @+1 {{expected the format of '@a', which holds the payload, '"c"', but got '"elf"'}}
executor.artifact @b {format = "elf", target = #llvm_cpu.target<cpu = "znver4">, payload = @a, signature = () -> ()}

// -----

executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = () -> ()}
// expected-error @+1 {{expected the target of '@a', which holds the payload, '#llvm_cpu.target<cpu = "znver4">', but got '#llvm_cpu.target<cpu = "znver3">'}}
executor.artifact @b {format = "c", target = #llvm_cpu.target<cpu = "znver3">, payload = @a, signature = () -> ()}

// -----

// expected-error @+1 {{expected 1 effects, one per argument of the signature, but got 2}}
executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = (memref<4xf32>) -> (), effects = [read, write]}

// -----

// expected-error @+1 {{expected a memref as argument 1, which is write, but got 'index'}}
executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = (memref<4xf32>, index) -> (), effects = [read, write]}

// -----

// expected-error @+1 {{unknown value 'reads' of 'effects'; did you mean 'read'?}}
executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", signature = (memref<4xf32>) -> (), effects = [reads]}

// -----

executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", workspace = 64, signature = (memref<4xf32>) -> ()}
func.func @f(%a: memref<4xf32>) {
  // expected-error @+1 {{expected 2 operands for '@a', but got 1}}
  executor.call @a(%a : memref<4xf32>)
  func.return
}

// -----

executor.artifact @a {format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = "x", workspace = 64, signature = (memref<4xf32>) -> ()}
func.func @f(%a: memref<4xf32>, %w: memref<32xi8>) {
  // expected-error @+1 {{expected 'memref<64xi8>' for operand 1 of '@a', but got 'memref<32xi8>'}}
  executor.call @a(%a, %w : memref<4xf32>, memref<32xi8>)
  func.return
}

// -----

// expected-error @+1 {{expected pairs of hexadecimal digits}}
"test.op"() {b = #executor.bytes<"7f4">} : () -> ()

// -----

// expected-error @+1 {{input 'x' is listed twice}}
"test.op"() {s = #executor.signature<(x : tensor<f32>, x : tensor<f32>) -> ()>} : () -> ()

// -----

// expected-error @+1 {{expected output 'x' to have elements of i1, i8 to i64, ui8 to ui64, index, f16, bf16, f32 or f64, but got 'tensor<2xi3>'}}
"test.op"() {s = #executor.signature<() -> (x : tensor<2xi3>)>} : () -> ()

// -----

// expected-error @+1 {{expected a name of output 0}}
"test.op"() {s = #executor.signature<() -> ("" : tensor<f32>)>} : () -> ()

// -----

// expected-error @+1 {{expected a tensor type, but got 'memref<f32>'}}
"test.op"() {s = #executor.signature<(x : memref<f32>) -> ()>} : () -> ()

// -----

// expected-error @+1 {{expected a '#executor.signature' for 'executor.signature', but got '1 : i64'}}
func.func private @f() attributes {executor.signature = 1, test.load = #executor.bytes<"00">}

// -----

// expected-error @+1 {{expected 'executor.messages' on a module, not on 'func.func'}}
func.func private @f() attributes {executor.messages = [], test.load = #executor.bytes<"00">}

// -----

// expected-error @+1 {{expected a list of strings for 'executor.messages', but got '"x"'}}
module attributes {executor.messages = "x", test.load = #executor.bytes<"00">} {}

// -----

// expected-error @+1 {{unknown attribute 'executor.message'; did you mean 'executor.messages'?}}
module attributes {executor.message = "x", test.load = #executor.bytes<"00">} {}

// -----

// expected-error @+1 {{expected a pool, an offset and a size for each input and output in 'executor.places', but got '{inputs = {x = [@p, 0 : i64]}}'}}
func.func private @f() attributes {executor.places = {inputs = {x = [@p, 0 : i64]}}}

// -----

graph.weight @w = dense<1.0> : tensor<4xf32>
// expected-error @+1 {{expected kind 'constants' of a pool with content}}
executor.pool @p {size = 16, content = [[@w, 0 : i64]]}

// -----

graph.weight @w = dense<1.0> : tensor<4xf32>
// expected-error @+1 {{expected weight '@w' within 16 bytes, but got 4 to 20}}
executor.pool @p {size = 16, kind = constants, content = [[@w, 4 : i64]]}

// -----

// expected-error @+1 {{expected a weight and an offset as content, but got '[0 : i64]'}}
executor.pool @p {size = 16, kind = constants, content = [[0 : i64]]}

// -----

executor.pool @q {size = 16}
// expected-error @+1 {{expected a weight, but '@q' is a 'executor.pool'}}
executor.pool @p {size = 16, kind = constants, content = [[@q, 0 : i64]]}
