"""
Group graph ops that one kernel shall compute into `graph.fused`.

A value that stays inside a kernel costs no memory traffic and no call. Element-wise ops
join the convolution, product, pool or reduction that they follow, and each other; a
reduction and the element-wise ops on the same rows (softmax, layer normalisation) make
one group over the rows. A product reads a transposed matrix where it is. What is
padded is computed in the middle of the result. Scalar constants are copied into the
groups that read them.

```mlir
%c = graph.conv2d %x, %w …                  %r = graph.fused (%x, %w, %b) {
%s = graph.add %c, %b …              ==>      … conv2d, add, relu …
%r = graph.relu %s …                        }
```

Groups depend on each other without a cycle, and have at most 64 ops. Groups of one op
are left as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar, TypeGuard

from xdsl.context import Context
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from transom.dialects import graph
from transom.dialects.graph.sizes import Sizes, SizeTable
from transom.passes.dependence_graph import DependenceGraph, Group
from transom.passes.function_pass import FunctionPass
from transom.passes.op_groups import group_ops, place_in_order
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic

MAX_OPS = 64
"""Ops of a group; more in one kernel cost time in LLVM and save no more traffic."""


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
    PAD = auto()
    """Writes its space into a larger result; nothing may follow."""


ELEMENTWISE_OPS = (
    graph.BinaryOp,
    graph.UnaryOp,
    graph.LeakyReluOp,
    graph.ClampOp,
    graph.CompareOp,
    graph.DequantizeOp,
    graph.IotaOp,
    graph.QuantizeOp,
    graph.SelectOp,
    graph.CastOp,
    graph.BatchNormOp,
    graph.RelayoutOp,
)
INJECTIVE_OPS = (graph.TransposeOp, graph.SliceOp, graph.GatherOp, graph.BroadcastOp)
CONTRACTION_OPS = (graph.MatmulOp, graph.Conv2dOp, graph.AvgPool2dOp)


@dataclass(frozen=True)
class Shape:
    """What a group computes: a kind, over a space of points."""

    kind: Kind
    space: Sizes
    axes: frozenset[int] = frozenset()

    def has_row_of(self, sizes: Sizes) -> bool:
        """Whether a value of these sizes has one element per row of the group."""
        return len(sizes) == len(self.space) and all(
            size == (1 if axis in self.axes else full)
            for axis, (size, full) in enumerate(zip(sizes, self.space, strict=True))
        )


def classify(op: Operation, table: SizeTable) -> Shape | None:
    """What the group of one op computes, or None for an op that is in no group."""
    if not op.results or not isinstance(op.results[0].type, TensorType):
        return None
    sizes = table.sizes(op.results[0])
    if isinstance(op, ELEMENTWISE_OPS):
        return Shape(Kind.ELEMENTWISE, sizes)
    if isinstance(op, INJECTIVE_OPS):
        return Shape(Kind.INJECTIVE, sizes)
    if isinstance(op, graph.PadOp) and op.has_known_frame:
        return Shape(Kind.PAD, table.sizes(op.input))
    if isinstance(op, CONTRACTION_OPS) or (
        isinstance(op, graph.MaxPool2dOp) and len(op.results) == 1
    ):
        return Shape(Kind.CONTRACTION, sizes)
    if isinstance(op, graph.SoftmaxOp | graph.LogSoftmaxOp):
        return Shape(Kind.ROWS, sizes, frozenset((op.axis.value.data,)))
    if isinstance(op, graph.ReduceOp) and op.keepdims is not None:
        axes = frozenset(op.axes.get_values())
        return Shape(
            Kind.ROWS if axes else Kind.ELEMENTWISE, table.sizes(op.input), axes
        )
    return None


def joined(
    producer: Shape, consumer: Shape, value: Sizes, *, inside: bool
) -> Shape | None:
    """
    What a group of both computes, connected by a value of these sizes, or None where
    one kernel is no gain.

    `inside` says that only element-wise ops of the consumer read the value. Only such a
    one may end the life of a contraction's result as a tensor of its own; element-wise
    ops and rows may have further results.
    """
    same = producer.space == consumer.space
    match producer.kind, consumer.kind:
        case (Kind.ELEMENTWISE, Kind.ELEMENTWISE):
            return producer if same else None
        case (Kind.INJECTIVE | Kind.CONTRACTION, Kind.ELEMENTWISE):
            return producer if same and inside else None
        case (Kind.ELEMENTWISE | Kind.INJECTIVE, Kind.CONTRACTION | Kind.INJECTIVE):
            # What the tail of the consumer reads: a residual, a bias.
            return consumer if same and inside else None
        case (Kind.ELEMENTWISE | Kind.INJECTIVE | Kind.CONTRACTION, Kind.PAD):
            return consumer if same and inside else None
        case (Kind.ROWS, Kind.ROWS):
            return producer if same and producer.axes == consumer.axes else None
        case (Kind.ROWS, Kind.ELEMENTWISE):
            per_row = producer.has_row_of(value) and producer.has_row_of(consumer.space)
            return producer if same or per_row else None
        case (Kind.ELEMENTWISE, Kind.ROWS):
            return consumer if same else None
        case _:
            return None


class BlockFuser:
    """The groups of one block."""

    def __init__(self, block: Block, table: SizeTable) -> None:
        self.block = block
        self.table = table
        self.graph = DependenceGraph(block)
        self.shapes: dict[Group, Shape] = {}

    def fuse(self) -> None:
        """Find the groups and put each into a `graph.fused`."""
        ops: list[Operation] = []
        for op in self.graph.position:
            shape = self.classify(op)
            group = self.graph.group_of(op)
            if shape is not None and group is not None:
                self.shapes[group] = shape
                ops.append(op)
        # In the second round all readers of a value may have become one group.
        for op in (*ops, *ops):
            for operand in dict.fromkeys(op.operands):
                self._join(operand, op)
        groups = self.graph.groups()
        if not any(self.is_kernel(group) for group in groups):
            return
        place_in_order(self.block, [self.graph.in_order(group) for group in groups])
        for group in groups:
            members = self.graph.in_order(group)
            if self.is_kernel(group) and may_rewrite("fuse a group", members[-1]):
                self.outline(members)
                GROUPS.add()
                FUSED.add(len(members))

    def classify(self, op: Operation) -> Shape | None:
        """What the group of one op computes, or None for an op that is in no group."""
        return classify(op, self.table)

    def joined(
        self, value: OpResult, producer: Shape, consumer: Shape, inside: bool
    ) -> Shape | None:
        """What a group of both computes, or None; see the function of this name."""
        return joined(producer, consumer, self.table.sizes(value), inside=inside)

    def is_kernel(self, group: Group) -> bool:
        """Whether a group becomes a `graph.fused`."""
        return len(group.ops) > 1

    def outline(self, ops: Sequence[Operation]) -> None:
        """Put the ops of a group into a `graph.fused`."""
        outline_group(ops)

    def reads_points(self, op: Operation, value: SSAValue) -> bool:
        """Whether an op reads elements of a value where it computes its own."""
        return isinstance(op, (*ELEMENTWISE_OPS, graph.PadOp))

    def _join(self, operand: SSAValue, op: Operation) -> None:
        if not isinstance(operand, OpResult):
            return
        first, second = self.graph.group_of(operand.op), self.graph.group_of(op)
        if first is None or second is None or first is second:
            return
        producer, consumer = self.shapes.get(first), self.shapes.get(second)
        if producer is None or consumer is None:
            return
        if len(first.ops) + len(second.ops) > MAX_OPS:
            return
        inside = self._is_read_inside(operand, second)
        shape = self.joined(operand, producer, consumer, inside)
        if shape is None and is_matrix_of(operand.op, op):
            shape = consumer
        group = None if shape is None else self.graph.join(first, second)
        if shape is not None and group is not None:
            del self.shapes[first], self.shapes[second]
            self.shapes[group] = shape

    def _is_read_inside(self, value: SSAValue, group: Group) -> bool:
        return all(
            self.reads_points(use.operation, value)
            and self.graph.group_of(use.operation) is group
            for use in value.uses
        )


def is_matrix_of(op: Operation, reader: Operation) -> bool:
    """
    Whether an op transposes an operand of a product that alone reads it. Neighbours in
    memory stay neighbours along rows or columns.
    """
    if not isinstance(op, graph.TransposeOp) or not isinstance(reader, graph.MatmulOp):
        return False
    order = op.permutation.get_values()
    rank = len(order)
    return order.index(rank - 1) >= rank - 2 and all(
        use.operation is reader for use in op.result.uses
    )


def outline_group(ops: Sequence[Operation]) -> graph.FusedOp:
    """
    Put neighbouring ops into a `graph.fused` in the place of the last one.

    Scalar constants that they read are copied into it.
    """
    read = (operand.owner for op in ops for operand in op.operands)
    constants = [owner for owner in read if is_scalar_constant(owner)]
    return group_ops(ops, graph.FusedOp, copied=constants)


def is_scalar_constant(op: object) -> TypeGuard[graph.ConstantOp]:
    """Whether an op is a constant with one value, which costs a kernel nothing."""
    return isinstance(op, graph.ConstantOp) and op.is_splat


GROUPS = Statistic("groups", "groups of ops that become one kernel")
FUSED = Statistic("fused-ops", "ops in those groups")


@dataclass(frozen=True)
class GraphFusePass(FunctionPass):
    name = "graph-fuse"
    statistics: ClassVar[tuple[Statistic, ...]] = (GROUPS, FUSED)

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        table = SizeTable()
        for block in blocks_outside_kernels(func):
            BlockFuser(block, table).fuse()


def blocks_outside_kernels(op: Operation) -> list[Block]:
    """The blocks in an op, but for those of what is to be one kernel already."""
    found: list[Block] = []
    for region in op.regions:
        for block in region.blocks:
            found.append(block)
            for inner in block.ops:
                if not isinstance(inner, graph.FusedOp | graph.CompositeOp):
                    found += blocks_outside_kernels(inner)
    return found
