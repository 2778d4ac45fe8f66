"""
Check ops against their definitions, and say so once per kind of op.

What an op's definition asks of it (numbers and types of operands, results and block
arguments, properties) is a function of these alone. A module has few kinds of ops and
many ops: a kind that has been accepted is remembered, and an op of such a kind is asked
only for what may depend on its surroundings: its traits and its `verify_`.

Most ops share their types and properties with others, as objects. So kinds are looked
up by the identities of these first, which takes a fraction of a comparison.
"""

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from xdsl.ir import ErasedSSAValue, Operation
from xdsl.irdl import IRDLOperation, OpDef
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, OpTrait

from transom.dialects.walking import held_by

MAX_KINDS = 1 << 16
"""Kinds that are remembered before all are forgotten."""

LOOK_AT_TYPES_ALONE = frozenset({"xdsl.dialects.arith", "xdsl.dialects.vector"})
"""Modules whose `verify_`s see no more than definitions do."""

_accepted: set[Hashable] = set()
_seen: dict[tuple[int, ...], Sequence[object]] = {}
"""What kinds that were accepted consist of, which stays alive, by identities."""


@dataclass(frozen=True)
class Checks:
    """The parts of a class's `verify_`, which xDSL makes of its definition."""

    definition: OpDef
    custom: Callable[[Operation], None] | None
    """
    The `verify_` that the class was written with, if it may see more than its kind.
    """

    @property
    def traits(self) -> "tuple[Callable[[Operation], None], ...]":
        """What the traits check, of those that the class has by now."""
        return _checked_by(self.definition.traits.traits)


@cache
def _checked_by(
    traits: frozenset[OpTrait],
) -> tuple[Callable[[Operation], None], ...]:
    return tuple(
        verify_isolation if type(trait) is IsolatedFromAbove else trait.verify
        for trait in traits
        if type(trait).verify is not OpTrait.verify
    )


def verify_isolation(op: Operation) -> None:
    """Check an op that is isolated from above, as its trait does."""
    used: set[int] = set()
    defined: set[int] = set()
    stack = [op]
    while stack:
        current = stack.pop()
        for region in current.regions:
            for block in region.blocks:
                defined.update(map(id, block.args))
        for inner in held_by(current):
            used.update(map(id, inner.operands))
            defined.update(map(id, inner.results))
            if inner.regions and not inner.has_trait(IsolatedFromAbove):
                stack.append(inner)
    if not used <= defined:
        IsolatedFromAbove().verify(op)  # which says what is wrong


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
    custom = parts.get("custom_verify")
    if custom is Operation.verify_ or cls.__module__ in LOOK_AT_TYPES_ALONE:
        custom = None
    return Checks(parts["op_def"], custom)


def parts_of(op: Operation) -> list[object]:
    """The objects that make the kind of an op without regions; none for other ops."""
    if op.regions:
        return []
    parts: list[object] = [type(op)]
    parts += [value.type for value in op.operands]
    parts.append(len(parts))
    parts += [value.type for value in op.results]
    for attributes in (op.properties, op.attributes):
        parts.append(len(attributes))
        parts += attributes
        parts += attributes.values()
    return parts


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
    elif not _is_accepted(op):
        op.verify(verify_nested_ops=False)
        _accept(op)
    else:
        try:
            for verify in checks.traits:
                verify(op)
            if checks.custom is not None:
                checks.custom(op)
        except Exception:
            op.verify(verify_nested_ops=False)  # for its words
            raise


def _is_accepted(op: Operation) -> bool:
    """Whether an op is of a kind that was accepted."""
    parts = parts_of(op)
    identities = tuple(map(id, parts))
    if parts and identities in _seen:
        return True
    try:
        is_known = kind_of(op) in _accepted
    except TypeError:  # an attribute that cannot be hashed
        return False
    if parts and is_known:
        if len(_seen) >= MAX_KINDS:
            _seen.clear()
        _seen[identities] = parts
    return is_known


def _accept(op: Operation) -> None:
    """Remember the kind of an op that is as its definition says."""
    if len(_accepted) >= MAX_KINDS:
        _accepted.clear()
    with suppress(TypeError):
        _accepted.add(kind_of(op))


def _stands_well(op: Operation) -> bool:
    """Whether nothing can be wrong with the operands as such and the op's place."""
    if any([type(value) is ErasedSSAValue for value in op.operands]):
        return False
    block = op.parent
    if block is None or block.last_op is not op or op.has_trait(IsTerminator):
        return True
    region, holder = block.parent, op.parent_op()
    if region is None or holder is None:
        return region is None
    return len(region.blocks) == 1 and holder.has_trait(NoTerminator)
