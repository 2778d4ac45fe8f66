"""
Views of memrefs, in place of views of tensors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    i64,
)
from xdsl.ir import Operation, SSAValue

from transom.lowering.bufferize.types import AnyMemRef
from transom.passes.memory.sizes import kept_axes, shaped_type, static_values

Groups = ArrayAttr[ArrayAttr[IntegerAttr]]


def memref_of(value: SSAValue) -> AnyMemRef:
    """The type of a value that is known to be a memref."""
    type = shaped_type(value)
    assert isinstance(type, MemRefType), "tensors have become memrefs"
    return type


def with_shape(type: AnyMemRef, shape: Sequence[int]) -> AnyMemRef:
    """A row-major memref of the same elements in the same memory."""
    return MemRefType(type.element_type, shape, NoneAttr(), type.memory_space)


@dataclass(frozen=True)
class Views:
    """Makes views, with `emit`."""

    emit: Callable[[Operation], object]

    def cast(self, source: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same memory, with more or fewer sizes in the type."""
        type = memref_of(source)
        if type.get_shape() == tuple(shape):
            return source
        result = MemRefType(type.element_type, shape, type.layout, type.memory_space)
        return self._result(memref.CastOp.get(source, result))

    def collapse(
        self, source: SSAValue, groups: Groups, shape: Sequence[int]
    ) -> SSAValue:
        """Groups of dimensions as one dimension each."""
        return self._result(
            memref.CollapseShapeOp.create(
                operands=[source],
                properties={"reassociation": groups},
                result_types=[with_shape(memref_of(source), shape)],
            )
        )

    def expand(
        self,
        source: SSAValue,
        groups: Groups,
        shape: Sequence[int],
        sizes: Sequence[SSAValue],
    ) -> SSAValue:
        """Each dimension as a group; `sizes` are those that `shape` leaves open."""
        return self._result(
            memref.ExpandShapeOp.create(
                operands=[source, *sizes],
                properties={
                    "reassociation": groups,
                    "static_output_shape": DenseArrayBase.from_list(i64, list(shape)),
                },
                result_types=[with_shape(memref_of(source), shape)],
            )
        )

    def reshape(
        self, source: SSAValue, shape: Sequence[int], sizes: Sequence[SSAValue]
    ) -> SSAValue:
        """The same elements in row-major order, by way of one dimension."""
        old = memref_of(source).get_shape()
        if not old:  # a single element
            ones = [1] * len(shape)
            return self.cast(self.expand(source, groups_of(), ones, ()), shape)
        if not shape:
            ones = self.cast(source, [1] * len(old))
            return self.collapse(ones, groups_of(), ())
        flat = source
        if len(old) > 1:
            count = DYNAMIC_INDEX if DYNAMIC_INDEX in old else prod(old)
            flat = self.collapse(source, groups_of(len(old)), (count,))
        if len(shape) == 1:
            return self.cast(flat, shape)
        count = DYNAMIC_INDEX if DYNAMIC_INDEX in shape else prod(shape)
        flat = self.cast(flat, (count,))
        return self.expand(flat, groups_of(len(shape)), shape, sizes)

    def slice(
        self,
        source: SSAValue,
        op: tensor.ExtractSliceOp | tensor.InsertSliceOp,
        value: Callable[[SSAValue], SSAValue],
    ) -> SSAValue:
        """The part of a memref that a slice is about; `value` maps its operands."""
        offsets = _mixed(op.static_offsets, map(value, op.offsets))
        sizes = _mixed(op.static_sizes, map(value, op.sizes))
        strides = _mixed(op.static_strides, map(value, op.strides))
        full = memref.SubviewOp.infer_result_type(
            memref_of(source), offsets, sizes, strides
        )
        layout = full.layout
        assert isinstance(layout, StridedLayoutAttr), "a subview has strides"
        kept = kept_axes(op)
        type = MemRefType(
            full.element_type,
            [full.get_shape()[axis] for axis in kept],
            StridedLayoutAttr(
                [layout.get_strides()[axis] for axis in kept], layout.get_offset()
            ),
            full.memory_space,
        )
        return self._result(memref.SubviewOp.get(source, offsets, sizes, strides, type))

    def _result(self, op: Operation) -> SSAValue:
        self.emit(op)
        return op.results[0]


def groups_of(*ranks: int) -> Groups:
    """Groups of so many dimensions, one after the other."""
    groups: list[ArrayAttr[IntegerAttr]] = []
    axis = 0
    for rank in ranks:
        groups.append(ArrayAttr(IntegerAttr(axis + i, i64) for i in range(rank)))
        axis += rank
    return ArrayAttr(groups)


def _mixed(
    static: DenseArrayBase[IntegerType], dynamic: "map[SSAValue]"
) -> list[SSAValue | int]:
    return [
        next(dynamic) if value == DYNAMIC_INDEX else value
        for value in static_values(static)
    ]
