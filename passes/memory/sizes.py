"""
Sizes of tensors and memrefs, and values of indices, as expressions.

Ops are visited in the order of the text. What nothing is known about is an atom: the
size of that value, or that index. Equal symbols of `#graph.desc` are equal sizes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import executor, tir
from transom.dialects.graph.desc import dim_symbols
from transom.passes.memory.index_expressions import (
    APPLIED,
    Apply,
    Expression,
    ExpressionTable,
    Opaque,
    Size,
)

Shape = tuple[Expression, ...]
ShapedType = TensorType[Attribute] | MemRefType[Attribute]


def shaped_type(value: SSAValue) -> ShapedType | None:
    """The type of a tensor or memref, or None for another value."""
    type: Attribute = value.type
    return cast(ShapedType, type) if isinstance(type, TensorType | MemRefType) else None


@dataclass
class SizeAnalysis:
    """Expressions of what was visited; `symbols` are sizes known by name."""

    table: ExpressionTable = field(default_factory=ExpressionTable)
    symbols: dict[str, Expression] = field(default_factory=dict[str, Expression])
    _values: dict[SSAValue, Expression] = field(
        default_factory=dict[SSAValue, Expression], init=False
    )
    _shapes: dict[SSAValue, Shape] = field(
        default_factory=dict[SSAValue, Shape], init=False
    )

    def value(self, value: SSAValue) -> Expression:
        """What an index is."""
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = self.table.atom(Opaque(value))
        return found

    def shape(self, value: SSAValue) -> Shape:
        """The sizes of a tensor or memref."""
        found = self._shapes.get(value)
        if found is None:
            found = self._shapes[value] = self._unknown_shape(value)
        return found

    def set_shape(self, value: SSAValue, shape: Shape) -> None:
        """Make sizes known, up to those that the type says."""
        known = shaped_type(value)
        assert known is not None, "only tensors and memrefs have sizes"
        self._shapes[value] = tuple(
            size if extent == DYNAMIC_INDEX else self.table.constant(extent)
            for size, extent in zip(shape, known.get_shape(), strict=True)
        )

    def elements(self, value: SSAValue) -> Expression:
        """How many elements a tensor or memref has."""
        return self.table.product(self.shape(value))

    def _unknown_shape(self, value: SSAValue) -> Shape:
        known = shaped_type(value)
        assert known is not None, "only tensors and memrefs have sizes"
        names: Sequence[str | None] = (None,) * len(known.get_shape())
        if isinstance(known, TensorType):
            names = [s and s.name for s in dim_symbols(known)]
        shape: list[Expression] = []
        for axis, (extent, name) in enumerate(
            zip(known.get_shape(), names, strict=True)
        ):
            if extent != DYNAMIC_INDEX:
                shape.append(self.table.constant(extent))
            elif name is not None and name in self.symbols:
                shape.append(self.symbols[name])
            else:
                size = self.table.atom(Size(value, axis))
                if name is not None:
                    self.symbols[name] = size
                shape.append(size)
        return tuple(shape)

    def visit(self, op: Operation) -> None:
        """Learn about the results of an op whose operands are defined before it."""
        for result in op.results:
            if isinstance(result.type, IndexType):
                value = self._result_value(op)
                if value is not None:
                    self._values[result] = value
            elif shaped_type(result) is not None:
                shape = self._result_shape(op, result)
                if shape is not None:
                    self.set_shape(result, shape)

    def _result_value(self, op: Operation) -> Expression | None:
        table = self.table
        match op:
            case arith.ConstantOp(value=IntegerAttr() as constant):
                return table.constant(constant.value.data)
            case arith.AddiOp():
                return table.add(self.value(op.lhs), self.value(op.rhs))
            case arith.SubiOp():
                return table.subtract(self.value(op.lhs), self.value(op.rhs))
            case arith.MuliOp():
                return table.multiply(self.value(op.lhs), self.value(op.rhs))
            case tensor.DimOp() | memref.DimOp() if shaped_type(op.source) is not None:
                axis = self.value(op.index).constant
                shape = self.shape(op.source)
                if axis is not None and 0 <= axis < len(shape):
                    return shape[axis]
            case arith.SelectOp():
                return self._selected(op)
            case _ if op.name in APPLIED:
                left, right = op.operands
                return table.apply(op.name, self.value(left), self.value(right))
            case _:
                pass
        return None

    def _selected(self, op: arith.SelectOp) -> Expression | None:
        left, right = self.value(op.lhs), self.value(op.rhs)
        if left == right:
            return left
        compared = op.cond.owner
        if not isinstance(compared, arith.CmpiOp) or not isinstance(
            compared.lhs.type, IndexType
        ):
            return None
        operands = (self.value(compared.lhs), self.value(compared.rhs))
        predicate = compared.predicate.value.data
        condition = self.table.atom(Apply(compared.name, operands, predicate))
        return self.table.atom(Apply(op.name, (condition, left, right)))

    def _result_shape(self, op: Operation, result: SSAValue) -> Shape | None:
        match op:
            case tensor.EmptyOp() | tir.AllocOp() | executor.AllocOp():
                return self._dynamic(result, op.dynamic_sizes)
            case executor.ViewOp() | memref.AllocOp() | memref.AllocaOp():
                return self._dynamic(result, op.dynamic_sizes)
            case tensor.SplatOp():
                return self._dynamic(result, op.dynamicSizes)
            case memref.ViewOp():
                return self._dynamic(result, op.sizes)
            case tensor.CastOp() | memref.CastOp() if shaped_type(op.source):
                return self.shape(op.source)
            case tensor.InsertOp() | tensor.InsertSliceOp():
                return self.shape(op.dest)
            case tensor.CollapseShapeOp() | memref.CollapseShapeOp():
                sizes = self.shape(op.src)
                return tuple(
                    self.table.product(sizes[axis.value.data] for axis in group.data)
                    for group in op.reassociation.data
                )
            case tensor.ExpandShapeOp():
                return self._mixed(op.static_output_shape, op.dynamic_output_shape)
            case memref.ExpandShapeOp():
                return self._mixed(op.static_output_shape, op.output_shape)
            case memref.ReinterpretCastOp():
                return self._mixed(op.static_sizes, op.sizes)
            case tensor.ExtractSliceOp() | memref.SubviewOp():
                sizes = self._mixed(op.static_sizes, op.sizes)
                return tuple(sizes[axis] for axis in kept_axes(op))
            case tensor.ReshapeOp():
                return self._reshaped(op)
            case tir.CallOp():
                outs = [v for v in op.outs if isinstance(v.type, TensorType)]
                return self.shape(outs[tuple(op.results).index(result)])
            case _:
                return None

    def _dynamic(self, result: SSAValue, sizes: Sequence[SSAValue]) -> Shape:
        known = shaped_type(result)
        assert known is not None, "the op makes a tensor or memref"
        rest = iter(sizes)
        return tuple(
            self.value(next(rest))
            if extent == DYNAMIC_INDEX
            else self.table.constant(extent)
            for extent in known.get_shape()
        )

    def _mixed(
        self, static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]
    ) -> Shape:
        rest = iter(dynamic)
        return tuple(
            self.value(next(rest))
            if extent == DYNAMIC_INDEX
            else self.table.constant(extent)
            for extent in static_values(static)
        )

    def _reshaped(self, op: tensor.ReshapeOp) -> Shape | None:
        shape = op.shape.owner
        if not isinstance(shape, tensor.FromElementsOp):
            return None
        if not all(isinstance(e.type, IndexType) for e in shape.elements):
            return None
        return tuple(self.value(element) for element in shape.elements)


def static_values(array: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """The values of a dense array of integers."""
    return tuple(array.get_values())


def kept_axes(
    op: tensor.ExtractSliceOp | tensor.InsertSliceOp | memref.SubviewOp,
) -> tuple[int, ...]:
    """Which dimensions of a slice are in the smaller shape: ones may be left out."""
    small = op.source if isinstance(op, tensor.InsertSliceOp) else op.result
    known = shaped_type(small)
    assert known is not None, "a slice is a tensor or memref"
    extents = static_values(op.static_sizes)
    wanted = list(known.get_shape())
    kept: list[int] = []
    for axis, extent in enumerate(extents):
        left = len(extents) - axis
        if extent == 1 and left > len(wanted) and (not wanted or wanted[0] != 1):
            continue
        if len(kept) < len(known.get_shape()):
            kept.append(axis)
            wanted.pop(0)
    return tuple(kept)
