"""
The parts of a memref while it is converted: those that its type says are numbers, the
others values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from transom.dialects import llvm
from transom.lowering.conversion import ConversionRewriter, Refusal
from transom.lowering.llvm_ops import (
    MANY,
    add_op,
    constant_op,
    gep_op,
    multiply_op,
)
from transom.lowering.llvm_types import (
    element_storage,
    layout_is_identity,
    layout_of,
    storage_bytes,
)

Number = int | SSAValue
"""A number that is known now, or an i64 that is at run time."""


def constant(rewriter: ConversionRewriter, value: Number) -> SSAValue:
    """The number as an i64."""
    if isinstance(value, SSAValue):
        return value
    return rewriter.insert(constant_op(value)).result


def add(rewriter: ConversionRewriter, a: Number, b: Number) -> Number:
    """The sum, computed now if it can be."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0:
        return b
    if b == 0:
        return a
    lhs, rhs = constant(rewriter, a), constant(rewriter, b)
    return rewriter.insert(add_op(lhs, rhs)).res


def multiply(rewriter: ConversionRewriter, a: Number, b: Number) -> Number:
    """The product, computed now if it can be."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 0 or b == 0:
        return 0
    if a == 1:
        return b
    if b == 1:
        return a
    lhs, rhs = constant(rewriter, a), constant(rewriter, b)
    return rewriter.insert(multiply_op(lhs, rhs)).res


@dataclass(frozen=True)
class MemRef:
    """The parts of a memref, those that its type says and those that are values."""

    type: MemRefType
    pointer: SSAValue
    sizes: tuple[Number, ...]
    strides: tuple[Number, ...]
    offset: Number

    @staticmethod
    def take(
        rewriter: ConversionRewriter, type: Attribute, group: Sequence[SSAValue]
    ) -> MemRef:
        """Take the values of a memref apart; refuses a layout that has no strides."""
        memref = cast(MemRefType, type)
        layout = layout_of(memref)
        if isinstance(layout, Refusal):
            rewriter.refuse(layout.reason)
        values = iter(group[1:])
        sizes = tuple(next(values) if s is None else s for s in layout.sizes)
        if not layout.identity:
            strides = tuple(next(values) if s is None else s for s in layout.strides)
            offset = next(values) if layout.offset is None else layout.offset
            return MemRef(memref, group[0], sizes, strides, offset)
        computed: list[Number] = []
        step: Number = 1
        for position, size in reversed(tuple(enumerate(sizes))):
            computed.append(step)
            if position:
                step = multiply(rewriter, step, size)
        return MemRef(memref, group[0], sizes, tuple(reversed(computed)), 0)

    def give(self, rewriter: ConversionRewriter, type: Attribute) -> list[SSAValue]:
        """The values of this memref as one of another type."""
        memref = cast(MemRefType, type)
        layout = layout_of(memref)
        if isinstance(layout, Refusal):
            rewriter.refuse(layout.reason)
        numbers = [
            n for n, s in zip(self.sizes, layout.sizes, strict=True) if s is None
        ]
        pointer = self.pointer
        if layout.identity:
            pointer = self.start(rewriter)
        else:
            numbers += [
                n
                for n, s in zip(self.strides, layout.strides, strict=True)
                if s is None
            ]
            numbers += [self.offset] if layout.offset is None else []
        return [pointer, *(constant(rewriter, n) for n in numbers)]

    @property
    def storage(self) -> Attribute:
        """The type of an element in memory."""
        storage = element_storage(self.type.element_type)
        assert not isinstance(storage, Refusal), "the type of the memref was converted"
        return storage

    @property
    def element_bytes(self) -> int:
        """How many bytes an element takes."""
        size = storage_bytes(self.storage)
        assert not isinstance(size, Refusal), "the type of the memref was converted"
        return size

    @property
    def alignment(self) -> int:
        """What the address of every element is a multiple of, in bytes."""
        size = self.element_bytes
        return size & -size

    def start(self, rewriter: ConversionRewriter) -> SSAValue:
        """The address of the first element."""
        return gep(rewriter, self.pointer, (self.offset,), self.storage)

    def element(
        self,
        rewriter: ConversionRewriter,
        indices: Sequence[Number],
        *,
        inbounds: bool = True,
    ) -> SSAValue:
        """
        The address of an element.

        The first lane of a masked access may be out of bounds, before the memref too.
        """
        extents = nested_extents(self.strides)
        base = self.start(rewriter)
        if extents is None:
            place: Number = 0
            for index, stride in zip(indices, self.strides, strict=True):
                place = add(rewriter, place, multiply(rewriter, index, stride))
            return gep(rewriter, base, (place,), self.storage, inbounds=inbounds)
        path = list(indices)
        if extents and extents[-1] == 1:
            extents = extents[:-1]
        else:
            path.append(0)
        type = nested_array(extents, self.storage)
        return gep(rewriter, base, path, type, inbounds=inbounds)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie side by side in row-major order, as far as known."""
        if layout_is_identity(self.type):
            return True
        step = 1
        for position in reversed(range(len(self.sizes))):
            size = self.sizes[position]
            if size == 1:
                continue
            if self.strides[position] != step:
                return False
            if isinstance(size, int):
                step *= size
            elif position:
                return False
        return True

    def count(self, rewriter: ConversionRewriter) -> Number:
        """How many elements there are."""
        if all(isinstance(size, int) for size in self.sizes):
            return prod(cast("tuple[int, ...]", self.sizes))
        count: Number = 1
        for size in self.sizes:
            count = multiply(rewriter, count, size)
        return count


@lru_cache(MANY)
def nested_array(extents: tuple[int, ...], element: Attribute) -> Attribute:
    """An array of arrays … of `element`."""
    for extent in reversed(extents):
        element = llvm.LLVMArrayType(extent, element)
    return element


def nested_extents(strides: Sequence[Number]) -> tuple[int, ...] | None:
    """
    Extents of nested arrays whose element strides are these, if there are such: the
    address is then one instruction. The last is the distance of neighbours.
    """
    extents: list[int] = []
    inner_strides = [*strides[1:], 1] if strides else []
    for outer, inner in zip(strides, inner_strides, strict=True):
        if not (isinstance(outer, int) and isinstance(inner, int)):
            return None
        if inner <= 0 or outer <= 0 or outer % inner:
            return None
        extents.append(outer // inner)
    return tuple(extents)


def gep(
    rewriter: ConversionRewriter,
    pointer: SSAValue,
    indices: Sequence[Number],
    element: Attribute,
    *,
    inbounds: bool = True,
) -> SSAValue:
    """The address that indices lead to, from a pointer to `element`s."""
    if all(isinstance(index, int) and index == 0 for index in indices):
        return pointer
    constants: list[int] = []
    dynamic: list[SSAValue] = []
    for index in indices:
        if isinstance(index, int) and -(2**31) < index < 2**31:
            constants.append(index)
        else:
            constants.append(llvm.GEP_USE_SSA_VAL)
            dynamic.append(constant(rewriter, index))
    op = gep_op(pointer, tuple(constants), dynamic, element, inbounds)
    return rewriter.insert(op).result
