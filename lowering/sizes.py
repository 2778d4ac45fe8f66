"""
From the algebra of sizes to index arithmetic.
"""

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

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


def _apply(
    dim: DimExpr, lhs: Size, rhs: Size, insert: Callable[[Operation], SSAValue]
) -> Size:
    a, b = (
        insert(arith.ConstantOp(IntegerAttr(v, IndexType())))
        if isinstance(v, int)
        else v
        for v in (lhs, rhs)
    )
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
