"""
Writing loops from the inside: ops go to the outermost loop that has their operands.

While the body of a loop is written, the loop op itself is not there yet, so an op that
is appended to the block around comes before the loop. An op without effects is written
as far out as its operands allow and at most once: invariants are hoisted and equal
values are shared as they are made. What would be a fault in a loop that does not run
(a load, a division by a variable) only leaves loops that run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    UnknownLoc,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects.op_making import make_op

Index = int | SSAValue
"""A number that is known, or a value of type `index`."""

Carried = Sequence[SSAValue]
LoopBody = Callable[[Index, Carried], Carried]

INDEX = IndexType()
_NO_OVERFLOW = arith.IntegerOverflowAttr("none")


@lru_cache(maxsize=256)
def vector_type(element: Attribute, width: int) -> VectorType:
    """The type of vectors of so many lanes."""
    return VectorType(element, [width])


def as_vector(value: SSAValue) -> VectorType | None:
    """The type of a vector, None for a scalar."""
    type = value.type
    return cast(VectorType, type) if isinstance(type, VectorType) else None


@dataclass
class _Level:
    """A block under construction."""

    block: Block
    runs: bool
    """Whether the block runs at least once each time the one around it does."""
    cache: dict[object, SSAValue] = field(default_factory=dict[object, SSAValue])


class Emitter:
    """Ops for one nest; `ops` is what comes in its place."""

    def __init__(self) -> None:
        self._levels = [_Level(Block(), True)]
        self._depths: dict[SSAValue, int] = {}
        self._numbers: dict[int, SSAValue] = {}
        self._known: dict[SSAValue, int] = {}

    def take_ops(self) -> list[Operation]:
        """All ops, detached."""
        (level,) = self._levels
        ops = list(level.block.ops)
        for op in ops:
            op.detach()
        return ops

    @property
    def depth(self) -> int:
        return len(self._levels) - 1

    def depth_of(self, values: Iterable[SSAValue]) -> int:
        depths = self._depths
        return max((depths.get(value, 0) for value in values), default=0)

    # Ops.

    def insert(self, op: Operation) -> Operation:
        """Write an op here, whatever its operands."""
        return self._insert_at(op, self.depth)

    def _insert_at(self, op: Operation, depth: int) -> Operation:
        self._levels[depth].block.add_op(op)
        if depth:
            for result in op.results:
                self._depths[result] = depth
        return op

    def pure(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        *,
        may_fault: bool = False,
        attributes: Mapping[str, Attribute] | None = None,
        location: LocationAttr | None = None,
    ) -> SSAValue:
        """
        The first result of an op without effects, new or written before.

        `may_fault` ops do not leave loops that may not run.
        """
        properties = properties or {}
        depth = self.depth_of(operands)
        if may_fault:
            depth = self._outermost_sure(depth)
        key = (kind, *operands, *properties.items(), *result_types)
        cache = self._levels[depth].cache
        if (found := cache.get(key)) is not None:
            return found
        op = make_op(kind, operands, result_types, properties)
        if attributes:
            op.attributes.update(attributes)
        if location is not None and not isinstance(location, UnknownLoc):
            op.location = location
        self._insert_at(op, depth)
        cache[key] = op.results[0]
        return op.results[0]

    def load(self, op: Operation, *, is_input: bool) -> SSAValue:
        """
        What a load gives, new or read before.

        `is_input` says that the nest does not write there, so that the load may move
        and be shared; it stays in loops that may not run, where it may be a fault.
        """
        if not is_input:
            return self.insert(op).results[0]
        operands = op.operands
        depth = self._outermost_sure(self.depth_of(operands))
        key = (type(op), *operands, *op.properties.items(), *op.result_types)
        cache = self._levels[depth].cache
        found = cache.get(key)
        if found is not None:
            op.drop_all_references()
            return found
        self._insert_at(op, depth)
        cache[key] = op.results[0]
        return op.results[0]

    def is_here(self, op: Operation) -> bool:
        """Whether an op stands in the block that is being written."""
        return op.parent is self._levels[-1].block

    def found_here(self, key: object) -> SSAValue | None:
        """What was remembered under a key in the block that is being written."""
        return self._levels[-1].cache.get(key)

    def remember_here(self, key: object, value: SSAValue) -> None:
        """Remember a value until the block is written."""
        self._levels[-1].cache[key] = value

    def _outermost_sure(self, depth: int) -> int:
        """The outermost level from `depth` on that runs if this one does."""
        current = self.depth
        while current > depth and self._levels[current].runs:
            current -= 1
        return current

    # Constants and indices.

    def constant(self, value: Attribute, type: Attribute) -> SSAValue:
        return self.pure(arith.ConstantOp, (), (type,), {"value": value})

    def zero(self, type: Attribute) -> SSAValue:
        """Zero as an element."""
        if isinstance(type, AnyFloat):
            return self.constant(FloatAttr(0.0, type), type)
        integer = cast("IntegerType | IndexType", type)
        return self.constant(IntegerAttr(0, integer), integer)

    def index(self, value: Index) -> SSAValue:
        if isinstance(value, SSAValue):
            return value
        found = self._numbers.get(value)
        if found is None:
            found = self.constant(IntegerAttr(value, INDEX), INDEX)
            self._numbers[value] = found
            self._known[found] = value
        return found

    def add(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int):
            lhs, rhs = rhs, lhs
        if isinstance(rhs, int):
            if isinstance(lhs, int):
                return lhs + rhs
            if rhs == 0:
                return lhs
        return self._integer(arith.AddiOp, lhs, rhs)

    def parts_of(self, value: Index) -> tuple[Index, int]:
        """A value and a number whose sum an index is."""
        if isinstance(value, int):
            return 0, value
        op = value.owner
        if isinstance(op, arith.AddiOp):
            number = self._known.get(op.rhs)
            if number is not None:
                return op.lhs, number
        return value, 0

    def subtract(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(rhs, int):
            return self.add(lhs, -rhs)
        return self._integer(arith.SubiOp, lhs, rhs)

    def multiply(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int):
            lhs, rhs = rhs, lhs
        if isinstance(rhs, int):
            if isinstance(lhs, int):
                return lhs * rhs
            if rhs in (0, 1):
                return lhs if rhs else 0
        return self._integer(arith.MuliOp, lhs, rhs)

    def _integer(self, kind: type[Operation], lhs: Index, rhs: Index) -> SSAValue:
        operands = (self.index(lhs), self.index(rhs))
        return self.pure(kind, operands, (INDEX,), {"overflowFlags": _NO_OVERFLOW})

    def floordiv(self, lhs: Index, rhs: Index, *, natural: bool) -> Index:
        """`natural`: neither side is negative."""
        if isinstance(lhs, int) and isinstance(rhs, int) and rhs > 0:
            return lhs // rhs
        kind = arith.DivUIOp if natural else arith.FloorDivSIOp
        may_fault = not isinstance(rhs, int)
        operands = (self.index(lhs), self.index(rhs))
        return self.pure(kind, operands, (INDEX,), may_fault=may_fault)

    def modulo(self, lhs: Index, rhs: Index, *, natural: bool) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int) and rhs > 0:
            return lhs % rhs
        if not natural:
            quotient = self.floordiv(lhs, rhs, natural=False)
            return self.subtract(lhs, self.multiply(quotient, rhs))
        may_fault = not isinstance(rhs, int)
        operands = (self.index(lhs), self.index(rhs))
        return self.pure(arith.RemUIOp, operands, (INDEX,), may_fault=may_fault)

    def compare(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """`arith.cmpi` on scalars or vectors."""
        number = arith.CMPI_COMPARISON_OPERATIONS.index(predicate)
        lanes = as_vector(lhs)
        type = i1 if lanes is None else VectorType(i1, lanes.get_shape())
        properties = {"predicate": IntegerAttr(number, 64)}
        return self.pure(arith.CmpiOp, (lhs, rhs), (type,), properties)

    def both(self, lhs: SSAValue | None, rhs: SSAValue | None) -> SSAValue | None:
        """The conjunction; None is true."""
        if lhs is None or rhs is None:
            return rhs if lhs is None else lhs
        return self.pure(arith.AndIOp, (lhs, rhs), (lhs.type,))

    def select(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return self.pure(arith.SelectOp, (condition, yes, no), (yes.type,))

    # Vectors.

    def broadcast(self, value: SSAValue, width: int) -> SSAValue:
        """`value` in all lanes; a vector stays what it is."""
        if width == 1 or as_vector(value) is not None:
            return value
        type = vector_type(value.type, width)
        return self.pure(vector.BroadcastOp, (value,), (type,))

    def lanes(self, width: int) -> SSAValue:
        """The indices 0 to `width` - 1."""
        type = cast("VectorType[IndexType]", vector_type(INDEX, width))
        value = DenseIntOrFPElementsAttr.from_list(type, list(range(width)))
        return self.constant(value, type)

    def first_lanes(self, count: int, width: int) -> SSAValue:
        """A mask of the first `count` of `width` lanes."""
        type = cast("VectorType[IntegerType]", vector_type(i1, width))
        flags = [int(lane < count) for lane in range(width)]
        return self.constant(DenseIntOrFPElementsAttr.from_list(type, flags), type)

    def extract(self, value: SSAValue, lane: int) -> SSAValue:
        """A lane; of a scalar the scalar itself."""
        type = as_vector(value)
        if type is None:
            return value
        op = vector.ExtractOp(value, [lane], type.element_type)
        return self.pure(vector.ExtractOp, op.operands, op.result_types, op.properties)

    def collect(self, values: Sequence[SSAValue]) -> SSAValue:
        """A vector of scalars, one for each lane."""
        if len(values) == 1:
            return values[0]
        result = self.broadcast(values[0], len(values))
        for lane, value in enumerate(values[1:], start=1):
            op = vector.InsertOp(value, result, [lane])
            result = self.pure(
                vector.InsertOp, op.operands, op.result_types, op.properties
            )
        return result

    def shuffle(
        self, first: SSAValue, second: SSAValue, mask: Iterable[int]
    ) -> SSAValue:
        """Lanes of two vectors of equal width, those of the second after the first."""
        type, numbers = as_vector(first), tuple(mask)
        assert type is not None, "shuffles take vectors"
        return self.pure(
            vector.ShuffleOp,
            (first, second),
            (vector_type(type.element_type, len(numbers)),),
            {"mask": DenseArrayBase.from_list(i64, numbers)},
        )

    # Control flow.

    def loop(
        self,
        lower: Index,
        upper: Index,
        step: int,
        carried: Carried,
        body: LoopBody,
        *,
        parallel: bool = False,
        runs: bool = False,
    ) -> Carried:
        """
        A loop from `lower` to before `upper`, or less where that is known to be less.

        `parallel` loops carry nothing. `runs` says that there is at least one step,
        which is known where both ends are.
        """
        if isinstance(lower, int) and isinstance(upper, int):
            if lower >= upper:
                return carried
            if lower + step >= upper:
                return body(lower, carried)
        bounds = [self.index(lower), self.index(upper), self.index(step)]
        runs = runs or (isinstance(lower, int) and isinstance(upper, int))
        block = self._open([INDEX, *(value.type for value in carried)], runs)
        results = body(block.args[0], block.args[1:])
        self._close()
        region = Region(block)
        if parallel:
            assert not carried, "parallel loops carry nothing"
            block.add_op(scf.ReduceOp())
            self.insert(scf.ParallelOp([bounds[0]], [bounds[1]], [bounds[2]], region))
            return ()
        block.add_op(make_op(scf.YieldOp, results))
        types = [value.type for value in carried]
        loop = make_op(scf.ForOp, (*bounds, *carried), types)
        loop.add_region(region)
        return self.insert(loop).results

    def choose(
        self,
        condition: SSAValue,
        type: Attribute,
        yes: Callable[[], SSAValue],
        no: SSAValue,
    ) -> SSAValue:
        """`yes` is only computed if the condition holds."""
        block = self._open([], runs=False)
        value = yes()
        self._close()
        block.add_op(scf.YieldOp(value))
        otherwise = Region(Block([scf.YieldOp(no)]))
        return self.insert(
            scf.IfOp(condition, [type], Region(block), otherwise)
        ).results[0]

    def _open(self, types: Sequence[Attribute], runs: bool) -> Block:
        block = Block(arg_types=types)
        self._levels.append(_Level(block, runs))
        for arg in block.args:
            self._depths[arg] = self.depth
        return block

    def _close(self) -> None:
        self._levels.pop()
