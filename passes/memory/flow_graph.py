"""
Program points of structured code, and what is live at them.

A point is a number; edges say what may run after it. Sets of things that live are
integers used as bit sets: bit `i` stands for the i-th buffer or value.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass
class FlowGraph:
    """Program points in the order of the text, with the edges between them."""

    successors: list[list[int]] = field(default_factory=list[list[int]])
    predecessors: list[list[int]] = field(default_factory=list[list[int]])

    def __len__(self) -> int:
        return len(self.successors)

    def add(self, *predecessors: int) -> int:
        """Add a point that may run right after each of `predecessors`."""
        point = len(self.successors)
        self.successors.append([])
        self.predecessors.append([])
        for predecessor in predecessors:
            self.connect(predecessor, point)
        return point

    def connect(self, source: int, target: int) -> None:
        """`target` may run right after `source`."""
        self.successors[source].append(target)
        self.predecessors[target].append(source)


@dataclass(frozen=True)
class Liveness:
    """Sets at the start and at the end of each point."""

    before: tuple[int, ...]
    after: tuple[int, ...]


def live(graph: FlowGraph, reads: Sequence[int], kills: Sequence[int]) -> Liveness:
    """What a later point may read before some point overwrites all of it."""
    before = [0] * len(graph)
    after = [0] * len(graph)
    changed = True
    while changed:  # nested loops need as many rounds as they are deep, and one more
        changed = False
        for point in reversed(range(len(graph))):
            out = 0
            for successor in graph.successors[point]:
                out |= before[successor]
            after[point] = out
            new = reads[point] | (out & ~kills[point])
            if new != before[point]:
                before[point] = new
                changed = True
    return Liveness(tuple(before), tuple(after))


def touched(graph: FlowGraph, accesses: Sequence[int]) -> Liveness:
    """What an earlier point may have accessed."""
    before = [0] * len(graph)
    after = [0] * len(graph)
    changed = True
    while changed:
        changed = False
        for point in range(len(graph)):
            into = 0
            for predecessor in graph.predecessors[point]:
                into |= after[predecessor]
            before[point] = into
            new = into | accesses[point]
            if new != after[point]:
                after[point] = new
                changed = True
    return Liveness(tuple(before), tuple(after))


def bits(mask: int) -> Iterator[int]:
    """The members of a bit set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def runs(mask: int) -> Iterator[tuple[int, int]]:
    """A bit set as maximal half-open ranges, ascending."""
    start = 0
    while mask:
        zeros = (mask & -mask).bit_length() - 1
        mask >>= zeros
        ones = (~mask & (mask + 1)).bit_length() - 1
        yield start + zeros, start + zeros + ones
        mask >>= ones
        start += zeros + ones


def transposed(sets: Sequence[int], count: int) -> list[int]:
    """From the members at each point to the points of each of `count` members."""
    points = [0] * count
    entered = [0] * count
    alive = 0
    for point, members in enumerate((*sets, 0)):
        for member in bits(alive ^ members):
            if alive >> member & 1:
                points[member] |= (1 << point) - (1 << entered[member])
            entered[member] = point
        alive = members
    return points
