"""
Control flow between blocks: fewer branches, fewer blocks.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from xdsl.dialects import cf, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.traits import ReturnLike

from transom.tools.reduction.edits import (
    VALUES,
    Edit,
    erase,
    erase_blocks,
    is_attached,
    stand_in,
)


def take_one_branch(module: ModuleOp) -> list[Edit]:
    """Always go to one of the successors of a branch."""
    return [
        partial(_branch, index, number)
        for index, op in enumerate(module.walk())
        if len(op.successors) > 1
        for number in range(len(op.successors))
    ]


def _branch(index: int, number: int, ops: Sequence[Operation]) -> bool:
    op = ops[index]
    block = op.parent_block()
    if not is_attached(op, ops[0]) or block is None or len(op.successors) < 2:
        return False
    target = op.successors[number]
    rest = list(op.operands)
    values = [
        next((value for value in rest if value.type == type), None)
        or stand_in(op, type, VALUES)
        for type in target.arg_types
    ]
    new = (
        llvm.BrOp(target, *values)
        if op.name.startswith("llvm.")
        else cf.BranchOp(target, *values)
    )
    new.location = op.location
    erase(op)
    block.add_op(new)
    return True


def return_early(module: ModuleOp) -> list[Edit]:
    """End a block as another block of the region does that leaves it."""
    return [
        partial(_return, index)
        for index, op in enumerate(module.walk())
        if op.successors
    ]


def _return(index: int, ops: Sequence[Operation]) -> bool:
    op = ops[index]
    block = op.parent_block()
    if not is_attached(op, ops[0]) or block is None or block.parent is None:
        return False
    for other in block.parent.blocks:
        last = other.last_op
        if last is None or not last.has_trait(ReturnLike, value_if_unregistered=False):
            continue
        values = [stand_in(op, value.type, VALUES) for value in last.operands]
        new = last.clone()
        new.operands = values
        erase(op)
        block.add_op(new)
        return True
    return False


def drop_blocks(module: ModuleOp) -> list[Edit]:
    """Drop blocks that no branch leads to."""
    return [
        partial(_drop_unreachable, index, number)
        for index, op in enumerate(module.walk())
        for number, region in enumerate(op.regions)
        if any(_unreachable(region))
    ]


def _unreachable(region: Region) -> Iterator[Block]:
    first = region.first_block
    if first is None or first is region.last_block:
        return
    reached = {first}
    todo = [first]
    while todo:
        last = todo.pop().last_op
        for successor in () if last is None else last.successors:
            if successor not in reached:
                reached.add(successor)
                todo.append(successor)
    yield from (block for block in region.blocks if block not in reached)


def _drop_unreachable(index: int, number: int, ops: Sequence[Operation]) -> bool:
    op = ops[index]
    if not is_attached(op, ops[0]):
        return False
    region = op.regions[number]
    blocks = list(_unreachable(region))
    erase_blocks(region, blocks)
    return bool(blocks)


def merge_blocks(module: ModuleOp) -> list[Edit]:
    """Join a block to the only one that leads to it."""
    return [
        partial(_merge, index)
        for index, op in enumerate(module.walk())
        if isinstance(op, cf.BranchOp | llvm.BrOp)
    ]


def _merge(index: int, ops: Sequence[Operation]) -> bool:
    op = ops[index]
    block = op.parent_block()
    if not is_attached(op, ops[0]) or block is None or block.parent is None:
        return False
    target = op.successors[0]
    if target is block or target.predecessors() != (block,):
        return False
    for argument, value in zip(target.args, op.operands, strict=True):
        argument.replace_all_uses_with(value)
    erase(op)
    for nested in list(target.ops):
        nested.detach()
        block.add_op(nested)
    block.parent.erase_block(target)
    return True
