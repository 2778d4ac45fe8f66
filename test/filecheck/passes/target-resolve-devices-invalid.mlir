// RUN: %diagnose -p target-resolve-devices

// expected-error @+1 {{expected 'host' in 'target.config' to name the device that runs main, as 2 are declared}}
module {
  target.device @big {targets = [#llvm_cpu.target<cpu = "cortex-a72">]}
  target.device @little {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
}

// -----

// expected-error @+1 {{unknown host device '@gpu'; did you mean '@cpu'?}}
module attributes {target.config = #target.config<host = @gpu>} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
}

// -----

// expected-note @+1 {{declared here}}
target.memory @toy_sram {size = 1024}
// expected-error @+1 {{'#toy_npu.target' brings 'target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}', but there is 'target.memory @toy_sram {size = 1024}'}}
target.device @npu {targets = [#toy_npu.target]}

// -----

// expected-note @+1 {{'#toy_npu.target' brings it}}
target.device @npu {targets = [#toy_npu.target]}
// expected-error @+1 {{'#toy_npu.target<scratchpad = 1024>' brings 'target.memory @toy_sram {size = 1024, alignment = 16, planned_by = target}', but there is 'target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}'}}
target.device @second {targets = [#toy_npu.target<scratchpad = 1024>, #llvm_cpu.target<cpu = "cortex-a53">]}

// -----

// expected-error @+1 {{'#toy_npu.target' brings 'target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}', but there is 'func.func private @toy_sram() -> ()'}}
target.device @npu {targets = [#toy_npu.target]}
// expected-note @+1 {{declared here}}
func.func private @toy_sram() -> ()

// -----

// The CPU that is wrong has a place of its own.
target.device @npu {targets = [#toy_npu.target]}
// expected-error-re @+1 {{the host cannot be '#llvm_cpu.target<cpu = "host", triple = "riscv64-unknown-elf">': unknown CPU '{{.*}}'{{.*}}}}
func.func private @f() attributes {target.for = #target.place<?, #llvm_cpu.target<cpu = "host", triple = "riscv64-unknown-elf">, ?>}
