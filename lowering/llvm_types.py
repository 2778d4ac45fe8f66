"""
What types become in the `llvm` dialect, and how memrefs are taken apart.

An `index` is 64 bits wide. A memref is several values and no descriptor:

```text
memref<4x8xf32>                                   ptr
memref<?x8xf32>                                   ptr, size 0
memref<?x8xf32, strided<[?, 1], offset: ?>>       ptr, size 0, stride 0, offset
```

that is, the pointer, then an i64 for each dynamic size, dynamic stride and dynamic
offset; what the type says is not passed. Strides of the identity layout follow from the
sizes. A bool takes a byte in memory. Vectors of several dimensions become vectors of
one, the last dimension innermost. A bf16 is its 16 bits: on most machines LLVM moves
bf16 values about by calls into a support library that older systems do not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    BFloat16Type,
    FixedBitwidthType,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    StridedLayoutAttr,
    VectorType,
    i1,
    i8,
    i16,
    i64,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from transom.dialects import llvm, tir
from transom.lowering.conversion import Refusal, TypeConverter

MANY = 1 << 12
"""How many types are remembered."""

MAX_VECTOR_BITS = 1 << 17
"""LLVM takes minutes for wider vectors; from some size on it aborts the process."""

POINTER = llvm.LLVMPointerType()


@lru_cache(MANY)
def element_storage(type: Attribute) -> Attribute | Refusal:
    """The type of an element in memory."""
    if type == i1:
        return i8
    if isinstance(type, IndexType):
        return i64
    if isinstance(type, BFloat16Type):
        return i16
    if isinstance(type, IntegerType):
        integer = cast(IntegerType, type)
        if integer.width.data not in (8, 16, 32, 64, 128):
            return Refusal(
                f"expected an element of 8, 16, 32, 64 or 128 bits, but got '{type}'"
            )
        return signless(integer)
    if isinstance(type, AnyFloat | llvm.LLVMPointerType):
        return type
    if isinstance(type, VectorType):
        vector = convert_vector(cast(VectorType, type))
        if isinstance(vector, Refusal):
            return vector
        size = storage_bytes(vector)
        return size if isinstance(size, Refusal) else vector
    return Refusal(f"no element of type '{type}' in memory")


@lru_cache(MANY)
def storage_bytes(type: Attribute) -> int | Refusal:
    """How many bytes apart elements of a type of `element_storage` are."""
    if isinstance(type, llvm.LLVMPointerType):
        return 8
    if isinstance(type, VectorType):
        vector = cast(VectorType, type)
        element = storage_bytes(vector.element_type)
        lanes = vector.element_count()
        if isinstance(element, Refusal) or vector.element_type == i1:
            return Refusal(f"no element of type '{type}' in memory")
        # LLVM rounds the size of a vector up to a power of two.
        return 1 << (element * lanes - 1).bit_length()
    if isinstance(type, FixedBitwidthType):
        return type.size
    return Refusal(f"no element of type '{type}' in memory")


def signless(type: IntegerType) -> IntegerType:
    """The integer type without its sign."""
    if type.signedness.data == Signedness.SIGNLESS:
        return type
    return IntegerType(type.width.data)


def convert_vector(type: VectorType) -> Attribute | Refusal:
    """A vector of one dimension with all elements."""
    if type.get_num_scalable_dims():
        return Refusal(f"expected a vector of a fixed length, but got '{type}'")
    element = type.element_type
    width = element.bitwidth if isinstance(element, FixedBitwidthType) else 64
    if type.element_count() * width > MAX_VECTOR_BITS:
        return Refusal(
            f"expected a vector of at most {MAX_VECTOR_BITS} bits, but got '{type}'"
        )
    if isinstance(element, IndexType):
        element = i64
    elif isinstance(element, BFloat16Type):
        element = i16
    elif isinstance(element, IntegerType):
        element = signless(cast(IntegerType, element))
    elif not isinstance(element, AnyFloat | llvm.LLVMPointerType):
        return Refusal(f"expected a vector of numbers, but got '{type}'")
    if len(type.get_shape()) == 1 and element is type.element_type:
        return type
    return VectorType(element, [type.element_count()])


def pointer_type(type: MemRefType) -> llvm.LLVMPointerType:
    """The pointer of a memref; a numbered memory space is LLVM's address space."""
    space = type.memory_space
    if isinstance(space, IntegerAttr) and space.value.data:
        return llvm.LLVMPointerType(IntAttr(space.value.data))
    return POINTER


