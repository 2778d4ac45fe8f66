"""
Search for the selection of least cost, as far as a budget of steps goes.

1. A greedy selection to begin with: candidates in a given order of preference, each
   group kept open as long as something can join it.
2. A* over states, with the sum over ops of the least share of a candidate's cost as
   what is left at least. Where it ends within its part of the budget the result is
   optimal. A graph with narrow cuts has few states, however long it is.
3. Else a beam: of the states that cover equally many ops the best go on. What A* had
   left is a lower bound still.
4. Pieces of the best selection, a few ops each, are searched again with the rest as it
   is, as long as steps are left.

One step is one state that is looked at. Ties go to what was found first, in the order
of ops and candidates, so that the result depends on the problem alone (after "Collage:
Seamless Integration of Deep Learning Backends", 2022, which has neither copies nor
groups).
"""

from collections.abc import Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from transom.passes.partition.problem import INFINITE, NOWHERE, Cost, Problem
from transom.passes.partition.solution import (
    Outcome,
    cost_of,
    groups_of,
    states_along,
    way_to,
)
from transom.passes.partition.states import Key, Space, State

DEFAULT_BUDGET = 100_000
"""Steps; ten thousand take a tenth of a second or so."""

MAX_WIDTH = 64
"""States of the beam for each number of ops."""

MAX_CHOICES = 64
"""Candidates among which the beam and the greedy selection look for the next."""

PIECE = 10
"""Candidates of a piece that is searched again."""

MAX_STEPS_OF_PIECE = 2000
"""Steps that a piece may take."""


class Searched(NamedTuple):
    """Where a search ended."""

    state: State | None
    bound: Cost
    steps: int


