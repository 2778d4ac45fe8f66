// RUN: %diagnose

// A target of another distribution has names, ranges, presets and lists of its own.
"test.op"() {t = #toy_npu.target<lanes = 64, scratchpad = 1048576, features = ["gelu", "bf16"]>} : () -> ()
"test.op"() {t = #toy_npu.target} : () -> ()
"test.op"() {t = #toy_npu.target<preset = "large">} : () -> ()

// -----

// expected-error @+1 {{expected 'lanes' to be a power of two from 1 to 64, but got 100; the nearest is 64}}
"test.op"() {t = #toy_npu.target<lanes = 100>} : () -> ()

// -----

// expected-error @+1 {{expected 'lanes' to be a power of two from 1 to 64, but got 23; the nearest is 16}}
"test.op"() {t = #toy_npu.target<lanes = 23>} : () -> ()

// -----

// expected-error @+1 {{expected 'scratchpad' to be a multiple of 1024 from 1024 to 1048576, but got 2000; the nearest is 2048}}
"test.op"() {t = #toy_npu.target<scratchpad = 2000>} : () -> ()

// -----

// expected-error @+1 {{unknown feature 'matmull'; did you mean 'matmul'?}}
"test.op"() {t = #toy_npu.target<features = ["matmull"]>} : () -> ()

// -----

// expected-error @+1 {{unknown feature 'int4'; expected one of 'bf16', 'gelu', 'matmul'}}
"test.op"() {t = #toy_npu.target<features = ["int4"]>} : () -> ()

// -----

// expected-error @+1 {{feature 'gelu' is listed twice}}
"test.op"() {t = #toy_npu.target<features = ["gelu", "gelu"]>} : () -> ()

// -----

// expected-error @+1 {{expected an integer for 'lanes' of '#toy_npu.target', but got '"four"'}}
"test.op"() {t = #toy_npu.target<lanes = "four">} : () -> ()

// -----

// expected-error @+1 {{unknown key 'cores' of '#toy_npu.target'; expected one of 'features', 'lanes', 'preset', 'scratchpad'}}
"test.op"() {t = #toy_npu.target<cores = 2>} : () -> ()

// -----

// expected-error @+1 {{unknown preset 'huge' of '#toy_npu.target'; expected one of 'large', 'small'}}
"test.op"() {t = #toy_npu.target<preset = "huge">} : () -> ()