@dataclass(frozen=True)
class Layout:
    """Where elements are; None for a number that only the run time knows."""

    sizes: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    offset: int | None
    identity: bool
    """Strides follow from the sizes, and no value carries one."""

    @property
    def passed(self) -> int:
        """How many numbers come after the pointer."""
        count = self.sizes.count(None)
        if not self.identity:
            count += self.strides.count(None) + (self.offset is None)
        return count


@lru_cache(MANY)
def layout_of(type: MemRefType) -> Layout | Refusal:
    """The layout of a memref."""
    sizes = tuple(None if s == DYNAMIC_INDEX else s for s in type.get_shape())
    layout = type.layout
    if isinstance(layout, NoneAttr) or (
        isinstance(layout, AffineMapAttr)
        and layout.data == AffineMap.identity(len(sizes))
    ):
        strides: list[int | None] = []
        step: int | None = 1
        for size in reversed(sizes):
            strides.append(step)
            step = None if step is None or size is None else step * size
        return Layout(sizes, tuple(reversed(strides)), 0, True)
    if isinstance(layout, StridedLayoutAttr):
        return Layout(
            sizes,
            tuple(s.data if isinstance(s, IntAttr) else None for s in layout.strides),
            layout.offset.data if isinstance(layout.offset, IntAttr) else None,
            False,
        )
    return Refusal(f"expected a layout of strides, but got '{type}'")


def memref_types(type: MemRefType) -> tuple[Attribute, ...] | Refusal:
    """The types that a memref becomes."""
    layout = layout_of(type)
    if isinstance(layout, Refusal):
        return layout
    storage = element_storage(type.element_type)
    if isinstance(storage, Refusal):
        return storage
    return (pointer_type(type), *(i64,) * layout.passed)


def refuse_others(type: Attribute) -> Refusal | None:
    """A reason for each type that is none of LLVM's."""
    if isinstance(type, llvm.LLVMVoidType) or llvm.is_compatible_type(type):
        return None
    return Refusal(f"no LLVM type for '{type}'")


def to_llvm_converter() -> TypeConverter:
    """From the types of `func`, `memref`, `vector` and `tir` to those of `llvm`."""
    converter = TypeConverter(refuse_others)
    each = converter.add_conversion
    each(lambda _: i64, of=IndexType)
    each(lambda _: i16, of=BFloat16Type)
    each(lambda t: signless(cast(IntegerType, t)), of=IntegerType)
    each(lambda t: convert_vector(cast(VectorType, t)), of=VectorType)
    each(lambda t: memref_types(cast(MemRefType, t)), of=MemRefType)
    each(lambda _: (), of=tir.TokenType)

    def convert_struct(type: Attribute) -> Attribute | Refusal:
        assert isinstance(type, tir.StructType), "asked for structs only"
        fields: list[Attribute] = []
        for field in type.fields:
            if isinstance(field, MemRefType):
                fields.append(POINTER)
                continue
            found = converter.lookup(field)
            if isinstance(found, Refusal):
                return found
            fields.append(i8 if found == (i1,) else found[0])
        return llvm.LLVMStructType.from_type_list(fields)

    each(convert_struct, of=tir.StructType)
    return converter


def layout_is_identity(type: MemRefType) -> bool:
    layout = layout_of(type)
    return not isinstance(layout, Refusal) and layout.identity
