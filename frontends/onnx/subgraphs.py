"""
Nodes with graphs of their own: `If`, `Loop` and `Scan`.

Where it is known while the model is read which graph runs and how often, and that is
not too often, graphs are imported in place, once for each time that they run. All
others become regions of `scf`.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.dialects.weight_files import Array
from transom.frontends.onnx import loops
from transom.frontends.onnx.loops import Regions
from transom.frontends.onnx.node import Node, Unsupported, positive_axis, shape_of
from transom.frontends.onnx.values import flip

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

MAX_NODES = 500
"""Nodes that one node may become; beyond, a loop of the program is better."""

MAX_ROWS = 2**20
"""Turns that a loop which collects values may have."""


class Graphs(Regions, Protocol):
    """What the importer does for the graphs of nodes."""

    def attempt(self, make: Callable[[], list[str]]) -> list[str] | None:
        """What a function gives; None, and nothing is done, if it is `Unsupported`."""
        ...

    def import_graph(
        self, source: "GraphProto", inputs: Sequence[str], prefix: str, node: Node
    ) -> list[str]:
        """
        Import a graph in place; its inputs are values of these names.

        Gives the names of its outputs. Raises `Unsupported`.
        """
        ...

    def constant(self, name: str) -> Array | None:
        """The elements of a value that are known now, if they are and are few."""
        ...

    def name_array(self, name: str, array: Array) -> str:
        """Give elements that are known a name."""
        ...


def graph_attr(n: Node, name: str) -> "GraphProto":
    """An attribute that is a graph."""
    for attribute in n.proto.attribute:
        if attribute.name == name and attribute.HasField("g"):
            n.ignore(name)
            return attribute.g
    raise Unsupported(f"expected attribute '{name}'")


def check_size(source: "GraphProto", times: int) -> None:
    """Raise `Unsupported` for what becomes too many nodes."""
    if times * max(len(source.node), 1) > MAX_NODES:
        raise Unsupported(
            f"expected at most {MAX_NODES} nodes, but {times} times {len(source.node)} "
            "are needed"
        )


def import_if(n: Node, graphs: Graphs) -> list[str]:
    """The branch that a known condition takes, or both."""
    sources = [graph_attr(n, name) for name in ("then_branch", "else_branch")]
    known = graphs.constant(n.input_name(0))
    if known is not None and known.size == 1:
        chosen = sources[0 if known.reshape(-1)[0] else 1]
        return graphs.import_graph(chosen, (), f"{label(n)}/", n)
    try:
        results = loops.branch(n, graphs, sources, f"{label(n)}")
    except Unsupported as e:
        raise Unsupported(str(e), e.missing or n.input_name(0)) from None
    return named(n, graphs, results)


def named(n: Node, graphs: Graphs, values: Sequence[SSAValue]) -> list[str]:
    """Names of the results of a node."""
    return [
        graphs.name_value(f"{label(n)}out{number}", value)
        for number, value in enumerate(values)
    ]


def label(n: Node) -> str:
    """What names of a node's own start with."""
    return f"{next(filter(None, n.proto.output))}/{n.proto.op_type}"


def import_loop(n: Node, graphs: Graphs) -> list[str]:
    """As many copies of the body as the loop has turns, or the body once."""
    made = graphs.attempt(lambda: unrolled_loop(n, graphs))
    if made is not None:
        return made
    try:
        return open_loop(n, graphs)
    except Unsupported as e:
        open_names = [
            n.input_name(i)
            for i in (0, 1)
            if n.has(i) and graphs.constant(n.input_name(i)) is None
        ]
        raise Unsupported(str(e), open_names[0] if open_names else e.missing) from None


def open_loop(n: Node, graphs: Graphs) -> list[str]:
    """
    A loop. What it collects has as many rows as there were turns, of which there are a
    constant number at most.
    """
    body, known = graph_attr(n, "body"), None
    going = n.splat(1, i1)
    if n.has(1):
        going = loops.scalar(n, n.input(1))
    limit = loops.scalar(n, n.input(0)) if n.has(0) else None
    if n.has(0) and (found := graphs.constant(n.input_name(0))) is not None:
        known = int(found.reshape(-1)[0]) if found.dtype != object else None
    values = [n.input(i) for i in range(2, len(n.proto.input))]
    turns = loops.Turns(n, graphs, limit, going, values)
    with graphs.within(turns.body):
        inputs = [turns.turn, turns.body.args[1], *turns.carried]
        still, *outputs = loops.graph_outputs(n, graphs, body, inputs, f"{label(n)}/")
    kept, rows = outputs[: len(values)], outputs[len(values) :]
    if rows and (known is None or not 0 <= known <= MAX_ROWS):
        raise Unsupported(
            f"expected a constant limit of at most {MAX_ROWS} turns, as values are "
            "collected"
        )
    room = loops.room_for(n, known or 0, rows)
    count, *results = turns.finished(still, kept, rows, room)
    stacks = [loops.first_rows(n, rows, count) for rows in results[len(values) :]]
    return named(n, graphs, [*results[: len(values)], *stacks])


