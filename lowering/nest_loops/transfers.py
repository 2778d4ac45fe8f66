"""
Reading inputs and writing outputs at a point: scalars and vectors, padded, combining.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from transom.dialects import tir
from transom.dialects.tir import affine
from transom.dialects.tir.accesses import exact_interval_of
from transom.lowering.nest_loops.emitter import INDEX, Emitter, Index, as_vector
from transom.lowering.nest_loops.points import Evaluator, Point


class Transfer:
    """One input or output of a nest."""

    def __init__(self, value: SSAValue, access: tir.AccessAttr, is_input: bool) -> None:
        self.value = value
        self.access = access
        self.is_input = is_input
        """Only read by the nest."""
        type = value.type
        assert isinstance(type, MemRefType), "nests work on memrefs"
        self.type = cast(MemRefType, type)
        self.shape = self.type.get_shape()
        self.exprs: tuple[AffineExpr, ...] = access.map.results if access.map else ()
        self._steps: dict[int, str] = {}

    @property
    def element_type(self) -> Attribute:
        return self.type.element_type

    def along(self, dim: int) -> str:
        """
        How the access moves with a dim: `uniform` (not at all), `contiguous` (to the
        next element in memory), or `scattered`.
        """
        found = self._steps.get(dim)
        if found is None:
            found = self._steps[dim] = self._classify(dim)
        return found

    def _classify(self, dim: int) -> str:
        if not any(dim in expr.used_dims() for expr in self.exprs):
            return "uniform"
        *outer, last = [affine.coefficient_of(expr, dim) for expr in self.exprs]
        zero, one = AffineConstantExpr(0), AffineConstantExpr(1)
        # A bool takes a byte in memory and a bit in a vector.
        if (
            last == one
            and all(step == zero for step in outer)
            and self.element_type != i1
            and has_unit_stride(self.type)
        ):
            return "contiguous"
        return "scattered"


def has_unit_stride(type: MemRefType) -> bool:
    """Whether neighbours on the last axis are neighbours in memory."""
    layout = type.layout
    if isinstance(layout, NoneAttr):
        return True
    if not isinstance(layout, StridedLayoutAttr) or not layout.strides.data:
        return False
    last = layout.strides.data[-1]
    return not isinstance(last, NoneAttr) and last.data == 1


class Reader:
    """Reads inputs at points."""

    def __init__(self, emitter: Emitter, evaluator: Evaluator) -> None:
        self.emitter = emitter
        self.evaluator = evaluator

    def read(self, transfer: Transfer, point: Point) -> SSAValue:
        """A scalar, which all lanes share, or a vector of the lanes."""
        if transfer.access.is_indirect:
            return transfer.value
        how = "uniform"
        if point.width > 1 and point.lane_dim is not None:
            how = transfer.along(point.lane_dim)
        if how == "contiguous":
            return self._read_vector(transfer, point)
        if how == "uniform":
            return self._read_scalar(transfer, point.lane(0))
        lanes = [self._read_scalar(transfer, point.lane(i)) for i in range(point.width)]
        return self.emitter.collect(lanes)

    def indices(self, transfer: Transfer, point: Point) -> list[Index]:
        return [self.evaluator.evaluate(expr, point) for expr in transfer.exprs]

    def load(self, transfer: Transfer, indices: Sequence[Index]) -> SSAValue:
        """The element at `indices`."""
        operands = [transfer.value, *map(self.emitter.index, indices)]
        op = memref.LoadOp.create(
            operands=operands, result_types=[transfer.element_type]
        )
        return self.emitter.load(op, is_input=transfer.is_input)

    def _read_scalar(self, transfer: Transfer, point: Point) -> SSAValue:
        indices = self.indices(transfer, point)
        axes = self._guarded_axes(transfer, point)
        pad = transfer.access.pad
        if pad is None or not axes:
            return self.load(transfer, indices)
        emitter = self.emitter
        outside = emitter.constant(pad, transfer.element_type)
        if any(transfer.shape[axis] == 0 for axis in axes):
            return outside
        condition: SSAValue | None = None
        for axis in axes:
            inside = self._in_extent(transfer, axis, emitter.index(indices[axis]))
            condition = emitter.both(condition, inside)
        assert condition is not None, "there are axes to guard"
        if any(transfer.shape[axis] == DYNAMIC_INDEX for axis in axes):
            # There may be no element at all to load instead.
            return emitter.choose(
                condition,
                transfer.element_type,
                lambda: self.load(transfer, indices),
                outside,
            )
        for axis in axes:
            index, first = emitter.index(indices[axis]), emitter.index(0)
            indices[axis] = emitter.select(condition, index, first)
        return emitter.select(condition, self.load(transfer, indices), outside)

    def _guarded_axes(self, transfer: Transfer, point: Point) -> list[int]:
        """Axes on which a padded access may leave the extent."""
        if transfer.access.pad is None:
            return []
        dims = point.dim_intervals()
        return [
            axis
            for axis, (expr, extent) in enumerate(
                zip(transfer.exprs, transfer.shape, strict=True)
            )
            if extent == DYNAMIC_INDEX
            or not exact_interval_of(expr, dims, limit=64).is_inside(extent)
        ]

    def _in_extent(self, transfer: Transfer, axis: int, index: SSAValue) -> SSAValue:
        """Of one index or of one per lane; as unsigned, negative ones are large."""
        extent = self.emitter.index(self.extent(transfer, axis))
        if (lanes := as_vector(index)) is not None:
            extent = self.emitter.broadcast(extent, lanes.element_count())
        return self.emitter.compare("ult", index, extent)

    def extent(self, transfer: Transfer, axis: int) -> Index:
        extent = transfer.shape[axis]
        if extent != DYNAMIC_INDEX:
            return extent
        operands = (transfer.value, self.emitter.index(axis))
        return self.emitter.pure(memref.DimOp, operands, (INDEX,))

    def _read_vector(self, transfer: Transfer, point: Point) -> SSAValue:
        emitter, width = self.emitter, point.width
        type = VectorType(transfer.element_type, [width])
        indices = [emitter.index(i) for i in self.indices(transfer, point)]
        axes = self._guarded_axes(transfer, point)
        pad = transfer.access.pad
        if pad is None or not axes:
            op = vector.LoadOp.create(
                operands=[transfer.value, *indices], result_types=[type]
            )
            return emitter.load(op, is_input=transfer.is_input)
        # Masked lanes are not touched, wherever they are.
        mask: SSAValue | None = None
        condition: SSAValue | None = None
        for axis in axes:
            if axis < len(indices) - 1:
                inside = self._in_extent(transfer, axis, indices[axis])
                condition = emitter.both(condition, inside)
            else:
                lanes = self.lane_indices(indices[axis], width)
                mask = self._in_extent(transfer, axis, lanes)
        if condition is not None:
            mask = emitter.both(mask, emitter.broadcast(condition, width))
        assert mask is not None, "there are axes to guard"
        outside = emitter.broadcast(emitter.constant(pad, transfer.element_type), width)
        op = vector.MaskedLoadOp(transfer.value, indices, mask, outside)
        return emitter.load(op, is_input=transfer.is_input)

    def lane_indices(self, first: SSAValue, width: int) -> SSAValue:
        """`first`, `first` + 1, … in the lanes."""
        emitter = self.emitter
        operands = (emitter.broadcast(first, width), emitter.lanes(width))
        properties = {"overflowFlags": arith.IntegerOverflowAttr("none")}
        return emitter.pure(arith.AddiOp, operands, (operands[1].type,), properties)


_COMBINE_FLOATS: dict[tir.CombineKind, Callable[[SSAValue, SSAValue], Operation]] = {
    tir.CombineKind.ADD: arith.AddfOp,
    tir.CombineKind.MUL: arith.MulfOp,
    tir.CombineKind.MAX: arith.MaximumfOp,
    tir.CombineKind.MIN: arith.MinimumfOp,
}
_COMBINE_INTEGERS: dict[tir.CombineKind, Callable[[SSAValue, SSAValue], Operation]] = {
    tir.CombineKind.ADD: arith.AddiOp,
    tir.CombineKind.MUL: arith.MuliOp,
    tir.CombineKind.MAX: arith.MaxSIOp,
    tir.CombineKind.MIN: arith.MinSIOp,
    tir.CombineKind.UMAX: arith.MaxUIOp,
    tir.CombineKind.UMIN: arith.MinUIOp,
    tir.CombineKind.AND: arith.AndIOp,
    tir.CombineKind.OR: arith.OrIOp,
}


class Writer:
    """Writes outputs at points."""

    def __init__(self, emitter: Emitter, reader: Reader) -> None:
        self.emitter = emitter
        self.reader = reader

    def write(
        self,
        transfer: Transfer,
        point: Point,
        value: SSAValue,
        indices: Sequence[SSAValue] | None,
    ) -> None:
        """Write all lanes; `indices` are those of an indirect access."""
        if indices is None and point.width > 1 and point.lane_dim is not None:
            how = transfer.along(point.lane_dim)
            if how == "contiguous":
                self._write_vector(transfer, point, value)
                return
            if how == "uniform" and transfer.access.combine is not None:
                self._write_folded(transfer, point, value)
                return
        for lane in range(point.width):
            at: Sequence[Index]
            if indices is None:
                at = self.reader.indices(transfer, point.lane(lane))
            else:
                at = [self.emitter.extract(index, lane) for index in indices]
            self._write_scalar(transfer, at, self.emitter.extract(value, lane))

    def _write_scalar(
        self, transfer: Transfer, indices: Sequence[Index], value: SSAValue
    ) -> None:
        operands = [transfer.value, *map(self.emitter.index, indices)]
        if transfer.access.combine is not None:
            old = self.reader.load(transfer, indices)
            value = self.combine(transfer.access.combine, old, value)
        self.emitter.insert(memref.StoreOp.create(operands=[value, *operands]))

    def _write_vector(self, transfer: Transfer, point: Point, value: SSAValue) -> None:
        emitter = self.emitter
        value = emitter.broadcast(value, point.width)
        indices = map(emitter.index, self.reader.indices(transfer, point))
        operands = [transfer.value, *indices]
        if transfer.access.combine is not None:
            op = vector.LoadOp.create(operands=operands, result_types=[value.type])
            old = emitter.insert(op).results[0]
            value = self.combine(transfer.access.combine, old, value)
        emitter.insert(vector.StoreOp.create(operands=[value, *operands]))

    def _write_folded(self, transfer: Transfer, point: Point, value: SSAValue) -> None:
        """All lanes into one element, in order."""
        assert transfer.access.combine is not None, "the caller looked"
        indices = self.reader.indices(transfer, point)
        total = self.reader.load(transfer, indices)
        for lane in range(point.width):
            part = self.emitter.extract(value, lane)
            total = self.combine(transfer.access.combine, total, part)
        operands = [transfer.value, *map(self.emitter.index, indices)]
        self.emitter.insert(memref.StoreOp.create(operands=[total, *operands]))

    def combine(
        self, kind: tir.CombineKind, old: SSAValue, value: SSAValue
    ) -> SSAValue:
        lanes = as_vector(value)
        element = value.type if lanes is None else lanes.element_type
        table = _COMBINE_FLOATS if isinstance(element, AnyFloat) else _COMBINE_INTEGERS
        return self.emitter.insert(table[kind](old, value)).results[0]
