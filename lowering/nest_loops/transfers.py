"""
Reading inputs and writing outputs at a point: scalars and vectors, padded, combining.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from transom.dialects import tir
from transom.dialects.executor.memref_types import element_bytes
from transom.dialects.op_making import make_op
from transom.dialects.tir import affine
from transom.dialects.tir.accesses import exact_interval_of, interval_of
from transom.dialects.tir.steps import Step, spare_axes, step_of
from transom.dialects.tir.types import memref_type_of
from transom.lowering.bufferize.memrefs import groups_of
from transom.lowering.nest_loops.emitter import (
    INDEX,
    Emitter,
    Index,
    as_vector,
    vector_type,
)
from transom.lowering.nest_loops.points import Evaluator, Point

LINE_BYTES = 64
"""What comes near at once."""


class Transfer:
    """One input or output of a nest."""

    def __init__(
        self,
        emitter: Emitter,
        value: SSAValue,
        access: tir.AccessAttr,
        *,
        is_input: bool,
        is_vector: bool,
        ahead: int = 0,
    ) -> None:
        exprs = access.map.results if access.map else ()
        spare = spare_axes(exprs, memref_type_of(value))
        if is_vector and spare and exprs[-spare - 1].used_dims():
            # Vectors lie along the last axis.
            value = without_axes(emitter, value, spare)
            exprs = exprs[:-spare]
        self.value = value
        self.access = access
        self.is_input = is_input
        """Only read by the nest."""
        self.ahead = ahead
        """How many elements ahead of what is read memory is asked for; 0 if not."""
        self.type = memref_type_of(value)
        self.shape = self.type.get_shape()
        self.exprs: tuple[AffineExpr, ...] = exprs
        self._steps: dict[int, Step] = {}
        self.divides = any(affine.divisors(expr) for expr in self.exprs)
        self._dims = sorted({dim for expr in self.exprs for dim in expr.used_dims()})
        self._local_steps: dict[Hashable, Step] = {}

    @property
    def element_type(self) -> Attribute:
        return self.type.element_type

    def step(self, dim: int) -> Step:
        """How the access moves with a dim."""
        if self.access.is_indirect:
            return Step.SCATTERED
        return step_of(self.exprs, self.type, dim)

    def key_at(self, point: Point) -> Hashable:
        """What decides which elements are read at a point, in the same loops."""
        bases, offsets = point.bases, point.offsets
        return (
            id(self),
            point.lane_dim,
            point.width,
            point.count,
            *[(bases[dim], offsets[dim]) for dim in self._dims],
        )

    def along(self, point: Point) -> Step:
        """How the access moves from lane to lane."""
        dim = point.lane_dim
        if point.width == 1 or dim is None:
            return Step.UNIFORM
        if self.divides:
            known = point.known_of(self._dims)
            local = self._local_steps.get(known)
            if local is None:
                exprs = [point.local(expr) for expr in self.exprs]
                local = step_of(exprs, self.type, point.local_lane)
                self._local_steps[known] = local
            return local
        found = self._steps.get(dim)
        if found is None:
            found = self._steps[dim] = self.step(dim)
        return found


def without_axes(emitter: Emitter, value: SSAValue, count: int) -> SSAValue:
    """The memory of a memref without its last axes, which have one element."""
    type = memref_type_of(value)
    shape = type.get_shape()[:-count]
    view = MemRefType(type.element_type, shape, type.layout, type.memory_space)
    groups = groups_of(*[1] * (len(shape) - 1), 1 + count)
    properties = {"reassociation": groups}
    return emitter.pure(memref.CollapseShapeOp, (value,), (view,), properties)


class Reader:
    """Reads inputs at points."""

    def __init__(self, emitter: Emitter, evaluator: Evaluator) -> None:
        self.emitter = emitter
        self.evaluator = evaluator

    def read(self, transfer: Transfer, point: Point) -> SSAValue:
        """A scalar, which all lanes share, or a vector of the lanes."""
        if transfer.access.is_indirect:
            return transfer.value
        if not transfer.is_input:
            return self._read(transfer, point)
        # The points of a tile share most of what they read.
        key = transfer.key_at(point)
        found = self.emitter.found_here(key)
        if found is None:
            found = self._read(transfer, point)
            self.emitter.remember_here(key, found)
        return found

    def _read(self, transfer: Transfer, point: Point) -> SSAValue:
        match transfer.along(point):
            case Step.UNIFORM:
                return self._read_scalar(transfer, point.lane(0))
            case Step.CONTIGUOUS:
                return self._neighbours(transfer, point, self.indices(transfer, point))
            case Step.EVERY_OTHER if not point.is_partial:
                return self._read_every_other(transfer, point)
            case _:
                lanes = map(point.lane, range(point.count))
                values = [self._read_scalar(transfer, lane) for lane in lanes]
                values += values[:1] * (point.width - point.count)
                return self.emitter.collect(values)

    def indices(self, transfer: Transfer, point: Point) -> list[Index]:
        return [self.evaluator.evaluate(expr, point) for expr in transfer.exprs]

    def load(self, transfer: Transfer, indices: Sequence[Index]) -> SSAValue:
        """The element at `indices`."""
        operands = [transfer.value, *map(self.emitter.index, indices)]
        op = memref.LoadOp.create(
            operands=operands, result_types=[transfer.element_type]
        )
        return self.insert_load(transfer, op, indices, 1)

    def insert_load(
        self,
        transfer: Transfer,
        op: Operation,
        indices: Sequence[Index],
        count: int,
    ) -> SSAValue:
        """
        What a load of `count` neighbours gives, new or read before. If the transfer
        says so, memory is asked for ahead of a new one, but not where it is invariant.
        """
        value = self.emitter.load(op, is_input=transfer.is_input)
        if transfer.ahead and indices and self.emitter.is_here(op):
            self._prefetch(transfer, indices, count)
        return value

    def _prefetch(
        self, transfer: Transfer, indices: Sequence[Index], count: int
    ) -> None:
        """
        Ask for the lines ahead of some neighbours, each once in a step of the loops:
        lines are counted from where the step starts.
        """
        emitter = self.emitter
        *outer, last = indices
        line = max(1, LINE_BYTES // (element_bytes(transfer.element_type) or 1))
        base, number = emitter.parts_of(last)
        for first in range(number - number % line, number + count, line):
            place = max(number, first)
            key = ("line", id(transfer), *outer, base, first)
            if emitter.found_here(key) is not None:
                continue
            at = emitter.add(base, place + transfer.ahead)
            operands = map(emitter.index, (*outer, at))
            op = tir.PrefetchOp(transfer.value, list(operands))
            emitter.insert(op)
            emitter.remember_here(key, transfer.value)

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

    def _read_every_other(self, transfer: Transfer, point: Point) -> SSAValue:
        """Two loads, the second up to the last element needed, and a shuffle."""
        emitter, width = self.emitter, point.width
        *outer, last = self.indices(transfer, point)
        first = self._neighbours(transfer, point, [*outer, last])
        following = emitter.add(last, width - 1)
        second = self._neighbours(transfer, point, [*outer, following])
        mask = [lane if lane < width else lane + 1 for lane in range(0, 2 * width, 2)]
        return emitter.shuffle(first, second, mask)

    def _neighbours(
        self, transfer: Transfer, point: Point, at: Sequence[Index]
    ) -> SSAValue:
        """As many neighbouring elements as there are lanes, padded."""
        emitter, width = self.emitter, point.width
        type = vector_type(transfer.element_type, width)
        indices = [emitter.index(index) for index in at]
        axes = self._guarded_axes(transfer, point)
        pad = transfer.access.pad
        # Masked lanes are not touched, wherever they are.
        mask: SSAValue | None = None
        if point.is_partial and not self._has_room(transfer, point):
            mask = emitter.first_lanes(point.count, width)
        if not axes and mask is None:
            op = make_op(vector.LoadOp, (transfer.value, *indices), (type,))
            return self.insert_load(transfer, op, at, width)
        condition: SSAValue | None = None
        for axis in axes:
            if axis < len(indices) - 1:
                inside = self._in_extent(transfer, axis, indices[axis])
                condition = emitter.both(condition, inside)
            else:
                lanes = self.lane_indices(indices[axis], width)
                mask = emitter.both(mask, self._in_extent(transfer, axis, lanes))
        if condition is not None:
            mask = emitter.both(mask, emitter.broadcast(condition, width))
        assert mask is not None, "there are axes to guard, or lanes"
        outside = emitter.broadcast(
            emitter.zero(transfer.element_type)
            if pad is None
            else emitter.constant(pad, transfer.element_type),
            width,
        )
        op = vector.MaskedLoadOp(transfer.value, indices, mask, outside)
        return self.insert_load(transfer, op, at, width)

    def _has_room(self, transfer: Transfer, point: Point) -> bool:
        """Whether all lanes lie in the last axis, where those that count do."""
        extent = transfer.shape[-1]
        first = point.lane(0)
        if self._guarded_axes(transfer, point) or extent == DYNAMIC_INDEX:
            return False
        last = interval_of(first.local(transfer.exprs[-1]), first.local_intervals)
        return last.upper + point.width <= extent

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
        if indices is None:
            step = transfer.along(point)
            if step is Step.CONTIGUOUS and point.width > 1:
                self._write_vector(transfer, point, value)
                return
            if step is Step.UNIFORM and transfer.access.combine is not None:
                value = self.fold(transfer.access.combine, value, point.width)
                point = point.lane(0)
        for lane in range(point.count):
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
        mask: SSAValue | None = None
        if point.is_partial:
            mask = emitter.first_lanes(point.count, point.width)
        if transfer.access.combine is not None:
            load: Operation = vector.LoadOp.create(
                operands=operands, result_types=[value.type]
            )
            if mask is not None:
                load = vector.MaskedLoadOp(operands[0], operands[1:], mask, value)
            old = emitter.insert(load).results[0]
            value = self.combine(transfer.access.combine, old, value)
        if mask is None:
            emitter.insert(make_op(vector.StoreOp, (value, *operands)))
        else:
            memref, *at = operands
            emitter.insert(vector.MaskedStoreOp(memref, at, mask, value))

    def fold(self, kind: tir.CombineKind, value: SSAValue, width: int) -> SSAValue:
        """All lanes in one."""
        value = self.emitter.broadcast(value, width)
        return fold_lanes(self.emitter, value, lambda a, b: self.combine(kind, a, b))

    def combine(
        self, kind: tir.CombineKind, old: SSAValue, value: SSAValue
    ) -> SSAValue:
        lanes = as_vector(value)
        element = value.type if lanes is None else lanes.element_type
        table = _COMBINE_FLOATS if isinstance(element, AnyFloat) else _COMBINE_INTEGERS
        return self.emitter.insert(table[kind](old, value)).results[0]


def fold_lanes(
    emitter: Emitter,
    value: SSAValue,
    combine: Callable[[SSAValue, SSAValue], SSAValue],
) -> SSAValue:
    """
    The lanes of a vector combined: halves with each other, again and again.

    Integers stay in vectors of all lanes: from narrower ones LLVM 22 loses parts of a
    sum of products of bytes, where x86 has `vpdpbusd` (`combineVPDPBUSDPattern` counts
    the steps of the sum by the vector that the last element is taken from).
    """
    type = as_vector(value)
    if type is None:
        return value
    width = type.element_count()
    if isinstance(type.element_type, IntegerType) and width & (width - 1) == 0:
        for half in (width >> step for step in range(1, width.bit_length())):
            mask = [(lane + half) % width for lane in range(width)]
            value = combine(value, emitter.shuffle(value, value, mask))
        return emitter.extract(value, 0)
    rest: SSAValue | None = None
    while width > 1:
        half = width // 2
        low = emitter.shuffle(value, value, range(half))
        high = emitter.shuffle(value, value, range(half, 2 * half))
        if width % 2:
            last = emitter.extract(value, width - 1)
            rest = last if rest is None else combine(rest, last)
        value, width = combine(low, high), half
    total = emitter.extract(value, 0)
    return total if rest is None else combine(total, rest)
