// RUN: %roundtrip | filecheck %s
// RUN: transom-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK:         target.config = #target.config<host = @cpu, default_place = #target.place<@cpu, ?, @dram>, executor = graph, phase = "placed", options = {winograd = true}>
module attributes {target.config = #target.config<
    phase = "placed", executor = graph, host = @cpu,
    default_place = #target.place<@cpu, ?, @dram>, options = {winograd = true}>} {
  // A memory without keys is unbounded.
  // CHECK:         target.memory @dram
  // CHECK-NEXT:    target.memory @sram {size = 65536, alignment = 16, planned_by = target}
  // GENERIC:       "target.memory"() <{sym_name = "sram", size = 65536 : i64, alignment = 16 : i64, planned_by = #target<planner target>}>
  target.memory @dram
  target.memory @sram {planned_by = target, alignment = 16, size = 65536}

  // CHECK-NEXT:    target.link @dram -> @sram {bandwidth = 1.5e+09, latency = 1.0e-07}
  // CHECK-NEXT:    target.link @sram -> @dram {bandwidth = 8.0}
  target.link @dram -> @sram {bandwidth = 1.5e9, latency = 1.0e-7}
  target.link @sram -> @dram {bandwidth = 8}

  // Several targets compile for one device; devices may have equal targets.
  // CHECK-NEXT:    target.device @cpu {targets = [#llvm_cpu.target<cpu = "znver4">, #llvm_cpu.target<cpu = "x86-64-v3">], memories = [@dram]}
  // CHECK-NEXT:    target.device @npu {targets = [#llvm_cpu.target<cpu = "znver4">]}
  target.device @cpu {
    memories = [@dram],
    targets = [#llvm_cpu.target<cpu = "znver4">, #llvm_cpu.target<cpu = "x86-64-v3">]
  }
  target.device @npu {targets = [#llvm_cpu.target<cpu = "znver4">]}

  // Discardable attributes stand among the keys.
  // CHECK-NEXT:    target.memory @flash {size = 4096, test.flag, test.rows = [1 : i64, 2 : i64]}
  target.memory @flash {test.flag, size = 4096, test.rows = [1, 2]}

  // A place may name a device that is not declared yet.
  // CHECK:         attributes {target.for = #target.place<@promised, ?, @sram>, target.phase = "tensor"}
  func.func private @f() attributes {
    target.for = #target.place<@promised, ?, @sram>, target.phase = "tensor"
  }
  // CHECK:         attributes {target.lowered_to = [@k0, @k1]}
  func.func private @g() attributes {target.lowered_to = [@k0, @k1]}
}

// CHECK-LABEL: @places
func.func private @places() attributes {
  // CHECK-SAME:    test.any = #target.any_of<[#target.place<@a, ?, ?>, #target.place<?, ?, @b>]>
  test.any = #target.any_of<[#target.place<@a, ?, ?>, #target.place<?, ?, @b>]>,
  // CHECK-SAME:    test.config = #target.config
  test.config = #target.config<>,
  // The host is named when a file is read; other defaults are left out.
  // CHECK-SAME:    test.host = #llvm_cpu.target<cpu = "{{[a-z0-9._-]+}}"
  test.host = #llvm_cpu.target<cpu = "host">,
  // CHECK-SAME:    test.cpu = #llvm_cpu.target<cpu = "znver4">
  test.cpu = #llvm_cpu.target<features = [], cpu = "znver4", triple = "", facts = {}>
}
// CHECK-NOT:     cpu = "host"

// An op may say which targets do not run it, and why.
// CHECK:         target.refused = [#target.refusal<#llvm_cpu.target<cpu = "znver4">, "expected \22f32\22">]
"test.op"() {target.refused = [#target.refusal<#llvm_cpu.target<cpu = "znver4">, "expected \22f32\22">]} : () -> ()
