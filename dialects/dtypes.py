"""
Element types and NumPy dtypes: one table, both ways.

| element type | dtype | |
|---|---|---|
| `i1` | `bool` | one byte per element in memory |
| `i8` … `i64`, `si8` … `si64` | `int8` … `int64` | signless integers are signed |
| `ui8` … `ui64` | `uint8` … `uint64` | |
| `index` | `int64` | |
| `f16`, `f32`, `f64` | `float16`, `float32`, `float64` | |
| `bf16` | `ml_dtypes.bfloat16` | |
"""

from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)

_FLOATS: dict[type[Attribute], np.dtype[Any]] = {
    Float16Type: np.dtype(np.float16),
    BFloat16Type: BFLOAT16,
    Float32Type: np.dtype(np.float32),
    Float64Type: np.dtype(np.float64),
    IndexType: np.dtype(np.int64),
}

_INTEGER_WIDTHS = (8, 16, 32, 64)

_ELEMENT_TYPES: dict[np.dtype[Any], Attribute] = {
    np.dtype(np.bool_): IntegerType(1),
    np.dtype(np.float16): Float16Type(),
    BFLOAT16: BFloat16Type(),
    np.dtype(np.float32): Float32Type(),
    np.dtype(np.float64): Float64Type(),
    **{np.dtype(f"int{w}"): IntegerType(w) for w in _INTEGER_WIDTHS},
    **{
        np.dtype(f"uint{w}"): IntegerType(w, Signedness.UNSIGNED)
        for w in _INTEGER_WIDTHS
    },
}


def optional_numpy_dtype(element_type: Attribute) -> np.dtype[Any] | None:
    """The dtype of an element type, or None if NumPy has none."""
    if not isinstance(element_type, IntegerType):
        return _FLOATS.get(type(element_type))
    integer = cast(IntegerType, element_type)
    width = integer.width.data
    if width == 1:
        return np.dtype(np.bool_)
    if width in _INTEGER_WIDTHS:
        kind = "uint" if is_unsigned(integer) else "int"
        return np.dtype(f"{kind}{width}")
    return None


def numpy_dtype(element_type: Attribute) -> np.dtype[Any]:
    """
    The dtype of an element type (not of a tensor type).

    Raises ValueError, naming the type, if NumPy has none.
    """
    dtype = optional_numpy_dtype(element_type)
    if dtype is None:
        raise ValueError(
            "expected an element type of i1, i8 to i64, ui8 to ui64, index, f16, "
            f"bf16, f32 or f64, but got '{element_type}'"
        )
    return dtype


def element_type(dtype: np.dtype[Any] | type[Any] | str) -> Attribute:
    """
    The element type of a dtype; signed integers become signless ones.

    Raises ValueError, naming the dtype, if there is none.
    """
    dtype = np.dtype(dtype)
    found = _ELEMENT_TYPES.get(dtype.newbyteorder("="))
    if found is None:
        raise ValueError(
            "expected a dtype of bool, int8 to int64, uint8 to uint64, float16, "
            f"bfloat16, float32 or float64, but got '{dtype}'"
        )
    return found


def is_unsigned(element_type: Attribute) -> bool:
    """Whether it is an integer type of unsigned signedness."""
    if not isinstance(element_type, IntegerType):
        return False
    signedness = cast(IntegerType, element_type).signedness.data
    return signedness is Signedness.UNSIGNED


def is_float(element_type: Attribute) -> bool:
    """Whether it is one of the floating-point types of the table."""
    return isinstance(
        element_type, Float16Type | BFloat16Type | Float32Type | Float64Type
    )
