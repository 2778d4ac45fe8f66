"""
The dependences between the ops of a block, where groups of ops count as one.

Groups can be joined while the graph of groups stays free of cycles. Each group has a
number, so that dependences go from smaller to larger ones; a search for a path between
two groups stays between their numbers, and joining renumbers only what it has found
there (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic
graphs", 2007).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator, is_side_effect_free


@dataclass(eq=False)
class Group:
    """Some ops that count as one."""

    number: int
    ops: list[Operation]
    before: set["Group"] = field(default_factory=set["Group"])
    """The groups that it depends on."""
    after: set["Group"] = field(default_factory=set["Group"])
    """The groups that depend on it."""


class DependenceGraph:
    """
    The groups of a block: at first one for each op, but the terminator.

    An op depends on what it and the ops in its regions read; of ops with effects each
    depends on the one before.
    """

    def __init__(self, block: Block) -> None:
        ops = list(block.ops)
        if ops and ops[-1].has_trait(IsTerminator):
            ops.pop()
        self.position = {op: index for index, op in enumerate(ops)}
        self._groups = {op: Group(i, [op]) for op, i in self.position.items()}
        self._effect_before: dict[Operation, Operation] = {}
        effect: Operation | None = None
        for op in ops:
            for source in self._sources(op):
                self._connect(self._groups[source], self._groups[op])
            if not is_side_effect_free(op):
                if effect is not None:
                    self._effect_before[op] = effect
                    self._connect(self._groups[effect], self._groups[op])
                effect = op

    def _sources(self, op: Operation) -> Iterator[Operation]:
        for reader in op.walk() if op.regions else (op,):
            for operand in reader.operands:
                if operand.owner in self.position:
                    assert isinstance(operand.owner, Operation), "keys are operations"
                    yield operand.owner

    @staticmethod
    def _connect(source: Group, target: Group) -> None:
        if source is not target:
            source.after.add(target)
            target.before.add(source)

    def group_of(self, op: Operation) -> Group | None:
        """The group of an op, None for an op that is not directly in the block."""
        return self._groups.get(op)

    def before(self, op: Operation) -> Iterator[Operation]:
        """The ops of the block that an op depends on directly, by values or effects."""
        yield from self._sources(op)
        effect = self._effect_before.get(op)
        if effect is not None:
            yield effect

    def join(self, first: Group, second: Group) -> Group | None:
        """
        One group in the place of two, of which the second may depend on the first; None
        if it does so through a third.
        """
        if all(group.number <= first.number for group in second.before):
            return self._merge(first, second)  # nothing is between them
        if not first.after.isdisjoint(second.before):
            return None
        behind = self._behind(first, second)
        if behind is None:
            return None
        self._renumber(first, second, behind)
        return self._merge(first, second)

    def join_all(self, ops: Iterable[Operation]) -> Group | None:
        """
        One group in the place of those of some ops, which need not depend on each
        other; None, and no change, if that would make a cycle.
        """
        groups = {self._groups[op] for op in ops}
        if len(groups) > 1 and self._leaves_and_returns(groups):
            return None
        while len(groups) > 1:
            # Between neighbours by number nothing is that would be in the way.
            first, second = _by_number(groups)[:2]
            joined = self.join(first, second)
            assert joined is not None, "no path leads out of the groups and back"
            groups = (groups - {first, second}) | {joined}
        return next(iter(groups), None)

    @staticmethod
    def _leaves_and_returns(groups: set[Group]) -> bool:
        """Whether something outside depends on some groups, and one of them on it."""
        end = max(group.number for group in groups)
        pending = list(groups)
        seen: set[Group] = set()
        while pending:
            group = pending.pop()
            for reader in group.after:
                if reader in groups:
                    if group not in groups:
                        return True
                elif reader.number < end and reader not in seen:
                    seen.add(reader)
                    pending.append(reader)
        return False

    @staticmethod
    def _behind(first: Group, second: Group) -> set[Group] | None:
        """
        What depends on `first` and is numbered before `second`; None if that depends on
        one of these.
        """
        found: set[Group] = set()
        pending = [g for g in first.after if g.number < second.number]
        while pending:
            group = pending.pop()
            if group in found:
                continue
            if group in second.before:
                return None
            found.add(group)
            pending += [g for g in group.after if g.number < second.number]
        return found

    @staticmethod
    def _renumber(first: Group, second: Group, behind: set[Group]) -> None:
        """
        Give both groups the number of the first, after what the second depends on and
        before what depends on the first.
        """
        if not behind:
            first.number = second.number
            return
        ahead: set[Group] = set()
        pending = [g for g in second.before if g.number > first.number]
        while pending:
            group = pending.pop()
            if group not in ahead:
                ahead.add(group)
                pending += [g for g in group.before if g.number > first.number]
        order = [*_by_number(ahead), first, *_by_number(behind)]
        numbers = sorted(g.number for g in (*order, second))
        del numbers[len(ahead)]  # of two groups only one is left
        for group, number in zip(order, numbers, strict=True):
            group.number = number

    def _merge(self, first: Group, second: Group) -> Group:
        size = len(first.ops) + len(first.before) + len(first.after)
        other = len(second.ops) + len(second.before) + len(second.after)
        kept, gone = (first, second) if size >= other else (second, first)
        kept.number = first.number
        kept.ops += gone.ops
        for op in gone.ops:
            self._groups[op] = kept
        for group in gone.before:
            group.after.remove(gone)
            self._connect(group, kept)
        for group in gone.after:
            group.before.remove(gone)
            self._connect(kept, group)
        return kept

    def groups(self) -> list[Group]:
        """The groups in an order that keeps to the dependences."""
        return _by_number(dict.fromkeys(self._groups.values()))

    def in_order(self, group: Group) -> list[Operation]:
        """The ops of a group, in the order of the block."""
        return sorted(group.ops, key=self.position.__getitem__)


def _by_number(groups: Iterable[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: group.number)
