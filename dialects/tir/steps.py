"""
How accesses move through memory when one dim moves: what vectors are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from xdsl.dialects.builtin import MemRefType, NoneAttr, StridedLayoutAttr, i1
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from transom.dialects.tir import affine
from transom.dialects.tir.attributes import AccessAttr


class Step(Enum):
    """Where an access goes when a dim grows by one."""

    UNIFORM = auto()
    """Nowhere."""

    CONTIGUOUS = auto()
    """To the next element in memory."""

    EVERY_OTHER = auto()
    """Two elements on."""

    SCATTERED = auto()
    """Elsewhere; also all indirect accesses."""


def step_along(access: AccessAttr, type: MemRefType, dim: int) -> Step:
    """How an access of a memref of this type moves with a dim."""
    if access.map is None:
        return Step.SCATTERED
    return step_of(access.map.results, type, dim)


def step_of(exprs: Sequence[AffineExpr], type: MemRefType, dim: int) -> Step:
    """How indices into a memref of this type move with a dim."""
    if not any(dim in expr.used_dims() for expr in exprs):
        return Step.UNIFORM
    needed = exprs[: len(exprs) - spare_axes(exprs, type)]
    *outer, last = [affine.coefficient_of(expr, dim) for expr in needed]
    # A bool takes a byte in memory and a bit in a vector.
    if (
        any(step != AffineConstantExpr(0) for step in outer)
        or type.element_type == i1
        or not has_unit_stride(type)
    ):
        return Step.SCATTERED
    if last == AffineConstantExpr(1):
        return Step.CONTIGUOUS
    return Step.EVERY_OTHER if last == AffineConstantExpr(2) else Step.SCATTERED


def spare_axes(exprs: Sequence[AffineExpr], type: MemRefType) -> int:
    """
    How many of the last axes of a row-major memref have one element, at which it is
    accessed: without them the memory is the same, and the axis before them is the last.
    """
    count = 0
    if not exprs or not isinstance(type.layout, NoneAttr):
        return count
    axes = tuple(zip(exprs, type.get_shape(), strict=True))
    for expr, extent in reversed(axes[1:]):
        if extent != 1 or expr != AffineConstantExpr(0):
            break
        count += 1
    return count


def has_unit_stride(type: MemRefType) -> bool:
    """Whether neighbours on the last axis are neighbours in memory."""
    layout = type.layout
    if isinstance(layout, NoneAttr):
        return True
    if not isinstance(layout, StridedLayoutAttr) or not layout.strides.data:
        return False
    last = layout.strides.data[-1]
    return not isinstance(last, NoneAttr) and last.data == 1
