"""
Normalisations and products.
"""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.dialects.dtypes import element_type
from transom.dialects.onnx_weights import dtype_of_kind, kind_name
from transom.frontends.onnx.node import Node, Unsupported, shape_of, type_of
from transom.frontends.onnx.values import (
    cast,
    cut,
    elements_of,
    entries,
    in_single,
    merge,
)


def batch_norm(n: Node) -> list[SSAValue]:
    n.ignore("is_test")
    if not n.flag("spatial", default=True):
        raise Unsupported("statistics per element ('spatial' is 0) are not supported")
    epsilon, momentum = n.float_attr("epsilon", 1e-5), n.float_attr("momentum", 0.9)
    x, scale, bias, mean, variance = (n.input(i) for i in range(5))
    if not n.flag("training_mode"):
        if n.output_count() > 1:
            raise Unsupported("statistics of the input need 'training_mode'")
        op = graph.BatchNormOp(x, scale, bias, mean, variance, epsilon=epsilon)
        return [n.add(op)]
    axes = [axis for axis in range(n.rank()) if axis != 1]
    own, squares = statistics(n, x, axes)
    own, squares = (
        cast(n, n.reshape(v, [-1]), elements_of(mean)) for v in (own, squares)
    )
    y = n.add(graph.BatchNormOp(x, scale, bias, own, squares, epsilon=epsilon))
    return [
        y,
        _running(n, mean, own, momentum),
        _running(n, variance, squares, momentum),
    ]


def _running(n: Node, old: SSAValue, new: SSAValue, momentum: float) -> SSAValue:
    return n.add(graph.AddOp(scaled(n, old, momentum), scaled(n, new, 1.0 - momentum)))


def statistics(n: Node, x: SSAValue, axes: Sequence[int]) -> tuple[SSAValue, SSAValue]:
    """The mean and the variance along axes, which keep a size of 1."""
    mean = n.add(graph.ReduceOp("mean", x, axes=axes, keepdims=True))
    centred = n.add(graph.SubOp(x, mean))
    square = n.add(graph.MulOp(centred, centred))
    return mean, n.add(graph.ReduceOp("mean", square, axes=axes, keepdims=True))


