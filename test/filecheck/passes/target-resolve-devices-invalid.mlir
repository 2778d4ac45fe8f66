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
