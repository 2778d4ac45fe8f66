"""
Kernels that main calls where it is walked: C functions on memory and numbers.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from transom.runtime.main_failures import Ended, MainError
from transom.runtime.main_memory import start_of
from transom.runtime.main_values import Type

C_SCALARS: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}
"""How C passes numbers, by dtype. Python knows no way to pass narrower floats."""

FindFunction = Callable[[str, Any, Sequence[Any]], Any]
"""Gives the C function of a symbol, by result and arguments."""


class Kernel:
    """
    A C function with what it takes: the address of memory, and then the sizes that its
    type leaves open; numbers as they are.
    """

    def __init__(
        self,
        name: str,
        symbol: str,
        types: Sequence[Type],
        gives_status: bool,
        find: FindFunction,
    ) -> None:
        """Raises `MainError` for a number that C cannot be given."""
        self.name = name
        self.types = tuple(types)
        arguments: list[Any] = []
        self._open_axes: list[tuple[int, ...] | None] = []
        for type in types:
            if type.shape is None:
                if type.dtype.name not in C_SCALARS:
                    raise MainError(f"'{name}' takes a number of type '{type}'")
                arguments.append(C_SCALARS[type.dtype.name])
                self._open_axes.append(None)
            else:
                arguments += [ctypes.c_void_p, *[ctypes.c_int64] * len(type.open_axes)]
                self._open_axes.append(type.open_axes)
        result = ctypes.c_int32 if gives_status else None
        self._function = find(symbol, result, arguments)
        self._is_static = not any(axes is None or axes for axes in self._open_axes)

    def call(self, values: Sequence[Any]) -> None:
        """Call it. Raises `Ended` if it fails."""
        if self._is_static:
            status = self._function(*map(start_of, values))
        else:
            status = self._function(*self._arguments(values))
        if status:
            raise Ended(status)

    def _arguments(self, values: Sequence[Any]) -> list[Any]:
        arguments: list[Any] = []
        for axes, value in zip(self._open_axes, values, strict=True):
            if axes is None:
                arguments.append(value.item())
                continue
            arguments.append(start_of(value))
            arguments += [value.shape[axis] for axis in axes]
        return arguments
