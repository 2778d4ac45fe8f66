"""
Values that are known while a model is imported, such as the shapes that exporters
compute with a dozen nodes.

Sizes that are not static take part: a shape is an array of objects then, in which such
a size is a `RuntimeSize`. Nodes that move elements treat it like a number; arithmetic
leaves it to the graph.
"""

import math
from collections.abc import Callable

import numpy as np

from transom.dialects.dtypes import BFLOAT16, numpy_dtype
from transom.dialects.onnx_weights import dtype_of_kind
from transom.dialects.weight_files import Array
from transom.frontends.onnx.movement import slices_of, squeezed_axes, unsqueezed_axes
from transom.frontends.onnx.node import Node
from transom.frontends.onnx.sizes import (
    MAX_KNOWN,
    array_of,
    is_few,
    settled,
    sizes_of,
)

Source = Callable[[Node], Array | None]
"""The result of a node whatever its inputs are; None leaves it to a handler."""

Evaluator = Callable[[Node, list[Array]], Array | None]
"""The result of a node from its inputs; None leaves it to a handler."""


def evaluate(n: Node) -> Array | None:
    """
    The result of a node if it is known now and has few elements.

    Raises `Unsupported` for attributes that are wrong.
    """
    source = SOURCES.get(n.proto.op_type)
    if source is not None:
        return source(n)
    evaluator = EVALUATORS.get(n.proto.op_type)
    if evaluator is None:
        return None
    inputs: list[Array] = []
    for name in n.proto.input:
        array = n.values.constant(name) if name else None
        if array is None:
            return None
        inputs.append(array)
    try:
        return evaluator(n, inputs)
    except (ValueError, IndexError, OverflowError):  # the handler says what is wrong
        return None


def shape(n: Node) -> Array:
    sizes = sizes_of(n.input())
    start, end = n.int_attr("start", 0), n.int_attr("end", len(sizes))
    return array_of(sizes[start:end])


def size(n: Node) -> Array | None:
    sizes = n.shape()
    return None if -1 in sizes else np.array(math.prod(sizes), np.int64)


def constant(n: Node) -> Array | None:
    if n.given("value_float"):
        return np.array(n.float_attr("value_float", 0), np.float32)
    if n.given("value_int"):
        return np.array(n.int_attr("value_int"), np.int64)
    if n.given("value_floats"):
        return np.array(n.float_list("value_floats"), np.float32)
    if n.given("value_ints"):
        return np.array(n.int_list("value_ints"), np.int64)
    return None


def cast(n: Node, inputs: list[Array]) -> Array | None:
    (array,) = inputs
    n.ignore("saturate", "round_mode")
    return converted(array, dtype_of_kind(n.int_attr("to")))


def cast_like(n: Node) -> Array | None:
    """Of the second input only the type has to be known."""
    array = n.values.constant(n.input_name(0))
    if array is None:
        return None
    n.ignore("saturate", "round_mode")
    like = n.values.constant(n.input_name(1))
    if like is not None:
        return converted(array, like.dtype)
    return converted(array, numpy_dtype(n.type(1).element_type))


def converted(array: Array, dtype: "np.dtype[np.generic] | None") -> Array | None:
    """An array in another dtype, where that is the same for everybody."""
    if dtype is None:
        return None
    if array.dtype == object:  # sizes, which fit
        return array if dtype.kind == "i" else None
    if _is_float(array.dtype) and not _is_float(dtype):
        return None
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _is_float(dtype: "np.dtype[np.generic]") -> bool:
    return dtype.kind == "f" or dtype == BFLOAT16


def concat(n: Node, inputs: list[Array]) -> Array | None:
    if sum(array.size for array in inputs) > MAX_KNOWN:
        return None
    if len({array.dtype for array in inputs} - {np.dtype(object)}) > 1:
        return None
    return np.concatenate(inputs, n.axis("axis", None, inputs[0].ndim))


def constant_of_shape(n: Node, inputs: list[Array]) -> Array | None:
    (sizes,) = inputs
    if sizes.dtype != np.int64 or sizes.ndim != 1 or not is_few(sizes.tolist()):
        return None
    value = n.tensor_attr("value")
    return np.full(sizes, 0 if value is None else value.item(), _dtype(value))


