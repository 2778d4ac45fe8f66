"""
What a hook did to a function outside of its target's: calls of the target's functions
may be replaced, by calls and what these need; every other op is as it was.

Ops are found again by identity. Those that are gone are looked for in the same place,
equal in all but their location, as a pass may have made copies.
"""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import lookup
from transom.dialects.target import LOWERED_TO, MemoryOp, Planner
from transom.passes.owned_functions import HOST_DIALECTS
from transom.targets.contract.frozen import (
    FrozenBlock,
    FrozenOp,
    change_of,
    name_of,
    walk_frozen,
)
from transom.targets.contract.rules import (
    CALL_ADDED,
    OP_ADDED,
    OP_CHANGED,
    OP_GONE,
    OP_MOVED,
    RESULT_TYPE,
    SYMBOL_CHANGED,
    Breach,
    Origin,
    shown,
)

CALL_DIALECTS = (HOST_DIALECTS - {"func"}) | {"affine", "builtin"}
"""Dialects whose ops may stand around new calls: shapes, views, checks, buffers."""

ALLOCATIONS = frozenset({"memref.alloc", "memref.alloca", "tir.alloc"})
"""Ops that are of no use without calls, though they are not pure."""

NEARBY = 16
"""How far after an equal op one with the same location is looked for."""

CALL_OPS = frozenset({"graph.constant", "graph.copy", "graph.weight_ref"})
"""Further ops that may: what kernels read, and copies on borders."""


def callee_of(attributes: Mapping[str, Attribute]) -> str | None:
    """The function that an op calls, by its properties or attributes, if it does."""
    callee = attributes.get("callee")
    return callee.root_reference.data if isinstance(callee, SymbolRefAttr) else None


PLAN = ("alignment", "offset", "pool", "reserves")
"""What a plan says of a buffer."""


def _is_planned_by_target(op: Operation) -> bool:
    """Whether an op is a buffer in a memory whose target gives offsets."""
    if not isinstance(op, tir.AllocOp) or op.memory is None:
        return False
    memory = lookup(op, op.memory.string_value())
    return isinstance(memory, MemoryOp) and memory.planner is Planner.TARGET


class Call(NamedTuple):
    """A call of a function of the target, as it was."""

    callee: str
    op: FrozenOp


class Result(NamedTuple):
    """A result of a call, as it was."""

    callee: str
    type: Attribute
    still: SSAValue | None
    """The result of the same call now, if it is there still."""


