"""
ONNX's published node tests, each as the graph ops that say the same.

The adaptors are written by hand from the operator specifications, for tests only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import graph
from transom.dialects.dtypes import element_type


class Unsupported(Exception):
    """The node has no equivalent in graph ops; the reason is the message."""


class Node:
    """A node with its inputs, and the function that takes its place."""

    def __init__(self, node: onnx.NodeProto, inputs: Sequence[Any], opset: int) -> None:
        self.attributes: dict[str, Any] = {
            a.name: helper.get_attribute_value(a) for a in node.attribute
        }
        self.outputs = len([name for name in node.output if name])
        self.opset = opset
        self.arrays = list(inputs)
        types = [tensor_type(x) for x in inputs if x is not None]
        self.function = FuncOp("main", (types, ()))
        arguments = iter(self.function.body.block.args)
        self.values = [None if x is None else next(arguments) for x in inputs]

    def __call__(self, op: Operation) -> SSAValue:
        """Add an op to the function; its first result."""
        self.function.body.block.add_op(op)
        return op.results[0]

    def __getitem__(self, position: int) -> SSAValue:
        """The value of an input."""
        value = self.values[position]
        assert value is not None, "an input that is needed"
        return value

    def has(self, position: int) -> bool:
        return position < len(self.values) and self.values[position] is not None

    def get(self, name: str, default: Any = None) -> Any:
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def ints(self, position: int, name: str) -> list[int] | None:
        """A list that is an input, or was an attribute once."""
        if position < len(self.arrays):
            array = self.arrays[position]
            return None if array is None else np.asarray(array).reshape(-1).tolist()
        return self.get(name)

    def shape(self, position: int = 0) -> tuple[int, ...]:
        return np.shape(self.arrays[position])

    def dtype(self, position: int = 0) -> Any:
        return np.asarray(self.arrays[position]).dtype

    def rank(self, position: int = 0) -> int:
        return len(self.shape(position))

    def axis(
        self, name: str = "axis", default: int = 0, rank: int | None = None
    ) -> int:
        axis = self.get(name, default)
        return axis + (self.rank() if rank is None else rank) if axis < 0 else axis

    def splat(self, like: SSAValue, value: float) -> SSAValue:
        """A constant of one element of the type of another tensor."""
        type = TensorType(graph.tensor_type(like).element_type, [1])
        return self(graph.ConstantOp.splat(type, value))


def tensor_type(array: Any) -> TensorType[Attribute]:
    array = np.asarray(array)
    return graph.tensor(array.shape, element_type(array.dtype))


Results: TypeAlias = Sequence[SSAValue] | SSAValue
Adaptor: TypeAlias = Callable[[Node], Results]


def shape_of(value: SSAValue) -> tuple[int, ...]:
    return graph.tensor_type(value).get_shape()


def unary(op: Callable[[SSAValue], Operation]) -> Adaptor:
    return lambda n: n(op(n[0]))


def binary(op: Callable[[SSAValue, SSAValue], Operation]) -> Adaptor:
    return lambda n: n(op(n[0], n[1]))


def variadic(op: Callable[[SSAValue, SSAValue], Operation]) -> Adaptor:
    def adapt(n: Node) -> SSAValue:
        value = n[0]
        for position in range(1, len(n.values)):
            value = n(op(value, n[position]))
        return value

    return adapt


def compare(predicate: str) -> Adaptor:
    return lambda n: n(graph.CompareOp(predicate, n[0], n[1]))


def clip(n: Node) -> SSAValue:
    bounds = [np.asarray(n.arrays[i]).item() if n.has(i) else None for i in (1, 2)]
    if n.opset < 11:
        bounds = [n.get("min"), n.get("max")]
    return n(graph.ClampOp(n[0], *bounds))


def mean(n: Node) -> SSAValue:
    total = variadic(graph.AddOp)(n)
    assert isinstance(total, SSAValue)
    return n(graph.DivOp(total, n.splat(total, len(n.values))))


def where(n: Node) -> SSAValue:
    return n(graph.SelectOp(n[0], n[1], n[2]))


def mod(n: Node) -> SSAValue:
    kind = n.dtype().kind
    if (kind in "iu") == bool(n.get("fmod", 0)):
        raise Unsupported("the other kind of remainder")
    return n(graph.ModOp(n[0], n[1]))


def power(n: Node) -> SSAValue:
    exponent = n[1]
    if n.dtype(0) != n.dtype(1):
        if n.dtype(0).kind in "iu":
            raise Unsupported("an integer to a power of another type")
        exponent = n(graph.CastOp(exponent, element_type(n.dtype())))
    return n(graph.PowOp(n[0], exponent))


def gelu(n: Node) -> SSAValue:
    if n.get("approximate", "none") != "none":
        raise Unsupported("an approximation")
    return n(graph.GeluOp(n[0]))


def cast(n: Node) -> SSAValue:
    to = helper.tensor_dtype_to_np_dtype(n.get("to"))
    return n(graph.CastOp(n[0], element_type(to)))


def cast_like(n: Node) -> SSAValue:
    return n(graph.CastOp(n[0], element_type(n.dtype(1))))


def leaky_relu(n: Node) -> SSAValue:
    return n(graph.LeakyReluOp(n[0], n.get("alpha", 0.01)))


def prelu(n: Node) -> SSAValue:
    positive = n(graph.CompareOp("ge", n[0], n.splat(n[0], 0)))
    return n(graph.SelectOp(positive, n[0], n(graph.MulOp(n[0], n[1]))))


def hard_sigmoid(n: Node) -> SSAValue:
    scaled = n(graph.MulOp(n[0], n.splat(n[0], n.get("alpha", 0.2))))
    moved = n(graph.AddOp(scaled, n.splat(n[0], n.get("beta", 0.5))))
    return n(graph.ClampOp(moved, 0, 1))


def hard_swish(n: Node) -> SSAValue:
    sixth = n(graph.MulOp(n[0], n.splat(n[0], 1 / 6)))
    gate = n(graph.ClampOp(n(graph.AddOp(sixth, n.splat(n[0], 0.5))), 0, 1))
    return n(graph.MulOp(n[0], gate))


def matmul(n: Node) -> SSAValue:
    if n.rank(0) < 2 or n.rank(1) < 2:
        raise Unsupported("a vector")
    return n(graph.MatmulOp(n[0], n[1]))


def gemm(n: Node) -> SSAValue:
    a = n(graph.TransposeOp(n[0])) if n.get("transA", 0) else n[0]
    b = n(graph.TransposeOp(n[1])) if n.get("transB", 0) else n[1]
    y = n(graph.MatmulOp(a, b))
    y = n(graph.MulOp(y, n.splat(y, n.get("alpha", 1.0))))
    if not n.has(2):
        return y
    return n(graph.AddOp(y, n(graph.MulOp(n[2], n.splat(y, n.get("beta", 1.0))))))


def windows(n: Node, kernel: Sequence[int]) -> dict[str, Any]:
    """Strides, padding and dilations of two-dimensional windows."""
    strides, dilations = n.get("strides", [1, 1]), n.get("dilations", [1, 1])
    padding = n.get("pads", [0, 0, 0, 0])
    mode = n.get("auto_pad", "NOTSET")
    if mode.startswith("SAME"):
        totals: list[int] = []
        for axis in (0, 1):
            size = n.shape()[axis + 2]
            span = (kernel[axis] - 1) * dilations[axis] + 1
            count = -(-size // strides[axis])
            totals.append(max(0, (count - 1) * strides[axis] + span - size))
        small = [t // 2 for t in totals]
        large = [t - t // 2 for t in totals]
        padding = [*small, *large] if mode == "SAME_UPPER" else [*large, *small]
    elif mode == "VALID":
        padding = [0, 0, 0, 0]
    return {"strides": strides, "dilations": dilations, "padding": padding}


def two_dimensional(n: Node) -> None:
    if n.rank() != 4:
        raise Unsupported("windows in other than two dimensions")


def conv(n: Node) -> SSAValue:
    two_dimensional(n)
    parts = windows(n, n.shape(1)[2:])
    y = n(graph.Conv2dOp(n[0], n[1], groups=n.get("group", 1), **parts))
    if not n.has(2):
        return y
    bias = n(graph.ReshapeOp(n[2], [-1, 1, 1]))
    return n(graph.AddOp(y, bias))


def max_pool(n: Node) -> Results:
    two_dimensional(n)
    if n.get("storage_order", 0):
        raise Unsupported("column-major indices")
    kernel = n.get("kernel_shape")
    ceil, indices = bool(n.get("ceil_mode", 0)), n.outputs == 2
    parts = windows(n, kernel)
    op = graph.MaxPool2dOp(n[0], kernel, ceil_mode=ceil, indices=indices, **parts)
    n(op)
    return op.results


def average_pool(n: Node) -> SSAValue:
    two_dimensional(n)
    kernel = n.get("kernel_shape")
    parts = windows(n, kernel)
    if parts.pop("dilations") != [1, 1]:
        raise Unsupported("a dilated average")
    return n(
        graph.AvgPool2dOp(
            n[0],
            kernel,
            ceil_mode=bool(n.get("ceil_mode", 0)),
            count_include_pad=bool(n.get("count_include_pad", 0)),
            **parts,
        )
    )


def global_pool(kind: str) -> Adaptor:
    return lambda n: n(graph.ReduceOp(kind, n[0], range(2, n.rank()), keepdims=True))


def batch_norm(n: Node) -> SSAValue:
    if n.get("training_mode", 0):
        raise Unsupported("statistics of the batch")
    epsilon = n.get("epsilon", 1e-5)
    return n(graph.BatchNormOp(n[0], n[1], n[2], n[3], n[4], epsilon))


def along(op: Callable[[SSAValue, int], Operation]) -> Adaptor:
    def adapt(n: Node) -> SSAValue:
        if n.opset < 13:
            raise Unsupported("a softmax of rows")
        return n(op(n[0], n.axis(default=-1)))

    return adapt


def layer_norm(n: Node) -> Results:
    axes = range(n.axis(default=-1), n.rank())
    average = n(graph.ReduceOp("mean", n[0], axes, keepdims=True))
    centred = n(graph.SubOp(n[0], average))
    square = n(graph.MulOp(centred, centred))
    variance = n(graph.ReduceOp("mean", square, axes, keepdims=True))
    epsilon = n.splat(variance, n.get("epsilon", 1e-5))
    scale = n(graph.RsqrtOp(n(graph.AddOp(variance, epsilon))))
    y = n(graph.MulOp(n(graph.MulOp(centred, scale)), n[1]))
    y = n(graph.AddOp(y, n[2])) if n.has(2) else y
    return (y, average, scale)[: n.outputs]


def reduced(
    kind: str,
    before: Callable[[Node, SSAValue], SSAValue] | None = None,
    after: Callable[[Node, SSAValue], SSAValue] | None = None,
) -> Adaptor:
    def adapt(n: Node) -> SSAValue:
        x = n[0]
        axes = n.ints(1, "axes")
        if not axes:
            axes = [] if n.get("noop_with_empty_axes", 0) else list(range(n.rank()))
        axes = [a + n.rank() if a < 0 else a for a in axes]
        if n.dtype() == np.bool_:
            raise Unsupported("a reduction of bits")
        x = before(n, x) if before else x
        y = n(graph.ReduceOp(kind, x, axes, keepdims=bool(n.get("keepdims", 1))))
        return after(n, y) if after else y

    return adapt


def arg_reduced(kind: str) -> Adaptor:
    def adapt(n: Node) -> SSAValue:
        if n.get("select_last_index", 0):
            raise Unsupported("the last index")
        keepdims = bool(n.get("keepdims", 1))
        return n(graph.ArgReduceOp(kind, n[0], n.axis(), keepdims))

    return adapt


def square(n: Node, x: SSAValue) -> SSAValue:
    return n(graph.MulOp(x, x))


def unary_of(
    op: Callable[[SSAValue], Operation],
) -> Callable[[Node, SSAValue], SSAValue]:
    return lambda n, x: n(op(x))


def reshape(n: Node) -> SSAValue:
    shape = n.ints(1, "shape") or []
    zeros = not n.get("allowzero", 0)
    entries = [
        graph.InputDim(i) if size == 0 and zeros else size
        for i, size in enumerate(shape)
    ]
    if 0 in n.shape() and -1 in shape:
        raise Unsupported("the rest of nothing")
    return n(graph.ReshapeOp(n[0], entries))


def transpose(n: Node) -> SSAValue:
    return n(graph.TransposeOp(n[0], n.get("perm")))


def flatten(n: Node) -> SSAValue:
    axis = n.axis(default=1)
    rows = int(np.prod(n.shape()[:axis]))
    return n(graph.ReshapeOp(n[0], [rows, -1]))


def squeeze(n: Node) -> SSAValue:
    axes = n.ints(1, "axes")
    ones = [i for i, size in enumerate(n.shape()) if size == 1]
    drop = ones if axes is None else [a % n.rank() for a in axes]
    shape = [size for i, size in enumerate(n.shape()) if i not in drop]
    return n(graph.ReshapeOp(n[0], shape))


def unsqueeze(n: Node) -> SSAValue:
    axes = n.ints(1, "axes") or []
    rank = n.rank() + len(axes)
    new = {a % rank for a in axes}
    rest = iter(n.shape())
    shape = [1 if i in new else next(rest) for i in range(rank)]
    return n(graph.ReshapeOp(n[0], shape))


def expand(n: Node) -> SSAValue:
    shape = np.broadcast_shapes(n.shape(), tuple(n.ints(1, "shape") or ()))
    return n(graph.BroadcastOp(n[0], shape))


def concat(n: Node) -> SSAValue:
    return n(graph.ConcatOp([n[i] for i in range(len(n.values))], n.axis()))


def split(n: Node) -> Results:
    axis = n.axis()
    size = n.shape()[axis]
    sizes = n.ints(1, "split")
    if sizes is None:
        part = -(-size // n.outputs)
        sizes = [min(part, size - i * part) for i in range(n.outputs)]
    results: list[SSAValue] = []
    start = 0
    for part in sizes:
        starts, full = [0] * n.rank(), list(n.shape())
        starts[axis], full[axis] = start, part
        results.append(n(graph.SliceOp(n[0], starts, full)))
        start += part
    return results


def slice_(n: Node) -> SSAValue:
    starts, ends = n.ints(1, "starts"), n.ints(2, "ends")
    assert starts is not None and ends is not None, "both are required"
    axes = n.ints(3, "axes") or list(range(len(starts)))
    steps = n.ints(4, "steps") or [1] * len(starts)
    first, sizes, strides = [0] * n.rank(), list(n.shape()), [1] * n.rank()
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        indices = range(n.shape()[axis])[slice(start, end, step)]
        first[axis] = indices.start if len(indices) else 0
        sizes[axis], strides[axis] = len(indices), step
    return n(graph.SliceOp(n[0], first, sizes, strides))


def pad(n: Node) -> SSAValue:
    if n.get("mode", "constant") != "constant":
        raise Unsupported("padding with elements")
    pads = n.ints(1, "pads") or []
    axes = n.ints(3, "axes") if n.has(3) else None
    axes = list(range(n.rank())) if axes is None else [a % n.rank() for a in axes]
    low, high = [0] * n.rank(), [0] * n.rank()
    for i, axis in enumerate(axes):
        low[axis], high[axis] = pads[i], pads[i + len(axes)]
    if min(*low, *high) < 0:
        raise Unsupported("negative padding")
    value = np.asarray(n.arrays[2]).item() if n.has(2) else 0
    return n(graph.PadOp(n[0], low, high, value))


def gather(n: Node) -> SSAValue:
    return n(graph.GatherOp(n[0], n[1], n.axis()))


def scatter(n: Node) -> SSAValue:
    combine = n.get("reduction", "none")
    return n(graph.ScatterOp(n[0], n[1], n[2], n.axis(), combine))


def cumsum(n: Node) -> SSAValue:
    axis = int(np.asarray(n.arrays[1]).item()) % n.rank()
    exclusive, reverse = bool(n.get("exclusive", 0)), bool(n.get("reverse", 0))
    return n(graph.CumulateOp("sum", n[0], axis, exclusive=exclusive, reverse=reverse))


def identity(n: Node) -> SSAValue:
    return n[0]


ADAPTORS: dict[str, Adaptor] = {
    "Abs": unary(graph.AbsOp),
    "Add": binary(graph.AddOp),
    "And": binary(graph.AndOp),
    "ArgMax": arg_reduced("argmax"),
    "ArgMin": arg_reduced("argmin"),
    "AveragePool": average_pool,
    "BatchNormalization": batch_norm,
    "BitwiseAnd": binary(graph.AndOp),
    "BitwiseNot": unary(graph.NotOp),
    "BitwiseOr": binary(graph.OrOp),
    "BitwiseXor": binary(graph.XorOp),
    "Cast": cast,
    "CastLike": cast_like,
    "Ceil": unary(graph.CeilOp),
    "Clip": clip,
    "Concat": concat,
    "Conv": conv,
    "Cos": unary(graph.CosOp),
    "CumSum": cumsum,
    "Div": binary(graph.DivOp),
    "Equal": compare("eq"),
    "Erf": unary(graph.ErfOp),
    "Exp": unary(graph.ExpOp),
    "Expand": expand,
    "Flatten": flatten,
    "Floor": unary(graph.FloorOp),
    "Gather": gather,
    "Gelu": gelu,
    "Gemm": gemm,
    "GlobalAveragePool": global_pool("mean"),
    "GlobalMaxPool": global_pool("max"),
    "Greater": compare("gt"),
    "GreaterOrEqual": compare("ge"),
    "HardSigmoid": hard_sigmoid,
    "HardSwish": hard_swish,
    "Identity": identity,
    "LayerNormalization": layer_norm,
    "LeakyRelu": leaky_relu,
    "Less": compare("lt"),
    "LessOrEqual": compare("le"),
    "Log": unary(graph.LogOp),
    "LogSoftmax": along(graph.LogSoftmaxOp),
    "MatMul": matmul,
    "Max": variadic(graph.MaximumOp),
    "MaxPool": max_pool,
    "Mean": mean,
    "Min": variadic(graph.MinimumOp),
    "Mod": mod,
    "Mul": binary(graph.MulOp),
    "Neg": unary(graph.NegOp),
    "Not": unary(graph.NotOp),
    "Or": binary(graph.OrOp),
    "PRelu": prelu,
    "Pad": pad,
    "Pow": power,
    "Reciprocal": unary(graph.ReciprocalOp),
    "ReduceL1": reduced("sum", unary_of(graph.AbsOp)),
    "ReduceL2": reduced("sum", square, unary_of(graph.SqrtOp)),
    "ReduceLogSum": reduced("sum", None, unary_of(graph.LogOp)),
    "ReduceLogSumExp": reduced("sum", unary_of(graph.ExpOp), unary_of(graph.LogOp)),
    "ReduceMax": reduced("max"),
    "ReduceMean": reduced("mean"),
    "ReduceMin": reduced("min"),
    "ReduceProd": reduced("prod"),
    "ReduceSum": reduced("sum"),
    "ReduceSumSquare": reduced("sum", square),
    "Relu": unary(graph.ReluOp),
    "Reshape": reshape,
    "Round": unary(graph.RoundOp),
    "ScatterElements": scatter,
    "Sigmoid": unary(graph.SigmoidOp),
    "Sign": unary(graph.SignOp),
    "Sin": unary(graph.SinOp),
    "Slice": slice_,
    "Softmax": along(graph.SoftmaxOp),
    "Split": split,
    "Sqrt": unary(graph.SqrtOp),
    "Squeeze": squeeze,
    "Sub": binary(graph.SubOp),
    "Sum": variadic(graph.AddOp),
    "Tanh": unary(graph.TanhOp),
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
    "Where": where,
    "Xor": binary(graph.XorOp),
}


def adapt(model: onnx.ModelProto, inputs: Sequence[Any]) -> ModuleOp:
    """
    A module that computes what the only node of a model does, for these inputs.

    Raises Unsupported with a reason.
    """
    (node,) = model.graph.node
    if node.domain not in ("", "ai.onnx") or node.op_type not in ADAPTORS:
        raise Unsupported("the operator")
    by_name = dict(zip((i.name for i in model.graph.input), inputs, strict=True))
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    arrays = [by_name[name] if name else None for name in node.input]
    try:
        adapted = Node(node, arrays, opset)
        results = ADAPTORS[node.op_type](adapted)
    except ValueError as e:  # of dtypes.py, and of onnx
        raise Unsupported(str(e)) from e
    values = [results] if isinstance(results, SSAValue) else list(results)
    adapted.function.body.block.add_op(ReturnOp(*values))
    adapted.function.update_function_type()
    module = ModuleOp([adapted.function])
    module.verify()
    return module


def array_of(value: Any) -> Any:
    """An input or output of a data set as an array."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, list | tuple | dict):
        raise Unsupported("a sequence or map")
    return value
