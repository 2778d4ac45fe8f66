"""
Memrefs in C: an address, and the sizes and strides of what lies there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute

from transom.lowering.conversion import Refusal
from transom.lowering.emit_c.expressions import (
    ATOM,
    PLUS,
    TIMES,
    UNARY,
    Expression,
    joined,
)
from transom.lowering.emit_c.scalars import Scalars, Unsupported
from transom.lowering.emit_c.types import Scalar
from transom.lowering.llvm_types import layout_of

Number = int | Expression
"""A size, a stride or an index, where it is known a number."""


def as_expression(number: Number) -> Expression:
    """A number as an expression."""
    if isinstance(number, Expression):
        return number
    return Expression(str(number), ATOM if number >= 0 else UNARY)


def times(lhs: Number, rhs: Number) -> Number:
    """A product; nothing is written for a factor of one."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs * rhs
    if lhs == 0 or rhs == 0:
        return 0
    if lhs == 1:
        return rhs
    if rhs == 1:
        return lhs
    return joined("*", TIMES, as_expression(lhs), as_expression(rhs))


def plus(lhs: Number, rhs: Number) -> Number:
    """A sum; nothing is written for a zero, and a minus for what is negative."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs + rhs
    if lhs == 0:
        return rhs
    if rhs == 0:
        return lhs
    if isinstance(rhs, int) and rhs < 0:
        return joined("-", PLUS, as_expression(lhs), Expression(str(-rhs)))
    return joined("+", PLUS, as_expression(lhs), as_expression(rhs))


@dataclass(frozen=True)
class Buffer:
    """A memref as C sees it."""

    pointer: str
    """The name of a variable that holds the address of an element."""
    scalar: Scalar
    sizes: tuple[Number, ...]
    strides: tuple[Number, ...]
    """In elements."""
    offset: Number = 0
    """From the pointer to the first element."""
    is_const: bool = False
    is_dense: bool = True
    """Elements lie in row-major order without gaps."""

    @property
    def type(self) -> str:
        """The C type of the address."""
        return f"{'const ' if self.is_const else ''}{self.scalar.storage} *"

    def place(self, indices: Sequence[Number]) -> Number:
        """The place of an element behind the pointer."""
        place = self.offset
        for index, stride in zip(indices, self.strides, strict=True):
            place = plus(place, times(index, stride))
        return place

    def element(self, indices: Sequence[Number]) -> Expression:
        """An element, to be read or written."""
        return Expression(
            f"{self.pointer}[{as_expression(self.place(indices)).text}]", reads=True
        )

    def start(self) -> Expression:
        """The address of the first element."""
        pointer = Expression(self.pointer)
        if self.offset == 0:
            return pointer
        return joined("+", PLUS, pointer, as_expression(self.offset))

    def retyped(self, type: Attribute) -> Buffer:
        """The buffer with the sizes and strides that another type knows."""
        memref = checked(type)
        layout = layout_of(memref)
        if isinstance(layout, Refusal):
            raise Unsupported(layout.reason)

        def known(old: Sequence[Number], new: Sequence[int | None]):
            return tuple(o if n is None else n for o, n in zip(old, new, strict=True))

        sizes = known(self.sizes, layout.sizes)
        strides = known(self.strides, layout.strides)
        return replace(
            self,
            sizes=sizes,
            strides=strides,
            is_dense=layout.identity or strides == contiguous(sizes),
        )


def as_memref(type: Attribute) -> MemRefType[Attribute] | None:
    """The type as that of a memref; None for others."""
    if isinstance(type, MemRefType):
        return cast("MemRefType[Attribute]", type)
    return None


def checked(type: Attribute) -> MemRefType[Attribute]:
    """The type as that of a memref. Raises `Unsupported` for another."""
    memref = as_memref(type)
    if memref is None:
        raise Unsupported(f"expected a memref, but got '{type}'")
    return memref


def fresh_buffer(
    pointer: str,
    type: Attribute,
    scalars: Scalars,
    passed: Sequence[Expression] = (),
    *,
    is_const: bool = False,
) -> Buffer:
    """
    The buffer behind a variable; `passed` are the sizes, strides and the offset that
    its type leaves open, in this order.
    """
    memref = checked(type)
    layout = layout_of(memref)
    if isinstance(layout, Refusal):
        raise Unsupported(layout.reason)
    rest = iter(passed)
    sizes = tuple(next(rest) if size is None else size for size in layout.sizes)
    if layout.identity:
        strides: tuple[Number, ...] = contiguous(sizes)
        offset: Number = 0
    else:
        strides = tuple(next(rest) if s is None else s for s in layout.strides)
        offset = next(rest) if layout.offset is None else layout.offset
    scalar = scalars.scalar(memref.element_type)
    is_dense = layout.identity or strides == contiguous(sizes)
    return Buffer(pointer, scalar, sizes, strides, offset, is_const, is_dense)


def contiguous(sizes: Sequence[Number]) -> tuple[Number, ...]:
    """The strides of elements in row-major order without gaps."""
    strides: list[Number] = []
    step: Number = 1
    for size in reversed(sizes):
        strides.append(step)
        step = times(step, size)
    return tuple(reversed(strides))


def count_of(sizes: Sequence[Number]) -> Number:
    """The number of elements."""
    count: Number = 1
    for size in sizes:
        count = times(count, size)
    return count


def shape_text(type: MemRefType[Attribute], scalar: Scalar) -> str:
    """A type for readers: `float[4][n]`."""
    sizes = "".join(
        f"[{'?' if size == DYNAMIC_INDEX else size}]" for size in type.get_shape()
    )
    return f"{scalar.storage}{sizes}"
