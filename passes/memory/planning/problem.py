"""
What is to be planned: buffers with life times, and the pools that they may go to.

Nothing here knows of IR. A point of a program is a bit; two buffers conflict if they
live at a common point, and then share no byte.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from transom.passes.memory.flow_graph import runs


@dataclass(frozen=True)
class Pool:
    """Memory to plan, which grows as needed, to `capacity` bytes if it has one."""

    name: str
    capacity: int | None = None


@dataclass(frozen=True)
class Place:
    """A pool, by its index, and an offset in it in bytes."""

    pool: int
    offset: int


@dataclass(frozen=True)
class Buffer:
    """
    Bytes that are needed at some points of a program.

    `points` is a bit set of program points. `pools` are the pools where it may be, by
    index, those that it had better be in first. `pin` is a place that was fixed before.
    """

    name: str
    size: int
    alignment: int
    points: int
    pools: tuple[int, ...] = (0,)
    pin: Place | None = None


@dataclass(frozen=True)
class Problem:
    """
    Buffers to be placed in pools.

    Pools are in the order of preference. The cost of a plan is the bytes of all pools,
    once more those of all but the first, and so on: a byte costs the more the less its
    pool is preferred.
    """

    buffers: tuple[Buffer, ...]
    pools: tuple[Pool, ...] = (Pool("pool"),)

    @cached_property
    def stretches(self) -> tuple[tuple[int, int, int], ...]:
        """Half-open ranges of points, each with the buffer that lives there; sorted."""
        return tuple(
            sorted(
                (start, end, number)
                for number, buffer in enumerate(self.buffers)
                if buffer.size
                for start, end in runs(buffer.points)
            )
        )

    @cached_property
    def conflicts(self) -> tuple[tuple[int, ...], ...]:
        """For each buffer those that live at a common point with it, ascending."""
        found: list[set[int]] = [set() for _ in self.buffers]
        for number, others in self._arrivals():
            for other in others:
                if other != number:
                    found[number].add(other)
                    found[other].add(number)
        return tuple(tuple(sorted(others)) for others in found)

    def _arrivals(self) -> Iterator[tuple[int, list[int]]]:
        """Each buffer that comes to live, with those that live there already."""
        alive: list[tuple[int, int]] = []
        for start, end, number in self.stretches:
            alive = [(until, other) for until, other in alive if until > start]
            yield number, [other for _, other in alive]
            alive.append((end, number))

    def live_sets(self) -> Iterator[frozenset[int]]:
        """The buffers at each point where one has come and none has gone since."""
        alive: dict[int, int] = {}
        has_come = False
        for start, end, number in self.stretches:
            gone = [other for other, until in alive.items() if until <= start]
            if gone and has_come:
                yield frozenset(alive)
                has_come = False
            for other in gone:
                del alive[other]
            alive[number] = end
            has_come = True
        if alive:
            yield frozenset(alive)

    def tops(self, places: Sequence[Place]) -> tuple[int, ...]:
        """The bytes that a plan uses of each pool."""
        tops = [0] * len(self.pools)
        for buffer, place in zip(self.buffers, places, strict=True):
            tops[place.pool] = max(tops[place.pool], place.offset + buffer.size)
        return tuple(tops)

    def cost(self, tops: Sequence[int]) -> int:
        """What these sizes of pools cost; less is better."""
        return sum(rank * top for rank, top in enumerate(tops, 1))


class PlanError(Exception):
    """A problem or a plan is wrong; `buffer` is the index of a culprit."""

    def __init__(self, buffer: int, message: str) -> None:
        super().__init__(message)
        self.buffer = buffer
        self.message = message


def check_pins(problem: Problem) -> None:
    """Raise `PlanError` unless pins can be kept: they are never changed."""
    for number, buffer in enumerate(problem.buffers):
        pin = buffer.pin
        if pin is None:
            continue
        if pin.offset % buffer.alignment:
            raise PlanError(
                number,
                f"expected an offset that is a multiple of {buffer.alignment}, but "
                f"got {pin.offset}",
            )
        pool = problem.pools[pin.pool]
        end = pin.offset + buffer.size
        if pool.capacity is not None and end > pool.capacity:
            raise PlanError(
                number,
                f"expected a fixed offset within the {pool.capacity} bytes of "
                f"{pool.name}, but the buffer ends at byte {end}",
            )
        for other in problem.conflicts[number]:
            near = problem.buffers[other].pin
            if near is None or other < number or near.pool != pin.pool:
                continue
            size = problem.buffers[other].size
            if pin.offset < near.offset + size and near.offset < end:
                raise PlanError(
                    number,
                    f"expected fixed offsets that do not overlap, but {buffer.size} "
                    f"bytes at {pin.offset} and {size} bytes at {near.offset} live "
                    "together",
                )


def check_places(problem: Problem, places: Sequence[Place]) -> None:
    """Raise `PlanError` unless there is a place for each buffer that it may have."""
    if len(places) != len(problem.buffers):
        raise PlanError(
            0, f"expected {len(problem.buffers)} places, but got {len(places)}"
        )
    for number, (buffer, place) in enumerate(zip(problem.buffers, places, strict=True)):
        if place.pool not in buffer.pools or place.offset < 0:
            raise PlanError(
                number, f"expected a place in a pool of the buffer, but got {place}"
            )
        if buffer.pin is not None and place != buffer.pin:
            raise PlanError(number, f"expected the fixed {buffer.pin}, but got {place}")
