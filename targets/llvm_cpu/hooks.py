"""
The hooks of `llvm_cpu`: the shared pipeline is made for it, and told its registers.
"""

from collections.abc import Mapping

from transom.dialects.tir.dot import DotInstructions
from transom.targets.hooks import TargetHooks
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.facts import cpu_facts, dot_instructions, rounds_to_bf16


class LlvmCpuTarget(TargetHooks[LlvmCpuAttr]):
    """A CPU that LLVM emits code for."""

    attr_type = LlvmCpuAttr

    def pass_options(
        self, target: LlvmCpuAttr
    ) -> Mapping[str, Mapping[str, int | str]]:
        facts, dot = cpu_facts(target), dot_instructions(target)
        return {
            "convert-tir-to-scf": {
                **({"dot": str(dot)} if has_bytes(dot) else {}),
                **({"bf16": True} if rounds_to_bf16(target) else {}),
            },
            "graph-fold-dequantize": {"activations": faster_sign(dot)},
            "graph-choose-layouts": {"vector-bytes": facts.vector_bytes},
            "lower-math-to-polynomials": {"fma": facts.has_fma},
            "tir-choose-schedule": {
                "vector-bytes": facts.vector_bytes,
                "register-count": max(1, facts.vector_registers),  # 0: no vectors
                "l1-bytes": facts.l1_bytes,
                "l2-bytes": facts.l2_bytes or facts.l1_bytes,
                "mask-bytes": facts.mask_bytes,
                "chains": facts.fma_chains,
                "dot": str(dot),
            },
            "tir-reshape-dims": {"vector-bytes": facts.vector_bytes},
            "tir-use-winograd": {"l2-bytes": facts.l2_bytes or facts.l1_bytes},
        }


def has_bytes(dot: DotInstructions) -> bool:
    """Whether there are instructions that LLVM has to be told to use."""
    return dot not in (DotInstructions.NONE, DotInstructions.PAIRS)


def faster_sign(dot: DotInstructions) -> str:
    """Which bytes are multiplied faster by signed ones."""
    if dot.takes_bytes(True, False) == dot.takes_bytes(False, False):
        return "any"
    return "unsigned" if dot.takes_bytes(True, False) else "signed"
