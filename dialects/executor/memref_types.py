"""
Sizes and shapes of memrefs, as the ops of the dialect need them.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
)
from xdsl.ir import (
    Attribute,
    SSAValue,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.target.topology import DEFAULT_ALIGNMENT


def element_bytes(element_type: Attribute) -> int | None:
    """The size of an element in memory, or None if it is not known."""
    if isinstance(element_type, IndexType):
        return 8
    return element_type.size if isinstance(element_type, FixedBitwidthType) else None


def static_bytes(memref_type: MemRefType) -> int:
    """The size of a memref of static shape and identity layout."""
    unit = element_bytes(memref_type.element_type)
    assert unit is not None, "the verifier of the op has checked the element type"
    return unit * memref_type.element_count()


def alignment_or_default(alignment: IntegerAttr | None) -> int:
    return DEFAULT_ALIGNMENT if alignment is None else alignment.value.data


def verify_dynamic_sizes(memref_type: MemRefType, sizes: Sequence[SSAValue]) -> None:
    count = memref_type.get_shape().count(DYNAMIC_INDEX)
    if len(sizes) != count:
        raise VerifyException(
            f"expected {count} dynamic sizes for '{memref_type}', but got {len(sizes)}"
        )


def verify_identity_layout(memref_type: MemRefType) -> None:
    if not isinstance(memref_type.layout, NoneAttr):
        raise VerifyException(f"expected the identity layout, but got '{memref_type}'")


def compatible(shape: Sequence[int], other: Sequence[int]) -> bool:
    return len(shape) == len(other) and all(
        DYNAMIC_INDEX in (a, b) or a == b for a, b in zip(shape, other, strict=True)
    )


def signless(type: Attribute) -> Attribute:
    """A type with the signedness of its integers, and of its elements', left out."""
    if isinstance(type, IntegerType):
        integer = cast(IntegerType, type)
        if integer.signedness.data == Signedness.SIGNLESS:
            return integer
        return IntegerType(integer.width.data)
    if isinstance(type, MemRefType):
        memref = cast("MemRefType[Attribute]", type)
        element_type = signless(memref.element_type)
        if element_type is memref.element_type:
            return memref
        return MemRefType(
            element_type, memref.shape, memref.layout, memref.memory_space
        )
    return type
