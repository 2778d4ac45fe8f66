"""
Nodes with graphs of their own: `If`, `Loop` and `Scan`, where it is known while the
model is read which graph runs and how often. Their graphs are imported in place, once
for each time that they run.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.dialects.weight_files import Array
from transom.frontends.onnx.node import Node, Unsupported, positive_axis, shape_of

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

MAX_NODES = 10_000
"""Nodes that one node may become."""


class Graphs(Protocol):
    """What the importer does for the graphs of nodes."""

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

    def value(self, name: str) -> SSAValue:
        """The value of a name."""
        ...

    def name_value(self, name: str, value: SSAValue) -> str:
        """Give a value a name."""
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
    """The branch that a known condition takes."""
    chosen = "then_branch" if n.constant(0).reshape(-1)[0] else "else_branch"
    for name in ("then_branch", "else_branch"):
        n.ignore(name)
    return graphs.import_graph(graph_attr(n, chosen), (), f"{label(n)}/", n)


def label(n: Node) -> str:
    """What names of a node's own start with."""
    return f"{next(filter(None, n.proto.output))}/{n.proto.op_type}"


def import_loop(n: Node, graphs: Graphs) -> list[str]:
    """As many copies of the body as the loop has turns."""
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


def import_scan(n: Node, graphs: Graphs) -> list[str]:
    """A copy of the body for each element along the axes."""
    if n.opset < 9:
        raise Unsupported("Scan before opset 9 is not supported")
    body = graph_attr(n, "body")
    count = n.int_attr("num_scan_inputs")
    names = [n.input_name(i) for i in range(len(n.proto.input))]
    carried, scanned = names[: len(names) - count], names[len(names) - count :]
    values = [graphs.value(name) for name in scanned]
    axes = n.int_list("scan_input_axes", [0] * count)
    axes = [
        positive_axis(axis, len(shape_of(value)))
        for axis, value in zip(axes, values, strict=True)
    ]
    back = n.int_list("scan_input_directions", [0] * count)
    outs = len(body.output) - len(carried)
    out_axes = n.int_list("scan_output_axes", [0] * outs)
    out_back = n.int_list("scan_output_directions", [0] * outs)
    turns = {shape_of(v)[a] for v, a in zip(values, axes, strict=True)}
    if len(turns) != 1 or -1 in turns or 0 in turns:
        raise Unsupported("a number of elements that is not static is not supported")
    (turns_count,) = turns
    check_size(body, turns_count)
    rows: list[list[str]] = []
    for turn in range(turns_count):
        prefix = f"{label(n)}{turn}/"
        parts = [
            graphs.name_value(
                f"{prefix}scan{i}",
                element(n, value, axis, turns_count - 1 - turn if back[i] else turn),
            )
            for i, (value, axis) in enumerate(zip(values, axes, strict=True))
        ]
        outputs = graphs.import_graph(body, [*carried, *parts], prefix, n)
        carried = outputs[: len(carried)]
        rows.append(outputs[len(carried) :])
    stacks: list[str] = []
    for i in range(outs):
        column = [row[i] for row in rows]
        if out_back[i]:
            column.reverse()
        stacks.append(stack(n, graphs, column, out_axes[i], f"{label(n)}{i}"))
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