def _dtype(value: Array | None) -> "np.dtype[np.generic]":
    return np.dtype(np.float32) if value is None else value.dtype


def expand(n: Node, inputs: list[Array]) -> Array | None:
    array, sizes = inputs
    if sizes.dtype != np.int64 or not is_few(sizes.reshape(-1).tolist()):
        return None
    shape = np.broadcast_shapes(array.shape, tuple(sizes.reshape(-1).tolist()))
    return np.broadcast_to(array, shape).copy() if is_few(shape) else None


def gather(n: Node, inputs: list[Array]) -> Array | None:
    data, indices = inputs
    axis = n.axis("axis", 0, data.ndim)
    shape = data.shape[:axis] + indices.shape + data.shape[axis + 1 :]
    if indices.dtype.kind != "i" or not is_few(shape):
        return None
    return settled(np.asarray(data.take(indices, axis)))


def identity(n: Node, inputs: list[Array]) -> Array | None:
    return inputs[0]


def arange(n: Node, inputs: list[Array]) -> Array | None:
    dtype = inputs[0].dtype
    if any(array.dtype != dtype or array.size != 1 for array in inputs):
        return None
    if dtype.kind not in "if" and dtype != BFLOAT16:
        return None
    start, limit, step = (array.item() for array in inputs)
    if not step or not all(map(math.isfinite, (start, limit, step))):
        return None
    count = max(math.ceil((limit - start) / step), 0)
    if count > MAX_KNOWN:
        return None
    first, by = inputs[0].reshape(1), inputs[2].reshape(1)
    places = np.array(range(count), np.int64)
    with np.errstate(all="ignore"):
        numbers = np.add(first, np.multiply(places.astype(dtype), by))
    return np.asarray(numbers, dtype)


def reshape(n: Node, inputs: list[Array]) -> Array | None:
    array, sizes = inputs
    n.flag("allowzero")
    if sizes.dtype != np.int64 or 0 in sizes:
        return None
    return array.reshape(sizes.reshape(-1).tolist())


def slice_(n: Node, inputs: list[Array]) -> Array | None:
    places = [slice(None)] * inputs[0].ndim
    for axis, numbers in slices_of(n, inputs[0].ndim).items():
        places[axis] = numbers
    return settled(inputs[0][tuple(places)])


def squeeze(n: Node, inputs: list[Array]) -> Array | None:
    axes = squeezed_axes(n, inputs[0].ndim)
    return inputs[0].squeeze(None if axes is None else tuple(axes))


def unsqueeze(n: Node, inputs: list[Array]) -> Array | None:
    axes = unsqueezed_axes(n, inputs[0].ndim)
    return np.expand_dims(inputs[0], tuple(axes))


def where(n: Node, inputs: list[Array]) -> Array | None:
    condition, a, b = inputs
    shape = np.broadcast_shapes(*(array.shape for array in inputs))
    if condition.dtype != np.bool_ or a.dtype != b.dtype or not is_few(shape):
        return None
    return np.asarray(np.where(condition, a, b))


def arithmetic(function: Callable[[Array, Array], Array]) -> Evaluator:
    """A function of two arrays of integers of one type."""

    def evaluator(n: Node, inputs: list[Array]) -> Array | None:
        a, b = inputs
        if a.dtype != b.dtype or a.dtype.kind not in "iu" or n.opset < 7:
            return None
        if not is_few(np.broadcast_shapes(a.shape, b.shape)):
            return None
        with np.errstate(all="ignore"):
            return np.asarray(function(a, b))

    return evaluator


def comparison(function: Callable[[Array, Array], Array]) -> Evaluator:
    """A comparison of two arrays of one type."""

    def evaluator(n: Node, inputs: list[Array]) -> Array | None:
        a, b = inputs
        shape = np.broadcast_shapes(a.shape, b.shape)
        if a.dtype != b.dtype or a.dtype.kind not in "iu" or not is_few(shape):
            return None
        return np.asarray(function(a, b))

    return evaluator


