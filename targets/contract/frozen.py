"""
What an op was, kept while passes change it, without locations and names of values.

Attributes are immutable and shared, so that keeping and comparing costs little.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from transom.targets.contract.rules import shown


class FrozenBlock(NamedTuple):
    """A block as it was."""

    block: Block
    arguments: tuple[SSAValue, ...]
    types: tuple[Attribute, ...]
    ops: "tuple[FrozenOp, ...]"


class FrozenOp(NamedTuple):
    """An op as it was; `op` itself may have changed, or be gone."""

    op: Operation
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    operands: tuple[SSAValue, ...]
    results: tuple[SSAValue, ...]
    types: tuple[Attribute, ...]
    successors: tuple[Block, ...]
    regions: tuple[tuple[FrozenBlock, ...], ...]


def freeze(op: Operation) -> FrozenOp:
    """An op and all that it holds, as they are."""
    results = tuple(op.results)
    return FrozenOp(
        op,
        dict(op.properties),
        dict(op.attributes),
        tuple(op.operands),
        results,
        tuple(result.type for result in results),
        tuple(op.successors),
        tuple(
            tuple(_freeze_block(block) for block in region.blocks)
            for region in op.regions
        ),
    )


def _freeze_block(block: Block) -> FrozenBlock:
    arguments = tuple(block.args)
    return FrozenBlock(
        block,
        arguments,
        tuple(argument.type for argument in arguments),
        tuple(map(freeze, block.ops)),
    )


def walk_frozen(op: FrozenOp) -> Iterator[FrozenOp]:
    """An op and all that it held, in order."""
    yield op
    for region in op.regions:
        for block in region:
            for inner in block.ops:
                yield from walk_frozen(inner)


def name_of(op: Operation) -> str:
    """The name of an op as it is written."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def change_of(
    old: FrozenOp, new: Operation, ignored: Collection[str] = ()
) -> str | None:
    """
    What is different in an op, other than operands and the ops in its regions, or None.

    Attributes that are `ignored` may differ.
    """
    for before, after in (
        (old.properties, new.properties),
        (old.attributes, new.attributes),
    ):
        if (change := attribute_change(before, after, ignored)) is not None:
            return change
    for index, (type, result) in enumerate(zip(old.types, new.results, strict=False)):
        if type != result.type:
            return f"result {index} was '{shown(type)}', but is '{shown(result.type)}'"
    for what, then, now in (
        ("results", len(old.types), len(new.results)),
        ("operands", len(old.operands), len(new.operands)),
        ("successors", len(old.successors), len(new.successors)),
        ("regions", len(old.regions), len(new.regions)),
    ):
        if then != now:
            return f"the number of {what} was {then}, but is {now}"
    return _change_of_blocks(old, new)


def attribute_change(
    old: Mapping[str, Attribute],
    new: Mapping[str, Attribute],
    ignored: Collection[str] = (),
) -> str | None:
    """What is different in the attributes of an op, or None."""
    if old == new:
        return None
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        if key in ignored or before == after:
            continue
        if after is None:
            return f"attribute '{key}' is gone"
        if before is None:
            return f"attribute '{key}' is new"
        return f"attribute '{key}' was '{shown(before)}', but is '{shown(after)}'"
    return None


def _change_of_blocks(old: FrozenOp, new: Operation) -> str | None:
    for blocks, region in zip(old.regions, new.regions, strict=True):
        if len(blocks) != len(region.blocks):
            now = len(region.blocks)
            return f"the number of blocks was {len(blocks)}, but is {now}"
        for before, after in zip(blocks, region.blocks, strict=True):
            types = tuple(argument.type for argument in after.args)
            if before.types != types:
                return "a block has other arguments"
    return None


def is_same(
    old: FrozenOp, new: Operation, values: dict[SSAValue, SSAValue] | None = None
) -> bool:
    """Whether an op and all in it are as they were; `values` maps those outside."""
    values = {} if values is None else values
    if old.op.name != new.name or change_of(old, new) is not None:
        return False
    operands = zip(old.operands, new.operands, strict=True)
    if any(values.get(before) is not after for before, after in operands):
        return False
    values.update(zip(old.results, new.results, strict=True))
    for blocks, region in zip(old.regions, new.regions, strict=True):
        for frozen, block in zip(blocks, region.blocks, strict=True):
            values.update(zip(frozen.arguments, block.args, strict=True))
            ops = tuple(block.ops)
            if len(ops) != len(frozen.ops):
                return False
            if not all(map(is_same, frozen.ops, ops, [values] * len(ops))):
                return False
    return True
