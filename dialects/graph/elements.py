"""
Element types that ops accept, as sets with names for messages.
"""

from typing import NamedTuple

from xdsl.dialects.builtin import (
    AnyFloat,
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

_BITS = (8, 16, 32, 64)

ui8, ui16, ui32, ui64 = (IntegerType(w, Signedness.UNSIGNED) for w in _BITS)
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
ANY = ElementSet("number or i1", _FLOATS | _SIGNED | _UNSIGNED | _BOOL)


def is_float(type: Attribute) -> bool:
    """Whether an element type is one of the floating-point types."""
    return type in _FLOATS


def is_unsigned(type: Attribute) -> bool:
    """Whether an element type is an unsigned integer."""
    return type in _UNSIGNED


def integer_range(type: IntegerType) -> tuple[int, int]:
    """The smallest and the largest number of an integer type; signless is signed."""
    width = type.width.data
    if type.signedness.data is Signedness.UNSIGNED:
        return 0, 2**width - 1
    return -(2 ** (width - 1)), 2 ** (width - 1) - 1


_WIDER_FLOATS: dict[Attribute, tuple[Attribute, ...]] = {
    bf16: (f32, f64),
    f16: (f32, f64),
    f32: (f64,),
}
_WIDTHS: dict[Attribute, int] = {
    **{type: width for type, width in zip((i8, i16, i32, i64), _BITS, strict=True)},
    **{type: width for type, width in zip((ui8, ui16, ui32, ui64), _BITS, strict=True)},
    index: 64,
}


def is_lossless(source: Attribute, target: Attribute) -> bool:
    """
    Whether a cast between element types keeps every number, and its kind: truth values
    may become anything, integers integers, and floats floats.
    """
    if source == i1 or target in _WIDER_FLOATS.get(source, ()):
        return True
    width, target_width = _WIDTHS.get(source), _WIDTHS.get(target)
    if width is None or target_width is None:
        return False
    if is_unsigned(target) and not is_unsigned(source):
        return False
    same_sign = is_unsigned(source) == is_unsigned(target)
    return width < target_width or (same_sign and width == target_width)


def bit_width(type: Attribute) -> int:
    """The bits of a number of an element type."""
    return type.bitwidth if isinstance(type, AnyFloat) else _WIDTHS[type]
