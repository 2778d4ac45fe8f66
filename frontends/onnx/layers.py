"""
Convolutions, pools, normalisations and products.
"""

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node, Unsupported, type_of


def window(
    n: Node, kernel: Sequence[int], dilations: Sequence[int], strides: Sequence[int]
) -> list[int]:
    """The padding of a window over two dimensions: top, left, bottom, right."""
    auto = n.string_attr("auto_pad", "NOTSET")
    pads = n.int_list("pads", (0, 0, 0, 0))
    if auto == "NOTSET":
        return pads
    if auto == "VALID":
        return [0, 0, 0, 0]
    if auto not in ("SAME_UPPER", "SAME_LOWER"):
        raise Unsupported(f"'auto_pad' is '{auto}'")
    low: list[int] = []
    high: list[int] = []
    for size, k, d, s in zip(n.shape()[2:], kernel, dilations, strides, strict=True):
        if size < 0:
            raise Unsupported(f"'auto_pad' is '{auto}' on a size that is not static")
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        small, large = total // 2, total - total // 2
        low.append(small if auto == "SAME_UPPER" else large)
        high.append(large if auto == "SAME_UPPER" else small)
    return [*low, *high]


def two_dimensional(n: Node) -> None:
    if n.rank() != 4:
        raise Unsupported(f"expected two spatial dimensions, but got {n.rank() - 2}")


def conv(n: Node) -> SSAValue:
    two_dimensional(n)
    x, w = n.input(0), n.input(1)
    kernel = n.int_list("kernel_shape", n.shape(1)[2:])
    if kernel != list(n.shape(1)[2:]):
        raise Unsupported(f"expected kernel {list(n.shape(1)[2:])}, but got {kernel}")
    dilations, strides = n.int_list("dilations", (1, 1)), n.int_list("strides", (1, 1))
    y = n.add(
        graph.Conv2dOp(
            x,
            w,
            strides=strides,
            padding=window(n, kernel, dilations, strides),
            dilations=dilations,
            groups=n.int_attr("group", 1),
        )
    )
    if not n.has(2):
        return y
    bias = n.reshape(n.input(2), [n.shape(2)[0], 1, 1])
    return n.add(graph.AddOp(y, bias))


def max_pool(n: Node) -> Sequence[SSAValue]:
    two_dimensional(n)
    if n.int_attr("storage_order", 0):
        raise Unsupported("indices in column-major order are not supported")
    kernel = n.int_list("kernel_shape", ())
    dilations, strides = n.int_list("dilations", (1, 1)), n.int_list("strides", (1, 1))
    op = graph.MaxPool2dOp(
        n.input(),
        kernel,
        strides=strides,
        padding=window(n, kernel, dilations, strides),
        dilations=dilations,
        ceil_mode=bool(n.int_attr("ceil_mode", 0)),
        indices=n.output_count() > 1,
    )
    n.add(op)
    return op.results


def average_pool(n: Node) -> SSAValue:
    two_dimensional(n)
    kernel = n.int_list("kernel_shape", ())
    dilations, strides = n.int_list("dilations", (1, 1)), n.int_list("strides", (1, 1))
    if dilations != [1, 1]:
        raise Unsupported(f"dilations {dilations} are not supported")
    return n.add(
        graph.AvgPool2dOp(
            n.input(),
            kernel,
            strides=strides,
            padding=window(n, kernel, dilations, strides),
            ceil_mode=bool(n.int_attr("ceil_mode", 0)),
            count_include_pad=bool(n.int_attr("count_include_pad", 0)),
        )
    )


def global_pool(kind: str) -> Callable[[Node], SSAValue]:
    def handler(n: Node) -> SSAValue:
        axes = list(range(2, n.rank()))
        return n.add(graph.ReduceOp(kind, n.input(), axes=axes, keepdims=True))

    return handler


def batch_norm(n: Node) -> SSAValue:
    n.ignore("momentum")
    if n.int_attr("training_mode", 0) or n.output_count() > 1:
        raise Unsupported("training is not supported")
    if n.int_attr("spatial", 1) != 1:
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
        if -1 in shape[1:]:
            raise Unsupported("flattening sizes that are not static")
        rows: list[int | graph.InputDim] = [
            graph.InputDim(i) if size < 0 else size
            for i, size in enumerate(shape[:axis])
        ]
        flat = n.reshape(n.input(), [*rows, -1])
        result = n.add(op(flat, axis))
        back = [graph.InputDim(i) if s < 0 else s for i, s in enumerate(shape)]
        return n.reshape(result, back)

    return handler


def gemm(n: Node) -> SSAValue:
    a, b = n.input(0), n.input(1)
    if n.int_attr("transA", 0):
        a = n.add(graph.TransposeOp(a, [1, 0]))
    if n.int_attr("transB", 0):
        b = n.add(graph.TransposeOp(b, [1, 0]))
    y = n.add(graph.MatmulOp(a, b))
    element = type_of(y).element_type
    alpha, beta = n.float_attr("alpha", 1.0), n.float_attr("beta", 1.0)
    if alpha != 1.0:
        y = n.add(graph.MulOp(y, n.splat(alpha, element)))
    if not n.has(2):
        return y
    c = n.input(2)
    if beta != 1.0:
        c = n.add(graph.MulOp(c, n.splat(beta, element)))
    return n.add(graph.AddOp(y, c))


def matmul(n: Node) -> SSAValue:
    a, b = n.input(0), n.input(1)
    if n.rank(0) == 1 or n.rank(1) == 1:
        raise Unsupported("expected operands of two dimensions or more")
    return n.add(graph.MatmulOp(a, b))


HANDLERS: dict[str, Callable[[Node], SSAValue | Sequence[SSAValue]]] = {
    "AveragePool": average_pool,
    "BatchNormalization": batch_norm,
    "Conv": conv,
    "Gemm": gemm,
    "GlobalAveragePool": global_pool("mean"),
    "GlobalMaxPool": global_pool("max"),
    "LogSoftmax": softmax(graph.LogSoftmaxOp),
    "MatMul": matmul,
    "MaxPool": max_pool,
    "Softmax": softmax(graph.SoftmaxOp),
}
