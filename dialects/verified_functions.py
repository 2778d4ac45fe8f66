"""
Remember which functions have been verified, so that each is verified once per change.

Most passes leave most functions alone. What a verifier can see of a function that
refers to nothing around it is in its *content*: classes, attributes and types by
identity, and how values are wired. While that is the same, so is the answer.
"""

from functools import cache
from operator import is_
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import SymbolRefAttr, UnregisteredOp
from xdsl.ir import Operation, Region
from xdsl.traits import IsolatedFromAbove, SymbolUserOpInterface


class Content(NamedTuple):
    """All of an op that a verifier can see. Holds no op, so that ops can go."""

    objects: list[object]
    """Classes, names, attributes and types: alive, so that one is not another."""
    numbers: list[int]
    """Numbers of parts, and identities of values where they are made and used."""

    def is_that_of(self, other: "Content") -> bool:
        """Whether two ops are verified alike."""
        return (
            self.numbers == other.numbers
            and len(self.objects) == len(other.objects)
            and all(map(is_, self.objects, other.objects))
        )


def content_of(op: Operation) -> Content | None:
    """The content of an op; None if verifiers in it may look at what is around it."""
    content = Content([type(op.parent_op())], [])
    return content if _add(op, content) else None


def _add(op: Operation, content: Content) -> bool:
    if _looks_around(type(op)):
        return False
    objects, numbers = content
    objects.append(type(op))
    for attributes in (op.properties, op.attributes):
        if attributes:
            objects += attributes
            for attribute in attributes.values():
                if isinstance(attribute, SymbolRefAttr):
                    return False
                objects.append(attribute)
    for result in op.results:
        objects.append(result.type)
        numbers.append(id(result))
    before = len(numbers)
    numbers += map(id, op.operands)
    numbers += (before - len(numbers), -len(op.properties), -len(op.regions))
    if op.successors:
        numbers += map(id, op.successors)
    return all([_add_region(region, content) for region in op.regions])


def _add_region(region: Region, content: Content) -> bool:
    objects, numbers = content
    for block in region.blocks:
        numbers.append(id(block))
        for argument in block.args:
            objects.append(argument.type)
            numbers.append(id(argument))
        for op in block.ops:
            if not _add(op, content):
                return False
        numbers.append(-len(block.args))
    numbers.append(-len(region.blocks))
    return True


@cache
def _looks_around(cls: type[Operation]) -> bool:
    return issubclass(cls, UnregisteredOp) or cls.has_trait(SymbolUserOpInterface)


_VERIFIED: WeakKeyDictionary[Operation, Content] = WeakKeyDictionary()
_lock = Lock()


class VerifiedFunctions:
    """What has been verified of the functions of a module that is being verified."""

    def __init__(self) -> None:
        self._now: dict[Operation, Content] = {}
        self.unchanged: set[Operation] = set()
        """Those that need not be verified again."""

    def has(self, op: Operation) -> bool:
        """Whether a function need not be verified again."""
        if not op.regions or not op.has_trait(IsolatedFromAbove) or op.parent is None:
            return False
        with _lock:
            before = _VERIFIED.get(op)
        now = content_of(op)
        if now is None:
            return False
        self._now[op] = now
        if before is None or not before.is_that_of(now):
            return False
        self.unchanged.add(op)
        return True

    def remember(self) -> None:
        """Remember that all that was asked for has been verified."""
        with _lock:
            _VERIFIED.update(self._now)


def mark_verified(function: Operation) -> None:
    """Say that a function of a module was verified, as where an equal one was."""
    known = VerifiedFunctions()
    known.has(function)
    known.remember()
