"""
The regions of a nest at a point, on scalars or lane by lane.

A value that is the same in all lanes stays a scalar; an op becomes one on vectors when
an operand is a vector. Ops that have no vector form are computed for each lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, math, memref
from xdsl.dialects.builtin import LocationAttr, VectorType
from xdsl.ir import Attribute, Operation, Region, SSAValue

from transom.dialects import tir
from transom.lowering.nest_loops.emitter import Emitter, vector_type
from transom.lowering.nest_loops.points import Evaluator, Point
from transom.lowering.nest_loops.transfers import Reader

FAULTING: tuple[type[Operation], ...] = (
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.DivSIOp,
    arith.DivUIOp,
    arith.FloorDivSIOp,
    arith.RemSIOp,
    arith.RemUIOp,
)
"""Division by zero is a fault."""


def can_vectorize(nest: tir.NestOp) -> bool:
    """Ops with regions are control flow, which lanes would not share."""
    return not any(op.regions for region in nest.regions for op in region.walk())


MOST_TOGETHER = 4
"""Copies of a long chain that are computed side by side."""


def computed_together(region: Region) -> int:
    """
    How many copies of a region to compute side by side.

    A function is a long chain, each link of which waits for the one before.
    """
    is_chain = any(
        op.dialect_name() == "math" and not isinstance(op, math.FmaOp)
        for op in region.block.ops
    )
    return MOST_TOGETHER if is_chain else 1


def keep_name(old: SSAValue, new: SSAValue) -> None:
    """Let a value be printed under the name that it had in the nest."""
    if new.name_hint is None and old.name_hint is not None:
        new.name_hint = old.name_hint


class RegionWriter:
    """Computes regions at points."""

    def __init__(
        self,
        emitter: Emitter,
        evaluator: Evaluator,
        reader: Reader,
        outer: Callable[[SSAValue], SSAValue],
        inputs: set[SSAValue],
    ) -> None:
        """
        `outer` gives what a value from outside of the nest has become; `inputs` are
        the memrefs that the nest only reads.
        """
        self.emitter = emitter
        self.evaluator = evaluator
        self.reader = reader
        self.outer = outer
        self.inputs = inputs

    def write(
        self, region: Region, arguments: Mapping[SSAValue, SSAValue], point: Point
    ) -> list[SSAValue]:
        """What the region yields; `arguments` may leave out what is not used."""
        (results,) = self.write_together(region, [(arguments, point)])
        return results

    def write_together(
        self,
        region: Region,
        copies: Sequence[tuple[Mapping[SSAValue, SSAValue], Point]],
    ) -> list[list[SSAValue]]:
        """
        What the region yields for some arguments and points: each op of one copy stands
        next to that of the others, which do not wait for each other.
        """
        values = [dict(arguments) for arguments, _ in copies]
        block = region.block
        for op in block.ops:
            yielded = [
                [self._value_of(operand, known) for operand in op.operands]
                for known in values
            ]
            if op is block.last_op:
                return yielded
            for (_, point), known, operands in zip(
                copies, values, yielded, strict=True
            ):
                if op.regions:
                    results = self._copy(op, known, point)
                else:
                    results = self._compute(op, operands, point)
                for old, new in zip(op.results, results, strict=True):
                    known[old] = new
                    keep_name(old, new)
        raise AssertionError("regions end with 'tir.yield'")

    def _value_of(
        self, value: SSAValue, known: Mapping[SSAValue, SSAValue]
    ) -> SSAValue:
        found = known.get(value)
        return self.outer(value) if found is None else found

    def _compute(
        self, op: Operation, operands: Sequence[SSAValue], point: Point
    ) -> Sequence[SSAValue]:
        if isinstance(op, tir.IndexOp):
            return (self._index(op.position, point),)
        is_vector = any(isinstance(operand.type, VectorType) for operand in operands)
        if not is_vector:
            return self._scalar(op, operands)
        if len(op.results) == 1 and op.dialect_name() in ("arith", "math"):
            lanes = [self.emitter.broadcast(v, point.width) for v in operands]
            type = vector_type(op.results[0].type, point.width)
            return (self._pure(op, lanes, (type,)),)
        return self._each_lane(op, operands, point.width)

    def _scalar(
        self, op: Operation, operands: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        if isinstance(op, memref.LoadOp):
            load = memref.LoadOp.create(
                operands=operands, result_types=[op.res.type], properties=op.properties
            )
            load.location = op.location
            return (self.emitter.load(load, is_input=operands[0] in self.inputs),)
        if len(op.results) != 1:
            return self.emitter.insert(self._rebuilt(op, operands)).results
        return (self._pure(op, operands, op.result_types),)

    def _pure(
        self,
        op: Operation,
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
    ) -> SSAValue:
        location: LocationAttr = op.location
        return self.emitter.pure(
            type(op),
            operands,
            types,
            op.properties,
            may_fault=isinstance(op, FAULTING),
            attributes=op.attributes,
            location=location,
        )

    def _each_lane(
        self, op: Operation, operands: Sequence[SSAValue], width: int
    ) -> Sequence[SSAValue]:
        rows = [
            self._scalar(op, [self.emitter.extract(v, lane) for v in operands])
            for lane in range(width)
        ]
        return [self.emitter.collect(column) for column in zip(*rows, strict=True)]

    def _index(self, dim: int, point: Point) -> SSAValue:
        first = self.emitter.index(self.evaluator.dim(point, dim))
        if point.width > 1 and dim == point.lane_dim:
            return self.reader.lane_indices(first, point.width)
        return first

    def _rebuilt(self, op: Operation, operands: Sequence[SSAValue]) -> Operation:
        new = type(op).create(
            operands=operands,
            result_types=op.result_types,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        new.location = op.location
        return new

    def _copy(
        self,
        op: Operation,
        values: Mapping[SSAValue, SSAValue],
        point: Point,
    ) -> Sequence[SSAValue]:
        """An op with regions, with all that it holds."""
        mapping = dict(values)
        inside = set(op.walk())
        for nested in op.walk():
            for operand in nested.operands:
                owner = operand.owner
                is_inside = (
                    owner in inside
                    if isinstance(owner, Operation)
                    else owner.parent_op() in inside
                )
                if not is_inside and operand not in mapping:
                    mapping[operand] = self._value_of(operand, values)
        new = op.clone(mapping)
        for nested in list(new.walk()):
            if isinstance(nested, tir.IndexOp):
                nested.result.replace_all_uses_with(self._index(nested.position, point))
                nested.detach()
                nested.erase()
        return self.emitter.insert(new).results
