"""
What passes lose: discardable attributes and locations.

```text
pass                what        lost    of  ops                 first
graph-fuse          test.hint      2     3  'graph.add' x2      a.mlir:3:8
convert-a-to-b      location       4        'arith.constant' x4 in a.mlir:1:1
```

An op is followed through a pass by its identity, else by its location, and a symbol by
its name too. What is neither there nor replaced is *erased*: what it carried is listed
apart, and is no error. What is made inside of a function that has no location needs
none: kernels are content that others share.

A pass may say in a class attribute what it drops because it means nothing afterwards:

```python
drops: ClassVar[tuple[str, ...]] = ("target.lowered_to", "location of tir.func")
```
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    DictionaryAttr,
    FusedLoc,
    LocationAttr,
    NameLoc,
    UnknownLoc,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import Diagnostic, Note, OpError
from transom.dialects.symbols import symbol_name
from transom.passes.pipeline import PassObserver

LOCATION = "location"
"""What is lost by an op that a pass makes without a location."""

DECLARATION = "drops"
"""The attribute of a pass's class that lists what it drops on purpose."""

SHOWN_NOTES = 8
"""Places that an error lists after the first."""

Carried: TypeAlias = "Mapping[str, tuple[Attribute, ...]]"
"""Attributes by name; those of arguments and results may be there several times."""


@dataclass(frozen=True)
class Loss:
    """Something of one op that is not there after a pass."""

    pass_name: str
    what: str
    op_name: str
    where: LocationAttr
    erased: bool = False
    """Whether the op itself is gone, and nothing is in its place."""


@dataclass
class Losses:
    """The losses of one kind in one pass, over all its runs."""

    pass_name: str
    what: str
    erased: bool
    carriers: int = 0
    """How many ops had it before the pass."""
    found: list[Loss] = field(default_factory=list[Loss])

    @property
    def ops(self) -> str:
        """The names of the ops with counts, the most frequent first."""
        counts = Counter(loss.op_name for loss in self.found)
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return ", ".join(f"'{name}' x{count}" for name, count in ordered)

    @property
    def place(self) -> str:
        """The place of the first loss; what has none itself is in an op that has."""
        place = Diagnostic("error", self.found[0].where, "").place()
        return f"in {place}" if self.what == LOCATION else place

    @property
    def message(self) -> str:
        """One line about it."""
        if self.what == LOCATION:
            return f"pass '{self.pass_name}' makes {self.ops} without a location"
        return f"pass '{self.pass_name}' drops '{self.what}' of {self.ops}"

    def to_json(self) -> dict[str, Any]:
        """It as data."""
        return {
            "pass": self.pass_name,
            "what": self.what,
            "erased": self.erased,
            "lost": len(self.found),
            "of": self.carriers,
            "ops": dict(Counter(loss.op_name for loss in self.found)),
            "first": self.place,
        }


class _Before:
    """An op as it was before a pass."""

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.name = _name_of(op)
        self.location = op.location
        self.carried = carried_by(op)
        self.symbol = symbol_name(op)
        self.is_located = not isinstance(op.location, UnknownLoc)


@dataclass
class AttributeAudit(PassObserver):
    """Compares what ops carry before and after each pass."""

    losses: dict[tuple[str, str, bool], Losses] = field(
        default_factory=dict[tuple[str, str, bool], Losses], init=False
    )
    _before: list[list[_Before]] = field(
        default_factory=list[list[_Before]], init=False
    )

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self._before.append([_Before(inner) for inner in op.walk()])

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        self._before.pop()

    def after(self, pass_: ModulePass, op: Operation) -> None:
        before = self._before.pop()
        meant: Sequence[str] = getattr(type(pass_), DECLARATION, ())
        carriers = Counter(what for b in before for what in b.carried)
        lost: set[tuple[str, bool]] = set()
        for loss in _losses(pass_.name, before, op):
            if loss.what in meant or f"{loss.what} of {loss.op_name}" in meant:
                continue
            self._kind(loss).found.append(loss)
            lost.add((loss.what, loss.erased))
        for (name, what, erased), kind in self.losses.items():
            if name == pass_.name and (what, erased) in lost:
                kind.carriers += carriers[what]

    def _kind(self, loss: Loss) -> Losses:
        key = (loss.pass_name, loss.what, loss.erased)
        return self.losses.setdefault(key, Losses(*key))

    @property
    def dropped(self) -> list[Losses]:
        """The losses that should not be, in order."""
        return [kind for kind in self.losses.values() if not kind.erased]

    def check(self) -> None:
        """Raise `OpError` if anything was dropped."""
        kinds = self.dropped
        if not kinds:
            return
        notes: list[Note] = []
        for kind in kinds:
            first, *others = kind.found
            if kind is not kinds[0]:
                notes.append(Note(first.where, kind.message))
            notes += [Note(loss.where, "also here") for loss in others[:SHOWN_NOTES]]
            if len(others) > SHOWN_NOTES:
                more = len(others) - SHOWN_NOTES
                notes.append(Note(first.where, f"and {more} more of '{kind.what}'"))
        raise OpError(kinds[0].found[0].where, kinds[0].message, *notes)

    def report(self) -> str:
        """A table of all that was lost."""
        return audit_table(self.losses.values())

    def to_json(self) -> list[dict[str, Any]]:
        """All that was lost as data."""
        return [kind.to_json() for kind in self.losses.values()]