def unrolled_loop(n: Node, graphs: Graphs) -> list[str]:
    """As many copies of the body as the loop has turns, which must be known."""
    import numpy as np

    body = graph_attr(n, "body")
    limit = int(n.constant(0).reshape(-1)[0]) if n.has(0) else MAX_NODES
    going = bool(n.constant(1).reshape(-1)[0]) if n.has(1) else True
    carried = [n.input_name(i) for i in range(2, len(n.proto.input))]
    rows: list[list[str]] = []
    turn = 0
    while going and turn < limit:
        check_size(body, turn + 1)
        prefix = f"{label(n)}{turn}/"
        at = graphs.name_array(f"{prefix}turn", np.array(turn, np.int64))
        on = graphs.name_array(f"{prefix}going", np.array(True))
        outputs = graphs.import_graph(body, [at, on, *carried], prefix, n)
        condition = graphs.constant(outputs[0])
        if condition is None:
            raise Unsupported("a number of turns that is not known", outputs[0])
        going = bool(condition.reshape(-1)[0])
        carried = outputs[1 : 1 + len(carried)]
        rows.append(outputs[1 + len(carried) :])
        turn += 1
    count = len(body.output) - 1 - len(carried)
    if count and not rows:
        raise Unsupported("a loop without turns that collects values is not supported")
    stacks = [
        stack(n, graphs, [row[i] for row in rows], 0, f"{label(n)}{i}")
        for i in range(count)
    ]
    return [*carried, *stacks]


class ScanParts:
    """The parts of a `Scan`: what is carried, scanned and collected, and how."""

    def __init__(self, n: Node, graphs: Graphs) -> None:
        if n.opset < 9:
            raise Unsupported("Scan before opset 9 is not supported")
        self.body = graph_attr(n, "body")
        count = n.int_attr("num_scan_inputs")
        names = [n.input_name(i) for i in range(len(n.proto.input))]
        self.carried, scanned = names[: len(names) - count], names[len(names) - count :]
        self.values = [graphs.value(name) for name in scanned]
        if not self.values:
            raise Unsupported("expected a value to scan")
        axes = n.int_list("scan_input_axes", [0] * count)
        self.axes = [
            positive_axis(axis, len(shape_of(value)))
            for axis, value in zip(axes, self.values, strict=True)
        ]
        self.back = n.int_list("scan_input_directions", [0] * count)
        outs = len(self.body.output) - len(self.carried)
        self.out_axes = n.int_list("scan_output_axes", [0] * outs)
        self.out_back = n.int_list("scan_output_directions", [0] * outs)
        if len(self.back) != count or {len(self.out_axes), len(self.out_back)} != {
            outs
        }:
            raise Unsupported("expected an axis and a direction for each value")


def import_scan(n: Node, graphs: Graphs) -> list[str]:
    """A copy of the body for each element along the axes, or the body once."""
    parts = ScanParts(n, graphs)
    made = graphs.attempt(lambda: unrolled_scan(n, graphs, parts))
    return open_scan(n, graphs, parts) if made is None else made


def open_scan(n: Node, graphs: Graphs, parts: ScanParts) -> list[str]:
    """A loop over the elements along the axes."""
    value, axis = parts.values[0], parts.axes[0]
    limit = loops.size_value(n, value, axis)
    carried = [graphs.value(name) for name in parts.carried]
    turns = loops.Turns(n, graphs, limit, n.splat(1, i1), carried)
    last = n.add(graph.SubOp(limit, n.splat(1, i64)))
    with graphs.within(turns.body):
        places = [turns.turn, n.add(graph.SubOp(last, turns.turn))]
        elements = [
            n.add(graph.GatherOp(value, places[1 if back else 0], axis))
            for value, axis, back in zip(
                parts.values, parts.axes, parts.back, strict=True
            )
        ]
        inputs = [*turns.carried, *elements]
        outputs = loops.graph_outputs(n, graphs, parts.body, inputs, f"{label(n)}/")
    kept, rows = outputs[: len(carried)], outputs[len(carried) :]
    room = loops.room_along(n, value, axis, rows)
    _, *results = turns.finished(turns.body.args[1], kept, rows, room)
    stacks: list[SSAValue] = []
    for stacked, out_axis, back in zip(
        results[len(carried) :], parts.out_axes, parts.out_back, strict=True
    ):
        if back:
            stacked = flip(n, stacked, [0])
        at = positive_axis(out_axis, len(shape_of(stacked)))
        stacks.append(loops.with_rows_along(n, stacked, at))
    return named(n, graphs, [*results[: len(carried)], *stacks])


