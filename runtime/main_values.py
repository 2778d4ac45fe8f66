"""
What main is made of where it is walked: the types of its values, what a call of it
holds, and how it fails. The executors `graph` and `vm` share it.

A number is a NumPy scalar of its dtype, memory is an array. The code of main is a
function that takes what the compiled one of that name takes (`Program`): addresses,
sizes and pools as integers.
"""

import ctypes
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from transom.runtime.main_failures import Ended, MainError
from transom.runtime.main_memory import Allocator, Heap, memory_at, window
from transom.runtime.signature import Array, dtype_of

DTYPES = {
    name: dtype_of(name)
    for name in (
        "bool",
        *(f"{kind}{width}" for kind in ("int", "uint") for width in (8, 16, 32, 64)),
        *("bfloat16", "float16", "float32", "float64"),
    )
}
"""What numbers can be, by name."""


class Type(NamedTuple):
    """A number, or memory of numbers: `int64`, `float32[4,?]`."""

    dtype: np.dtype[Any]
    shape: tuple[int | None, ...] | None

    @classmethod
    def parse(cls, text: str) -> "Type":
        """The type that a text names. Raises `MainError`."""
        name, bracket, rest = text.partition("[")
        try:
            dtype = DTYPES[name]
            if not bracket:
                return cls(dtype, None)
            if not rest.endswith("]"):
                raise ValueError(rest)
            sizes = rest[:-1].split(",") if rest != "]" else []
            shape = tuple(None if s == "?" else int(s) for s in sizes)
            if any(size is not None and size < 0 for size in shape):
                raise ValueError(rest)
            return cls(dtype, shape)
        except (KeyError, ValueError):
            raise MainError(f"expected a type, but got '{text}'") from None

    def __str__(self) -> str:
        if self.shape is None:
            return self.dtype.name
        sizes = ("?" if size is None else str(size) for size in self.shape)
        return f"{self.dtype.name}[{','.join(sizes)}]"

    @property
    def is_number(self) -> bool:
        """Whether it is no memory."""
        return self.shape is None

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer, of one bit or more."""
        return self.is_number and self.dtype.kind in "biu"

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point number."""
        return self.is_number and not self.is_integer

    @property
    def open_axes(self) -> tuple[int, ...]:
        """The axes whose sizes are known when main runs only."""
        shape = self.shape or ()
        return tuple(axis for axis, size in enumerate(shape) if size is None)

    @property
    def static_bytes(self) -> int | None:
        """The bytes of memory whose sizes are all known."""
        if self.shape is None or None in self.shape:
            return None
        return math.prod(s or 0 for s in self.shape) * self.dtype.itemsize

    def sized(self, sizes: Sequence[Any]) -> tuple[int, ...]:
        """The shape, with sizes in the place of those that are not known."""
        assert self.shape is not None, "of memory"
        rest = iter(sizes)
        return tuple(int(next(rest)) if s is None else s for s in self.shape)

    def admits(self, shape: Sequence[int]) -> bool:
        """Whether memory of a shape is of this type."""
        return self.shape is not None and all(
            known is None or known == size
            for known, size in zip(self.shape, shape, strict=True)
        )


@dataclass(frozen=True)
class KernelCall:
    """A call of a kernel that was watched."""

    node: str
    """Where in main: the number of a node or an instruction, behind what is around."""
    kernel: str
    seconds: float
    written: Mapping[str, Array]
    """The memory that it has written, by name; it changes when the program goes on."""


Observer = Callable[[KernelCall], None]
"""Told of each call of a kernel when it is done."""


class PoolMemory(Protocol):
    """What is told of a pool of the program."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...


class Run:
    """One call: its pools, who watches, and the memory that it takes."""

    def __init__(
        self, pools: Sequence[Any], observer: Observer | None, memory: Heap
    ) -> None:
        self.pools = pools
        self.observer = observer
        self.memory = memory


class Walked(Protocol):
    """Main in a form that is walked."""

    def entry(
        self, name: str, count: int, observer: Observer | None = None
    ) -> Callable[..., int]:
        """
        A function that takes what the compiled one of that name takes, so many
        integers, and gives a status. Raises `MainFailure` with a message instead of
        giving its number.

        Raises `MainError` if there is no such function.
        """
        ...

    def shapes(self, name: str) -> Callable[..., int]:
        """The function that writes the sizes of outputs to its last argument."""
        ...


CallFunction = Callable[[Sequence[Any], Run], Sequence[Any]]


def entry_of(
    call: CallFunction,
    types: Sequence[Type],
    count: int,
    pools: Sequence[PoolMemory],
    allocator: Allocator,
    observer: Observer | None,
) -> Callable[..., int]:
    """
    `Walked.entry` for a function: `call` on values of `types`.

    Raises `MainError` unless it takes so many integers as `count`, pools included.
    """
    taken = len(pools) + sum(1 + len(type.open_axes) for type in types)
    if taken != count:
        raise MainError(f"expected main to take {count} values, but it takes {taken}")
    sizes = [pool.size for pool in pools]
    takers = [_taker(type) for type in types]

    def run(*arguments: int) -> int:
        rest = iter(arguments)
        values = [take(rest) for take in takers]
        memory = [window(start, n) for start, n in zip(rest, sizes, strict=True)]
        try:
            with allocator.frame() as frame:
                call(values, Run(memory, observer, frame))
        except Ended as e:
            return e.status
        return 0

    return run


def _taker(type: Type) -> Callable[[Iterator[int]], Any]:
    """What makes a value of the integers that stand for it."""
    if type.shape is None:
        return lambda rest: type.dtype.type(next(rest))
    count = len(type.open_axes)

    def take(rest: Iterator[int]) -> Array:
        address = next(rest)
        return memory_at(address, type.dtype, type.sized([*_first(rest, count)]))

    return take


def _first(rest: Iterator[int], count: int) -> Iterator[int]:
    return (next(rest) for _ in range(count))


def shapes_of(call: CallFunction, allocator: Allocator) -> Callable[..., int]:
    """`Walked.shapes` for a function: `call` on sizes."""

    def run(*arguments: int) -> int:
        *sizes, target = arguments
        values = [np.int64(n) for n in sizes]
        with allocator.frame() as frame:
            found = call(values, Run((), None, frame))
        for number, value in enumerate(found):
            ctypes.c_int64.from_address(target + 8 * number).value = int(value)
        return 0

    return run
