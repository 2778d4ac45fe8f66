"""
Give buffers offsets in one pool, so that no two that live together overlap.

Greedy: buffer after buffer goes to the lowest gap between those that it conflicts with
and that are placed already. Several orders are tried and the best plan is kept. That no
order beats `lower_bound` shows when a plan is optimal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from transom.passes.memory.flow_graph import runs


@dataclass(frozen=True)
class Buffer:
    """
    Bytes that are needed at some points of a program.

    `points` is a bit set of program points. `pin` is an offset that was fixed before.
    """

    name: str
    size: int
    alignment: int
    points: int
    pin: int | None = None


@dataclass(frozen=True)
class Packing:
    """An offset for each buffer, in the order of the buffers, and the bytes used."""

    offsets: tuple[int, ...]
    size: int


class PackingError(Exception):
    """No plan was found; `buffer` is the index of the one that found no place."""

    def __init__(self, buffer: int, message: str) -> None:
        super().__init__(message)
        self.buffer = buffer
        self.message = message


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """The largest sum of sizes that live at one point: no pool can be smaller."""
    changes: dict[int, int] = {}
    for buffer in buffers:
        for start, end in runs(buffer.points):
            changes[start] = changes.get(start, 0) + buffer.size
            changes[end] = changes.get(end, 0) - buffer.size
    peak = total = 0
    for point in sorted(changes):
        total += changes[point]
        peak = max(peak, total)
    return peak


def pack(buffers: Sequence[Buffer], capacity: int | None = None) -> Packing:
    """
    The smallest packing of those that the orders give.

    Raises `PackingError` if pins overlap or no order fits into `capacity` bytes.
    """
    conflicts = _conflicts(buffers)
    _check_pins(buffers, conflicts)
    best: Packing | None = None
    bound = lower_bound(buffers)
    for order in _ORDERS:
        sequence = sorted(
            range(len(buffers)),
            key=lambda i: (
                buffers[i].pin is None,
                *order(buffers[i], len(conflicts[i])),
                i,
            ),
        )
        packing = _place(buffers, conflicts, sequence)
        if best is None or packing.size < best.size:
            best = packing
        if best.size == bound:
            break
    assert best is not None, "there is at least one order"
    if capacity is not None and best.size > capacity:
        worst = max(
            range(len(buffers)), key=lambda i: best.offsets[i] + buffers[i].size
        )
        raise PackingError(
            worst, f"expected to need at most {capacity} bytes, but {best.size} are"
        )
    return best


Order = Callable[[Buffer, int], tuple[int, ...]]

_ORDERS: tuple[Order, ...] = (
    lambda buffer, _: (-buffer.size,),
    lambda buffer, _: (-buffer.size * buffer.points.bit_count(),),
    lambda buffer, conflicts: (-conflicts, -buffer.size),
    lambda buffer, _: ((buffer.points & -buffer.points).bit_length(), -buffer.size),
)
"""Sort keys, given a buffer and how many others it conflicts with."""


def _conflicts(buffers: Sequence[Buffer]) -> list[list[int]]:
    """For each buffer those that live at a common point with it, ascending."""
    conflicts: list[set[int]] = [set() for _ in buffers]
    stretches = sorted(
        (start, end, i)
        for i, buffer in enumerate(buffers)
        if buffer.size
        for start, end in runs(buffer.points)
    )
    alive: list[tuple[int, int]] = []
    for start, end, i in stretches:
        alive = [(until, j) for until, j in alive if until > start]
        for _, j in alive:
            conflicts[i].add(j)
            conflicts[j].add(i)
        alive.append((end, i))
    return [sorted(others) for others in conflicts]


def _check_pins(buffers: Sequence[Buffer], conflicts: Sequence[Sequence[int]]) -> None:
    """Pins are kept as they are, so they must be right."""
    for i, buffer in enumerate(buffers):
        if buffer.pin is None:
            continue
        if buffer.pin % buffer.alignment:
            raise PackingError(
                i,
                f"expected an offset that is a multiple of {buffer.alignment}, but "
                f"got {buffer.pin}",
            )
        for j in conflicts[i]:
            other = buffers[j]
            if other.pin is None or j < i:
                continue
            if (
                buffer.pin < other.pin + other.size
                and other.pin < buffer.pin + buffer.size
            ):
                raise PackingError(
                    i,
                    f"expected fixed offsets that do not overlap, but {buffer.size} "
                    f"bytes at {buffer.pin} and {other.size} bytes at {other.pin} "
                    "live together",
                )


def _place(
    buffers: Sequence[Buffer], conflicts: Sequence[Sequence[int]], order: Sequence[int]
) -> Packing:
    """Each buffer of `order` into the lowest gap; pinned ones come first."""
    offsets: list[int | None] = [None] * len(buffers)
    size = 0
    for i in order:
        buffer = buffers[i]
        if buffer.pin is not None:
            offset = buffer.pin
        else:
            taken = sorted(
                (placed, placed + buffers[j].size)
                for j in conflicts[i]
                if (placed := offsets[j]) is not None
            )
            offset = 0
            for start, end in taken:
                if offset + buffer.size <= start:
                    break
                offset = max(offset, _aligned(end, buffer.alignment))
        offsets[i] = offset
        size = max(size, offset + buffer.size)
    return Packing(tuple(0 if o is None else o for o in offsets), size)


def _aligned(offset: int, alignment: int) -> int:
    """The next multiple of `alignment`."""
    return -(-offset // alignment) * alignment
