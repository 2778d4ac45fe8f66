"""
From the algebra of sizes to index arithmetic.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects.graph.shapes import DataDim, Dim, DimExpr, DimOf

Size = int | SSAValue
"""A size: a number, or a value of type `index`."""


def reify(
    dim: Dim,
    size_of: Callable[[int, int], Size],
    insert: Callable[[Operation], SSAValue],
    data_size: Callable[[DataDim], Size] | None = None,
) -> Size:
    """
    The index arithmetic of a size, with the operands' as `size_of(operand, axis)`, and
    those that depend on data as `data_size` gives them.
    """
    if isinstance(dim, int):
        return dim
    if isinstance(dim, DimOf):
        return size_of(dim.operand, dim.axis)
    if isinstance(dim, DataDim):
        assert data_size is not None, "who asks for results knows sizes of data"
        return data_size(dim)
    lhs, rhs = (reify(d, size_of, insert, data_size) for d in (dim.lhs, dim.rhs))
    return _apply(dim, lhs, rhs, insert)


def value_of(size: Size, insert: Callable[[Operation], SSAValue]) -> SSAValue:
    """A size as a value."""
    if isinstance(size, int):
        return insert(arith.ConstantOp(IntegerAttr(size, IndexType())))
    return size


def mixed_sizes(
    static: "DenseArrayBase[Any]", dynamic: Sequence[SSAValue]
) -> list[Size]:
    """Numbers and, in the place of those that are not known, values."""
    rest = iter(dynamic)
    return [
        next(rest) if value == DYNAMIC_INDEX else value for value in static.get_values()
    ]


def buffer_size(
    buffer: SSAValue, axis: int, insert: Callable[[Operation], SSAValue]
) -> Size:
    """The size of a dimension of a memref."""
    size = cast("MemRefType[Attribute]", buffer.type).get_shape()[axis]
    if size != DYNAMIC_INDEX:
        return size
    return insert(memref.DimOp(buffer, value_of(axis, insert)))


def _apply(
    dim: DimExpr, lhs: Size, rhs: Size, insert: Callable[[Operation], SSAValue]
) -> Size:
    a, b = value_of(lhs, insert), value_of(rhs, insert)
    match dim.operator:
        case "add":
            return insert(arith.AddiOp(a, b))
        case "mul":
            return insert(arith.MuliOp(a, b))
        case "floordiv":
            return insert(arith.FloorDivSIOp(a, b))
        case "max":
            return insert(arith.MaxSIOp(a, b))
        case "min":
            return insert(arith.MinSIOp(a, b))
        case "broadcast":
            one = insert(arith.ConstantOp(IntegerAttr(1, IndexType())))
            is_one = insert(arith.CmpiOp(a, one, "eq"))
            return insert(arith.SelectOp(is_one, b, a))
