"""
Regions: their ops instead of the op that holds them, or none.
"""

from collections.abc import Sequence
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects.symbols import symbol_name
from transom.tools.reduction.edits import (
    VALUES,
    Edit,
    erase,
    erase_blocks,
    is_attached,
    is_terminator,
    replace_results,
    stand_in,
)


def inline_regions(module: ModuleOp) -> list[Edit]:
    """
    Put the ops of a region in the place of the op around it, outermost ones first.

    Arguments of its block become operands of the op, results what its terminator has,
    as far as the types agree.
    """
    return [
        partial(_inline, index, number)
        for index, op in enumerate(module.walk())
        if op.parent is not None and symbol_name(op) is None
        for number, region in enumerate(op.regions)
        if region.first_block is not None and region.first_block is region.last_block
    ]


def _inline(index: int, number: int, ops: Sequence[Operation]) -> bool:
    op = ops[index]
    outer = op.parent_block()
    block = op.regions[number].first_block
    if not is_attached(op, ops[0]) or outer is None or block is None:
        return False
    operands = list(op.operands)
    for argument in block.args:
        value = _take(operands, argument.type)
        if value is None:
            value = stand_in(op, argument.type, VALUES)
        argument.replace_all_uses_with(value)
    inner = list(block.ops)
    values: tuple[SSAValue, ...] = ()
    if inner and is_terminator(inner[-1]):
        terminator = inner.pop()
        values = tuple(terminator.operands)
        erase(terminator)
    for nested in inner:
        nested.detach()
        outer.insert_op_before(nested, op)
    replace_results(op, VALUES, values=values)
    erase(op)
    return True


def _take(values: list[SSAValue], type: Attribute) -> SSAValue | None:
    """The first value of a type; it and all before it are not taken again."""
    for position, value in enumerate(values):
        if value.type == type:
            del values[: position + 1]
            return value
    return None


def empty_regions(module: ModuleOp) -> list[Edit]:
    """Leave out the content of regions, such as that of an `else`."""
    return [
        partial(_empty, index, number)
        for index, op in enumerate(module.walk())
        if op.parent is not None and symbol_name(op) is None
        for number, region in enumerate(op.regions)
        if region.blocks
    ]


def _empty(index: int, number: int, ops: Sequence[Operation]) -> bool:
    op = ops[index]
    if not is_attached(op, ops[0]):
        return False
    region = op.regions[number]
    erase_blocks(region, tuple(region.blocks))
    return True
