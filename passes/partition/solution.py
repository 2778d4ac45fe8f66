"""
Selections: what they cost, and whether they are any.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from transom.passes.partition.problem import INFINITE, NOWHERE, Cost, Group, Problem
from transom.passes.partition.states import Space, State


@dataclass(frozen=True)
class Outcome:
    """What a search found, and what is proved of it."""

    groups: tuple[Group, ...]
    """In an order in which they can run; none if there is no selection."""

    cost: Cost
    bound: Cost
    """No selection costs less."""

    steps: int
    """States that were looked at."""

    @property
    def is_optimal(self) -> bool:
        """Whether it is proved that nothing costs less."""
        return self.gap == 0.0

    @property
    def gap(self) -> float:
        """
        By which part of the cost in seconds it may be too high at most; 1 if fewer ops
        of unknown cost may be possible.
        """
        if self.cost.unknown > self.bound.unknown:
            return 1.0
        if self.cost.seconds <= self.bound.seconds or self.cost == self.bound:
            return 0.0
        return (self.cost.seconds - self.bound.seconds) / self.cost.seconds


def report_of(problem: Problem, outcome: Outcome) -> dict[str, Any]:
    """What was searched and found, as JSON; `tools/check_partition.py` checks it."""
    return {
        "problem": problem.to_json(),
        "groups": [
            {"place": group.place, "candidates": list(group.candidates)}
            for group in outcome.groups
        ],
        "cost": outcome.cost._asdict(),
        "bound": outcome.bound._asdict(),
        "gap": outcome.gap,
        "steps": outcome.steps,
    }


def states_along(space: Space, candidates: Iterable[int]) -> list[State] | None:
    """The states after each of some candidates; None if one of them cannot be next."""
    states = [space.start()]
    for number in candidates:
        covered = states[-1].key.covered
        if space.masks[number] & covered or space.needs[number] & ~covered:
            return None
        after = space.after(states[-1], number)
        if after is None:
            return None
        states.append(after)
    return states


def cost_of(space: Space, candidates: Sequence[int]) -> Cost:
    """What a selection costs, in this order; infinite if it is none."""
    states = states_along(space, candidates)
    if states is None or not space.is_goal(states[-1]):
        return INFINITE
    return states[-1].cost


def way_to(state: State) -> tuple[int, ...]:
    """The candidates that lead to a state."""
    found: list[int] = []
    at = state
    while at.parent is not None:
        found.append(at.candidate)
        at = at.parent
    return tuple(reversed(found))


def groups_of(space: Space, candidates: Iterable[int]) -> tuple[Group, ...]:
    """The groups of a selection in order; what is computed nowhere is in none."""
    groups: list[Group] = []
    for number in candidates:
        place = space.problem.candidates[number].place
        if place == NOWHERE:
            continue
        if groups and groups[-1].place == place:
            groups[-1] = Group(place, (*groups[-1].candidates, number))
        else:
            groups.append(Group(place, (number,)))
    return tuple(groups)
