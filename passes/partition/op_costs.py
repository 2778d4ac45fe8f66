"""
How much work graph ops are: operations on numbers, bytes that are read and written.

These are counts of the plain algorithm, for estimates; open sizes count as one.
"""

from collections.abc import Iterable
from math import prod

from xdsl.dialects.builtin import ShapedType
from xdsl.ir import Operation, SSAValue

from transom.dialects import graph
from transom.passes.placement.homes import bytes_of


def elements_of(value: SSAValue) -> int:
    """How many elements a tensor has."""
    return prod(_sizes(value))


def _sizes(value: SSAValue) -> list[int]:
    return [max(size, 1) for size in graph.tensor_type(value).get_shape()]


def flops_of(op: Operation) -> int:
    """How many additions, products and the like an op takes; what moves data, none."""
    if isinstance(op, graph.GroupOp):
        return sum(flops_of(inner) for inner in op.body.block.ops)
    if not op.results or not isinstance(op.results[0].type, ShapedType):
        return 0
    out = elements_of(op.results[0])
    match op:
        case graph.MatmulOp():
            return 2 * out * _sizes(op.lhs)[-1]
        case graph.Conv2dOp():
            return 2 * out * prod(_sizes(op.weight)[1:])
        case graph.MaxPool2dOp() | graph.AvgPool2dOp():
            return out * prod(op.kernel.get_values())
        case graph.ReduceOp():
            return elements_of(op.input)
        case graph.ElementwiseOp() | graph.SoftmaxOp():
            return out
        case _:
            return 0


def bytes_between(values: Iterable[SSAValue]) -> int:
    """The bytes of some tensors."""
    return sum(
        bytes_of(value) for value in values if isinstance(value.type, ShapedType)
    )
