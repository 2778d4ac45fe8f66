"""
Why there is no plan, and how much memory there would have to be.
"""

from collections.abc import Sequence
from dataclasses import replace

from transom.passes.memory.planning.algorithms import Outcome, Verdict, plan
from transom.passes.memory.planning.bounds import needed, overfull
from transom.passes.memory.planning.problem import Place, PlanError, Pool, Problem


def explain(problem: Problem, outcome: Outcome) -> PlanError:
    """What to say of a problem without a plan, at a buffer that finds no room."""
    full = overfull(problem)
    capped = [n for n, pool in enumerate(problem.pools) if pool.capacity is not None]
    pools = capped if full is None else full[0]
    numbers = [
        number
        for number, buffer in enumerate(problem.buffers)
        if set(buffer.pools) <= set(pools)
    ]
    grown = _without_limits(problem, pools, numbers)
    found = plan(grown)
    assert found.packing is not None, "pools without capacity have room"
    would_do = sum(found.packing.tops)
    least = needed(grown, range(len(pools)))
    if found.verdict is Verdict.OPTIMAL and len(pools) == 1:
        least = would_do
    where = " and ".join(
        f"the {problem.pools[pool].capacity} bytes of {problem.pools[pool].name}"
        for pool in pools
    )
    what = "expected a plan"
    if outcome.verdict is not Verdict.INFEASIBLE:
        what = "found no plan"
    needs = f"needs {would_do}"
    if least != would_do:
        needs = f"needs at least {least}, and would do with {would_do}"
    return PlanError(
        numbers[_highest(problem, pools, grown, found)],
        f"{what} that fits into {where}, but it {needs}",
    )


def _without_limits(
    problem: Problem, pools: Sequence[int], numbers: Sequence[int]
) -> Problem:
    """Some of the buffers in some of the pools, which grow as needed."""
    at = {pool: position for position, pool in enumerate(pools)}
    buffers = tuple(
        replace(
            buffer,
            pools=tuple(at[pool] for pool in buffer.pools),
            pin=buffer.pin and Place(at[buffer.pin.pool], buffer.pin.offset),
        )
        for buffer in (problem.buffers[number] for number in numbers)
    )
    return Problem(buffers, tuple(Pool(problem.pools[pool].name) for pool in pools))


def _highest(
    problem: Problem, pools: Sequence[int], grown: Problem, found: Outcome
) -> int:
    """The buffer that is highest above the capacity of its pool."""
    assert found.packing is not None, "pools without capacity have room"
    places = found.packing.places

    def excess(number: int) -> int:
        place = places[number]
        capacity = problem.pools[pools[place.pool]].capacity
        return place.offset + grown.buffers[number].size - (capacity or 0)

    return max(range(len(places)), key=excess)
