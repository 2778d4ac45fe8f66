"""
Functions of Python that machine code calls: memory is seen as arrays, numbers as they
are, and what goes wrong is kept until the machine code has returned.
"""

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from transom.runtime.signature import Array, dtype_of

FAILED = 1
"""The status that a function returns after an exception."""

NUMBERS: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}
"""How C passes numbers, by dtype. Python knows no way to pass narrower floats."""


@dataclass(frozen=True)
class Argument:
    """
    What a function takes: a number, or memory in row-major order, as its address and
    then those of its sizes that are not known before (-1 in the shape).
    """

    dtype: str
    shape: tuple[int, ...] | None = None
    """None for a number."""
    is_read_only: bool = False

    @property
    def types(self) -> tuple[Any, ...]:
        """How it is passed."""
        if self.shape is None:
            return (NUMBERS[self.dtype],)
        sizes = [ctypes.c_int64] * sum(size < 0 for size in self.shape)
        return (ctypes.c_void_p, *sizes)

    def take(self, values: Iterator[Any]) -> Any:
        """The number or array that some of the passed values stand for."""
        dtype = dtype_of(self.dtype)
        value = next(values)
        if self.shape is None:
            return dtype.type(value)
        shape = [next(values) if size < 0 else size for size in self.shape]
        return memory_at(value or 0, shape, dtype, not self.is_read_only)


def memory_at(
    address: int, shape: Sequence[int], dtype: np.dtype[Any], is_writeable: bool
) -> Array:
    """The array at an address."""
    count = prod(shape)
    if not count:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    array: Array = np.frombuffer(memoryview(memory), dtype).reshape(shape)
    array.flags.writeable = is_writeable
    return array


class Failure:
    """The first exception of the functions that a thread has called."""

    def __init__(self) -> None:
        self._kept = threading.local()

    def keep(self, what: str, error: BaseException) -> None:
        """Remember an exception in `what`, unless there is one."""
        if getattr(self._kept, "value", None) is None:
            self._kept.value = what, error

    def take(self) -> tuple[str, BaseException] | None:
        """What was kept in this thread, which is forgotten then."""
        kept = getattr(self._kept, "value", None)
        self._kept.value = None
        return kept


def c_function(
    what: str,
    arguments: Sequence[Argument],
    function: Callable[[Sequence[Any]], None],
    failure: Failure,
) -> Any:
    """
    A C function that calls one of Python with its arguments, and returns 0, or `FAILED`
    after an exception. It is valid as long as the object lives.
    """

    def call(*values: Any) -> int:
        rest = iter(values)
        try:
            function([argument.take(rest) for argument in arguments])
        except BaseException as e:  # nothing may leave a function that C has called
            failure.keep(what, e)
            return FAILED
        return 0

    types = [type for argument in arguments for type in argument.types]
    return ctypes.CFUNCTYPE(ctypes.c_int32, *types)(call)


def address_of(function: Any) -> int:
    """The address of a C function."""
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None, "functions are not null"
    return address
