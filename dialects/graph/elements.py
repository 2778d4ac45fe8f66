"""
Element types that ops accept, as sets with names for messages.
"""

from typing import NamedTuple

from xdsl.dialects.builtin import (
    IndexType,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

ui8, ui16, ui32, ui64 = (IntegerType(w, Signedness.UNSIGNED) for w in (8, 16, 32, 64))
index = IndexType()


class ElementSet(NamedTuple):
    """Element types that an operand may have, and what to call them."""

    name: str
    types: frozenset[Attribute]

    def check(self, type: Attribute, what: str) -> None:
        """Raise `VerifyException` unless the element type is one of the set."""
        if type not in self.types:
            raise VerifyException(
                f"expected {what} to have {self.name} elements, but got '{type}'"
            )


_FLOATS = frozenset[Attribute]((f16, bf16, f32, f64))
_SIGNED = frozenset[Attribute]((i8, i16, i32, i64, index))
_UNSIGNED = frozenset[Attribute]((ui8, ui16, ui32, ui64))
_BOOL = frozenset[Attribute]((i1,))

FLOATS = ElementSet("floating-point", _FLOATS)
INTEGERS = ElementSet("integer", _SIGNED | _UNSIGNED)
NUMBERS = ElementSet("number", _FLOATS | _SIGNED | _UNSIGNED)
SIGNED_NUMBERS = ElementSet("signed number", _FLOATS | _SIGNED)
BITS = ElementSet("i1 or integer", _BOOL | _SIGNED | _UNSIGNED)
BOOLS = ElementSet("i1", _BOOL)
INDICES = ElementSet("i32, i64 or index", frozenset[Attribute]((i32, i64, index)))
ANY = ElementSet("known", _FLOATS | _SIGNED | _UNSIGNED | _BOOL)


def is_float(type: Attribute) -> bool:
    """Whether an element type is one of the floating-point types."""
    return type in _FLOATS


def is_unsigned(type: Attribute) -> bool:
    """Whether an element type is an unsigned integer."""
    return type in _UNSIGNED
