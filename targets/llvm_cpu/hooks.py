"""
The hooks of `llvm_cpu`: the shared pipeline is made for it, so it changes nothing.
"""

from transom.targets.hooks import TargetHooks
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr


class LlvmCpuTarget(TargetHooks[LlvmCpuAttr]):
    """A CPU that LLVM emits code for."""

    attr_type = LlvmCpuAttr
