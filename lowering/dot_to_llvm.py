"""
The pattern from `tir.dot` to the `llvm` dialect.

An instruction of the CPU where it is known to have one for the operands, else what
LLVM makes the best of: products of extended numbers, of which those of a lane are
added. Of signed 16-bit numbers x86 has an instruction for these at all times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

from xdsl.dialects.builtin import VectorType, i8, i32
from xdsl.ir import SSAValue

from transom.dialects import llvm, tir
from transom.dialects.tir.dot import DotInstructions
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.vector_to_llvm import broadcast, shuffle


class Instruction(NamedTuple):
    """An intrinsic function."""

    intrinsic: str
    swaps: bool
    """Whether it takes the right operand first."""


_NEON: Mapping[tuple[bool, bool], str] = {
    (False, False): "sdot",
    (True, True): "udot",
    (True, False): "usdot",
    (False, True): "usdot",
}


def instruction_for(op: tir.DotOp) -> Instruction | None:
    """The instruction for an op, if the CPU has one."""
    has = op.using
    if cast(VectorType, op.rhs.type).element_type != i8:
        return None
    signs = op.lhs_unsigned is not None, op.rhs_unsigned is not None
    if not has.takes_bytes(*signs):
        return None
    swaps = signs == (False, True)
    if has is DotInstructions.VNNI:
        if op.lanes not in (4, 8, 16):
            return None
        return Instruction(f"llvm.x86.avx512.vpdpbusd.{32 * op.lanes}", swaps)
    if op.lanes != 4:
        return None
    return Instruction(f"llvm.aarch64.neon.{_NEON[signs]}.v4i32.v16i8", swaps)


class ConvertDot(ConversionPattern[tir.DotOp]):
    root = tir.DotOp

    def match_and_rewrite(
        self, op: tir.DotOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        total, lhs, rhs = operands
        if len(cast(VectorType, op.lhs.type).get_shape()) == 1:
            lhs = repeated(rewriter, lhs, op.lanes)
        instruction = instruction_for(op)
        if instruction is None:
            rewriter.replace(op, (), (expanded(rewriter, op, total, lhs, rhs),))
            return
        first, second = (rhs, lhs) if instruction.swaps else (lhs, rhs)
        if op.using is DotInstructions.VNNI:  # which sees words of 32 bits
            words = VectorType(i32, [op.lanes])
            first, second = (
                rewriter.insert(llvm.BitcastOp(value, words)).result
                for value in (first, second)
            )
        call = llvm.CallIntrinsicOp(
            instruction.intrinsic, [total, first, second], [total.type]
        )
        rewriter.replace(op, call)


def repeated(rewriter: ConversionRewriter, value: SSAValue, lanes: int) -> SSAValue:
    """A group of numbers, for each of the lanes, moved as a word of 32 bits."""
    word = rewriter.insert(llvm.BitcastOp(value, i32)).result
    words = broadcast(rewriter, word, VectorType(i32, [lanes]))
    type = cast(VectorType, value.type)
    count = type.element_count() * lanes
    return rewriter.insert(
        llvm.BitcastOp(words, VectorType(type.element_type, [count]))
    ).result


def expanded(
    rewriter: ConversionRewriter,
    op: tir.DotOp,
    total: SSAValue,
    lhs: SSAValue,
    rhs: SSAValue,
) -> SSAValue:
    """Products of extended numbers, and the sum of each lane's."""
    wide = VectorType(i32, [op.lanes * op.group])

    def extended(value: SSAValue, is_unsigned: bool) -> SSAValue:
        kind = llvm.ZExtOp if is_unsigned else llvm.SExtOp
        return rewriter.insert(kind(value, wide)).res

    products = rewriter.insert(
        llvm.MulOp(
            extended(lhs, op.lhs_unsigned is not None),
            extended(rhs, op.rhs_unsigned is not None),
        )
    ).res
    parts = [
        shuffle(
            rewriter,
            products,
            products,
            range(number, op.lanes * op.group, op.group),
        )
        for number in range(op.group)
    ]
    while len(parts) > 1:
        parts = [
            rewriter.insert(llvm.AddOp(a, b)).res
            for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
    return rewriter.insert(llvm.AddOp(total, parts[0])).res
