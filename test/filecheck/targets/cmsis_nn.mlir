// RUN: %diagnose

"test.op"() {t = #cmsis_nn.target<cpu = "cortex-m55">} : () -> ()
"test.op"() {t = #cmsis_nn.target<cpu = "cortex-m33", facts = {has_dsp = false}>} : () -> ()
"test.op"() {t = #cmsis_nn.target<cpu = "cortex-m55", facts = {has_mve = false}>} : () -> ()

// -----

// expected-error @+1 {{unknown CPU 'cortex-m5'; did you mean 'cortex-m55'?}}
"test.op"() {t = #cmsis_nn.target<cpu = "cortex-m5">} : () -> ()

// -----

// expected-error @+1 {{unknown key 'core' of '#cmsis_nn.target'}}
"test.op"() {t = #cmsis_nn.target<core = "cortex-m4">} : () -> ()

// -----

// expected-error @+1 {{unknown fact 'has_mva'; did you mean 'has_mve'?}}
"test.op"() {t = #cmsis_nn.target<cpu = "cortex-m4", facts = {has_mva = true}>} : () -> ()

// -----

// expected-error @+1 {{expected true or false for 'has_mve', but got '1 : i64'}}
"test.op"() {t = #cmsis_nn.target<cpu = "cortex-m4", facts = {has_mve = 1}>} : () -> ()

// -----

// expected-error @+1 {{expected 'has_dsp' of a core with 'has_mve'}}
"test.op"() {t = #cmsis_nn.target<cpu = "cortex-m55", facts = {has_dsp = false}>} : () -> ()
