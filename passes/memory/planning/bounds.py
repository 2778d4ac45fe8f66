"""
Bytes that no plan can do without.

At each point of a program the buffers that live there need room beside each other. If
all offsets are multiples of some number, all buffers but the last one fill whole
multiples of it.
"""

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import combinations

from transom.passes.memory.planning.problem import Buffer, Problem

MAX_SUBSETS_OF = 5
"""Up to so many pools, what must be in some of them is summed for each set of pools."""


def lower_bound(problem: Problem) -> int:
    """A cost that no plan is below."""
    last = len(problem.pools)
    needs = [needed(problem, range(first, last)) for first in range(last)]
    cost = 0
    for first in range(last):
        # What does not fit into the pools before these is here.
        most, room = needs[first], 0
        for before in reversed(range(first)):
            capacity = problem.pools[before].capacity
            if capacity is None:
                break
            room += capacity
            most = max(most, needs[before] - room)
        cost += most
    return cost


def overfull(problem: Problem) -> tuple[tuple[int, ...], int] | None:
    """Pools that are too small for what must be in them, and what that is in bytes."""
    count = len(problem.pools)
    sizes = range(1, count + 1) if count <= MAX_SUBSETS_OF else (1, count)
    for size in sizes:
        for pools in combinations(range(count), size):
            capacities = [problem.pools[pool].capacity for pool in pools]
            room = sum(c for c in capacities if c is not None)
            if None not in capacities and (need := needed(problem, pools)) > room:
                return pools, need
    return None


def needed(problem: Problem, pools: Iterable[int]) -> int:
    """The bytes that buffers need which may be in no other pools than these."""
    among = frozenset(pools)
    confined = [b.size > 0 and among.issuperset(b.pools) for b in problem.buffers]
    steps = sorted({b.alignment for b in problem.buffers}) or [1]
    sizes = [b.size for b in problem.buffers if among.issuperset(b.pools)]
    found = max([_pinned(problem, among), *sizes])  # also of what is never used
    for step in (1, *steps):

        def rounded(buffer: Buffer, step: int = step) -> int:
            return -(-buffer.size // step) * step if buffer.alignment >= step else 0

        found = max(found, _largest_sum(problem, confined, rounded, len(among)))
    return found


def _pinned(problem: Problem, pools: frozenset[int]) -> int:
    """The bytes up to the last pin of each of the pools."""
    ends = dict.fromkeys(pools, 0)
    for buffer in problem.buffers:
        if buffer.pin is not None and buffer.pin.pool in ends:
            end = buffer.pin.offset + buffer.size
            ends[buffer.pin.pool] = max(ends[buffer.pin.pool], end)
    return sum(ends.values())


def _largest_sum(
    problem: Problem,
    confined: list[bool],
    rounded: Callable[[Buffer], int],
    pools: int,
) -> int:
    """
    Over all points, the largest sum of rounded sizes, of which the last buffer of each
    pool does not need what rounding has added.
    """
    total = peak = 0
    ends: list[tuple[int, int]] = []
    slacks: list[tuple[int, int]] = []  # the largest first, with where it ends
    for start, end, number in problem.stretches:
        buffer = problem.buffers[number]
        size = rounded(buffer)
        if not confined[number] or not size:
            continue
        while ends and ends[0][0] <= start:
            total -= heappop(ends)[1]
        total += size
        heappush(ends, (end, size))
        heappush(slacks, (buffer.size - size, end))
        while slacks[0][1] <= start:
            heappop(slacks)
        peak = max(peak, total + pools * slacks[0][0])
    return peak
