"""
Views of xDSL's types that pyright can follow, and what `tir` calls compatible.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue


def memref_type_of(value: SSAValue) -> MemRefType:
    type = value.type
    assert isinstance(type, MemRefType), "operand constraints say so"
    return cast(MemRefType, type)


def element_type_of(value: SSAValue) -> Attribute:
    return memref_type_of(value).element_type


def as_shaped(type: Attribute) -> TensorType | MemRefType | None:
    """`type` if it is a ranked tensor or a memref."""
    if isinstance(type, TensorType):
        return cast(TensorType, type)
    return cast(MemRefType, type) if isinstance(type, MemRefType) else None


def is_number(type: Attribute) -> bool:
    return isinstance(type, IntegerType | IndexType | AnyFloat)


def number_type_of(attr: Attribute) -> Attribute | None:
    """The type of a number attribute, None for other attributes."""
    if isinstance(attr, FloatAttr):
        return cast(FloatAttr, attr).type
    return cast(IntegerAttr, attr).type if isinstance(attr, IntegerAttr) else None


def signless(type: Attribute) -> Attribute:
    """`ui8` and `si8` as `i8`: kernels know no signs."""
    if not isinstance(type, IntegerType):
        return type
    integer = cast(IntegerType, type)
    if integer.signedness.data == Signedness.SIGNLESS:
        return integer
    return IntegerType(integer.width.data)


def compatible_types(value: Attribute, argument: Attribute) -> bool:
    """
    Whether a kernel's `argument` may get `value`: equal numbers, or equal elements and
    extents, where signs do not count and an unknown extent is equal to any.
    """
    a, b = as_shaped(value), as_shaped(argument)
    if a is None or b is None:
        return signless(value) == signless(argument)
    if signless(a.element_type) != signless(b.element_type):
        return False
    return compatible_shapes(a.get_shape(), b.get_shape())


def compatible_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return len(a) == len(b) and all(
        x == y or DYNAMIC_INDEX in (x, y) for x, y in zip(a, b, strict=True)
    )
