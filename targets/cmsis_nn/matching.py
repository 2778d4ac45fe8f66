"""
Patterns of quantised operators: dequantised inputs, an operator on floats, and its
result quantised.

```mlir
%x = graph.dequantize %q, %s, %z …      the activation, i8
%w = graph.dequantize %v, %t, %u …      weights, i8; scales per tensor or per channel
%c = graph.conv2d %x, %w …
%b = graph.add %c, %bias …              a bias that is known, dequantised from i32
%r = graph.relu %b …                    or `graph.clamp`
%y = graph.quantize %r, %o, %p …        the root
```

They say what stands where; whether the library can compute it is said by `plans`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from transom.dialects import graph
from transom.passes.graph_patterns import (
    Match,
    Pattern,
    Term,
    either,
    op,
    optional,
    repeated,
    value,
    weight,
    where,
)

LABEL = "cmsis_nn."
"""What the labels of composites begin with."""

CONV, DENSE, MAX_POOL, AVG_POOL, SOFTMAX, ADD, MUL, MOVE = (
    LABEL + name
    for name in (
        "conv",
        "fully_connected",
        "max_pool",
        "avg_pool",
        "softmax",
        "add",
        "mul",
        "move",
    )
)

Activation = graph.ReluOp | graph.ClampOp
Move = graph.ReshapeOp | graph.TransposeOp
MOVES = (graph.ReshapeOp, graph.TransposeOp)


# Terms.


def known(name: str | None = None) -> Term:
    """A weight or a constant, as it is or moved."""
    once = op(MOVES, weight(), copied=True)
    return either(weight(), once, op(MOVES, once, copied=True), name=name)


def dequantized(integers: Term, name: str) -> Term:
    """Integers as floats; others may read them too."""
    return op(graph.DequantizeOp, integers, known(), known(), copied=True, name=name)


def weights() -> Term:
    """Dequantised weights, which may be transposed behind that."""
    plain = dequantized(known(), "weights")
    moved = op(graph.TransposeOp, plain, copied=True, name="transposed")
    return either(plain, moved)


def with_bias(product: Term) -> Term:
    """A product, or its sum with a bias."""
    integers = dequantized(known(), "bias_integers")
    moved = op(graph.ReshapeOp, integers, copied=True)
    bias = either(integers, moved, known(), name="bias")
    return optional(lambda inner: op(graph.AddOp, inner, bias), product)


def quantized(result: Term) -> Term:
    """What is quantised, perhaps behind an activation."""
    limited = repeated(
        lambda inner: op((graph.ReluOp, graph.ClampOp), inner, name="activation"),
        result,
        at_most=2,
    )
    return op(graph.QuantizeOp, limited, known(), known())


def operator(
    kinds: type[Operation] | Sequence[type[Operation]], *operands: Term
) -> Term:
    """The operator that a pattern is about."""
    return op(kinds, *operands, name="operator")


def moved(inner: Term) -> Term:
    """Elements that are moved, if they are."""
    return repeated(lambda t: op(MOVES, t, name="move"), inner, at_most=4)


def _does_something(match: Match) -> bool:
    return "move" in match or "activation" in match


_X = dequantized(value(), "input")
_LHS, _RHS = dequantized(value(), "input"), dequantized(value(), "rhs")

_OPERATORS = {
    CONV: with_bias(operator(graph.Conv2dOp, _X, weights())),
    DENSE: with_bias(operator(graph.MatmulOp, _X, weights())),
    MAX_POOL: operator(graph.MaxPool2dOp, _X),
    AVG_POOL: operator((graph.AvgPool2dOp, graph.ReduceOp), _X),
    SOFTMAX: operator(graph.SoftmaxOp, _X),
    ADD: operator(graph.AddOp, _LHS, _RHS),
    MUL: operator(graph.MulOp, _LHS, _RHS),
}

PATTERNS = {
    **{label: Pattern(quantized(term)) for label, term in _OPERATORS.items()},
    MOVE: Pattern(
        quantized(moved(_X)), where=where("an operator in it", _does_something)
    ),
}
"""The pattern of each label."""

OPERATORS = (
    graph.AddOp,
    graph.AvgPool2dOp,
    graph.Conv2dOp,
    graph.MatmulOp,
    graph.MaxPool2dOp,
    graph.MulOp,
    graph.ReduceOp,
    graph.SoftmaxOp,
)
"""What patterns are about; ops of these classes are told if they are not quantised."""


# What was found.


@dataclass(frozen=True)
class Weights:
    """Dequantised weights, and whether they are transposed behind that."""

    dequantize: graph.DequantizeOp
    transpose: graph.TransposeOp | None


@dataclass(frozen=True)
class Found:
    """A match of a pattern, by its parts."""

    label: str
    match: Match

    @property
    def root(self) -> graph.QuantizeOp:
        assert isinstance(self.match.root, graph.QuantizeOp), "roots quantise"
        return self.match.root

    @property
    def operator(self) -> Operation | None:
        """The operator; none where elements only move."""
        return None if self.label == MOVE else self.match.op("operator")

    @property
    def inputs(self) -> tuple[graph.DequantizeOp, ...]:
        """The dequantised activations."""
        names = ("input", "rhs") if self.label in (ADD, MUL) else ("input",)
        return tuple(self.match.op(name, graph.DequantizeOp) for name in names)

    @property
    def activations(self) -> tuple[Activation, ...]:
        """What limits the result."""
        owners = [value.owner for value in self.match.values("activation")]
        return tuple(op for op in owners if isinstance(op, Activation))

    @property
    def moves(self) -> tuple[Move, ...]:
        """What moves elements, the first first."""
        if self.label != MOVE:
            return ()
        owners = [value.owner for value in self.match.values("move")]
        return tuple(op for op in owners if isinstance(op, Move))

    @property
    def has_weights(self) -> bool:
        """Whether it is a product."""
        return self.label in (CONV, DENSE)

    @property
    def weights(self) -> Weights:
        """The weights of a product."""
        transpose = None
        if "transposed" in self.match:
            transpose = self.match.op("transposed", graph.TransposeOp)
        return Weights(self.match.op("weights", graph.DequantizeOp), transpose)

    @property
    def bias(self) -> SSAValue | None:
        """What is added to a product: floats that are known."""
        return self.match.value("bias") if "bias" in self.match else None

    @property
    def bias_integers(self) -> graph.DequantizeOp | None:
        """What the bias is dequantised by, if it is."""
        if "bias_integers" not in self.match:
            return None
        return self.match.op("bias_integers", graph.DequantizeOp)


def root_behind(operator: Operation) -> graph.QuantizeOp | None:
    """The op that the pattern around an operator would end in."""
    found = operator
    while not isinstance(found, graph.QuantizeOp):
        readers = list(found.results[0].uses)
        if len(readers) != 1:
            return None
        found = readers[0].operation
        if not isinstance(found, Activation | graph.AddOp | graph.QuantizeOp):
            return None
    return found
