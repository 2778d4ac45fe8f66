"""
The hooks of `llvm_cpu`: the shared pipeline is made for it, and told its registers.
"""

from collections.abc import Mapping

from transom.targets.hooks import TargetHooks
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.facts import cpu_facts


class LlvmCpuTarget(TargetHooks[LlvmCpuAttr]):
    """A CPU that LLVM emits code for."""

    attr_type = LlvmCpuAttr

    def pass_options(self, target: LlvmCpuAttr) -> Mapping[str, Mapping[str, int]]:
        facts = cpu_facts(target)
        return {
            "graph-choose-layouts": {"vector-bytes": facts.vector_bytes},
            "lower-math-to-polynomials": {"fma": facts.has_fma},
            "tir-choose-schedule": {
                "vector-bytes": facts.vector_bytes,
                "register-count": facts.vector_registers,
                "l1-bytes": facts.l1_bytes,
                "l2-bytes": facts.l2_bytes or facts.l1_bytes,
                "mask-bytes": facts.mask_bytes,
                "chains": facts.fma_chains,
            },
        }