@dataclass
class FunctionChanges:
    """Compares a function with what it was; raises at the first forbidden change."""

    origin: Origin
    name: str
    owned: AbstractSet[str]
    """The functions that the target owned."""
    is_ours: Callable[[str], bool]
    """Whether a function is one of the target's now."""

    replaced: list[Call] = field(default_factory=list[Call])
    """Calls that are gone, in order."""
    kept: list[tuple[Call, Operation]] = field(
        default_factory=list[tuple[Call, Operation]]
    )
    """Calls that are there still, if only as copies."""
    added: set[Operation] = field(default_factory=set[Operation])
    """New ops, without those inside of them."""

    _pairs: list[tuple[FrozenOp, Operation]] = field(
        default_factory=list[tuple[FrozenOp, Operation]]
    )
    _values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    _blocks: dict[Block, Block] = field(default_factory=dict[Block, Block])
    _results: dict[SSAValue, Result] = field(default_factory=dict[SSAValue, Result])
    """Results of calls, and of copies on borders."""
    _users: dict[SSAValue, list[FrozenOp]] | None = None
    _useless: dict[Operation, bool] = field(default_factory=dict[Operation, bool])

    def compare(self, old: FrozenOp, new: Operation) -> None:
        """Raise `OpError` unless only calls of the target's functions have changed."""
        relowered = LOWERED_TO in old.attributes and LOWERED_TO in new.attributes
        change = change_of(old, new, ignored=(LOWERED_TO,) if relowered else ())
        if change is not None:
            raise self.origin.error(
                SYMBOL_CHANGED, new, op=new.name, name=self.name, change=change
            )
        self._root = old
        self._align_regions(old, new)
        self._check_operands()
        for op in new.walk() if self.added else ():
            if op in self.added:
                self._check_added(op)

    def new_calls(self, function: Operation) -> list[tuple[str, Operation]]:
        """The calls that are new, with their callees, in the order of the text."""
        if not self.added:
            return []
        found: list[tuple[str, Operation]] = []
        for op in function.walk():
            callee = callee_of(op.properties)
            if callee is not None and self._is_added(op, function):
                found.append((callee, op))
        return found

    def _is_added(self, op: Operation, function: Operation) -> bool:
        outer: Operation | None = op
        while outer is not None and outer is not function:
            if outer in self.added:
                return True
            outer = outer.parent_op()
        return False

    # Which op is which.

    def _align_regions(self, old: FrozenOp, new: Operation) -> None:
        for blocks, region in zip(old.regions, new.regions, strict=True):
            for frozen, block in zip(blocks, region.blocks, strict=True):
                self._blocks[frozen.block] = block
                self._values.update(zip(frozen.arguments, block.args, strict=True))
                self._align(frozen, block)

    def _align(self, old: FrozenBlock, block: Block) -> None:
        new = tuple(block.ops)
        place_of = {op: place for place, op in enumerate(new)}
        limits = self._limits(old, place_of, len(new))
        known = {frozen.op for frozen in old.ops}
        found: dict[int, FrozenOp] = {}
        position = 0
        for frozen, limit in zip(old.ops, limits, strict=True):
            place = place_of.get(frozen.op)
            gap = range(position, limit) if place is None else ()
            callee = callee_of(frozen.properties)
            if callee in self.owned and callee is not None:
                if place is None:
                    gap = [place for place in gap if new[place] not in known]
                    place = self._copy_of_call(frozen, callee, new, gap, found)
                elif callee_of(frozen.op.properties) != callee:
                    place = None
                still = None if place is None else new[place]
                self._note_call(Call(callee, frozen), still)
            else:
                if place is None:
                    place = self._copy_of(frozen, new, gap, found)
                if self._is_paired(frozen, new, place, position):
                    assert place is not None, "it is paired with one"
                    position = place + 1
            if place is not None:
                found[place] = frozen
        self.added.update(op for place, op in enumerate(new) if place not in found)

    def _is_paired(
        self,
        old: FrozenOp,
        new: tuple[Operation, ...],
        place: int | None,
        position: int,
    ) -> bool:
        """
        Whether an op is still what it was, at a place behind the others. Copies on
        borders need not be; what only calls have used may be gone.
        """
        border = self._border_of(old)
        if border is not None and (
            place is None
            or place < position
            or change_of(old, new[place]) is not None
            or not self._reads_the_same(old, new[place])
        ):
            self._note_results(border, old)
            return False
        if place is None:
            if not self._may_go(old):
                raise self._error(OP_GONE, old)
            return False
        if place < position:
            other = name_of(new[position - 1])
            raise self._error(OP_MOVED, old, other=other)
        self._pair(old, new[place])
        return True

    def _border_of(self, old: FrozenOp) -> str | None:
        """The function of the target at whose call an op copies a value, if it does."""
        if old.op.name != "graph.copy":
            return None
        if old.operands[0] in self._results:
            return self._results[old.operands[0]].callee
        users = self._users_of(old.results[0])
        callees = {callee_of(user.properties): None for user in users}
        return next(iter(callees), None) if callees.keys() <= self.owned else None

    def _limits(
        self, old: FrozenBlock, place_of: Mapping[Operation, int], end: int
    ) -> list[int]:
        """For each op, the place of the next one that is there still."""
        limits: list[int] = []
        for frozen in reversed(old.ops):
            limits.append(end)
            place = place_of.get(frozen.op)
            if place is not None and callee_of(frozen.properties) not in self.owned:
                end = min(end, place)
        return limits[::-1]

    def _copy_of(
        self,
        old: FrozenOp,
        new: tuple[Operation, ...],
        gap: Iterable[int],
        found: Mapping[int, FrozenOp],
    ) -> int | None:
        """Where in a gap an equal op is, best with the same location."""
        first: int | None = None
        for place in gap:
            if first is not None and place > first + NEARBY:
                break
            op = new[place]
            if (
                op.name == old.op.name
                and place not in found
                and change_of(old, op) is None
                and self._reads_the_same(old, op)
            ):
                if op.location == old.op.location:
                    return place
                first = place if first is None else first
        return first

    def _reads_the_same(self, old: FrozenOp, new: Operation) -> bool:
        return all(
            self._values.get(before, after) is after
            for before, after in zip(old.operands, new.operands, strict=True)
        )

    def _copy_of_call(
        self,
        old: FrozenOp,
        callee: str,
        new: tuple[Operation, ...],
        gap: Iterable[int],
        found: Mapping[int, FrozenOp],
    ) -> int | None:
        """Where in a gap the same function is called in the same way."""
        for place in gap:
            op = new[place]
            if (
                place not in found
                and op.name == old.op.name
                and callee_of(op.properties) == callee
                and len(op.results) == len(old.results)
            ):
                return place
        return None

    def _note_call(self, call: Call, new: Operation | None) -> None:
        if new is None:
            self.replaced.append(call)
        else:
            self.kept.append((call, new))
        self._note_results(call.callee, call.op, new)

    def _note_results(
        self, callee: str, old: FrozenOp, new: Operation | None = None
    ) -> None:
        still = () if new is None else new.results
        for value, type, now in zip_longest(old.results, old.types, still):
            self._results[value] = Result(callee, type, now)

    def _pair(self, old: FrozenOp, new: Operation) -> None:
        change = change_of(old, new, PLAN if _is_planned_by_target(new) else ())
        if change is not None:
            raise self._error(OP_CHANGED, old, change=change)
        self._pairs.append((old, new))
        self._values.update(zip(old.results, new.results, strict=True))
        self._align_regions(old, new)

    # What may go.

    def _may_go(self, old: FrozenOp) -> bool:
        """Whether an op is of no use any more, as only calls have used it."""
        known = self._useless.get(old.op)
        if known is None:
            users = [user for value in old.results for user in self._users_of(value)]
            known = self._useless[old.op] = (
                bool(users)
                and (is_side_effect_free(old.op) or old.op.name in ALLOCATIONS)
                and all(
                    callee_of(user.properties) in self.owned or self._may_go(user)
                    for user in users
                )
            )
        return known

    def _users_of(self, value: SSAValue) -> list[FrozenOp]:
        if self._users is None:
            self._users = {}
            for user in walk_frozen(self._root):
                for operand in user.operands:
                    self._users.setdefault(operand, []).append(user)
        return self._users.get(value, [])

    # What is read.

    def _check_operands(self) -> None:
        for old, new in self._pairs:
            for index, (before, after) in enumerate(
                zip(old.operands, new.operands, strict=True)
            ):
                result = self._results.get(before)
                if result is not None:
                    self._check_type(result, after, new)
                if not (
                    self._values.get(before) is after
                    if result is None
                    else result.still in (None, after) or after.owner in self.added
                ):
                    change = f"operand {index} is another value"
                    raise self._error(OP_CHANGED, old, change=change)
            if [self._blocks.get(b) for b in old.successors] != [*new.successors]:
                raise self._error(OP_CHANGED, old, change="it goes to other blocks")

    def _check_type(self, result: Result, after: SSAValue, user: Operation) -> None:
        if after.type != result.type:
            raise self.origin.error(
                RESULT_TYPE,
                user,
                op=user.name,
                old=shown(result.type),
                callee=result.callee,
                new=shown(after.type),
            )

    # What is new.

    def _check_added(self, op: Operation) -> None:
        """New ops are calls of the target's functions, or stand beside such calls."""
        has_calls = bool(self.replaced or self.kept)
        for inner in op.walk():
            callee = callee_of(inner.properties)
            if callee is not None:
                if not self.is_ours(callee):
                    raise self.origin.error(
                        CALL_ADDED, inner, op=inner.name, name=self.name, callee=callee
                    )
            elif not (has_calls and self._may_be_added(inner)):
                raise self.origin.error(OP_ADDED, inner, op=inner.name, name=self.name)

    def _may_be_added(self, op: Operation) -> bool:
        dialect = op.name.partition(".")[0]
        own = self.origin.target.name.partition(".")[0]
        return dialect == own or dialect in CALL_DIALECTS or op.name in CALL_OPS

    def _error(self, breach: Breach, old: FrozenOp, **fields: object) -> OpError:
        return self.origin.error(
            breach, old.op.location, op=name_of(old.op), name=self.name, **fields
        )
