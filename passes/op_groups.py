"""
Putting ops of a block into an op with a body: fused groups, composites, regions.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, FusedLoc, LocationAttr, NoneAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects import graph

GroupT = TypeVar("GroupT", bound=graph.GroupOp, covariant=True)


class MakeGroup(Protocol[GroupT]):
    """Makes the op around a body."""

    def __call__(
        self,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        body: Region | None = None,
        location: LocationAttr | None = None,
    ) -> GroupT: ...


def place_in_order(block: Block, groups: Sequence[Sequence[Operation]]) -> None:
    """Put the ops of a block into an order, before its terminator."""
    ops = [op for group in groups for op in group]
    for op in ops:
        op.detach()
    if block.last_op is None:
        block.add_ops(ops)
    else:
        block.insert_ops_before(ops, block.last_op)


def group_ops(
    ops: Sequence[Operation],
    make: MakeGroup[GroupT],
    copied: Iterable[Operation] = (),
) -> GroupT:
    """
    Put neighbouring ops into the body of one op, in the place of the last of them.

    Its inputs are in the order of first use, its results in the order of definition.
    Ops of `copied` that they read, operands before their readers, are copied into the
    body, and removed if nothing else reads them.
    """
    members = set(ops)
    copies = {op: op.clone() for op in dict.fromkeys(copied)}
    inputs = dict.fromkeys(
        operand
        for op in (*copies, *ops)
        for operand in outer_operands(op)
        if operand.owner not in members and operand.owner not in copies
    )
    outputs = [
        result
        for op in ops
        for result in op.results
        if any(use.operation not in members for use in result.uses)
    ]
    body = Block(arg_types=[value.type for value in inputs])
    inner: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for value, argument in zip(inputs, body.args, strict=True):
        argument.name_hint = value.name_hint
    for original, copy in copies.items():
        copy.operands = [inner.get(operand, operand) for operand in copy.operands]
        body.add_op(copy)
        inner |= dict(zip(original.results, copy.results, strict=True))
    last = ops[-1]
    types = [value.type for value in outputs]
    group = make(tuple(inputs), types, Region(body), fused_location(ops))
    assert last.parent is not None, "the ops of a block"
    last.parent.insert_op_before(group, last)
    for old, new in zip(outputs, group.results, strict=True):
        old.replace_uses_with_if(new, lambda use: use.operation not in members)
        new.name_hint = old.name_hint
    for op in ops:
        op.detach()
        for reader in op.walk():
            reader.operands = [inner.get(value, value) for value in reader.operands]
        body.add_op(op)
    end = graph.YieldOp(*outputs)
    end.location = group.location
    body.add_op(end)
    for original in reversed(copies):
        if not any(result.uses for result in original.results):
            original.detach()
            original.erase()
    return group


def outer_operands(op: Operation) -> Iterator[SSAValue]:
    """What an op, and the ops in its regions, read of what is defined outside of it."""
    if not op.regions:
        yield from op.operands
        return
    for reader in op.walk():
        for operand in reader.operands:
            owner = operand.owner
            home = owner if isinstance(owner, Operation) else owner.parent_op()
            if home is None or not op.is_ancestor(home) or reader is op:
                yield operand


def fused_location(ops: Sequence[Operation]) -> LocationAttr:
    """All the places that a group comes from."""
    known = [op.location for op in ops if op.location != UNKNOWN_LOC]
    distinct = list(dict.fromkeys(known))
    if len(distinct) == 1:
        return distinct[0]
    return FusedLoc(tuple(distinct), NoneAttr()) if distinct else UNKNOWN_LOC
