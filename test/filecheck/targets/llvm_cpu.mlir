// RUN: %diagnose

// Changes of a level of an architecture, and of cores that are sold with options.
"test.op"() {t = #llvm_cpu.target<cpu = "x86-64", features = ["+avx2", "-sse4a"]>} : () -> ()
"test.op"() {t = #llvm_cpu.target<cpu = "znver4", features = ["-avx512f", "+prefer-256-bit"]>} : () -> ()
"test.op"() {t = #llvm_cpu.target<cpu = "cortex-a53", features = ["+sve"], triple = "aarch64-apple-ios">} : () -> ()
"test.op"() {t = #llvm_cpu.target<cpu = "host", features = ["-avx512f"]>} : () -> ()

// -----

// expected-error @+1 {{unknown CPU 'znver9'; did you mean 'znver5'?}}
"test.op"() {t = #llvm_cpu.target<cpu = "znver9">} : () -> ()

// -----

// expected-error @+1 {{unknown CPU 'haswell'; names are those of LLVM, such as 'x86-64-v3' or 'cortex-a53'}}
"test.op"() {t = #llvm_cpu.target<cpu = "haswell", triple = "aarch64-linux-gnu">} : () -> ()

// -----

// expected-error @+1 {{unknown CPU 'pentium'; names are those of LLVM, such as 'x86-64-v3' or 'cortex-a53'}}
"test.op"() {t = #llvm_cpu.target<cpu = "pentium">} : () -> ()

// -----

// expected-error @+1 {{unknown architecture 'x86' of triple 'x86-linux'; did you mean 'x86_64'?}}
"test.op"() {t = #llvm_cpu.target<cpu = "host", triple = "x86-linux">} : () -> ()

// -----

// expected-error @+1 {{expected '+avx2' or '-avx2' as a feature}}
"test.op"() {t = #llvm_cpu.target<cpu = "znver4", features = ["avx2"]>} : () -> ()

// -----

// expected-error @+1 {{unknown feature 'avx51f' of x86_64; did you mean 'avx512f'?}}
"test.op"() {t = #llvm_cpu.target<cpu = "znver4", features = ["+avx51f"]>} : () -> ()

// -----

// expected-error @+1 {{unknown feature 'avx51f'; did you mean 'avx512f'?}}
"test.op"() {t = #llvm_cpu.target<cpu = "host", features = ["+avx51f"]>} : () -> ()

// -----

// expected-error @+1 {{feature 'avx2' is listed twice}}
"test.op"() {t = #llvm_cpu.target<cpu = "x86-64", features = ["+avx2", "-avx2"]>} : () -> ()

// -----

// expected-error @+1 {{CPU 'haswell' lacks 'avx512f'; the nearest CPU that has it is 'skx'}}
"test.op"() {t = #llvm_cpu.target<cpu = "haswell", features = ["+avx512f"]>} : () -> ()

// -----

// expected-error @+1 {{CPU 'cortex-a53' lacks 'v8.2a'; the nearest CPU that has it is 'apple-a11'}}
"test.op"() {t = #llvm_cpu.target<cpu = "cortex-a53", features = ["+v8.2a"]>} : () -> ()

// -----

// expected-error @+1 {{CPU 'cortex-m4' lacks 'v8.1m.main', which 'mve' needs; the nearest CPU that has it is 'cortex-m55'}}
"test.op"() {t = #llvm_cpu.target<cpu = "cortex-m4", features = ["+mve"]>} : () -> ()

// -----

// expected-error @+1 {{unknown key 'cpus' of '#llvm_cpu.target'; did you mean 'cpu'?}}
"test.op"() {t = #llvm_cpu.target<cpus = "znver4">} : () -> ()

// -----

// expected-error @+1 {{expected 'cpu' in '#llvm_cpu.target'}}
"test.op"() {t = #llvm_cpu.target<features = []>} : () -> ()

// -----

// What the CPU is said to be, where LLVM does not know or a test wants another.
"test.op"() {t = #llvm_cpu.target<cpu = "znver4", facts = {has_fma = false, l2_bytes = 1048576, vector_bytes = 0}>} : () -> ()

// -----

// expected-error @+1 {{unknown fact 'l3_bytes'; did you mean 'l2_bytes'?}}
"test.op"() {t = #llvm_cpu.target<cpu = "znver4", facts = {l3_bytes = 1}>} : () -> ()

// -----

// expected-error @+1 {{unknown fact 'sockets'; expected one of 'cache_line', 'fma_chains', 'has_bf16', 'has_dot_product', 'has_fma', 'has_fp16', 'l1_bytes', 'l2_bytes', 'mask_bytes', 'vector_bytes', 'vector_registers'}}
"test.op"() {t = #llvm_cpu.target<cpu = "znver4", facts = {sockets = 2}>} : () -> ()

// -----

// expected-error @+1 {{expected 'vector_bytes' to be 0 or a power of two from 4 to 256, but got 24; the nearest is 16}}
"test.op"() {t = #llvm_cpu.target<cpu = "znver4", facts = {vector_bytes = 24}>} : () -> ()

// -----

// expected-error @+1 {{expected 'vector_registers' to be from 0 to 64, but got 65; the nearest is 64}}
"test.op"() {t = #llvm_cpu.target<cpu = "znver4", facts = {vector_registers = 65}>} : () -> ()

// -----

// expected-error @+1 {{expected an integer for 'l2_bytes', but got '"1M"'}}
"test.op"() {t = #llvm_cpu.target<cpu = "znver4", facts = {l2_bytes = "1M"}>} : () -> ()

// -----

// expected-error @+1 {{expected true or false for 'has_fma', but got '1 : i64'}}
"test.op"() {t = #llvm_cpu.target<cpu = "znver4", facts = {has_fma = 1}>} : () -> ()

// -----

// expected-error @+1 {{unknown preset 'raspberry-pi-6' of '#llvm_cpu.target'; did you mean 'raspberry-pi-5'?}}
"test.op"() {t = #llvm_cpu.target<preset = "raspberry-pi-6">} : () -> ()

// -----

// What stands beside a preset is checked with it.
// expected-error @+1 {{CPU 'cortex-m4' lacks 'v8.1m.main', which 'mve' needs; the nearest CPU that has it is 'cortex-m55'}}
"test.op"() {t = #llvm_cpu.target<preset = "stm32f4", features = ["+mve"]>} : () -> ()