def audit_table(losses: Iterable[Losses]) -> str:
    """Rows of text, those of erased ops last."""
    kinds = sorted(losses, key=lambda kind: kind.erased)
    if not kinds:
        return "no attribute and no location was dropped\n"
    rows = [("pass", "what", "lost", "of", "ops", "first")]
    for kind in kinds:
        of = "" if kind.what == LOCATION else str(kind.carriers)
        ops = kind.ops + " (erased)" * kind.erased
        count = str(len(kind.found))
        rows.append((kind.pass_name, kind.what, count, of, ops, kind.place))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        cells = [
            cell.rjust(width) if number in (2, 3) else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def carried_by(op: Operation) -> Carried:
    """
    The discardable attributes of an op; those of its arguments and results, too, if it
    is a function.
    """
    found: dict[str, list[Attribute]] = {}
    for name in discardable(op):
        found.setdefault(name, []).append(op.attributes[name])
    for holder in ("arg_attrs", "res_attrs"):
        entries = op.get_attr_or_prop(holder)
        if not isinstance(entries, ArrayAttr):
            continue
        for entry in cast("ArrayAttr[Attribute]", entries):
            if isinstance(entry, DictionaryAttr):
                for name, value in entry.data.items():
                    found.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in found.items()}


def discardable(op: Operation) -> Iterator[str]:
    """The names of the attributes that an op's definition does not know."""
    if isinstance(op, UnregisteredOp):
        yield from (name for name in op.attributes if "." in name)
    elif isinstance(op, IRDLOperation):
        inherent = op.get_irdl_definition().attributes
        yield from (name for name in op.attributes if name not in inherent)


def _losses(
    pass_name: str, before: Sequence[_Before], root: Operation
) -> Iterator[Loss]:
    """What the ops of a pass's op had and have not."""
    after = list(root.walk())
    there = set(after)
    old = {b.op for b in before}
    made = [op for op in after if op not in old]
    successors = _Successors(made)
    for b in before:
        stays = b.op in there
        if stays and isinstance(b.op.location, UnknownLoc) and b.is_located:
            yield Loss(pass_name, LOCATION, b.name, b.location)
        if not b.carried:
            continue
        candidates = [b.op] * stays + successors.of(b)
        kept = [carried_by(op) for op in candidates]
        for what, values in b.carried.items():
            if not any(_has(now.get(what, ()), values) for now in kept):
                erased = not candidates
                yield Loss(pass_name, what, b.name, b.location, erased)
    unlocated = {b.symbol for b in before if b.symbol and not b.is_located}
    for op in made:
        if isinstance(op.location, UnknownLoc) and not _needs_none(op, unlocated):
            yield Loss(pass_name, LOCATION, _name_of(op), _around(op))


def _needs_none(op: Operation, unlocated: AbstractSet[str | None]) -> bool:
    """Whether an op was made where there were no locations before."""
    if (symbol := symbol_name(op)) is not None:
        return symbol in unlocated
    inner = op.parent_op()
    while inner is not None and symbol_name(inner) is None:
        inner = inner.parent_op()
    return inner is not None and isinstance(inner.location, UnknownLoc)


def _has(now: tuple[Attribute, ...], values: tuple[Attribute, ...]) -> bool:
    """Whether as many are there; their values may have changed."""
    return len(now) >= len(values)


class _Successors:
    """The ops that a pass has made, by what they may stand for."""

    def __init__(self, made: Iterable[Operation]) -> None:
        self._by_location: dict[LocationAttr, list[Operation]] = {}
        self._by_symbol: dict[str, list[Operation]] = {}
        for op in made:
            for part in parts_of(op.location):
                self._by_location.setdefault(part, []).append(op)
            if (symbol := symbol_name(op)) is not None:
                self._by_symbol.setdefault(symbol, []).append(op)

    def of(self, before: _Before) -> list[Operation]:
        """The new ops that may stand for an old one."""
        found: list[Operation] = []
        for part in parts_of(before.location):
            found += self._by_location.get(part, ())
        if before.symbol is None:
            return found
        # A function is called, copied and so on at its own place.
        found = [op for op in found if symbol_name(op) is not None]
        return found + self._by_symbol.get(before.symbol, [])


def parts_of(location: Attribute) -> Iterator[LocationAttr]:
    """A location, and the locations that it is made of, but not unknown ones."""
    if isinstance(location, UnknownLoc) or not isinstance(location, LocationAttr):
        return
    yield location
    match location:
        case NameLoc():
            yield from parts_of(location.location)
        case CallSiteLoc():
            yield from parts_of(location.callee)
            yield from parts_of(location.caller)
        case FusedLoc(locations=ArrayAttr() as locations):
            for inner in locations.data:
                yield from parts_of(inner)
        case _:
            pass


def _around(op: Operation) -> LocationAttr:
    """The location of the nearest op around one that has none."""
    inner: Operation | None = op
    while inner is not None:
        if not isinstance(inner.location, UnknownLoc):
            return inner.location
        inner = inner.parent_op()
    return op.location


def _name_of(op: Operation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name
