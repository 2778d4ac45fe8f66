// RUN: transom-opt -p target-resolve-devices --split-input-file %s | filecheck %s
// RUN: transom-opt -p target-resolve-devices,target-resolve-devices --split-input-file %s | filecheck %s
// RUN: transom-opt -p target-resolve-devices,target-resolve-devices --split-input-file %s 2>&1 >%t | filecheck %s --check-prefix=NOTE

// NOTE:          note: no device is declared, so the host is assumed: '#llvm_cpu.target<cpu = "{{[a-z0-9._-]+}}"{{.*}}>'
// NOTE:          note: no device is declared
// NOTE:          note: no device is declared
// NOTE-NOT:      note:

// Without a device the host is one, under a name that is free.
// CHECK:         target.config = #target.config<host = @host_0, default_place = #target.place<@host_0, ?, ?>>
// CHECK-NEXT:    target.device @host_0 {targets = [#llvm_cpu.target<cpu = "{{[a-z0-9._-]+}}"{{.*}}>]}
// CHECK-NOT:     cpu = "host"
func.func private @host()

// -----

// The name that the configuration asks for is used; the rest of it stays.
// CHECK:         #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>, executor = vm>
// CHECK-NEXT:    target.device @cpu
module attributes {target.config = #target.config<host = @cpu, executor = vm>} {}

// -----

// `host` is replaced wherever it stands, and its features come last.
// CHECK:         target.device @cpu {targets = [#llvm_cpu.target<cpu = "[[CPU:[a-z0-9._-]+]]", features = [{{.*}}"-sse4a"]>]}
target.device @cpu {targets = [#llvm_cpu.target<cpu = "host", features = ["-sse4a"]>]}
// CHECK-LABEL: @everywhere
// CHECK-NOT:     cpu = "host"
func.func private @everywhere(
  tensor<4xf32, #graph.desc<place = #target.place<?, #llvm_cpu.target<cpu = "host">, ?>>>
) attributes {target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "host", features = ["-sse4a"]>, ?>}

// -----

// A device that runs main is the host; what is named already stays.
// CHECK:         #target.config<host = @cpu, default_place = #target.place<?, ?, @dram>>
// CHECK:         target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
module attributes {target.config = #target.config<default_place = #target.place<?, ?, @dram>>} {
  target.device @cpu {targets = [#llvm_cpu.target<cpu = "cortex-a53">]}
}

// -----

// A device that is named and not declared will be: no host is assumed meanwhile, but what
// needs no target is done.
// CHECK:         builtin.module {
// CHECK-NEXT:    func.func private @promised(){{.*}} attributes {target.for = #target.place<@npu, #llvm_cpu.target<cpu = "{{[a-z0-9._-]+}}"{{.*}}>, ?>}
func.func private @promised() attributes {target.for = #target.place<@npu, #llvm_cpu.target<cpu = "host">, ?>}

// -----

// One that is to be the host is assumed to be.
// CHECK:         target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, ?>>
// CHECK-NEXT:    target.device @cpu
module attributes {target.config = #target.config<host = @cpu>} {
  func.func private @f() attributes {target.for = #target.place<@cpu, ?, ?>}
}

// -----

// A memory that a target brings is declared in front of its device, which reaches it after
// those that it lists; the same from another target, or declared, is the same memory.
// CHECK:         target.memory @dram
// CHECK-NEXT:    target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}
// CHECK-NEXT:    target.device @npu {targets = [#toy_npu.target, #toy_npu.target<lanes = 8>], memories = [@dram], brought = [@toy_sram]}
// CHECK-NEXT:    target.device @second {targets = [#toy_npu.target<lanes = 16>, #llvm_cpu.target<cpu = "cortex-a53">], brought = [@toy_sram]}
target.memory @dram
target.device @npu {targets = [#toy_npu.target, #toy_npu.target<lanes = 8>], memories = [@dram]}
target.device @second {targets = [#toy_npu.target<lanes = 16>, #llvm_cpu.target<cpu = "cortex-a53">]}

// -----

// CHECK:         target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}
// CHECK-NEXT:    target.device @npu {targets = [#toy_npu.target], memories = [@toy_sram]}
// CHECK-NOT:     target.memory
target.memory @toy_sram {size = 65536, alignment = 16, planned_by = target}
target.device @npu {targets = [#toy_npu.target], memories = [@toy_sram]}
