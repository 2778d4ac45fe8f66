"""
Change the order of the greedy plan step by step, where the plan is highest.

A buffer that ends at the top of a pool changes places in the order with an earlier one
that it conflicts with, or with one that conflicts with that. Better plans are kept, and
worse ones with a probability that shrinks. The budget is counted in steps, never in
time, and random numbers start the same each time: equal problems have equal plans.
"""

from random import Random

from transom.passes.memory.planning.greedy import (
    ORDERS,
    Packing,
    best_of,
    order_by,
    place_in_order,
)
from transom.passes.memory.planning.problem import Problem

BUDGET = 2_000_000
"""Looks at a conflict, over all rounds."""

MAX_ROUNDS = 1000


def climb(problem: Problem, bound: int, start: Packing | None = None) -> Packing:
    """The best packing that is found before the budget is used or the bound is met."""
    best = best_of(problem, tuple(ORDERS), bound) if start is None else start
    order = order_by(problem, ORDERS["size"])
    position = {number: at for at, number in enumerate(order)}
    current = place_in_order(problem, order)
    best = min(best, current, key=lambda packing: packing.value)
    looks = sum(map(len, problem.conflicts)) + len(order)
    rounds = min(MAX_ROUNDS, BUDGET // max(1, looks))
    random = Random(len(order))
    for number in range(rounds):
        if best.value <= (0, bound):
            break
        swap = _swap(problem, current, position, random)
        if swap is None:
            break
        a, b = swap
        order[position[a]], order[position[b]] = b, a
        position[a], position[b] = position[b], position[a]
        packing = place_in_order(problem, order)
        if packing.value <= current.value or random.random() < _patience(
            number, rounds
        ):
            current = packing
            best = min(best, current, key=lambda packing: packing.value)
        else:
            order[position[a]], order[position[b]] = b, a
            position[a], position[b] = position[b], position[a]
    return best


def _patience(number: int, rounds: int) -> float:
    """The probability that a worse plan is gone on with."""
    return 0.2 * (1 - number / rounds) ** 2


def _swap(
    problem: Problem, packing: Packing, position: dict[int, int], random: Random
) -> tuple[int, int] | None:
    """Two buffers to change places in the order, the first of them at a top."""
    highest = [
        number
        for number, (buffer, place) in enumerate(
            zip(problem.buffers, packing.places, strict=True)
        )
        if buffer.pin is None
        and buffer.size
        and place.offset + buffer.size == packing.tops[place.pool]
    ]
    random.shuffle(highest)
    for number in highest:
        near = [
            other
            for other in problem.conflicts[number]
            if problem.buffers[other].pin is None
        ]
        earlier = [o for o in near if position[o] < position[number]]
        if near and random.random() < 0.5:
            between = random.choice(near)
            earlier += [
                o
                for o in problem.conflicts[between]
                if problem.buffers[o].pin is None and position[o] < position[number]
            ]
        if earlier:
            return number, random.choice(earlier)
    return None
