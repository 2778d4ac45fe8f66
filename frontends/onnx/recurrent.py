"""
Recurrent layers (`RNN`, `GRU`, `LSTM`), one step after the other.

Equations and the order of gates are those of ONNX (onnx/docs/Operators.md). The number
of steps is static; each step is a few matrix products and element-wise ops.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node, Unsupported, shape_of, type_of

MAX_STEPS = 1024

Activation = Callable[[Node, SSAValue], SSAValue]

ACTIVATIONS: dict[str, Activation] = {
    "relu": lambda n, x: n.add(graph.ReluOp(x)),
    "sigmoid": lambda n, x: n.add(graph.SigmoidOp(x)),
    "tanh": lambda n, x: n.add(graph.TanhOp(x)),
}
"""Those without numbers of their own."""


@dataclass(frozen=True)
class Layer:
    """What all kinds of layers share, for one direction."""

    n: Node
    x: SSAValue
    """`[steps, batch, inputs]`."""
    weights: SSAValue
    """`[inputs, gates * hidden]`."""
    recurrence: SSAValue
    """`[hidden, gates * hidden]`."""
    input_bias: SSAValue | None
    recurrence_bias: SSAValue | None
    """`[gates * hidden]`."""
    lengths: SSAValue | None
    """The steps of each sequence, `[batch, 1]`."""
    activations: Sequence[Activation]
    clip: float
    hidden: int
    steps: int
    batch: int
    back: bool

    @property
    def element(self) -> Attribute:
        return type_of(self.x).element_type

    def add(self, a: SSAValue, b: SSAValue | None) -> SSAValue:
        return a if b is None else self.n.add(graph.AddOp(a, b))

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.n.add(graph.MulOp(a, b))

    def one_minus(self, a: SSAValue) -> SSAValue:
        return self.n.add(graph.SubOp(self.n.splat(1, self.element), a))

    def matmul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.n.add(graph.MatmulOp(a, b))

    def gate(self, values: SSAValue, number: int) -> SSAValue:
        """The part of `[batch, gates * hidden]`, or of a bias, of one gate."""
        rank = len(shape_of(values))
        starts = [*[0] * (rank - 1), number * self.hidden]
        sizes = [*[-1] * (rank - 1), self.hidden]
        return self.n.add(graph.SliceOp(values, starts, sizes))

    def activate(self, number: int, value: SSAValue) -> SSAValue:
        if self.clip:
            value = self.n.add(graph.ClampOp(value, -self.clip, self.clip))
        return self.activations[number](self.n, value)

    def inputs_at(self, step: int) -> SSAValue:
        """What all gates get from the inputs of a step."""
        shape = shape_of(self.x)
        part = self.n.add(graph.SliceOp(self.x, [step, 0, 0], [1, -1, -1]))
        part = self.n.reshape(part, shape[1:])
        return self.add(self.matmul(part, self.weights), self.input_bias)

    def order(self) -> list[int]:
        """The steps in the order in which they are computed."""
        steps = range(self.steps)
        return list(reversed(steps)) if self.back else list(steps)

    def kept(self, step: int, new: SSAValue, old: SSAValue) -> SSAValue:
        """The new state where a sequence has this step, the old one where it ended."""
        if self.lengths is None:
            return new
        inside = self.n.add(
            graph.CompareOp("lt", self.n.splat(step, i64), self.lengths)
        )
        return self.n.add(graph.SelectOp(inside, new, old))

    def shown(self, step: int, new: SSAValue) -> SSAValue:
        """What a step gives: zeros where a sequence has ended."""
        if self.lengths is None:
            return new
        zero = self.n.splat(0, self.element)
        inside = self.n.add(
            graph.CompareOp("lt", self.n.splat(step, i64), self.lengths)
        )
        return self.n.add(graph.SelectOp(inside, new, zero))


def rnn(n: Node) -> list[SSAValue]:
    def run(layer: Layer, h: SSAValue, _: int) -> tuple[list[SSAValue], SSAValue]:
        rows: dict[int, SSAValue] = {}
        for step in layer.order():
            total = layer.add(layer.inputs_at(step), layer.matmul(h, layer.recurrence))
            new = layer.activate(0, layer.add(total, layer.recurrence_bias))
            rows[step] = layer.shown(step, new)
            h = layer.kept(step, new, h)
        return [rows[step] for step in range(layer.steps)], h

    return _directions(n, 1, ["Tanh"], run)[:2]


def gru(n: Node) -> list[SSAValue]:
    linear = n.flag("linear_before_reset")

    def run(layer: Layer, h: SSAValue, _: int) -> tuple[list[SSAValue], SSAValue]:
        rows: dict[int, SSAValue] = {}
        bias = layer.recurrence_bias
        biases = [None if bias is None else layer.gate(bias, i) for i in range(3)]
        recurrence = [layer.gate(layer.recurrence, i) for i in range(3)]
        for step in layer.order():
            given = [layer.gate(layer.inputs_at(step), i) for i in range(3)]
            update, reset = (
                layer.activate(
                    0,
                    layer.add(
                        layer.add(given[i], layer.matmul(h, recurrence[i])), biases[i]
                    ),
                )
                for i in (0, 1)
            )
            if linear:
                inner = layer.add(layer.matmul(h, recurrence[2]), biases[2])
                inner = layer.mul(reset, inner)
            else:
                inner = layer.matmul(layer.mul(reset, h), recurrence[2])
                inner = layer.add(inner, biases[2])
            proposed = layer.activate(1, layer.add(given[2], inner))
            new = layer.add(
                layer.mul(layer.one_minus(update), proposed), layer.mul(update, h)
            )
            rows[step] = layer.shown(step, new)
            h = layer.kept(step, new, h)
        return [rows[step] for step in range(layer.steps)], h

    return _directions(n, 3, ["Sigmoid", "Tanh"], run)[:2]


def lstm(n: Node) -> list[SSAValue]:
    couples = n.flag("input_forget")
    cells: list[SSAValue] = []

    def run(
        layer: Layer, h: SSAValue, direction: int
    ) -> tuple[list[SSAValue], SSAValue]:
        rows: dict[int, SSAValue] = {}
        c = _initial(n, 6, direction, layer)
        peepholes: list[SSAValue | None] = [None] * 3
        if n.has(7):
            row = _row(n, n.input(7), direction)
            peepholes = [layer.gate(row, i) for i in range(3)]

        def seen(total: SSAValue, cell: SSAValue, number: int) -> SSAValue:
            weight = peepholes[number]
            return (
                total if weight is None else layer.add(total, layer.mul(weight, cell))
            )

        for step in layer.order():
            total = layer.add(layer.inputs_at(step), layer.matmul(h, layer.recurrence))
            total = layer.add(total, layer.recurrence_bias)
            i, o, f, g = (layer.gate(total, number) for number in range(4))
            i = layer.activate(0, seen(i, c, 0))
            f = layer.one_minus(i) if couples else layer.activate(0, seen(f, c, 2))
            g = layer.activate(1, g)
            cell = layer.add(layer.mul(f, c), layer.mul(i, g))
            o = layer.activate(0, seen(o, cell, 1))
            new = layer.mul(o, layer.activations[2](n, cell))
            rows[step] = layer.shown(step, new)
            h, c = layer.kept(step, new, h), layer.kept(step, cell, c)
        cells.append(c)
        return [rows[step] for step in range(layer.steps)], h

    rows, last = _directions(n, 4, ["Sigmoid", "Tanh", "Tanh"], run)[:2]
    return [rows, last, _stacked(n, cells, n.flag("layout"))]


Run = Callable[[Layer, SSAValue, int], tuple[list[SSAValue], SSAValue]]


def _directions(
    n: Node, gates: int, activations: Sequence[str], run: Run
) -> list[SSAValue]:
    """All steps, and the last state, of a layer in its directions."""
    direction = n.string_attr("direction", "forward")
    backs = {
        "forward": (False,),
        "reverse": (True,),
        "bidirectional": (False, True),
    }.get(direction)
    if backs is None:
        raise Unsupported(f"direction '{direction}' is unknown")
    transposed = n.flag("layout")
    x = n.input(0)
    if len(shape_of(x)) != 3:
        raise Unsupported(f"expected 3 dimensions, but got {len(shape_of(x))}")
    if transposed:
        x = n.add(graph.TransposeOp(x, (1, 0, 2)))
    ranks = [len(shape_of(n.input(i))) for i in (1, 2)]
    if ranks != [3, 3]:
        raise Unsupported("expected weights of 3 dimensions")
    steps, batch, _ = shape_of(x)
    hidden = shape_of(n.input(2))[-1]
    if min(steps, batch, hidden) < 1 or steps > MAX_STEPS:
        raise Unsupported(f"expected 1 to {MAX_STEPS} steps of static sizes")
    if n.given("hidden_size") and n.int_attr("hidden_size") != hidden:
        raise Unsupported("'hidden_size' is not that of the weights")
    functions = _activations(n, activations, len(backs))
    lengths = n.reshape(_as_i64(n, n.input(4)), [batch, 1]) if n.has(4) else None
    every: list[list[SSAValue]] = []
    last: list[SSAValue] = []
    for number, back in enumerate(backs):
        bias = _row(n, n.input(3), number) if n.has(3) else None
        layer = Layer(
            n,
            x,
            n.add(graph.TransposeOp(_row(n, n.input(1), number), (1, 0))),
            n.add(graph.TransposeOp(_row(n, n.input(2), number), (1, 0))),
            _half(n, bias, 0, gates * hidden),
            _half(n, bias, 1, gates * hidden),
            lengths,
            functions[number],
            n.float_attr("clip", 0.0),
            hidden,
            steps,
            batch,
            back,
        )
        rows, state = run(layer, _initial(n, 5, number, layer), number)
        every.append(rows)
        last.append(state)
    shape = [1, 1, batch, hidden]
    parts = [
        n.add(graph.ConcatOp([n.reshape(row, shape) for row in rows], 0))
        if len(rows) > 1
        else n.reshape(rows[0], shape)
        for rows in every
    ]
    result = parts[0] if len(parts) == 1 else n.add(graph.ConcatOp(parts, 1))
    if transposed:  # [steps, directions, batch, hidden] to batch first
        result = n.add(graph.TransposeOp(result, (2, 0, 1, 3)))
    return [result, _stacked(n, last, transposed)]


def _activations(
    n: Node, defaults: Sequence[str], directions: int
) -> list[list[Activation]]:
    names = list(defaults) * directions
    for attribute in n.proto.attribute:
        if attribute.name == "activations":
            names = [text.decode(errors="replace") for text in attribute.strings]
    n.ignore("activations")
    if n.given("activation_alpha") or n.given("activation_beta"):
        raise Unsupported("numbers of activations are not supported")
    if len(names) != len(defaults) * directions:
        raise Unsupported(
            f"expected {len(defaults) * directions} activations, but got {len(names)}"
        )
    unknown = [name for name in names if name.lower() not in ACTIVATIONS]
    if unknown:
        raise Unsupported(f"activation '{unknown[0]}' is not supported")
    found = [ACTIVATIONS[name.lower()] for name in names]
    count = len(defaults)
    return [found[i * count : (i + 1) * count] for i in range(directions)]


def _as_i64(n: Node, value: SSAValue) -> SSAValue:
    if type_of(value).element_type == i64:
        return value
    return n.add(graph.CastOp(value, i64))


def _row(n: Node, value: SSAValue, number: int) -> SSAValue:
    """What a direction has of a value whose first dimension is directions."""
    shape = shape_of(value)
    starts = [number, *[0] * (len(shape) - 1)]
    sizes = [1, *[-1] * (len(shape) - 1)]
    return n.reshape(n.add(graph.SliceOp(value, starts, sizes)), shape[1:])


def _half(n: Node, bias: SSAValue | None, number: int, size: int) -> SSAValue | None:
    if bias is None:
        return None
    return n.add(graph.SliceOp(bias, [number * size], [size]))


def _initial(n: Node, index: int, direction: int, layer: Layer) -> SSAValue:
    """The state at the start, `[batch, hidden]`."""
    if not n.has(index):
        zero = n.splat(0, layer.element)
        return n.add(graph.BroadcastOp(zero, [layer.batch, layer.hidden]))
    value = n.input(index)
    if n.flag("layout"):
        value = n.add(graph.TransposeOp(value, (1, 0, 2)))
    return _row(n, value, direction)


def _stacked(n: Node, states: Sequence[SSAValue], transposed: bool) -> SSAValue:
    """States of all directions, `[directions, batch, hidden]`."""
    parts = [n.reshape(state, [1, *shape_of(state)]) for state in states]
    result = parts[0] if len(parts) == 1 else n.add(graph.ConcatOp(parts, 0))
    return n.add(graph.TransposeOp(result, (1, 0, 2))) if transposed else result


HANDLERS: dict[str, Callable[[Node], list[SSAValue]]] = {
    "GRU": gru,
    "LSTM": lstm,
    "RNN": rnn,
}
