"""
Functions of Python that machine code calls: memory is seen as arrays, numbers as they
are, structs as tuples, and what goes wrong is kept until the machine code has returned.
"""

import ctypes
import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, TypeAlias

import numpy as np

from transom.runtime.signature import Array, dtype_of

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
    A number, or memory in row-major order: its address, and then those of its sizes
    that are not known before (-1 in the shape).
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


@dataclass(frozen=True)
class Struct:
    """A struct of numbers, memory of known sizes, and structs; or its address."""

    fields: "tuple[Parameter, ...]"
    by_address: bool = False

    @property
    def types(self) -> tuple[Any, ...]:
        """How it is passed."""
        return (ctypes.c_void_p if self.by_address else structure_of(self),)

    def take(self, values: Iterator[Any]) -> tuple[Any, ...]:
        """The values of its fields."""
        value = next(values)
        if self.by_address:
            value = structure_of(self).from_address(value)
        held = (getattr(value, f"f{number}") for number in range(len(self.fields)))
        return tuple(field.take(iter((next(held),))) for field in self.fields)


Parameter: TypeAlias = Argument | Struct


@cache
def structure_of(struct: Struct) -> Any:
    """The type of C for a struct."""
    types = [field.types[0] for field in struct.fields]
    named = [(f"f{number}", type_) for number, type_ in enumerate(types)]
    return type("Fields", (ctypes.Structure,), {"_fields_": named})


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
        if not self.is_kept:
            self._kept.value = what, error

    @property
    def is_kept(self) -> bool:
        """Whether there is one in this thread."""
        return getattr(self._kept, "value", None) is not None

    def take(self) -> tuple[str, BaseException] | None:
        """What was kept in this thread, which is forgotten then."""
        kept = getattr(self._kept, "value", None)
        self._kept.value = None
        return kept


@dataclass(frozen=True)
class Called:
    """
    A function of Python, and how C calls it.

    It gets the values of its parameters; where it returns None, the result is `good`,
    and after an exception it is not.
    """

    what: str
    """Its name in messages."""
    parameters: tuple[Parameter, ...]
    function: Callable[..., Any]
    result: str | None = "int32"
    """The dtype of what it returns; None for nothing."""
    good: int = 0


def c_function(called: Called, failure: Failure) -> Any:
    """
    The C function that calls one of Python; what it raises is kept.

    It is valid as long as the object lives.
    """

    def call(*values: Any) -> Any:
        rest = iter(values)
        try:
            result = called.function(*(p.take(rest) for p in called.parameters))
            if called.result is None:
                return None
            return called.good if result is None else _number(result, called.result)
        except BaseException as e:  # nothing may leave a function that C has called
            failure.keep(called.what, e)
            return None if called.result is None else called.good + 1

    result = None if called.result is None else NUMBERS[called.result]
    types = [type_ for parameter in called.parameters for type_ in parameter.types]
    return ctypes.CFUNCTYPE(result, *types)(call)


def _number(value: Any, dtype: str) -> Any:
    """A result as a number of a dtype, which ctypes would cut, or leave to chance."""
    try:
        if dtype.startswith("float"):
            return float(value)
        number = int(value) if type(value) is np.bool_ else operator.index(value)
        low, high = (0, 1) if dtype == "bool" else _range(dtype)
        if low <= number <= high:
            return number
    except (TypeError, ValueError):
        pass
    raise TypeError(f"expected a result of {dtype}, but got {value!r}")


def _range(dtype: str) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def address_of(function: Any) -> int:
    """The address of a C function."""
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None, "functions are not null"
    return address
