"""
Which values of a function surely have equal sizes.

A size is a number, that of a symbol, or an expression over the sizes of values that
nothing is known of; equal sizes are equal objects.
"""

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import OpResult, SSAValue

from transom.dialects.graph.desc import AnyTensor, dim_symbols
from transom.dialects.graph.operation import GraphOp
from transom.dialects.graph.shapes import (
    DYNAMIC,
    Dim,
    DimExpr,
    DimOf,
    add,
    broadcast,
    data_dims,
    floor_divide,
    maximum,
    minimum,
    multiply,
)

Sizes = tuple[Dim, ...]
"""The sizes of a value."""


class SizeTable:
    """The sizes of tensors, each worked out once."""

    def __init__(self) -> None:
        self._sizes: dict[SSAValue, Sizes] = {}
        self._roots: dict[SSAValue | str, int] = {}

    def sizes(self, value: SSAValue) -> Sizes:
        """The sizes of a value whose type is a ranked tensor."""
        known = self._sizes.get(value)
        if known is None:
            type = value.type
            assert isinstance(type, TensorType), "the caller has looked"
            tensor = cast(AnyTensor, type)
            known = tensor.get_shape()
            if DYNAMIC in known:
                known = tuple(self._dynamic(value, tensor))
            self._sizes[value] = known
        return known

    def _dynamic(self, value: SSAValue, type: AnyTensor) -> Iterator[Dim]:
        inferred: Sizes | None = None
        for axis, (size, symbol) in enumerate(
            zip(type.get_shape(), dim_symbols(type), strict=True)
        ):
            if size != DYNAMIC:
                yield size
            elif symbol is not None:
                yield DimOf(self._root(symbol.name), 0, symbol)
            elif isinstance(value, OpResult) and isinstance(value.op, GraphOp):
                if inferred is None:
                    inferred = value.op.result_dims()[value.index]
                dim = inferred[axis]
                known = not data_dims(dim)
                yield (
                    self._resolved(value.op, dim)
                    if known
                    else DimOf(self._root(value), axis)
                )
            else:
                yield DimOf(self._root(value), axis)

    def _root(self, origin: SSAValue | str) -> int:
        """The number of a value, or of a symbol: never that of an operand."""
        return self._roots.setdefault(origin, -1 - len(self._roots))

    def _resolved(self, op: GraphOp, dim: Dim) -> Dim:
        """A size in terms of an op's operands in terms of what those are made of."""
        if isinstance(dim, int):
            return dim
        if isinstance(dim, DimOf):
            return self.sizes(op.operands[dim.operand])[dim.axis]
        assert isinstance(dim, DimExpr), "sizes that depend on data are not looked into"
        lhs, rhs = self._resolved(op, dim.lhs), self._resolved(op, dim.rhs)
        match dim.operator:
            case "add":
                return add(lhs, rhs)
            case "mul":
                return multiply(lhs, rhs)
            case "floordiv":
                return floor_divide(lhs, rhs)
            case "max":
                return maximum(lhs, rhs)
            case "min":
                return minimum(lhs, rhs)
            case "broadcast":
                common = broadcast(lhs, rhs)
                # Sizes that can not meet are found when the program runs.
                return DimExpr("broadcast", lhs, rhs) if common is None else common
