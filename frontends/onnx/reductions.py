"""
Reductions, and sums along an axis.
"""

from collections.abc import Callable

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node, Unsupported, positive_axes, positive_axis


def reduce(kind: str, axes_input_since: int) -> Callable[[Node], SSAValue]:
    """A reduction whose axes are an input from some opset on, an attribute before."""

    def handler(n: Node) -> SSAValue:
        rank = n.rank()
        if n.opset >= axes_input_since:
            axes = n.integers(1) if n.has(1) else []
        else:
            axes = n.int_list("axes", ())
        keepdims = n.flag("keepdims", default=True)
        keeps_all = n.flag("noop_with_empty_axes")
        if not axes and keeps_all:
            return n.input()
        axes = positive_axes(axes, rank) if axes else list(range(rank))
        return n.add(graph.ReduceOp(kind, n.input(), axes=axes, keepdims=keepdims))

    return handler


def arg_reduce(kind: str) -> Callable[[Node], SSAValue]:
    def handler(n: Node) -> SSAValue:
        last = n.flag("select_last_index")
        axis = n.axis("axis", 0, n.rank())
        keepdims = n.flag("keepdims", default=True)
        value, size = n.input(), n.shape()[axis]
        if not last:
            return n.add(graph.ArgReduceOp(kind, value, axis=axis, keepdims=keepdims))
        if size < 0:
            raise Unsupported("the last of several extremes needs a static size")
        # The first one from the other end.
        ends = [(-1 if a == axis else 0) for a in range(n.rank())]
        steps = [(-1 if a == axis else 1) for a in range(n.rank())]
        turned = n.add(graph.SliceOp(value, ends, [-1] * n.rank(), steps))
        found = n.add(graph.ArgReduceOp(kind, turned, axis=axis, keepdims=keepdims))
        return n.add(graph.SubOp(n.splat(size - 1, i64), found))

    return handler


def cumsum(n: Node) -> SSAValue:
    axis = n.scalar(1)
    if not isinstance(axis, int):
        raise Unsupported(f"expected an integer as axis, but got {axis}")
    return n.add(
        graph.CumsumOp(
            n.input(),
            positive_axis(axis, n.rank()),
            exclusive=n.flag("exclusive"),
            reverse=n.flag("reverse"),
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
