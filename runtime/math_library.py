"""
Functions of mathematics on single numbers: those of the C library, which machine code
calls too, so that results have the same bits.

Floats of 16 bits are computed in those of 32 bits, and rounded once.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

_LIBRARIES = {"linux": "libm.so.6", "win32": "ucrtbase"}
"""Elsewhere the process has the functions."""

UNARY = {
    "math.acos": "acos",
    "math.acosh": "acosh",
    "math.asin": "asin",
    "math.asinh": "asinh",
    "math.atan": "atan",
    "math.atanh": "atanh",
    "math.cbrt": "cbrt",
    "math.cos": "cos",
    "math.cosh": "cosh",
    "math.erf": "erf",
    "math.exp": "exp",
    "math.exp2": "exp2",
    "math.expm1": "expm1",
    "math.log": "log",
    "math.log10": "log10",
    "math.log1p": "log1p",
    "math.log2": "log2",
    "math.round": "round",
    "math.sin": "sin",
    "math.sinh": "sinh",
    "math.tan": "tan",
    "math.tanh": "tanh",
}
"""The C function on `double` of an op; that on `float` has an `f` at its end."""

BINARY = {"math.atan2": "atan2", "math.powf": "pow"}


@cache
def _library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(_LIBRARIES.get(sys.platform))
    except OSError:  # another C library, which the process has
        return ctypes.CDLL(None)


@cache
def _function(name: str, of_double: bool, count: int) -> Callable[..., float]:
    function = getattr(_library(), name if of_double else f"{name}f")
    type = ctypes.c_double if of_double else ctypes.c_float
    function.argtypes = [type] * count
    function.restype = type
    return function


def calling(name: str) -> Callable[..., Any]:
    """A function on NumPy scalars that calls one of the C library."""

    def call(*values: Any) -> Any:
        dtype = values[0].dtype
        function = _function(name, dtype.name == "float64", len(values))
        result = function(*map(float, values))
        with np.errstate(all="ignore"):
            return dtype.type(result)

    return call
