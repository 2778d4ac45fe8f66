"""
The order of the steps of a phase, from what they require and provide.

The result is the topological order that keeps closest to the given one: among the steps
that may come next, the first given is taken (Kahn's algorithm with a priority queue).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, TypeVar

from transom.dialects.diagnostics import did_you_mean

ItemT = TypeVar("ItemT")


class OrderError(Exception):
    """The steps have no order; the message says which ones and why."""


@dataclass(frozen=True)
class OrderedStep(Generic[ItemT]):
    """A step with what it needs, under a name for messages."""

    item: ItemT
    name: str
    requires: frozenset[str] = frozenset()
    provides: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    owner: object = None
    """Whose step it is: a step sees what its own and shared steps (None) provide."""

    def sees(self, other: "OrderedStep[ItemT]") -> bool:
        """Whether the other step is one that this one may require."""
        return other is not self and other.owner in (None, self.owner)


def solve_order(
    steps: Sequence[OrderedStep[ItemT]], earlier: Collection[str] = ()
) -> list[ItemT]:
    """
    The items of some steps in an order that they allow.

    `earlier` is what has been provided before. Raises `OrderError` for a requirement
    that nothing provides, a step that should have come before what is done already, and
    for a cycle, whose path the message prints.
    """
    after: list[set[int]] = [set() for _ in steps]
    for number, step in enumerate(steps):
        for name in sorted(step.requires):
            found = _providers(steps, step, name)
            if not found and name not in earlier:
                reason = _nothing_provides(steps, step, name, earlier)
                raise OrderError(f"{step.name} requires '{name}', {reason}")
            after[number] |= found
        for name in sorted(step.before):
            found = _providers(steps, step, name)
            if not found:
                reason = _nothing_provides(steps, step, name, earlier)
                if name in earlier:
                    reason = "which an earlier phase has provided already"
                raise OrderError(f"{step.name} must come before '{name}', {reason}")
            for other in found:
                after[other].add(number)
    return [steps[number].item for number in _sorted(steps, after)]


def _providers(
    steps: Sequence[OrderedStep[ItemT]], step: OrderedStep[ItemT], name: str
) -> set[int]:
    return {
        number
        for number, other in enumerate(steps)
        if name in other.provides and step.sees(other)
    }


def _nothing_provides(
    steps: Sequence[OrderedStep[ItemT]],
    step: OrderedStep[ItemT],
    name: str,
    earlier: Collection[str],
) -> str:
    known = {n for other in steps if step.sees(other) for n in other.provides}
    return f"which nothing provides{did_you_mean(name, sorted({*known, *earlier}))}"


def _sorted(
    steps: Sequence[OrderedStep[ItemT]], after: Sequence[set[int]]
) -> list[int]:
    waiting = [set(numbers) for numbers in after]
    ready = [number for number, numbers in enumerate(waiting) if not numbers]
    done: list[int] = []
    while ready:
        number = heappop(ready)
        done.append(number)
        for other, numbers in enumerate(waiting):
            if number in numbers:
                numbers.remove(number)
                if not numbers:
                    heappush(ready, other)
    if len(done) < len(steps):
        path = " -> ".join(steps[n].name for n in _cycle(waiting, after))
        raise OrderError(f"these wait for each other: {path}")
    return done


def _cycle(waiting: Sequence[set[int]], after: Sequence[set[int]]) -> list[int]:
    """A cycle, in the order of running: each is to come before the next."""
    path = [next(number for number, numbers in enumerate(waiting) if numbers)]
    while True:
        before = min(n for n in after[path[-1]] if waiting[n])
        if before in path:
            return [before, *reversed(path[path.index(before) :])]
        path.append(before)
