"""
`tir.rounds`: an `arith.truncf` from f32 to bf16 that the CPU has an instruction for.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr, bf16, f32
from xdsl.ir import Operation

from transom.dialects import llvm

ROUNDS = "tir.rounds"
"""The discardable attribute; what is computed is the same with it and without."""

LEAST_LANES = 4
"""Fewer numbers fill no register."""


def let_round(op: Operation) -> None:
    """
    Say that an op is to be an instruction, if it rounds vectors that are stored. What
    is extended again at once is rounded in place with less.
    """
    if not isinstance(op, arith.TruncFOp):
        return
    wide, narrow = llvm.as_vector(op.input.type), llvm.as_vector(op.result.type)
    if wide is None or narrow is None:
        return
    if wide.element_type != f32 or narrow.element_type != bf16:
        return
    lanes = narrow.element_count()
    is_stored = any(not isinstance(u.operation, arith.ExtFOp) for u in op.result.uses)
    if is_stored and lanes >= LEAST_LANES and lanes & (lanes - 1) == 0:
        op.attributes[ROUNDS] = UnitAttr()
