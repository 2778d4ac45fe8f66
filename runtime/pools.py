"""
The memory that a program needs beside its inputs and outputs: pools of the memory plan.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from transom.runtime.main_failures import MainError
from transom.runtime.main_memory import start_of
from transom.runtime.signature import Array, TensorSpec


class ProgramError(RuntimeError):
    """The program found something wrong when it ran, such as sizes that do not fit."""


@dataclass(frozen=True)
class PoolSpec:
    """Memory that a call needs: bytes, and the alignment of its start."""

    name: str
    size: int
    alignment: int
    content: tuple[tuple[str, int], ...] = ()
    """
    The weights that are in it, each with its offset in bytes: it is filled once, not
    written to, and calls share it.
    """


class Pool(NamedTuple):
    """The memory of a pool."""

    memory: Array
    start: int
    """The first address in it that is aligned."""

    @classmethod
    def allocate(cls, spec: PoolSpec) -> "Pool":
        """New memory. Raises `ProgramError` if there is none."""
        size = spec.size + spec.alignment
        memory = new_memory([size], np.dtype(np.uint8), "workspace")
        start = start_of(memory)
        return cls(memory, start + -start % spec.alignment)

    @classmethod
    def filled(cls, spec: PoolSpec, weights: Mapping[str, Array]) -> "Pool":
        """
        New memory that holds weights. Raises `ProgramError` if there is none, and
        `MainError` for weights that are not there or do not fit.
        """
        pool = cls.allocate(spec)
        for name, offset in spec.content:
            weight = weights.get(name)
            if weight is None or not 0 <= offset <= spec.size - weight.nbytes:
                raise MainError(f"expected weight '{name}' within pool '{spec.name}'")
            pool.part(offset, weight)[...] = weight
        return pool

    def part(self, offset: int, like: Array) -> Array:
        """Memory at an offset, for an array like another one."""
        first = self.start - start_of(self.memory) + offset
        part = self.memory[first : first + like.nbytes]
        return part.view(like.dtype).reshape(like.shape)


class Pools:
    """The pools of a program: each call takes some of its own, but for constants."""

    def __init__(
        self,
        specs: Sequence[PoolSpec],
        weights: Mapping[str, Array],
        tensors: Sequence[TensorSpec],
    ) -> None:
        """
        `tensors` may have places in pools. Raises `MainError` for places that there are
        not.
        """
        self._specs = specs
        self._filled = {
            number: Pool.filled(spec, weights)
            for number, spec in enumerate(specs)
            if spec.content
        }
        self._numbers = {spec.name: number for number, spec in enumerate(specs)}
        self._tensors = tensors
        self.has_places = any(tensor.place is not None for tensor in tensors)
        for tensor in tensors:
            if tensor.place is not None:
                self._check(tensor, *tensor.place)
        self._free: list[list[Pool]] = []
        self._lock = threading.Lock()

    def _check(self, tensor: TensorSpec, pool: str, offset: int) -> None:
        number, size = self._numbers.get(pool), 0
        if tensor.is_static:
            size = tensor.element.itemsize * int(np.prod(tensor.static_shape))
        if number is None or not 0 <= offset <= self._specs[number].size - size:
            raise MainError(f"expected '{tensor.name}' within pool '{pool}'")

    def take(self) -> list[Pool]:
        """Pools for a call. Raises `ProgramError` if there is no memory."""
        with self._lock:
            if self._free:
                return self._free.pop()
        return [
            self._filled.get(number) or Pool.allocate(spec)
            for number, spec in enumerate(self._specs)
        ]

    def give_back(self, pools: list[Pool]) -> None:
        """A call is done with its pools."""
        with self._lock:
            self._free.append(pools)

    def place(self, memory: list[Array], inputs: int, pools: Sequence[Pool]) -> None:
        """
        Put parts of pools in the place of the arrays of tensors that have places; so
        many at the front are inputs, which are copied there.
        """
        for number, (spec, array) in enumerate(zip(self._tensors, memory, strict=True)):
            if spec.place is not None:
                name, offset = spec.place
                part = pools[self._numbers[name]].part(offset, array)
                if number < inputs:
                    np.copyto(part, array)
                memory[number] = part


def new_memory(shape: Sequence[int], dtype: np.dtype[Any], what: str) -> Array:
    """A new array. Raises `ProgramError` if there is no memory for it."""
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError):  # ValueError: more than an address can tell
        text = "x".join(map(str, (*shape, dtype.name)))
        raise ProgramError(f"no memory for {what} of {text}") from None