def unrolled_scan(n: Node, graphs: Graphs, parts: ScanParts) -> list[str]:
    """A copy of the body for each element along the axes, whose size is static."""
    body, carried, outs = parts.body, parts.carried, len(parts.out_axes)
    turns = {shape_of(v)[a] for v, a in zip(parts.values, parts.axes, strict=True)}
    if len(turns) != 1 or -1 in turns or 0 in turns:
        raise Unsupported("a number of elements that is not static is not supported")
    (turns_count,) = turns
    check_size(body, turns_count)
    rows: list[list[str]] = []
    for turn in range(turns_count):
        prefix = f"{label(n)}{turn}/"
        found = [
            graphs.name_value(
                f"{prefix}scan{i}",
                element(n, value, axis, turns_count - 1 - turn if back else turn),
            )
            for i, (value, axis, back) in enumerate(
                zip(parts.values, parts.axes, parts.back, strict=True)
            )
        ]
        outputs = graphs.import_graph(body, [*carried, *found], prefix, n)
        carried = outputs[: len(carried)]
        rows.append(outputs[len(carried) :])
    stacks: list[str] = []
    for i in range(outs):
        column = [row[i] for row in rows]
        if parts.out_back[i]:
            column.reverse()
        stacks.append(stack(n, graphs, column, parts.out_axes[i], f"{label(n)}{i}"))
    return [*carried, *stacks]


def element(n: Node, value: SSAValue, axis: int, index: int) -> SSAValue:
    """One element of a value along an axis."""
    shape = shape_of(value)
    starts = [index if a == axis else 0 for a in range(len(shape))]
    sizes = [1 if a == axis else -1 for a in range(len(shape))]
    part = n.add(graph.SliceOp(value, starts, sizes))
    return n.reshape(part, [size for a, size in enumerate(shape) if a != axis])


def stack(n: Node, graphs: Graphs, names: Sequence[str], axis: int, name: str) -> str:
    """Values as one, along a new axis."""
    parts: list[SSAValue] = []
    for part in names:
        value = graphs.value(part)
        shape = list(shape_of(value))
        axis = positive_axis(axis, len(shape) + 1)
        parts.append(n.reshape(value, [*shape[:axis], 1, *shape[axis:]]))
    joined = parts[0] if len(parts) == 1 else n.add(graph.ConcatOp(parts, axis))
    return graphs.name_value(name, joined)


GRAPH_HANDLERS = {"If": import_if, "Loop": import_loop, "Scan": import_scan}


def renamed(node: "NodeProto", names: dict[str, str], prefix: str = "") -> "NodeProto":
    """
    A copy of a node with other names for its inputs and outputs.

    What it defines is added to `names`, under its own name after `prefix`. In graphs of
    its own the names that they do not define change too.
    """
    made = type(node)()
    made.CopyFrom(node)
    del made.input[:], made.output[:]
    made.input.extend(names.get(name, name) for name in node.input)
    for attribute in made.attribute:
        if attribute.HasField("g"):
            _rename_graph(attribute.g, names)
        for inner in attribute.graphs:
            _rename_graph(inner, names)
    for name in node.output:
        if name and prefix:
            names[name] = prefix + name
        made.output.append(names.get(name, name))
    return made


def _rename_graph(source: "GraphProto", names: dict[str, str]) -> None:
    own = {value.name for value in source.input}
    own |= {tensor.name for tensor in source.initializer}
    own |= {name for node in source.node for name in node.output}
    left = {old: new for old, new in names.items() if old not in own}
    nodes = [renamed(node, dict(left)) for node in source.node]
    del source.node[:]
    source.node.extend(nodes)
    for value in source.output:
        value.name = left.get(value.name, value.name)
