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
in bytes, 0 if there are none, how many there are, and which instructions sum products
of small integers.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, OpResult
from xdsl.passes import ModulePass

from transom.dialects import graph, tir
from transom.dialects.target import Range
from transom.dialects.tir.dot import DotInstructions
from transom.passes.kernel_weights import kernel_around
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.schedules import Machine, choose_schedule

LIMITS = {
    "vector_bytes": Range(4, 256, power_of_two=True, or_zero=True),
    "register_count": Range(1, 64),
    "l1_bytes": Range(0, 1 << 30),
    "l2_bytes": Range(0, 1 << 40),
    "mask_bytes": Range(1, 16, power_of_two=True, or_zero=True),
    "chains": Range(1, 64),
}
"""What the options may be."""


@dataclass(frozen=True)
class TirChooseSchedulePass(ModulePass):
    name = "tir-choose-schedule"

    vector_bytes: int = 32
    register_count: int = 16
    l1_bytes: int = 32 * 1024
    l2_bytes: int = 256 * 1024
    mask_bytes: int = 4
    chains: int = 8
    dot: DotInstructions = DotInstructions.NONE

    def __post_init__(self) -> None:
        for field, limits in LIMITS.items():
            limits.verify(field.replace("_", "-"), getattr(self, field))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = Machine(
            self.vector_bytes,
            self.register_count,
            self.l1_bytes,
            self.l2_bytes,
            self.mask_bytes,
            self.chains,
            self.dot,
        )
        constants = constant_arguments(op)
        for nest in op.walk():
            if not isinstance(nest, tir.NestOp) or nest.schedule is not None:
                continue
            if may_rewrite("choose a schedule", nest):
                weights = constant_inputs(nest, constants)
                nest.schedule = choose_schedule(nest, machine, weights)


def constant_arguments(module: ModuleOp) -> dict[str, frozenset[int]]:
    """For each kernel that is called, the arguments that are weights in each call."""
    found: dict[str, frozenset[int]] = {}
    for op in module.walk():
        if not isinstance(op, tir.CallOp):
            continue
        weights = frozenset(
            number
            for number, value in enumerate(op.operands)
            if isinstance(value, OpResult) and isinstance(value.op, graph.WeightRefOp)
        )
        found[op.callee_name] = found.get(op.callee_name, weights) & weights
    return found


def constant_inputs(
    nest: tir.NestOp, constants: dict[str, frozenset[int]]
) -> frozenset[int]:
    """The inputs of a nest that are arguments of its kernel which are weights."""
    kernel = kernel_around(nest)
    if kernel is None:
        return frozenset()
    weights = constants.get(kernel.sym_name.data, frozenset())
    return frozenset(
        position
        for position, value in enumerate(nest.ins)
        if isinstance(value, BlockArgument)
        and value.block is kernel.body.block
        and value.index in weights
    )
