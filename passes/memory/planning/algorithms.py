"""
The algorithms by name, and what is known of the plan that one has made.

Out of the tree an algorithm is an entry point of the group `transom.planners`, whose
name is that of the algorithm: a function of a `Problem` that gives a `Place` for each
buffer, in their order. What it gives is verified like any other plan.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.plugins import (
    PLANNERS,
    Plugin,
    PluginError,
    State,
    plugin_named,
    plugins_in,
)
from transom.passes.memory.planning import exact
from transom.passes.memory.planning.bounds import lower_bound, overfull
from transom.passes.memory.planning.greedy import ORDERS, Packing, best_of
from transom.passes.memory.planning.hill_climb import climb
from transom.passes.memory.planning.problem import (
    Place,
    PlanError,
    Problem,
    check_pins,
    check_places,
)

Planner = Callable[[Problem], Sequence[Place]]
"""An algorithm of somebody else."""


class Verdict(StrEnum):
    """What is proved about a problem."""

    OPTIMAL = "optimal"
    """No plan costs less."""

    FEASIBLE = "feasible"
    """The plan fits; whether a better one exists is not known."""

    INFEASIBLE = "infeasible"
    """No plan fits."""

    UNKNOWN = "unknown"
    """No plan was found that fits; there may be one."""


@dataclass(frozen=True)
class Outcome:
    """A plan, if one fits, and what is proved: no plan costs less than `bound`."""

    algorithm: str
    verdict: Verdict
    bound: int
    packing: Packing | None = None

    @property
    def gap(self) -> float:
        """By how much of itself the cost may be above what is possible."""
        if self.packing is None or self.packing.cost == 0:
            return 0.0
        return (self.packing.cost - self.bound) / self.packing.cost


GOOD_ENOUGH = 100
"""`auto` ends when the cost is above the bound by no more than this part of it."""

Answer = tuple[Packing, int, bool]
"""A packing that may overflow, the bound that is proved, and if nothing fits."""


def _greedy_by_size(problem: Problem, bound: int) -> Answer:
    return best_of(problem, ("size",), bound), bound, False


def _greedy_by_conflicts(problem: Problem, bound: int) -> Answer:
    return best_of(problem, ("conflicts",), bound), bound, False


def _hill_climb(problem: Problem, bound: int) -> Answer:
    return climb(problem, bound), bound, False


def _exact(problem: Problem, bound: int) -> Answer:
    start = best_of(problem, tuple(ORDERS), bound)
    return _improved(problem, start, bound)


def _improved(problem: Problem, start: Packing, bound: int) -> Answer:
    if start.value <= (0, bound):
        return start, bound, False
    answer = exact.solve(problem, start, bound)
    best = start
    if answer.packing is not None and answer.packing.value < start.value:
        best = answer.packing
    return best, answer.bound, answer.is_infeasible


def _auto(problem: Problem, bound: int) -> Answer:
    """Greedy, then what takes longer, until little is left to be gained."""
    enough = bound + bound // GOOD_ENOUGH
    best = best_of(problem, tuple(ORDERS), bound)
    if best.value > (0, enough):
        best = climb(problem, enough, best)
    if (
        best.value > (0, enough)
        and exact.is_available()
        and len(problem.buffers) <= exact.MAX_BUFFERS
    ):
        return _improved(problem, best, bound)
    return best, bound, False


ALGORITHMS: Mapping[str, Callable[[Problem, int], Answer]] = {
    "auto": _auto,
    "exact": _exact,
    "greedy-by-conflicts": _greedy_by_conflicts,
    "greedy-by-size": _greedy_by_size,
    "hill-climb": _hill_climb,
}


def check_algorithm(name: str) -> None:
    """Raise `ValueError` unless an algorithm of this name can be had."""
    if name == "exact" and not exact.is_available():
        raise ValueError("algorithm 'exact' needs OR-tools: install 'transom[plan]'")
    known = [*ALGORITHMS, *(plugin.name for plugin in plugins_in(PLANNERS))]
    if name not in known:
        raise ValueError(f"unknown algorithm '{name}'{did_you_mean(name, known)}")


def plan(problem: Problem, algorithm: str = "auto") -> Outcome:
    """
    Place all buffers of a problem.

    Raises `PlanError` for pins that cannot be kept, and for what an algorithm of
    somebody else gives that is no plan.
    """
    check_pins(problem)
    bound = lower_bound(problem)
    if overfull(problem) is not None:
        return Outcome(algorithm, Verdict.INFEASIBLE, bound)
    own = ALGORITHMS.get(algorithm)
    if own is None:
        packing, is_infeasible = _planned_by_plugin(problem, algorithm), False
    else:
        packing, bound, is_infeasible = own(problem, bound)
    if is_infeasible:
        return Outcome(algorithm, Verdict.INFEASIBLE, bound)
    if packing.overflow:
        return Outcome(algorithm, Verdict.UNKNOWN, bound)
    is_best = packing.cost <= bound
    verdict = Verdict.OPTIMAL if is_best else Verdict.FEASIBLE
    return Outcome(algorithm, verdict, bound, packing)


def planner_of(plugin: Plugin) -> Planner:
    """The algorithm of a plug-in. Raises `PluginError`."""
    planner = plugin.load()
    if not callable(planner):
        reason = f"is no function, but a '{type(planner).__qualname__}'"
        raise PluginError(plugin, State.BROKEN, reason)
    return cast(Planner, planner)


def _planned_by_plugin(problem: Problem, name: str) -> Packing:
    plugin = plugin_named(PLANNERS, name)
    if plugin is None:
        raise ValueError(f"unknown algorithm '{name}'")
    places = tuple(planner_of(plugin)(problem))
    try:
        check_places(problem, places)
    except PlanError as e:
        raise PlanError(e.buffer, f"algorithm '{name}': {e.message}") from None
    tops = problem.tops(places)
    overflow = sum(
        max(0, top - pool.capacity)
        for top, pool in zip(tops, problem.pools, strict=True)
        if pool.capacity is not None
    )
    return Packing(places, tops, overflow, problem.cost(tops))