def solve(
    problem: Problem,
    budget: int = DEFAULT_BUDGET,
    first: Sequence[int] | None = None,
) -> Outcome:
    """
    The best selection that `budget` steps find, never worse than `first`, which is one
    in an order in which it can run.
    """
    space = Space(problem)
    start = space.start()
    best = tuple(first) if first is not None else ()
    cost = cost_of(space, best)
    if cost == INFINITE:  # it is no selection
        best = ()
    quick = greedy(space)
    if quick.state is not None and quick.state.cost < cost:
        best, cost = way_to(quick.state), quick.state.cost
    exact = best_first(space, start, max(budget // 2, 1), cost)
    steps, bound = quick.steps + exact.steps, exact.bound
    if exact.state is not None:
        return Outcome(
            groups_of(space, way_to(exact.state)), exact.state.cost, exact.bound, steps
        )
    if bound >= cost:  # nothing that is left to look at costs less
        return Outcome(groups_of(space, best), cost, cost, steps)
    found = beam(space, start, budget // 4)
    steps += found.steps
    if found.state is not None and found.state.cost < cost:
        best, cost = way_to(found.state), found.state.cost
    if cost < INFINITE:
        best, more = improve(space, best, budget - steps)
        cost, steps = cost_of(space, best), steps + more
    return Outcome(groups_of(space, best), cost, min(bound, cost), steps)


def greedy(space: Space) -> Searched:
    """
    A selection of what comes next best: the least share of a cost for each op, with the
    open group first. No state if that leads nowhere.
    """
    state, steps = space.start(), 0
    while not space.is_goal(state):
        choices = list(islice(space.successors(state), MAX_CHOICES))
        steps += len(choices)
        if not choices:
            return Searched(None, INFINITE, steps)
        state = min(choices, key=partial(_eagerness, space, state))
    return Searched(state, INFINITE, steps)


def _eagerness(space: Space, state: State, after: State) -> tuple[bool, Cost, int]:
    candidate = space.problem.candidates[after.candidate]
    size = len(candidate.ops)
    added = Cost(
        (after.cost.unknown - state.cost.unknown) / size,
        (after.cost.seconds - state.cost.seconds) / size,
        (after.cost.rank - state.cost.rank) / size,
    )
    # An op is dropped only where nothing else is left, as its readers may need it.
    return candidate.place == NOWHERE, added, -size


def best_first(space: Space, start: State, budget: int, limit: Cost) -> Searched:
    """
    A* from a state to one that covers all ops, of states that cost less than a limit.

    Without a state, the bound is what any such state costs at least.
    """
    queue: list[tuple[Cost, int, int, State]] = []
    best: dict[Key, Cost] = {start.key: start.cost}
    count = steps = 0
    heappush(queue, (start.bound, 0, count, start))
    while queue:
        bound, _, _, state = queue[0]
        if space.is_goal(state):
            return Searched(state, state.cost, steps)
        if steps >= budget:
            return Searched(None, bound, steps)
        heappop(queue)
        if best[state.key] < state.cost:
            continue
        for after in space.successors(state):
            steps += 1
            known = best.get(after.key)
            if (known is None or after.cost < known) and after.bound < limit:
                best[after.key] = after.cost
                count += 1
                # Of equal bounds the deepest is nearest to the end.
                depth = after.key.covered.bit_count()
                heappush(queue, (after.bound, -depth, count, after))
    return Searched(None, limit, steps)


def beam(space: Space, start: State, budget: int) -> Searched:
    """
    Of the states that cover equally many ops only the best go on: as many as the budget
    allows on the way to the end.
    """
    levels: dict[int, dict[Key, State]] = {}
    steps = 0

    def put(state: State) -> None:
        level = levels.setdefault(state.key.covered.bit_count(), {})
        known = level.get(state.key)
        if known is None or state.cost < known.cost:
            level[state.key] = state

    put(start)
    count = space.problem.count
    for size in range(count):
        kept = sorted(levels.pop(size, {}).values(), key=lambda state: state.bound)
        share = max(budget - steps, 0) // (count - size)
        begun = steps
        for state in kept[:MAX_WIDTH]:
            for after in islice(space.successors(state), MAX_CHOICES):
                steps += 1
                put(after)
            if steps - begun >= share:
                break
    ends = levels.get(count, {})
    best = min(ends.values(), key=lambda state: state.cost, default=None)
    return Searched(best, INFINITE, steps)


def improve(
    space: Space, candidates: Sequence[int], budget: int
) -> tuple[tuple[int, ...], int]:
    """
    A selection in which pieces were searched again with the rest as it is, and the
    steps that took.
    """
    states = states_along(space, candidates)
    assert states is not None, "it is a selection"
    pieces, steps, at = _Pieces(space, list(candidates), states), 0, 0
    while at < len(pieces.way) and steps < budget:
        steps += pieces.search(at, min(budget - steps, MAX_STEPS_OF_PIECE))
        at += PIECE // 2
    return tuple(pieces.way), steps


class _Pieces:
    """
    A selection of which pieces are replaced from the front. `states[i]` is that after
    `i` candidates; behind `fresh` the costs in them are too high by the same amount.
    """

    def __init__(self, space: Space, way: list[int], states: list[State]) -> None:
        self.space = space
        self.way = way
        self.states = states
        self.fresh = 0

    def search(self, at: int, budget: int) -> int:
        """Search for another piece from a candidate on, and give the steps."""
        space, start = self.space, self.states[at]
        length = min(PIECE, len(self.way) - at)
        end = self.states[at + length].key.covered
        queue = [start]
        seen: dict[Key, Cost] = {start.key: start.cost}
        steps = 0
        while queue and steps < budget:
            state = queue.pop()
            if state.key.covered == end:
                steps += self._try(at, length, state)
                continue
            for after in space.successors(state):
                steps += 1
                known = seen.get(after.key)
                cheaper = known is None or after.cost < known
                if cheaper and not after.key.covered & ~end:
                    seen[after.key] = after.cost
                    queue.append(after)
        return steps

    def _try(self, at: int, length: int, state: State) -> int:
        """
        Take the way to a state in the place of a piece, if what follows costs less.

        That is known where a state is met that was there before. Gives the steps.
        """
        old = at + length
        ahead = [state]
        while ahead[-1].key != self.states[old].key or old < self.fresh:
            if old == len(self.way):
                break
            after = self.space.after(ahead[-1], self.way[old])
            if after is None:
                return len(ahead)
            ahead.append(after)
            old += 1
        if not _is_less(ahead[-1].cost, self.states[old].cost):
            return len(ahead)
        piece: list[State] = []
        while state is not self.states[at]:
            piece.append(state)
            assert state.parent is not None, "the piece starts at a state before it"
            state = state.parent
        piece.reverse()
        self.way[at : at + length] = [s.candidate for s in piece]
        self.states[at + 1 : old + 1] = [*piece, *ahead[1:]]
        self.fresh = old + len(piece) - length
        return len(ahead)


def _is_less(cost: Cost, other: Cost) -> bool:
    """Whether a cost is less by more than rounding."""
    margin = other.seconds * 1e-12
    return cost < Cost(other.unknown, other.seconds - margin, other.rank)
