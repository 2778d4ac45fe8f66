// RUN: %diagnose

"test.op"() {t = #c_source.target} : () -> ()
"test.op"() {t = #c_source.target<index_bits = 32, headers = ["arm_nnfunctions.h"]>} : () -> ()

// -----

// expected-error @+1 {{expected 32 or 64 as 'index_bits', but got 16}}
"test.op"() {t = #c_source.target<index_bits = 16>} : () -> ()

// -----

// expected-error @+1 {{expected the name of a file in 'headers', but got 'a.h"'}}
"test.op"() {t = #c_source.target<headers = ["a.h\""]>} : () -> ()

// -----

// expected-error @+1 {{unknown key 'bits' of '#c_source.target'}}
"test.op"() {t = #c_source.target<bits = 32>} : () -> ()
