"""
States of the search: which ops are covered, which group is open, where the values are
that are still read.

Two ways to the same state differ in their cost only, so that the cheaper one is as good
as both. This holds as a state knows of each value that is still read all places where
it is, and not of others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from transom.passes.partition.problem import NOWHERE, ZERO, Cost, Problem

Stored = tuple[int, tuple[int, ...]]
"""A value, and the destinations where it is, where it was computed first."""


class Key(NamedTuple):
    """What the future depends on."""

    covered: int
    """A bit for each op."""
    place: int
    """That of the group that is open."""
    stored: tuple[Stored, ...]


@dataclass(frozen=True, eq=False)
class State:
    """A state, the way to it, and its cost so far."""

    key: Key
    ready: tuple[int, ...]
    """Ops that are not covered, all before which are."""
    cost: Cost
    left: Cost
    """No more than what covering the rest costs."""
    parent: "State | None" = None
    candidate: int = -1
    opens: bool = False
    """Whether the candidate opens a group."""

    @property
    def bound(self) -> Cost:
        """No more than what a selection costs that begins like this."""
        return self.cost.plus(self.left)


NO_PLACE = -2
"""Before there is a group."""


class Space:
    """The states of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.by_first: list[list[int]] = [[] for _ in problem.names]
        self.masks: list[int] = []
        self.needs: list[int] = []
        self.costs = [problem.cost_of(n) for n in range(len(problem.candidates))]
        for number, candidate in enumerate(problem.candidates):
            self.masks.append(_mask(candidate.ops))
            inside = set(candidate.ops)
            before = {b for op in candidate.ops for b in problem.before[op]}
            before |= {b for op in candidate.copied for b in problem.before[op]}
            before |= set(candidate.copied)
            self.needs.append(_mask(before - inside))
            self.by_first[min(candidate.ops)].append(number)
        self._destinations: dict[tuple[str, str], int] = {}
        self._named: list[tuple[str, str]] = []
        self.homes = [self._destination(p.memory, p.layout) for p in problem.places]
        self.least = self._least_costs()
        self.next: list[list[int]] = [[] for _ in problem.names]
        for op, before in enumerate(problem.before):
            for earlier in sorted(before):
                self.next[earlier].append(op)
        self.watched = self._watched()
        self.computed: list[list[int]] = [[] for _ in problem.names]
        for number, value in enumerate(problem.values):
            if value.producer is not None:
                self.computed[value.producer].append(number)

    def _destination(self, memory: str, layout: str) -> int:
        pair = (memory, layout)
        if pair not in self._destinations:
            self._destinations[pair] = len(self._named)
            self._named.append(pair)
        return self._destinations[pair]

    def _least_costs(self) -> list[Cost]:
        """For each op the least share of a candidate's cost, part by part."""
        least: list[Cost | None] = [None] * self.problem.count
        for number, candidate in enumerate(self.problem.candidates):
            size = len(candidate.ops)
            share = Cost(*(part / size for part in self.costs[number]))
            for op in candidate.ops:
                known = least[op]
                both = share if known is None else Cost(*map(min, known, share))
                least[op] = both
        return [ZERO if cost is None else cost for cost in least]

    def _watched(self) -> list[int]:
        """For each value the ops until all of which are covered it may be read."""
        masks = [_mask(value.readers) for value in self.problem.values]
        for number, reads in enumerate(self.problem.reads):
            for value in reads:
                masks[value] |= self.masks[number]
        return masks

    def start(self) -> State:
        """Nothing is covered."""
        problem = self.problem
        stored = tuple(
            (number, (self._destination(value.memory, ""),))
            for number, value in enumerate(problem.values)
            if value.producer is None and self.watched[number]
        )
        ready = tuple(op for op in range(problem.count) if not problem.before[op])
        left = ZERO
        for cost in self.least:
            left = left.plus(cost)
        return State(Key(0, NO_PLACE, stored), ready, ZERO, left)

    def is_goal(self, state: State) -> bool:
        """Whether all ops are covered."""
        return not state.ready

    def successors(self, state: State) -> Iterator[State]:
        """What may come next, in a fixed order."""
        covered = state.key.covered
        for op in state.ready:
            for number in self.by_first[op]:
                free = not self.masks[number] & covered
                if free and not self.needs[number] & ~covered:
                    after = self.after(state, number)
                    if after is not None:
                        yield after

    def after(self, state: State, number: int) -> State | None:
        """The state after a candidate; None if what it reads is not to be had."""
        candidate = self.problem.candidates[number]
        stored = dict(state.key.stored)
        cost = state.cost.plus(self.costs[number])
        place, opens = state.key.place, False
        if candidate.place != NOWHERE:
            opens = candidate.place != place
            place = candidate.place
            seconds = self.problem.places[place].launch if opens else 0.0
            for value in self.problem.reads[number]:
                copied = self._copy(value, place, stored)
                if copied is None:
                    return None
                seconds += copied
            cost = Cost(cost.unknown, cost.seconds + seconds, cost.rank)
        covered = state.key.covered | self.masks[number]
        home = () if candidate.place == NOWHERE else (self.homes[candidate.place],)
        for op in candidate.ops:
            for value in self.computed[op]:
                stored[value] = home
        kept = tuple(
            (value, stored[value])
            for value in sorted(stored)
            if self.watched[value] & ~covered
        )
        key = Key(covered, place, kept)
        return State(
            key,
            self._ready(state, candidate.ops, covered),
            cost,
            self._left(state.left, candidate.ops),
            state,
            number,
            opens,
        )

    def _left(self, left: Cost, ops: tuple[int, ...]) -> Cost:
        unknown, seconds, rank = left
        for op in ops:
            least = self.least[op]
            unknown -= least.unknown
            seconds -= least.seconds
            rank -= least.rank
        # Rounding must not make a bound of what is done, nor one that is too high.
        return Cost(max(unknown, 0.0), max(seconds, 0.0), max(rank, 0.0))

    def _ready(
        self, state: State, ops: tuple[int, ...], covered: int
    ) -> tuple[int, ...]:
        ready = {op for op in state.ready if not covered >> op & 1}
        for op in ops:
            for later in self.next[op]:
                if not covered >> later & 1 and all(
                    covered >> before & 1 for before in self.problem.before[later]
                ):
                    ready.add(later)
        return tuple(sorted(ready))

    def _copy(
        self, value: int, place: int, stored: dict[int, tuple[int, ...]]
    ) -> float | None:
        """
        The seconds to have a value at a place; it is noted where it is then. None if it
        is nowhere, or no links lead there.
        """
        where = stored.get(value, ())
        if not where:
            return None
        there = self.problem.places[place]
        for destination in where:
            memory, layout = self._named[destination]
            if memory in there.reaches and layout == there.layout:
                return 0.0
        memory, layout = self._named[where[0]]
        size = self.problem.values[value].size
        seconds = 0.0
        if memory not in there.reaches:
            seconds = self.problem.path_seconds(memory, there.memory, size)
            memory = there.memory
        if layout != there.layout:
            seconds += there.relayout * size
        if seconds == float("inf"):
            return None
        stored[value] = (*where, self._destination(memory, there.layout))
        return seconds


def _mask(ops: "frozenset[int] | set[int] | tuple[int, ...]") -> int:
    mask = 0
    for op in ops:
        mask |= 1 << op
    return mask