def logic(function: Callable[[Array, Array], Array]) -> Evaluator:
    """A function of two arrays of truth values."""

    def evaluator(n: Node, inputs: list[Array]) -> Array | None:
        a, b = inputs
        shape = np.broadcast_shapes(a.shape, b.shape)
        if a.dtype != np.bool_ or b.dtype != np.bool_ or not is_few(shape):
            return None
        return np.asarray(function(a, b))

    return evaluator


def one(function: Callable[[Array], Array], kinds: str) -> Evaluator:
    """A function of one array of some kinds of elements."""

    def evaluator(n: Node, inputs: list[Array]) -> Array | None:
        (array,) = inputs
        with np.errstate(all="ignore"):
            return np.asarray(function(array)) if array.dtype.kind in kinds else None

    return evaluator


def extreme(function: Callable[[Array, Array], Array]) -> Evaluator:
    """The least or largest of some arrays of integers."""

    def evaluator(n: Node, inputs: list[Array]) -> Array | None:
        shape = np.broadcast_shapes(*(array.shape for array in inputs))
        dtypes = {array.dtype for array in inputs}
        if len(dtypes) != 1 or inputs[0].dtype.kind not in "iu" or not is_few(shape):
            return None
        result = inputs[0]
        for array in inputs[1:]:
            result = function(result, array)
        return np.asarray(result)

    return evaluator


def mod(n: Node, inputs: list[Array]) -> Array | None:
    if n.flag("fmod") or not inputs[1].all():
        return None
    return arithmetic(np.remainder)(n, inputs)


def reduction(function: Callable[..., Array]) -> Evaluator:
    """A reduction of integers."""

    def evaluator(n: Node, inputs: list[Array]) -> Array | None:
        array = inputs[0]
        if any(found.dtype.kind not in "iu" for found in inputs) or not array.size:
            return None
        if len(inputs) > 1:
            axes = inputs[1].reshape(-1).tolist()
        else:
            axes = n.int_list("axes", ())
        keepdims = n.flag("keepdims", default=True)
        if n.flag("noop_with_empty_axes") and not axes:
            return array
        axis = tuple(axes) if axes else None
        with np.errstate(all="ignore"):
            result = function(array, axis=axis, keepdims=keepdims)
        return np.asarray(result).astype(array.dtype)

    return evaluator


def quotient(a: Array, b: Array) -> Array:
    """The quotient without its fraction."""
    if not b.all():
        raise ValueError("division by 0")
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


SOURCES: dict[str, Source] = {
    "CastLike": cast_like,
    "Constant": constant,
    "Shape": shape,
    "Size": size,
}

EVALUATORS: dict[str, Evaluator] = {
    "Abs": one(np.abs, "iu"),
    "Add": arithmetic(np.add),
    "And": logic(np.logical_and),
    "Cast": cast,
    "Concat": concat,
    "ConstantOfShape": constant_of_shape,
    "Div": arithmetic(quotient),
    "Equal": arithmetic(np.equal),
    "Expand": expand,
    "Gather": gather,
    "Greater": comparison(np.greater),
    "GreaterOrEqual": comparison(np.greater_equal),
    "Identity": identity,
    "Less": comparison(np.less),
    "LessOrEqual": comparison(np.less_equal),
    "Max": extreme(np.maximum),
    "Min": extreme(np.minimum),
    "Mod": mod,
    "Mul": arithmetic(np.multiply),
    "Neg": one(np.negative, "i"),
    "Not": one(np.logical_not, "b"),
    "Or": logic(np.logical_or),
    "Range": arange,
    "ReduceMax": reduction(np.max),
    "ReduceMin": reduction(np.min),
    "ReduceProd": reduction(np.prod),
    "ReduceSum": reduction(np.sum),
    "Reshape": reshape,
    "Slice": slice_,
    "Squeeze": squeeze,
    "Sub": arithmetic(np.subtract),
    "Unsqueeze": unsqueeze,
    "Where": where,
    "Xor": logic(np.logical_xor),
}
"""The operators of which exporters build shapes."""
