"""
Buffer after buffer into a gap between those placed ones that it conflicts with.

Several orders are tried. A buffer goes to the first of its pools where it fits; if it
fits nowhere it overflows its last pool, so that plans which do not fit can be compared.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from transom.passes.memory.planning.problem import Place, Problem


class Packing(NamedTuple):
    """Places in the order of the buffers, and how they compare with others."""

    places: tuple[Place, ...]
    tops: tuple[int, ...]
    overflow: int
    """Bytes beyond the capacities; a plan that fits has none."""
    cost: int

    @property
    def value(self) -> tuple[int, int]:
        """Less is better."""
        return self.overflow, self.cost


Key = Callable[[Problem, int], tuple[int, ...]]


def _by_size(problem: Problem, number: int) -> tuple[int, ...]:
    return (-problem.buffers[number].size,)


def _by_area(problem: Problem, number: int) -> tuple[int, ...]:
    buffer = problem.buffers[number]
    return (-buffer.size * buffer.points.bit_count(),)


def _by_conflicts(problem: Problem, number: int) -> tuple[int, ...]:
    return (-len(problem.conflicts[number]), -problem.buffers[number].size)


def _by_start(problem: Problem, number: int) -> tuple[int, ...]:
    buffer = problem.buffers[number]
    return ((buffer.points & -buffer.points).bit_length(), -buffer.size)


ORDERS: Mapping[str, Key] = {
    "size": _by_size,
    "area": _by_area,
    "conflicts": _by_conflicts,
    "start": _by_start,
}


def order_by(problem: Problem, key: Key) -> list[int]:
    """The buffers in an order; pinned ones first, ties in their own order."""
    return sorted(
        range(len(problem.buffers)),
        key=lambda n: (problem.buffers[n].pin is None, *key(problem, n), n),
    )


def place_in_order(
    problem: Problem, order: Sequence[int], best_gap: bool = False
) -> Packing:
    """Each buffer in the lowest gap where it fits, or the tightest one."""
    pools: list[int] = [-1] * len(problem.buffers)
    offsets = [0] * len(problem.buffers)
    overflow = 0
    for number in order:
        buffer = problem.buffers[number]
        if buffer.pin is not None:
            pools[number], offsets[number] = buffer.pin.pool, buffer.pin.offset
            continue
        for pool in buffer.pools:
            taken = sorted(
                (offsets[other], offsets[other] + problem.buffers[other].size)
                for other in problem.conflicts[number]
                if pools[other] == pool
            )
            offset = _gap(taken, buffer.size, buffer.alignment, best_gap)
            capacity = problem.pools[pool].capacity
            excess = 0 if capacity is None else offset + buffer.size - capacity
            if excess <= 0 or pool == buffer.pools[-1]:
                overflow += max(0, excess)
                pools[number], offsets[number] = pool, offset
                break
    places = tuple(map(Place, pools, offsets))
    tops = problem.tops(places)
    return Packing(places, tops, overflow, problem.cost(tops))


def _gap(
    taken: Sequence[tuple[int, int]], size: int, alignment: int, best: bool
) -> int:
    """Where bytes fit between what is taken, in ascending order, or behind it."""
    offset = 0
    found: tuple[int, int] | None = None
    for start, end in taken:
        room = start - offset
        if room >= size:
            if not best:
                return offset
            if found is None or room < found[0]:
                found = (room, offset)
        if end > offset:
            offset = -(-end // alignment) * alignment
    return offset if found is None else found[1]


def best_of(problem: Problem, names: Sequence[str], bound: int) -> Packing:
    """The best packing of some orders; the first that meets the bound will do."""
    best: Packing | None = None
    for name in names:
        order = order_by(problem, ORDERS[name])
        for best_gap in (False, True):
            packing = place_in_order(problem, order, best_gap)
            if best is None or packing.value < best.value:
                best = packing
            if best.value <= (0, bound):
                return best
    assert best is not None, "there is at least one order"
    return best
