"""
The `llvm_cpu` dialect: CPUs that LLVM generates code for.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_attr_definition, param_def

from transom.dialects.target import TargetAttr


@irdl_attr_definition
class LlvmCpuAttr(TargetAttr):
    """
    A CPU: its name and features as LLVM knows them, and the triple of the system on it.

    ```mlir
    #llvm_cpu.target<cpu = "znver4", features = ["-avx512f"]>
    ```
    """

    name = "llvm_cpu.target"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "features": ArrayAttr(()),
        "triple": StringAttr(""),
    }

    cpu: StringAttr = param_def()
    features: ArrayAttr[StringAttr] = param_def()
    triple: StringAttr = param_def()

    @classmethod
    def get(
        cls, cpu: str, features: Sequence[str] = (), triple: str = ""
    ) -> "LlvmCpuAttr":
        """The target of this CPU; an empty triple is that of the host."""
        return LlvmCpuAttr(
            StringAttr(cpu), ArrayAttr(map(StringAttr, features)), StringAttr(triple)
        )


LlvmCpu = Dialect("llvm_cpu", [], [LlvmCpuAttr])
