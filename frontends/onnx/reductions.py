"""
Reductions, and sums along an axis.
"""

from collections.abc import Callable

from xdsl.dialects.builtin import AnyFloat, BFloat16Type, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import graph
from transom.dialects.graph.elements import ui8
from transom.frontends.onnx.node import Node, Unsupported, positive_axes, positive_axis

Unary = Callable[[SSAValue], Operation]


def reduce(
    kind: str,
    axes_input_since: int,
    *,
    of: Unary | None = None,
    then: Unary | None = None,
) -> Callable[[Node], SSAValue]:
    """
    A reduction whose axes are an input from some opset on, an attribute before; maybe
    `of` a function of the elements, with a function of the result after it.
    """

    def handler(n: Node) -> SSAValue:
        rank = n.rank()
        if n.opset >= axes_input_since:
            axes = n.integers(1) if n.has(1) else []
        else:
            axes = n.int_list("axes", ())
        keepdims = n.flag("keepdims", default=True)
        keeps_all = n.flag("noop_with_empty_axes")
        value = n.input()
        if is_bool := n.type().element_type == i1:
            value = n.add(graph.CastOp(value, ui8))
        result = value if of is None else n.add(of(value))
        if axes or not keeps_all:
            axes = positive_axes(axes, rank) if axes else list(range(rank))
            result = n.add(graph.ReduceOp(kind, result, axes=axes, keepdims=keepdims))
        result = result if then is None else n.add(then(result))
        return n.add(graph.CastOp(result, i1)) if is_bool else result

    return handler


def square(x: SSAValue) -> Operation:
    return graph.MulOp(x, x)


def log_sum_exp(n: Node) -> SSAValue:
    """Without overflow: the largest element is taken out of the sum."""
    value = n.input()
    if n.opset >= 18:
        axes = n.integers(1) if n.has(1) else []
    else:
        axes = n.int_list("axes", ())
    keepdims = n.flag("keepdims", default=True)
    if n.flag("noop_with_empty_axes") and not axes:
        return n.add(graph.LogOp(n.add(graph.ExpOp(value))))
    rank = n.rank()
    axes = positive_axes(axes, rank) if axes else list(range(rank))
    largest = n.add(graph.ReduceOp("max", value, axes=axes, keepdims=True))
    # An infinite one would become NaN.
    limit = 0.5 * LARGEST[width_of(n.type().element_type)]
    largest = n.add(graph.ClampOp(largest, -limit, limit))
    moved = n.add(graph.ExpOp(n.add(graph.SubOp(value, largest))))
    total = n.add(graph.ReduceOp("sum", moved, axes=axes, keepdims=True))
    result = n.add(graph.AddOp(n.add(graph.LogOp(total)), largest))
    if keepdims:
        return result
    return n.add(graph.ReduceOp("max", result, axes=axes, keepdims=False))


LARGEST = {16: 65504.0, 32: 3.0e38, 64: 1.0e308}
"""About the largest float of so many bits."""


def width_of(element: Attribute) -> int:
    """The bits of a float. Raises `Unsupported` for what is none."""
    if isinstance(element, BFloat16Type):
        return 32  # it has the range of f32
    if not isinstance(element, AnyFloat):
        raise Unsupported(f"expected floats, but got elements of '{element}'")
    return element.bitwidth


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


def cumulate(kind: str) -> Callable[[Node], SSAValue]:
    def handler(n: Node) -> SSAValue:
        axis = n.scalar(1)
        if not isinstance(axis, int):
            raise Unsupported(f"expected an integer as axis, but got {axis}")
        return n.add(
            graph.CumulateOp(
                kind,
                n.input(),
                positive_axis(axis, n.rank()),
                exclusive=n.flag("exclusive"),
                reverse=n.flag("reverse"),
            )
        )

    return handler


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {
    "ArgMax": arg_reduce("argmax"),
    "ArgMin": arg_reduce("argmin"),
    "CumProd": cumulate("prod"),
    "CumSum": cumulate("sum"),
    "ReduceL1": reduce("sum", 18, of=graph.AbsOp),
    "ReduceL2": reduce("sum", 18, of=square, then=graph.SqrtOp),
    "ReduceLogSum": reduce("sum", 18, then=graph.LogOp),
    "ReduceLogSumExp": log_sum_exp,
    "ReduceMax": reduce("max", 18),
    "ReduceMean": reduce("mean", 18),
    "ReduceMin": reduce("min", 18),
    "ReduceProd": reduce("prod", 18),
    "ReduceSum": reduce("sum", 13),
    "ReduceSumSquare": reduce("sum", 18, of=square),
}
