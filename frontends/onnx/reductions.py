"""
Reductions, and sums along an axis.
"""

from collections.abc import Callable

from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node, Unsupported, positive_axis


def reduce(kind: str, axes_input_since: int) -> Callable[[Node], SSAValue]:
    """A reduction whose axes are an input from some opset on, an attribute before."""

    def handler(n: Node) -> SSAValue:
        rank = n.rank()
        if n.opset >= axes_input_since:
            axes = n.integers(1) if n.has(1) else []
        else:
            axes = n.int_list("axes", ())
        keepdims = bool(n.int_attr("keepdims", 1))
        if not axes:
            if n.int_attr("noop_with_empty_axes", 0):
                return n.input()
            axes = list(range(rank))
        axes = sorted(positive_axis(axis, rank) for axis in axes)
        return n.add(graph.ReduceOp(kind, n.input(), axes=axes, keepdims=keepdims))

    return handler


def arg_reduce(kind: str) -> Callable[[Node], SSAValue]:
    def handler(n: Node) -> SSAValue:
        if n.int_attr("select_last_index", 0):
            raise Unsupported("the last of several extremes is not supported")
        axis = n.axis("axis", 0, n.rank())
        keepdims = bool(n.int_attr("keepdims", 1))
        return n.add(graph.ArgReduceOp(kind, n.input(), axis=axis, keepdims=keepdims))

    return handler


def cumsum(n: Node) -> SSAValue:
    (axis,) = n.integers(1)
    return n.add(
        graph.CumsumOp(
            n.input(),
            positive_axis(axis, n.rank()),
            exclusive=bool(n.int_attr("exclusive", 0)),
            reverse=bool(n.int_attr("reverse", 0)),
        )
    )


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {
    "ArgMax": arg_reduce("argmax"),
    "ArgMin": arg_reduce("argmin"),
    "CumSum": cumsum,
    "ReduceMax": reduce("max", 18),
    "ReduceMean": reduce("mean", 18),
    "ReduceMin": reduce("min", 18),
    "ReduceProd": reduce("prod", 18),
    "ReduceSum": reduce("sum", 13),
}
