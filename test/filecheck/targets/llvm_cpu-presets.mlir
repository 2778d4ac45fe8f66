// RUN: %roundtrip | filecheck %s

// A preset is spelled out; what stands beside it replaces what it says.
// CHECK:         #llvm_cpu.target<cpu = "cortex-a76", facts = {l1_bytes = 65536, l2_bytes = 524288}>
"test.op"() {t = #llvm_cpu.target<preset = "raspberry-pi-5">} : () -> ()
// CHECK-NEXT:    #llvm_cpu.target<cpu = "cortex-a76", features = ["+crypto"], facts = {l2_bytes = 262144}>
"test.op"() {t = #llvm_cpu.target<features = ["+crypto"], preset = "raspberry-pi-5", facts = {l2_bytes = 262144}>} : () -> ()
// CHECK-NEXT:    #llvm_cpu.target<cpu = "cortex-m4", triple = "thumbv7em-none-eabihf", facts = {l1_bytes = 0, l2_bytes = 0}>
"test.op"() {t = #llvm_cpu.target<preset = "stm32f4">} : () -> ()
// CHECK-NEXT:    #llvm_cpu.target<cpu = "x86-64-v3">
"test.op"() {t = #llvm_cpu.target<preset = "x86-64-v3">} : () -> ()
