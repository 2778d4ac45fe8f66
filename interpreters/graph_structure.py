"""
Constants, weights, groups and marks of the graph dialect.

The elements of a value do not depend on its layout or place.
"""

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.interpreters.arith import dense_array
from transom.interpreters.evaluators import Evaluators, Values
from transom.interpreters.interpreter import Frame

STRUCTURE = Evaluators()


@STRUCTURE.of(graph.ConstantOp)
def constant(frame: Frame, op: graph.ConstantOp, args: Values) -> Values:
    return frame.interpreter.constant(op, lambda: (dense_array(op, op.value),))


@STRUCTURE.of(graph.WeightRefOp)
def weight_ref(frame: Frame, op: graph.WeightRefOp, args: Values) -> Values:
    name = op.weight.string_value()
    weight = frame.interpreter.symbol(op, name)
    if not isinstance(weight, graph.WeightOp):
        raise OpError(op, f"expected '@{name}' to be a 'graph.weight'")
    return (frame.interpreter.weight(weight),)


@STRUCTURE.of(graph.GroupOp)
def group(frame: Frame, op: graph.GroupOp, args: Values) -> Values:
    return frame.region(op.body, args).values


@STRUCTURE.of(graph.ForwardOp)
def forward(frame: Frame, op: graph.ForwardOp, args: Values) -> Values:
    return args
