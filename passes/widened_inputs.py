"""
Inputs that a nest extends wherever it uses them: f16 and bf16, computed in f32.

A copy of them in the wider type is extended once, and not at each point that reads it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FloatAttr
from xdsl.ir import Attribute, BlockArgument
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from transom.dialects.tir import AccessAttr, NestOp


def widened_type(nest: NestOp, position: int) -> Attribute | None:
    """The type that an input is extended to by all that uses it, if there is one."""
    types: set[Attribute] = set()
    for argument in _arguments(nest, position):
        for use in argument.uses:
            if not isinstance(use.operation, arith.ExtFOp):
                return None
            types.add(use.operation.result.type)
    return types.pop() if len(types) == 1 else None


def let_read_widened(nest: NestOp, position: int, type: Attribute) -> None:
    """Let the regions of a nest take an input in a wider type, and its padding too."""
    for argument in _arguments(nest, position):
        for use in tuple(argument.uses):
            assert isinstance(use.operation, arith.ExtFOp), "widened_type() says so"
            use.operation.result.replace_all_uses_with(argument)
            Rewriter.erase_op(use.operation)
        Rewriter.replace_value_with_new_type(argument, type)
    accesses = list(nest.in_accesses)
    access = accesses[position]
    if isa(pad := access.pad, FloatAttr[AnyFloat]) and isinstance(type, AnyFloat):
        wide = FloatAttr(pad.value.data, type)
        accesses[position] = AccessAttr(access.map, wide, access.combine)
        nest.in_accesses = ArrayAttr(accesses)


def _arguments(nest: NestOp, position: int) -> Sequence[BlockArgument]:
    """The arguments of the regions of a nest for an input."""
    found = [*nest.body_ins[position : position + 1]]
    if position in nest.finish_ins:
        found.append(nest.finish_ins[position])
    return found
