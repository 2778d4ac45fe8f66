"""
Memory of main where it is walked: arrays on memory of somebody else, parts of them, and
memory that is taken when the program runs.
"""

import ctypes
import math
import threading
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from transom.runtime.main_failures import MainFailure
from transom.runtime.signature import Array

OUTSIDE = "a part of memory is outside of it"


def start_of(array: Array) -> int:
    """Where an array starts."""
    try:  # several times as fast as NumPy's ways, for what can be written
        return ctypes.addressof(ctypes.c_char.from_buffer(cast(Any, array)))
    except (TypeError, ValueError):
        return array.ctypes.data


def window(address: int, size: int) -> Any:
    """The bytes at an address, as a buffer."""
    return (ctypes.c_char * size).from_address(address)


def memory_at(address: int, dtype: np.dtype[Any], shape: Sequence[int]) -> Array:
    """An array on memory that somebody else owns."""
    size = math.prod(shape) * dtype.itemsize
    if size == 0:
        return np.empty(shape, dtype)
    return part_of(window(address, size), 0, dtype, shape)


def part_of(
    memory: Any, offset: int, dtype: np.dtype[Any], shape: Sequence[int]
) -> Array:
    """An array at an offset of a buffer. Raises `MainFailure` unless it lies in it."""
    if 0 in shape:
        return np.empty(shape, dtype)
    try:
        return np.ndarray(tuple(shape), dtype, memory, offset)
    except (TypeError, ValueError, OverflowError):
        raise MainFailure(OUTSIDE) from None


def bytes_as(
    memory: Array, start: int, dtype: np.dtype[Any], shape: Sequence[int]
) -> Array:
    """Some of the bytes of memory, as an array. Raises `MainFailure`."""
    count = math.prod(shape) * dtype.itemsize
    if start < 0 or min(shape, default=0) < 0 or start + count > memory.nbytes:
        raise MainFailure(OUTSIDE)
    return memory[start : start + count].view(dtype).reshape(shape)


def index_of(memory: Array, indices: Sequence[Any]) -> tuple[int, ...]:
    """An index of memory. Raises `MainFailure` unless it is inside."""
    places = tuple(map(int, indices))
    if any(not 0 <= i < n for i, n in zip(places, memory.shape, strict=True)):
        raise MainFailure(f"index {list(places)} is outside of {list(memory.shape)}")
    return places


def subview(
    memory: Array,
    starts: Sequence[int],
    sizes: Sequence[int],
    steps: Sequence[int],
    dropped: Collection[int],
) -> Array:
    """
    The part of memory at equal distances along each axis, without the axes that are
    dropped. Raises `MainFailure`.
    """
    for start, size, step, extent in zip(
        starts, sizes, steps, memory.shape, strict=True
    ):
        last = start + (size - 1) * step
        if size < 0 or (size and not (0 <= start < extent and 0 <= last < extent)):
            raise MainFailure(OUTSIDE)
    picks = tuple(
        slice(start, start + size * step, step) if step > 0 else slice(start, None)
        for start, size, step in zip(starts, sizes, steps, strict=True)
    )
    part = memory[picks]
    kept = [size for axis, size in enumerate(part.shape) if axis not in dropped]
    strides = [s for axis, s in enumerate(part.strides) if axis not in dropped]
    return np.lib.stride_tricks.as_strided(part, kept, strides)


def reshaped(memory: Array, shape: Sequence[int]) -> Array:
    """The same memory in another shape. Raises `MainFailure` if that is a copy."""
    if math.prod(shape) != memory.size:
        raise MainFailure(f"memory of {list(memory.shape)} as {list(shape)}")
    found = memory.reshape(shape)
    if found.size and not np.may_share_memory(found, memory):
        raise MainFailure(f"parts of memory as {list(shape)}")
    return found


class Heap:
    """
    Memory that a call of main takes and gives back. What was given back is taken again:
    the smallest block that holds what is asked for and is less than twice as large.
    """

    def __init__(self) -> None:
        self._free: list[Array] = []
        self._taken: dict[int, Array] = {}
        self._used: set[int] = set()

    @property
    def held_bytes(self) -> int:
        """The bytes of all blocks, whoever has them."""
        return sum(b.nbytes for b in (*self._free, *self._taken.values()))

    def take(self, size: int, alignment: int) -> Array:
        """Memory of so many bytes. Raises `MainFailure` if there is none."""
        wanted = max(size, 1) + alignment
        fitting = [b for b in self._free if wanted <= b.nbytes < 2 * wanted]
        if fitting:
            block = min(fitting, key=lambda b: b.nbytes)
            self._free = [b for b in self._free if b is not block]
        else:
            try:
                block = np.empty(wanted, np.uint8)
            except (MemoryError, ValueError, OverflowError):
                raise MainFailure(f"no memory for {size} bytes") from None
        start = -start_of(block) % alignment
        self._used.add(id(block))
        self._taken[start_of(block) + start] = block
        return block[start : start + size]

    def give(self, memory: Array) -> None:
        """Give memory back. Raises `MainFailure` if it was not taken."""
        if memory.size == 0:  # whose address says nothing; it is found in the end
            return
        block = self._taken.pop(start_of(memory), None)
        if block is None:
            raise MainFailure("memory is given back that was not taken")
        self._free.append(block)

    def end(self) -> None:
        """Take all back when a call ends; what it had no use for is not kept."""
        blocks = (*self._free, *self._taken.values())
        self._free = [block for block in blocks if id(block) in self._used]
        self._taken, self._used = {}, set()


class Allocator:
    """Heaps for calls, which may run at the same time."""

    def __init__(self) -> None:
        self._heaps: list[Heap] = []
        self._lock = threading.Lock()

    @contextmanager
    def frame(self) -> Generator[Heap]:
        """The heap of a call."""
        with self._lock:
            heap = self._heaps.pop() if self._heaps else Heap()
        try:
            yield heap
        finally:
            heap.end()
            with self._lock:
                self._heaps.append(heap)
