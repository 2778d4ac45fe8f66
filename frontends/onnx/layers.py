"""
Convolutions, pools, normalisations and products.
"""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node, Unsupported, shape_of, type_of


class Window:
    """What an operator does along two dimensions, from the attributes of its node."""

    def __init__(self, n: Node, kernel: Sequence[int]) -> None:
        if n.rank() != 4:
            raise Unsupported(
                f"expected two spatial dimensions, but got {n.rank() - 2}"
            )
        self.kernel = pair("kernel_shape", kernel)
        self.strides = pair("strides", n.int_list("strides", (1, 1)))
        self.dilations = pair("dilations", n.int_list("dilations", (1, 1)))
        if min(*self.kernel, *self.strides, *self.dilations) < 1:
            raise Unsupported("expected a kernel, strides and dilations of 1 and more")
        self.padding = self._padding(n)

    def _padding(self, n: Node) -> list[int]:
        """Top, left, bottom, right."""
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
        for size, kernel, dilation, stride in zip(
            n.shape()[2:], self.kernel, self.dilations, self.strides, strict=True
        ):
            if size < 0:
                raise Unsupported(f"'auto_pad' is '{auto}', and a size is not static")
            reach = (kernel - 1) * dilation + 1
            total = max((-(-size // stride) - 1) * stride + reach - size, 0)
            small, large = total // 2, total - total // 2
            low.append(small if auto == "SAME_UPPER" else large)
            high.append(large if auto == "SAME_UPPER" else small)
        return [*low, *high]


def pair(name: str, values: Sequence[int]) -> list[int]:
    """A number for each of two dimensions."""
    if len(values) != 2:
        raise Unsupported(f"expected two numbers as '{name}', but got {len(values)}")
    return list(values)


def conv(n: Node) -> SSAValue:
    kernel = n.shape(1)[2:]
    window = Window(n, kernel)
    if n.int_list("kernel_shape", kernel) != list(kernel):
        raise Unsupported(f"expected 'kernel_shape' to be that of the weight, {kernel}")
    y = n.add(
        graph.Conv2dOp(
            n.input(0),
            n.input(1),
            strides=window.strides,
            padding=window.padding,
            dilations=window.dilations,
            groups=n.int_attr("group", 1),
        )
    )
    if not n.has(2):
        return y
    return n.add(graph.AddOp(y, n.reshape(n.input(2), [-1, 1, 1])))


def max_pool(n: Node) -> Sequence[SSAValue]:
    if n.flag("storage_order") and n.output_count() > 1:
        raise Unsupported("indices in column-major order are not supported")
    window = Window(n, n.int_list("kernel_shape"))
    op = graph.MaxPool2dOp(
        n.input(),
        window.kernel,
        strides=window.strides,
        padding=window.padding,
        dilations=window.dilations,
        ceil_mode=n.flag("ceil_mode"),
        indices=n.output_count() > 1,
    )
    return n.insert(op).results


def average_pool(n: Node) -> SSAValue:
    window = Window(n, n.int_list("kernel_shape"))
    if window.dilations != [1, 1]:
        raise Unsupported(f"dilations {window.dilations} are not supported")
    return n.add(
        graph.AvgPool2dOp(
            n.input(),
            window.kernel,
            strides=window.strides,
            padding=window.padding,
            ceil_mode=n.flag("ceil_mode"),
            count_include_pad=n.flag("count_include_pad"),
        )
    )


def global_pool(kind: str) -> Callable[[Node], SSAValue]:
    def handler(n: Node) -> SSAValue:
        if n.rank() < 3:
            raise Unsupported("expected spatial dimensions")
        axes = list(range(2, n.rank()))
        return n.add(graph.ReduceOp(kind, n.input(), axes=axes, keepdims=True))

    return handler


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
    """A vector is a matrix of one row or column, which the result does not have."""
    a, b = n.input(0), n.input(1)
    ranks = n.rank(0), n.rank(1)
    if 0 in ranks:
        raise Unsupported("expected operands with dimensions")
    if ranks[0] == 1:
        a = n.reshape(a, [1, -1])
    if ranks[1] == 1:
        b = n.reshape(b, [-1, 1])
    y = n.add(graph.MatmulOp(a, b))
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