def standardised(
    n: Node, x: SSAValue, axes: Sequence[int], epsilon: float
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """
    A value with a mean of 0 and a variance of about 1 along axes, the mean that it had,
    and the factor that it was multiplied with.
    """
    mean, variance = statistics(n, x, axes)
    moved = n.add(graph.AddOp(variance, n.splat(epsilon, elements_of(variance))))
    factor = n.add(graph.RsqrtOp(moved))
    return n.add(graph.MulOp(n.add(graph.SubOp(x, mean)), factor)), mean, factor


def instance_norm(n: Node) -> SSAValue:
    """Each channel of each image by its own statistics."""
    epsilon = n.float_attr("epsilon", 1e-5)
    if n.rank() < 3:
        raise Unsupported("expected an input of 3 dimensions and more")

    def normalised(x: SSAValue) -> SSAValue:
        return standardised(n, x, range(2, n.rank()), epsilon)[0]

    return _by_scale_and_bias(n, in_single(n, n.input(), normalised))


def layer_norm(n: Node) -> list[SSAValue]:
    """
    All from an axis on by its own statistics, which are of `stash_type` and results,
    too. The function of the operator flattens its input, which takes sizes that are
    static or all but one.
    """
    first = n.axis("axis", -1, n.rank())
    x = cast(n, n.input(), stash_of(n))
    axes, epsilon = range(first, n.rank()), n.float_attr("epsilon", 1e-5)
    y, mean, factor = standardised(n, x, axes, epsilon)
    y = n.add(graph.MulOp(cast(n, y, elements_of(n.input())), n.input(1)))
    if n.has(2):
        y = n.add(graph.AddOp(y, n.input(2)))
    if shape_of(y) != n.shape():
        raise Unsupported("expected a scale and a bias that do not widen the input")
    return [y, mean, factor][: n.output_count()]


def stash_of(n: Node) -> AnyFloat:
    """The type that `stash_type` says statistics are computed in."""
    kind = n.int_attr("stash_type", 1)
    dtype = dtype_of_kind(kind)
    stash = None if dtype is None else element_type(dtype)
    if not isinstance(stash, AnyFloat):
        raise Unsupported(f"expected statistics of floats, but got {kind_name(kind)}")
    return stash


def group_norm(n: Node) -> SSAValue:
    """
    Each group of channels of each image by its own statistics. Scales and biases are
    those of groups before opset 21.

    A group is flattened, as in the function of the operator, unless several of its
    sizes are open: rows are fused with less work.
    """
    groups, shape, own = n.int_attr("num_groups"), n.shape(), entries(n.input())
    if groups < 1 or len(shape) < 2 or (shape[1] >= 0 and shape[1] % groups):
        raise Unsupported(
            f"expected channels in {groups} groups, but got the shape {list(shape)}"
        )
    by_group, element = n.opset < 21, elements_of(n.input())
    x = cast(n, n.input(), element if by_group else stash_of(n))
    flat = shape[1:].count(-1) < 2
    depth = -1 if shape[1] < 0 else shape[1] // groups
    apart = [own[0], groups, -1] if flat else [own[0], groups, depth, *own[2:]]
    x = n.reshape(x, apart)
    axes, epsilon = range(2, len(apart)), n.float_attr("epsilon", 1e-5)
    y = cast(n, standardised(n, x, axes, epsilon)[0], element)
    if by_group:
        y = _by_scale_and_bias(n, y)
    y = n.reshape(y, [own[0], *shape[1:]]) if flat else merge(n, y, 1)
    return y if by_group else _by_scale_and_bias(n, y)


def _by_scale_and_bias(n: Node, y: SSAValue) -> SSAValue:
    """A value times the second input, plus the third one, both along axis 1."""
    shape = [-1, *[1] * (len(shape_of(y)) - 2)]
    scale, bias = (n.reshape(n.input(i), shape) for i in (1, 2))
    return n.add(graph.AddOp(n.add(graph.MulOp(y, scale)), bias))


MAX_DETERMINANT = 6
"""Rows of a matrix whose determinant is expanded; there are 720 products for 6."""


def det(n: Node) -> SSAValue:
    """By the first row, with the determinants of what is left."""
    shape = n.shape()
    if (
        len(shape) < 2
        or not 1 <= shape[-1] <= MAX_DETERMINANT
        or shape[-1] != shape[-2]
    ):
        raise Unsupported(
            f"expected square matrices of at most {MAX_DETERMINANT} rows, but got "
            f"the shape {list(shape)}"
        )
    rank, outer = len(shape), entries(n.input())[:-2]

    def entry(row: int, column: int) -> SSAValue:
        part = cut(n, cut(n, n.input(), rank - 2, row, 1), rank - 1, column, 1)
        return n.reshape(part, outer)

    def expanded(row: int, columns: Sequence[int]) -> SSAValue:
        if len(columns) == 1:
            return entry(row, columns[0])
        result: SSAValue | None = None
        for number, column in enumerate(columns):
            rest = [other for other in columns if other != column]
            minor = expanded(row + 1, rest)
            term = n.add(graph.MulOp(entry(row, column), minor))
            if result is None:
                result = term
            else:
                op = graph.SubOp if number % 2 else graph.AddOp
                result = n.add(op(result, term))
        assert result is not None, "there are columns"
        return result

    return expanded(0, range(shape[-1]))


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
    if n.opset < 7:
        n.ignore("broadcast")  # the third input does so from opset 7 on anyway
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
    "Det": det,
    "Gemm": gemm,
    "GroupNormalization": group_norm,
    "InstanceNormalization": instance_norm,
    "LayerNormalization": layer_norm,
    "LogSoftmax": softmax(graph.LogSoftmaxOp),
    "MatMul": matmul,
    "Softmax": softmax(graph.SoftmaxOp),
}
