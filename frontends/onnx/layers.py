"""
Normalisations and products.
"""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node, Unsupported, shape_of, type_of


def batch_norm(n: Node) -> SSAValue:
    n.ignore("momentum", "is_test")
    if n.flag("training_mode") or n.output_count() > 1:
        raise Unsupported("training is not supported")
    if not n.flag("spatial", default=True):
        raise Unsupported("statistics per element ('spatial' is 0) are not supported")
    epsilon = n.float_attr("epsilon", 1e-5)
    return n.add(graph.BatchNormOp(*(n.input(i) for i in range(5)), epsilon=epsilon))


def softmax(
    op: "type[graph.SoftmaxOp | graph.LogSoftmaxOp]",
) -> Callable[[Node], SSAValue]:
    def handler(n: Node) -> SSAValue:
        rank = n.rank()
        if n.opset >= 13:
            return n.add(op(n.input(), n.axis("axis", -1, rank)))
        axis = n.axis("axis", 1, rank)
        if axis == rank - 1:
            return n.add(op(n.input(), axis))
        # Before opset 13 all dimensions from the axis on are one.
        shape = n.shape()
        if -1 in shape[max(axis, 1) :]:
            raise Unsupported("flattening sizes that are not static")
        rows = [graph.InputDim(i) if s < 0 else s for i, s in enumerate(shape[:axis])]
        result = n.add(op(n.reshape(n.input(), [*rows, -1]), axis))
        back = [*rows, *shape[axis:]]
        return n.reshape(result, back)

    return handler


def gemm(n: Node) -> SSAValue:
    if n.rank(0) != 2 or n.rank(1) != 2:
        raise Unsupported("expected two matrices")
    if n.opset < 7 and n.flag("broadcast"):
        raise Unsupported("broadcasting before opset 7 is not supported")
    a, b = n.input(0), n.input(1)
    if n.flag("transA"):
        a = n.add(graph.TransposeOp(a, [1, 0]))
    if n.flag("transB"):
        b = n.add(graph.TransposeOp(b, [1, 0]))
    y = scaled(n, n.add(graph.MatmulOp(a, b)), n.float_attr("alpha", 1.0))
    beta = n.float_attr("beta", 1.0)
    if not n.has(2):
        return y
    return n.add(graph.AddOp(y, scaled(n, n.input(2), beta)))


def scaled(n: Node, value: SSAValue, factor: float) -> SSAValue:
    """A value times a factor."""
    if factor == 1.0:
        return value
    element = type_of(value).element_type
    if not isinstance(element, AnyFloat):
        raise Unsupported(f"expected factors of 1 for integers, but got {factor}")
    return n.add(graph.MulOp(value, n.splat(factor, element)))


def matmul(n: Node) -> SSAValue:
    a, b = n.input(0), n.input(1)
    return product(n, a, b, lambda a, b: n.add(graph.MatmulOp(a, b)))


def product(
    n: Node,
    a: SSAValue,
    b: SSAValue,
    of: Callable[[SSAValue, SSAValue], SSAValue],
) -> SSAValue:
    """
    A matrix product. A vector is a matrix of one row or column, which the result does
    not have.
    """
    ranks = len(shape_of(a)), len(shape_of(b))
    if 0 in ranks:
        raise Unsupported("expected operands with dimensions")
    if ranks[0] == 1:
        a = n.reshape(a, [1, -1])
    if ranks[1] == 1:
        b = n.reshape(b, [-1, 1])
    y = of(a, b)
    if 1 not in ranks:
        return y
    kept = list(range(len(shape_of(y))))
    if ranks[1] == 1:
        kept.pop()
    if ranks[0] == 1:
        kept.pop(-2 if ranks[1] != 1 else -1)
    sizes = shape_of(y)
    return n.reshape(y, [graph.InputDim(i) if sizes[i] < 0 else sizes[i] for i in kept])


HANDLERS: dict[str, Callable[[Node], SSAValue | Sequence[SSAValue]]] = {
    "BatchNormalization": batch_norm,
    "Gemm": gemm,
    "LogSoftmax": softmax(graph.LogSoftmaxOp),
    "MatMul": matmul,
    "Softmax": softmax(graph.SoftmaxOp),
}
