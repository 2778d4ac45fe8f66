"""
A call of a program whose arrays are decided: checked once, made as often as wanted.
"""

import ctypes
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from transom.runtime.main_failures import MainFailure
from transom.runtime.main_memory import start_of
from transom.runtime.pools import Pools, ProgramError
from transom.runtime.signature import Array, TensorSpec


class Bound(NamedTuple):
    """An input or output, and its memory."""

    spec: TensorSpec
    array: Array


class BoundCall:
    """
    A program with the memory that it reads and writes; see `Program.bind`.

    A call reads what the inputs hold by then. It is for one thread at a time, as all
    calls write the same outputs.
    """

    def __init__(
        self,
        entry: Callable[..., int],
        pools: Pools,
        inputs: Sequence[Bound],
        outputs: Sequence[Bound],
        given: Collection[str],
        check: Callable[[int], None],
    ) -> None:
        """
        The arrays fit. `given` names the outputs whose memory is the caller's, `check`
        raises what a status says.
        """
        self._entry, self._pools, self._check = entry, pools, check
        self._bound, self._inputs, self._given = (*inputs, *outputs), len(inputs), given
        self._outputs = {spec.name: array for spec, array in outputs}
        self._bounded = [spec for spec, _ in outputs if spec.is_bounded]
        self._sizes: Any = None
        """Where the sizes go that depend on data."""
        if count := sum(len(spec.dynamic) for spec in self._bounded):
            self._sizes = (ctypes.c_int64 * count)()
        self._memory = [array for _, array in self._bound]
        self._arguments = self._arguments_of(self._memory)

    def __call__(self) -> dict[str, Array]:
        """
        The outputs by name. Raises `ProgramError` for what the program finds.
        """
        memory, arguments = self._memory, self._arguments
        pools = self._pools.take()
        try:
            if self._pools.has_places:
                memory = [*memory]
                self._pools.place(memory, self._inputs, pools)
                arguments = self._arguments_of(memory)
            status = self._entry(*arguments, *[pool.start for pool in pools])
            if memory is not self._memory:
                for number in range(self._inputs, len(memory)):
                    if memory[number] is not self._memory[number]:
                        np.copyto(self._memory[number], memory[number])
        except MainFailure as e:
            raise ProgramError(str(e)) from None
        finally:
            self._pools.give_back(pools)
        self._check(status)
        if self._sizes is not None:
            return self._outputs | self._trimmed(iter(self._sizes))
        return dict(self._outputs)

    def _arguments_of(self, memory: Sequence[Array]) -> list[int]:
        """Those of the C function, but for pools."""
        arguments: list[int] = []
        for (spec, _), array in zip(self._bound, memory, strict=True):
            arguments.append(start_of(array))
            if not spec.is_static:
                dynamic = (0,) if spec.is_bounded else spec.dynamic
                arguments += [array.shape[axis] for axis in dynamic]
        if self._sizes is not None:
            arguments.append(ctypes.addressof(self._sizes))
        return arguments

    def _trimmed(self, sizes: Iterator[int]) -> dict[str, Array]:
        """The elements that there are, of outputs whose sizes depend on data."""
        results: dict[str, Array] = {}
        for spec in self._bounded:
            shape, flat = spec.sized(sizes), self._outputs[spec.name]
            found = flat[: math.prod(shape)].reshape(shape)
            # Memory that the caller did not give is not kept for a few elements.
            is_kept = spec.name in self._given or 2 * found.size >= flat.size
            results[spec.name] = found if is_kept else found.copy()
        return results
