"""
Group graph ops that one kernel shall compute into `graph.fused`.

A value that stays inside a kernel costs no memory traffic and no call. Element-wise ops
join the convolution, product, pool or reduction that they follow, and each other; a
reduction and the element-wise ops on the same rows (softmax, layer normalisation) make
one group over the rows. Scalar constants are copied into the groups that read them.

```mlir
%c = graph.conv2d %x, %w …                  %r = graph.fused (%x, %w, %b) {
%s = graph.add %c, %b …              ==>      … conv2d, add, relu …
%r = graph.relu %s …                        }
```

A group is convex: nothing outside depends on one of its ops and feeds another. Groups
of one op are left as they are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from heapq import heapify, heappop, heappush
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FusedLoc,
    LocationAttr,
    NoneAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import is_side_effect_free

from transom.dialects import graph
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.graph.shapes import DYNAMIC
from transom.passes.function_pass import FunctionPass


class Kind(Enum):
    """What limits how a group can grow."""

    ELEMENTWISE = auto()
    """One value per point of the result; any element-wise op of that shape joins."""
    INJECTIVE = auto()
    """Moves elements; element-wise ops may follow, none may precede."""
    CONTRACTION = auto()
    """Reduces over dimensions that the result lacks; element-wise ops may follow."""
    ROWS = auto()
    """Reduces along `axes` of the space; what reads or writes whole rows joins."""


ELEMENTWISE_OPS = (
    graph.BinaryOp,
    graph.UnaryOp,
    graph.LeakyReluOp,
    graph.ClampOp,
    graph.CompareOp,
    graph.SelectOp,
    graph.CastOp,
    graph.BatchNormOp,
)
INJECTIVE_OPS = (graph.TransposeOp, graph.SliceOp, graph.GatherOp, graph.BroadcastOp)
CONTRACTION_OPS = (graph.MatmulOp, graph.Conv2dOp, graph.AvgPool2dOp)


@dataclass(eq=False)
class Group:
    """Ops for one kernel, in block order, over the space of points `shape`."""

    kind: Kind
    ops: list[Operation]
    space: AnyTensor
    axes: frozenset[int] = frozenset()
    results: set[SSAValue] = field(default_factory=set[SSAValue])


def classify(op: Operation) -> Group | None:
    """The group of one op, or None for an op that is in no group."""
    if isinstance(op, ELEMENTWISE_OPS):
        kind = Kind.ELEMENTWISE
    elif isinstance(op, INJECTIVE_OPS):
        kind = Kind.INJECTIVE
    elif isinstance(op, CONTRACTION_OPS) or (
        isinstance(op, graph.MaxPool2dOp) and len(op.results) == 1
    ):
        kind = Kind.CONTRACTION
    elif isinstance(op, graph.SoftmaxOp | graph.LogSoftmaxOp):
        axes = frozenset((op.axis.value.data,))
        return _group(Kind.ROWS, op, op.results[0].type, axes)
    elif isinstance(op, graph.ReduceOp) and op.keepdims is not None:
        axes = frozenset(int(axis) for axis in op.axes.get_values())
        return _group(Kind.ROWS, op, op.operands[0].type, axes)
    else:
        return None
    return _group(kind, op, op.results[0].type, frozenset())


def _group(
    kind: Kind, op: Operation, space: object, axes: frozenset[int]
) -> Group | None:
    if not isinstance(space, TensorType):
        return None
    return Group(kind, [op], cast("AnyTensor", space), axes, set(op.results))


def same_space(a: AnyTensor, b: AnyTensor) -> bool:
    """Whether two tensor types surely have equal sizes."""
    if a.get_shape() != b.get_shape():
        return False
    return all(
        size != DYNAMIC or (m is not None and n is not None and m.name == n.name)
        for size, m, n in zip(
            a.get_shape(), graph.dim_symbols(a), graph.dim_symbols(b), strict=True
        )
    )


def is_row_value(value: SSAValue, group: Group) -> bool:
    """Whether a value has one element per row of the group."""
    sizes = cast("AnyTensor", value.type).get_shape()
    space = group.space.get_shape()
    if len(sizes) != len(space):
        return False
    return all(
        size == 1 if axis in group.axes else size == full != DYNAMIC
        for axis, (size, full) in enumerate(zip(sizes, space, strict=True))
    )


def merged(producer: Group, consumer: Group, value: SSAValue) -> Group | None:
    """
    The group of both, connected by `value`, or None where one kernel is no gain.

    Only a value that nobody else reads may end the life of a contraction's result as a
    tensor of its own; element-wise ops and rows may have further results.
    """
    rows = Kind.ROWS in (producer.kind, consumer.kind)
    same = same_space(producer.space, consumer.space)
    single_use = value.has_one_use()
    match producer.kind, consumer.kind:
        case Kind.ELEMENTWISE, Kind.ELEMENTWISE:
            fits = same
        case ((Kind.INJECTIVE | Kind.CONTRACTION), Kind.ELEMENTWISE):
            fits = same and single_use
        case Kind.ROWS, Kind.ROWS:
            fits = same and producer.axes == consumer.axes
        case Kind.ROWS, Kind.ELEMENTWISE:
            fits = same or (
                is_row_value(value, producer)
                and is_row_value(consumer.ops[-1].results[0], producer)
            )
        case Kind.ELEMENTWISE, Kind.ROWS:
            fits = same
        case _:
            fits = False
    if not fits:
        return None
    rooted = producer if not rows or producer.kind is Kind.ROWS else consumer
    return Group(
        rooted.kind,
        producer.ops + consumer.ops,
        rooted.space,
        rooted.axes,
        producer.results | consumer.results,
    )


class BlockFuser:
    """The groups of one block."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.position = {op: index for index, op in enumerate(block.ops)}
        self.groups: dict[Operation, Group] = {}

    def fuse(self) -> None:
        """Find the groups and put each into a `graph.fused`."""
        for op in tuple(self.block.ops):
            group = classify(op)
            if group is None:
                continue
            self.groups[op] = group
            for operand in dict.fromkeys(op.operands):
                self._join(operand, op)
        groups = dict.fromkeys(self.groups.values())
        large = [group for group in groups if len(group.ops) > 1]
        if large:
            self._order()
            for group in large:
                outline_group(sorted(group.ops, key=self.position.__getitem__))

    def _join(self, operand: SSAValue, op: Operation) -> None:
        if not isinstance(operand, OpResult):
            return
        producer, consumer = self.groups.get(operand.op), self.groups[op]
        if producer is None or producer is consumer:
            return
        group = merged(producer, consumer, operand)
        if group is not None and not self._path_outside(producer, consumer):
            for member in group.ops:
                self.groups[member] = group

    def _path_outside(self, producer: Group, consumer: Group) -> bool:
        """Whether the consumer depends on the producer through an op of neither."""
        inside = {*producer.ops, *consumer.ops}
        first = min(self.position[op] for op in producer.ops)
        pending = list(self._sources(consumer.ops, inside))
        seen: set[Operation] = set()
        while pending:
            op = pending.pop()
            if op in seen or self.position[op] < first:
                continue
            seen.add(op)
            mates = self.groups[op].ops if op in self.groups else (op,)
            for source in self._sources(mates, set()):
                if source in producer.ops:
                    return True
                pending.append(source)
        return False

    def _sources(
        self, ops: Iterable[Operation], inside: set[Operation]
    ) -> Iterator[Operation]:
        """The ops of the block that these, or ops in their regions, read."""
        for outer in ops:
            for op in outer.walk() if outer.regions else (outer,):
                for operand in op.operands:
                    owner = operand.owner
                    if owner in self.position and owner not in inside:
                        assert isinstance(owner, Operation), "keys are operations"
                        yield owner

    def _order(self) -> None:
        """
        Move the ops of each group together, keeping the order of the block otherwise.

        A topological sort of the groups (Kahn) that takes the earliest group first;
        effects keep their order.
        """
        last = self.block.last_op
        ops = [op for op in self.block.ops if op is not last]
        unit = {op: self.groups.get(op) or op for op in ops}
        members: dict[object, list[Operation]] = {}
        for op in ops:
            members.setdefault(unit[op], []).append(op)
        after: dict[object, set[object]] = {u: set() for u in members}
        waits = dict.fromkeys(members, 0)

        def depend(source: object, target: object) -> None:
            if source is not target and target not in after[source]:
                after[source].add(target)
                waits[target] += 1

        previous: Operation | None = None
        for op in ops:
            for source in self._sources((op,), set()):
                depend(unit[source], unit[op])
            if not is_side_effect_free(op):
                if previous is not None:
                    depend(unit[previous], unit[op])
                previous = op
        rank = {u: self.position[found[0]] for u, found in members.items()}
        units = {rank[u]: u for u in members}
        ready = [rank[u] for u in members if not waits[u]]
        heapify(ready)
        ordered: list[Operation] = []
        while ready:
            current = units[heappop(ready)]
            ordered += members[current]
            for target in after[current]:
                waits[target] -= 1
                if not waits[target]:
                    heappush(ready, rank[target])
        assert len(ordered) == len(ops), "groups are convex, so there is an order"
        for op in ordered:
            op.detach()
        self.block.insert_ops_before(ordered, last) if last else self.block.add_ops(
            ordered
        )


