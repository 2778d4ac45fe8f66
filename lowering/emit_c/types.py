"""
C types of IR types, and numbers as C writes them.

A bool is a `bool`, an integer the one of its width with a sign, an `index` an integer
of 64 bits, or of 32 on machines that are told so. C99 has no numbers of 16 bits with a
point: f16 and bf16 are `uint16_t` in memory, and computed as `float`, rounded after
each operation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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

from transom.lowering.conversion import Refusal

WIDTHS = (8, 16, 32, 64)


@dataclass(frozen=True)
class Scalar:
    """A number: what it is called in names, in computations and in memory."""

    name: str
    """Of helper functions: `i32`, `f32`, `bool`, …"""
    type: str
    """The C type of values."""
    storage: str
    """The C type of elements in memory."""
    width: int
    """In bits."""
    is_float: bool = False

    @property
    def unsigned(self) -> str:
        """The unsigned C type of the same width."""
        return "bool" if self.width == 1 else f"uint{self.width}_t"

    @property
    def is_half(self) -> bool:
        """Whether values have another form in memory."""
        return self.type != self.storage

    @property
    def bytes(self) -> int:
        """The size in memory."""
        return max(1, self.width // 8)


def scalar_of(type: Attribute, index_bits: int) -> Scalar | Refusal:
    """The C form of a number."""
    match type:
        case IndexType():
            c = f"int{index_bits}_t"
            return Scalar(f"i{index_bits}", c, c, index_bits)
        case IntegerType():
            width = type.width.data
            if width == 1:
                return Scalar("bool", "bool", "bool", 1)
            if width not in WIDTHS:
                return Refusal(
                    f"expected an integer of 1, 8, 16, 32 or 64 bits, but got '{type}'"
                )
            sign = "u" if type.signedness.data == Signedness.UNSIGNED else ""
            c = f"{sign}int{width}_t"
            return Scalar(f"{'u' if sign else 'i'}{width}", c, c, width)
        case Float32Type():
            return Scalar("f32", "float", "float", 32, True)
        case Float64Type():
            return Scalar("f64", "double", "double", 64, True)
        case Float16Type():
            return Scalar("f16", "float", "uint16_t", 16, True)
        case BFloat16Type():
            return Scalar("bf16", "float", "uint16_t", 16, True)
        case _:
            return Refusal(f"no C type for '{type}'")


def integer_text(value: int, scalar: Scalar) -> str:
    """An integer constant of a type."""
    if scalar.width == 1:
        return "true" if value & 1 else "false"
    if scalar.name.startswith("u"):
        value %= 1 << scalar.width
        return f"UINT64_C({value})" if scalar.width == 64 else f"{value}u"
    value &= (1 << scalar.width) - 1
    if value >> (scalar.width - 1):
        value -= 1 << scalar.width
    if value == -(1 << (scalar.width - 1)) and scalar.width >= 32:
        return f"INT{scalar.width}_MIN"
    if abs(value) >= 1 << 31:
        return f"INT64_C({value})"
    return str(value)


def float_text(value: float, scalar: Scalar) -> str:
    """
    A constant of a type with a point: the shortest digits that give this number.
    """
    suffix = "f" if scalar.type == "float" else ""
    if math.isnan(value):
        return "NAN" if suffix else "(double)NAN"
    if math.isinf(value):
        text = "INFINITY" if suffix else "(double)INFINITY"
        return f"-{text}" if value < 0 else text
    text = str(np.float32(value)) if suffix else repr(float(value))
    if not any(c in text for c in ".e"):
        text += ".0"
    return text + suffix
