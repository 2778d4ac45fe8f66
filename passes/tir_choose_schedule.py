"""
Give each nest a schedule that suits most machines.

The lanes of vectors go along a dim on which outputs are contiguous, or else along a sum
whose inputs are. A sum also gets copies: points along another dim that share what is
loaded, or several vectors, so that additions do not wait for each other.

```mlir
tir.nest dims [parallel 64, parallel 64, reduction 64]
    ins(%a[d0, d2] : …, %b[d2, d1] : …) outs(%o[d0, d1] : …)
==>
    schedule #tir.schedule<register = [d0 : 8], vector = d1 : 16>
```

Nests that have a schedule keep it. The options say how large the vector registers are
in bytes, and how many there are.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from transom.dialects import tir
from transom.passes.kernel_pass import KernelPass
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.schedules import Machine, choose_schedule


@dataclass(frozen=True)
class TirChooseSchedulePass(KernelPass):
    name = "tir-choose-schedule"

    is_kept = False

    vector_bytes: int = 32
    register_count: int = 16

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        machine = Machine(self.vector_bytes, self.register_count)
        for nest in module.walk():
            if not isinstance(nest, tir.NestOp) or nest.schedule is not None:
                continue
            if may_rewrite("choose a schedule", nest):
                nest.schedule = choose_schedule(nest, machine)
