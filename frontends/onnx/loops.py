"""
`If`, `Loop` and `Scan` whose course is only known when a model runs: `scf` on tensors.

Their graphs become regions, and see the values around them. What a loop carries keeps
its type. A value that it collects is a buffer with a row per turn, which is carried,
too; there are as many rows as turns in the end.

```mlir
%n, %c, %y, %rows = scf.while (%turn = %0, %going = %true, %a = %x, %r = %buffer) : … {
  … scf.condition(%turn_is_below_the_limit_and_going) %turn, %going, %a, %r : …
} do {
^bb0(%turn: tensor<i64>, %going: tensor<i1>, %a: tensor<3xf32>, %r: tensor<9x3xf32>):
  … the graph …
  scf.yield %turn_and_1, %still, %b, %r_with_a_row_more : …
}
```
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, i1, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from transom.dialects import graph
from transom.dialects.graph.desc import AnyTensor
from transom.frontends.onnx.node import Node, Unsupported, shape_of, type_of
from transom.frontends.onnx.values import entries, filled, transpose

if TYPE_CHECKING:
    from onnx import GraphProto


class Regions(Protocol):
    """What the importer does for regions."""

    def import_graph(
        self, source: "GraphProto", inputs: Sequence[str], prefix: str, node: Node
    ) -> list[str]:
        """Import a graph in place; see `subgraphs.Graphs`."""
        ...

    def value(self, name: str) -> SSAValue:
        """The value of a name."""
        ...

    def name_value(self, name: str, value: SSAValue) -> str:
        """Give a value a name."""
        ...

    def within(self, block: Block) -> AbstractContextManager[None]:
        """Insert ops into a block. If that fails, the block is erased."""
        ...


def branch(
    n: Node, regions: Regions, sources: Sequence["GraphProto"], prefix: str
) -> list[SSAValue]:
    """Both graphs of an `If`; one of them runs."""
    condition = extracted(n, scalar(n, n.input(0)))
    blocks: list[Block] = []
    types: list[list[AnyTensor]] = []
    for number, source in enumerate(sources):
        block = Block()
        with regions.within(block):
            outputs = graph_outputs(n, regions, source, (), f"{prefix}{number}/")
            block.add_op(scf.YieldOp(*outputs))
        blocks.append(block)
        types.append([type_of(value) for value in outputs])
    for a, b in zip(*types, strict=True):
        check_same(a, b, "branches that give values of one type")
    then, other = (Region(block) for block in blocks)
    op = scf.IfOp(condition, types[0], then, other)
    return inserted(n, op)


def inserted(n: Node, op: Operation) -> list[SSAValue]:
    """The results of an op with regions, whose ends have its location."""
    n.insert(op)
    for region in op.regions:
        if (end := region.block.last_op) is not None:
            end.location = op.location
    return list(op.results)


def graph_outputs(
    n: Node,
    regions: Regions,
    source: "GraphProto",
    inputs: Sequence[SSAValue],
    prefix: str,
) -> list[SSAValue]:
    """What a graph makes of values."""
    names = [
        regions.name_value(f"{prefix}in{number}", value)
        for number, value in enumerate(inputs)
    ]
    outputs = regions.import_graph(source, names, prefix, n)
    return [regions.value(name) for name in outputs]


class Turns:
    """
    A loop that is being made; `limit` is the number of its turns at most.

    What it carries are the number of turns, whether it goes on, and `values`.
    """

    def __init__(
        self,
        n: Node,
        regions: Regions,
        limit: SSAValue | None,
        going: SSAValue,
        values: Sequence[SSAValue],
    ) -> None:
        self.n = n
        self.regions = regions
        self.limit = limit
        self.initial = [n.splat(0, i64), going, *values]
        self.body = Block(arg_types=[value.type for value in self.initial])

    @property
    def turn(self) -> SSAValue:
        """The number of the turn, in the body."""
        return self.body.args[0]

    @property
    def carried(self) -> Sequence[SSAValue]:
        """What is carried, in the body."""
        return self.body.args[2 : len(self.initial)]

    def finished(
        self,
        going: SSAValue,
        values: Sequence[SSAValue],
        rows: Sequence[SSAValue],
        room: Sequence[SSAValue],
    ) -> list[SSAValue]:
        """
        The loop whose turns give these values and rows; there are buffers for rows.

        Gives the number of turns, what is carried, and the buffers.
        """
        n, count = self.n, len(self.initial)
        for old, new in zip(self.initial[2:], values, strict=True):
            check_same(type_of(old), type_of(new), "a carried value of one type")
        initial = [*self.initial, *room]
        types = [value.type for value in initial]
        for buffer in room:
            self.body.insert_arg(buffer.type, len(self.body.args))
        with self.regions.within(self.body):
            buffers = [
                self._with_row(buffer, row)
                for buffer, row in zip(self.body.args[count:], rows, strict=True)
            ]
            after = n.add(graph.AddOp(self.turn, n.splat(1, i64)))
            still = scalar(n, going)
            self.body.add_op(scf.YieldOp(after, still, *values, *buffers))
        test = Block(arg_types=types)
        with self.regions.within(test):
            more = test.args[1]
            if self.limit is not None:
                below = n.add(graph.CompareOp("lt", test.args[0], self.limit))
                more = n.add(graph.AndOp(below, more))
            test.add_op(scf.ConditionOp(extracted(n, more), *test.args))
        op = scf.WhileOp(initial, types, Region(test), Region(self.body))
        turns, _, *results = inserted(n, op)
        return [turns, *results]

    def _with_row(self, buffer: SSAValue, row: SSAValue) -> SSAValue:
        n, sizes = self.n, [1, *shape_of(row)]
        at = n.add(arith.IndexCastOp(extracted(n, self.turn), IndexType()))
        op = tensor.InsertSliceOp.get(
            n.reshape(row, [1, *entries(row)]),
            buffer,
            sizes,
            static_offsets=[DYNAMIC_INDEX, *[0] * (len(sizes) - 1)],
            static_strides=[1] * len(sizes),
            offsets=[at],
        )
        return n.add(op)


def check_same(a: AnyTensor, b: AnyTensor, what: str) -> None:
    """Raise `Unsupported` for two types that differ."""
    if a != b:
        raise Unsupported(f"expected {what}, but got '{a}' and '{b}'")


def scalar(n: Node, value: SSAValue) -> SSAValue:
    """A value of one element, without dimensions."""
    return n.reshape(value, []) if shape_of(value) else value


def extracted(n: Node, value: SSAValue) -> SSAValue:
    """The element of a scalar tensor."""
    return n.add(tensor.ExtractOp(value, [], type_of(value).element_type))


def size_of(n: Node, value: SSAValue, axis: int) -> SSAValue:
    """The size of a dimension, as an index."""
    at = n.add(arith.ConstantOp(IntegerAttr(axis, IndexType())))
    return n.add(tensor.DimOp(value, at))


def size_value(n: Node, value: SSAValue, axis: int) -> SSAValue:
    """The size of a dimension, as a tensor."""
    size = shape_of(value)[axis]
    if size >= 0:
        return n.splat(size, i64)
    number = n.add(arith.IndexCastOp(size_of(n, value, axis), i64))
    return n.add(tensor.SplatOp(number, [], graph.tensor([], i64)))


def room_for(n: Node, count: int, rows: Sequence[SSAValue]) -> list[SSAValue]:
    """Buffers of so many rows each."""
    return [
        filled(n, 0, type.element_type, [count, *type.get_shape()])
        for type in map(static_type, rows)
    ]


def room_along(
    n: Node, source: SSAValue, axis: int, rows: Sequence[SSAValue]
) -> list[SSAValue]:
    """Buffers of as many rows each as a value has elements along an axis."""
    size = shape_of(source)[axis]
    if size >= 0:
        return room_for(n, size, rows)
    count, symbol = size_of(n, source, axis), graph.dim_symbols(type_of(source))[axis]
    return [
        n.add(
            tensor.EmptyOp(
                [count], graph.tensor([symbol, *type.get_shape()], type.element_type)
            )
        )
        for type in map(static_type, rows)
    ]


def static_type(row: SSAValue) -> AnyTensor:
    """The type of what each turn gives to collect."""
    type = type_of(row)
    if not type.has_static_shape():
        raise Unsupported(f"expected rows of static shape to collect, not '{type}'")
    return type


def first_rows(n: Node, buffer: SSAValue, count: SSAValue) -> SSAValue:
    """As many rows of a buffer as there were turns."""
    number = n.add(graph.IotaOp(filled(n, 0, i1, [shape_of(buffer)[0]]), 0))
    is_full = n.add(graph.CompareOp("lt", number, count))
    places = n.reshape(n.add(graph.NonzeroOp(is_full)), [-1])
    return n.add(graph.GatherOp(buffer, places, 0))


def with_rows_along(n: Node, value: SSAValue, axis: int) -> SSAValue:
    """A value with its first dimension in another place."""
    order = list(range(1, len(shape_of(value))))
    order.insert(axis, 0)
    return transpose(n, value, order)
