"""
Check ops against their definitions, and say so once per kind of op.

What an op's definition asks of it (numbers and types of operands, results and block
arguments, properties) is a function of these alone. A module has few kinds of ops and
many ops: a kind that has been accepted is remembered, and an op of such a kind is asked
only for what may depend on its surroundings: its traits and its `verify_`.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any

from xdsl.ir import ErasedSSAValue, Operation
from xdsl.irdl import IRDLOperation, OpDef
from xdsl.traits import IsTerminator, NoTerminator, OpTrait

MAX_KINDS = 1 << 16
"""Kinds that are remembered before all are forgotten."""

_accepted: set[Hashable] = set()


@dataclass(frozen=True)
class Checks:
    """The parts of a class's `verify_`, which xDSL makes of its definition."""

    definition: OpDef
    custom: Callable[[Operation], None] | None
    """The `verify_` that the class was written with."""

    @property
    def traits(self) -> tuple[OpTrait, ...]:
        """The traits that check something, of those that the class has by now."""
        return _that_check(self.definition.traits.traits)


@cache
def _that_check(traits: frozenset[OpTrait]) -> tuple[OpTrait, ...]:
    return tuple(t for t in traits if type(t).verify is not OpTrait.verify)


@cache
def checks_of(cls: type[Operation]) -> Checks | None:
    """The parts of a class's `verify_`; None if xDSL did not make it."""
    verify: Any = cls.verify_
    names = verify.__code__.co_freevars
    if (
        not issubclass(cls, IRDLOperation)
        or verify.__module__ != "xdsl.irdl.operations"
    ):
        return None
    if names not in (("custom_verify", "op_def"), ("op_def",)):
        return None
    parts = {
        name: cell.cell_contents
        for name, cell in zip(names, verify.__closure__, strict=True)
    }
    return Checks(parts["op_def"], parts.get("custom_verify"))


def kind_of(op: Operation) -> Hashable:
    """All that an op's definition can see of it."""
    return (
        type(op),
        tuple([value.type for value in op.operands]),
        tuple([value.type for value in op.results]),
        tuple(op.properties.items()),
        tuple(op.attributes.items()),
        tuple(
            [
                (len(region.blocks), first.arg_types if first is not None else None)
                for region in op.regions
                for first in (region.first_block,)
            ]
        ),
    )


def verify_op(op: Operation) -> None:
    """
    Verify an op without those in it, as `op.verify(verify_nested_ops=False)` does.

    Raises what that raises.
    """
    checks = checks_of(type(op))
    if checks is None or op.successors or not _stands_well(op):
        op.verify(verify_nested_ops=False)
        return
    try:
        kind = kind_of(op)
        is_known = kind in _accepted
    except TypeError:  # an attribute that cannot be hashed
        op.verify(verify_nested_ops=False)
        return
    if not is_known:
        op.verify(verify_nested_ops=False)
        if len(_accepted) >= MAX_KINDS:
            _accepted.clear()
        _accepted.add(kind)
        return
    try:
        for trait in checks.traits:
            trait.verify(op)
        if checks.custom is not None:
            checks.custom(op)
    except Exception:
        op.verify(verify_nested_ops=False)  # for its words
        raise


def _stands_well(op: Operation) -> bool:
    """Whether nothing can be wrong with the operands as such and the op's place."""
    if any(isinstance(value, ErasedSSAValue) for value in op.operands):
        return False
    block = op.parent
    if block is None or block.last_op is not op or op.has_trait(IsTerminator):
        return True
    region, holder = block.parent, op.parent_op()
    if region is None or holder is None:
        return region is None
    return len(region.blocks) == 1 and holder.has_trait(NoTerminator)
