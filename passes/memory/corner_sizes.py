"""
The largest size of a buffer, found by computing it at the bounds of all symbolic sizes.

This is how a plan is checked, and so shares nothing with how bounds are found.
"""

from collections.abc import Mapping
from itertools import islice, product
from typing import cast

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType
from xdsl.ir import Operation, SSAValue

from transom.dialects import tir
from transom.dialects.executor import SIGNATURE, SignatureAttr
from transom.dialects.graph.desc import dim_symbols

MAX_CORNERS = 256
"""More combinations of bounds are not tried."""

Dimension = tuple[SSAValue, int]


def largest_size(alloc: tir.AllocOp) -> int | None:
    """
    The most elements that a buffer has where each symbolic size is at a bound.

    None if the sizes depend on more than sizes with bounds.
    """
    function = _function_around(alloc)
    if function is None:
        return None
    symbols, bounds = _symbols(function)
    names = sorted(bounds)
    largest: int | None = None
    for corner in islice(product(*(bounds[name] for name in names)), MAX_CORNERS):
        sizes = dict(zip(names, corner, strict=True))
        known = {dimension: sizes[name] for dimension, name in symbols.items()}
        elements = _elements(alloc, known)
        if elements is None:
            return None
        largest = max(largest or 0, elements)
    return largest


def _function_around(op: Operation) -> func.FuncOp | None:
    around = op.parent_op()
    while around is not None and not isinstance(around, func.FuncOp):
        around = around.parent_op()
    return around


def _symbols(
    function: func.FuncOp,
) -> tuple[dict[Dimension, str], dict[str, tuple[int, int]]]:
    """The names of the sizes of arguments, and the bounds of those that have two."""
    names: dict[Dimension, str] = {}
    bounds: dict[str, tuple[int, int]] = {}
    signature = function.attributes.get(SIGNATURE)
    if isinstance(signature, SignatureAttr):
        arguments = [a for a in function.args if isinstance(a.type, MemRefType)]
        for argument, (_, type) in zip(arguments, signature.inputs, strict=False):
            for axis, symbol in enumerate(dim_symbols(type)):
                if symbol is None or symbol.upper is None:
                    continue
                names[argument, axis] = symbol.name
                bounds[symbol.name] = (symbol.lower or 0, symbol.upper)
    return names, bounds


def _elements(alloc: tir.AllocOp, known: Mapping[Dimension, int]) -> int | None:
    count, sizes = 1, iter(alloc.dynamic_sizes)
    for extent in alloc.result.type.get_shape():
        size = _value(next(sizes), known) if extent == DYNAMIC_INDEX else extent
        if size is None:
            return None
        count *= size
    return count


def _value(value: SSAValue, known: Mapping[Dimension, int]) -> int | None:
    """An index, computed; None if it depends on what is not known."""
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    if isinstance(op, memref.DimOp):
        axis = _value(op.index, known)
        return None if axis is None else _size(op.source, axis, known)
    if not isinstance(op, Operation) or len(op.operands) != 2:
        return None
    left, right = (_value(operand, known) for operand in op.operands)
    if left is None or right is None:
        return None
    match op:
        case arith.AddiOp():
            return left + right
        case arith.SubiOp():
            return left - right
        case arith.MuliOp():
            return left * right
        case arith.MinSIOp():
            return min(left, right)
        case arith.MaxSIOp():
            return max(left, right)
        case arith.FloorDivSIOp() | arith.DivSIOp() | arith.DivUIOp() if right > 0:
            return left // right
        case arith.CeilDivSIOp() | arith.CeilDivUIOp() if right > 0:
            return -(-left // right)
        case _:
            return None


def _size(source: SSAValue, axis: int, known: Mapping[Dimension, int]) -> int | None:
    if (source, axis) in known:
        return known[source, axis]
    type = source.type
    if isinstance(type, MemRefType):
        extent = cast("MemRefType", type).get_shape()[axis]
        return None if extent == DYNAMIC_INDEX else extent
    return None