def outline_group(ops: Sequence[Operation]) -> graph.FusedOp:
    """Put neighbouring ops into a `graph.fused` in the place of the last one."""
    members = set(ops)
    constants: dict[Operation, Operation] = {}
    inputs: list[SSAValue] = []
    for op in ops:
        for operand in op.operands:
            owner = operand.owner
            if owner in members or operand in inputs:
                continue
            if isinstance(owner, Operation) and is_scalar_constant(owner):
                constants.setdefault(owner, owner.clone())
            else:
                inputs.append(operand)
    outputs = [
        result
        for op in ops
        for result in op.results
        if any(use.operation not in members for use in result.uses)
    ]
    body = Block(arg_types=[value.type for value in inputs])
    inner: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for constant, copy in constants.items():
        body.add_op(copy)
        inner[constant.results[0]] = copy.results[0]
    last = ops[-1]
    fused = graph.FusedOp(
        inputs,
        [value.type for value in outputs],
        Region(body),
        location=fused_location(ops),
    )
    assert last.parent is not None, "the ops of a block"
    last.parent.insert_op_before(fused, last)
    for old, new in zip(outputs, fused.results, strict=True):
        old.replace_uses_with_if(new, lambda use: use.operation not in members)
        new.name_hint = old.name_hint
    for op in ops:
        op.detach()
        op.operands = [inner.get(operand, operand) for operand in op.operands]
        body.add_op(op)
    body.add_op(graph.YieldOp(*outputs))
    for constant in constants:
        if not constant.results[0].uses:
            constant.detach()
            constant.erase()
    return fused


def fused_location(ops: Sequence[Operation]) -> LocationAttr:
    """All the places that a group comes from."""
    known = [op.location for op in ops if op.location != UNKNOWN_LOC]
    distinct = list(dict.fromkeys(known))
    if len(distinct) == 1:
        return distinct[0]
    return FusedLoc(tuple(distinct), NoneAttr()) if distinct else UNKNOWN_LOC


def is_scalar_constant(op: object) -> bool:
    """Whether an op is a constant with one value, which costs a kernel nothing."""
    return isinstance(op, graph.ConstantOp) and op.value.is_splat()


@dataclass(frozen=True)
class GraphFusePass(FunctionPass):
    name = "graph-fuse"

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        for op in func.walk():
            if isinstance(op, graph.FusedOp | graph.CompositeOp):
                continue
            for region in op.regions:
                for block in region.blocks:
                    BlockFuser(block).fuse()
