"""
The values of graph ops on constants, by NumPy.

Results are exact for the element type where IEEE arithmetic is: sums, products,
quotients and roots are rounded once. Transcendental functions are computed in f64 and
rounded once. Sums of many terms are taken in f32 for halves, else in the element type.
An evaluator returns None where the op is undefined, such as integer division by zero.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation

from transom.dialects import graph
from transom.dialects.dense_splat import is_splat, splat
from transom.dialects.dtypes import BFLOAT16, numpy_dtype
from transom.dialects.graph.desc import AnyTensor

Array = npt.NDArray[Any]
Evaluator = Callable[..., Array | None]

HALVES = (np.dtype(np.float16), BFLOAT16)


def array_of(value: DenseIntOrFPElementsAttr[Any]) -> Array:
    """The elements of a constant; a splat takes no memory. Not to be written."""
    dtype = numpy_dtype(value.get_element_type())
    data, shape = value.data.data, value.get_shape()
    if dtype == np.bool_:  # true is any byte but 0
        data = bytes(map(bool, data))
    if is_splat(data, dtype.itemsize):
        return np.broadcast_to(np.frombuffer(data, dtype, 1).reshape(()), shape)
    return np.frombuffer(data, dtype).reshape(shape)


def dense_of(array: Array, type: AnyTensor) -> DenseIntOrFPElementsAttr[Any]:
    """The constant of these elements."""
    count = math.prod(array.shape)
    once = count > 0 and not any(array.strides)
    elements = array.reshape(-1)[:1] if once else np.ascontiguousarray(array)
    if elements.dtype == np.bool_:  # as xDSL's parser makes it
        elements = np.where(elements, np.uint8(0xFF), np.uint8(0))
    if once:
        return splat(type, elements.tobytes())
    return graph.ConstantOp.from_bytes(type, elements.tobytes()).value


def evaluate(op: Operation, arrays: Sequence[Array]) -> Array | None:
    """
    The result of an op on these operands, or None if there is no evaluator for it or
    the result is undefined. Element-wise ops on splats give a splat.
    """
    evaluator = EVALUATORS.get(type(op))
    if evaluator is None:
        return None
    type_ = cast(AnyTensor, op.results[0].type)
    shape, dtype = type_.get_shape(), numpy_dtype(type_.element_type)
    if isinstance(op, graph.ElementwiseOp) and all(
        array.size and not any(array.strides) for array in arrays
    ):
        arrays = [array.reshape(-1)[0:1].reshape(()) for array in arrays]
    with np.errstate(all="ignore"):
        result = evaluator(op, *(np.asarray(array) for array in arrays))
    if result is None:
        return None
    result = rounded(np.asarray(result), dtype)
    if is_floating(dtype):  # whose sign and payload differ between machines
        result = np.where(np.isnan(result), dtype.type(np.nan), result)
    return np.broadcast_to(result, shape)


def rounded(array: Array, dtype: np.dtype[Any]) -> Array:
    """The array as another type, each element rounded once."""
    if dtype == BFLOAT16 and array.dtype == np.float64:
        return round_to_odd(array).astype(dtype)
    return array.astype(dtype, copy=False)


def round_to_odd(array: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """
    The f32 next to each f64, the one with an odd last bit if there are two: rounding
    that again to fewer bits gives what rounding the f64 directly would give.
    """
    near = array.astype(np.float32)
    back = near.astype(np.float64)
    bits = near.view(np.uint32) - (np.abs(back) > np.abs(array)).astype(np.uint32)
    inexact = (back != array) & ~np.isnan(array)
    return np.asarray(np.where(inexact, (bits | np.uint32(1)).view(np.float32), near))


def wide(array: Array) -> Array:
    """Floats as f64, others as they are."""
    return array.astype(np.float64) if is_floating(array.dtype) else array


def is_floating(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or dtype == BFLOAT16


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which many terms of a type are summed."""
    return np.dtype(np.float32) if dtype in HALVES else dtype


def divide(op: Operation, a: Array, b: Array) -> Array:
    if is_floating(a.dtype):
        return np.divide(a, b)
    quotient = a // b  # by zero 0, as is the rest
    return quotient + ((a % b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def remainder(op: Operation, a: Array, b: Array) -> Array:
    if is_floating(a.dtype):
        return np.fmod(wide(a), wide(b))
    return np.mod(a, b)


def power(op: Operation, a: Array, b: Array) -> Array | None:
    if is_floating(a.dtype):
        return np.power(wide(a), wide(b))
    a, b = np.broadcast_arrays(a, b)
    if np.any((a == 0) & (b < 0)):
        return None
    positive = np.power(a, np.maximum(b, 0))
    parity = np.where(b % 2 == 0, a.dtype.type(1), a)
    inverse = np.where((a == 1) | (a == -1), parity, a.dtype.type(0))
    return np.where(b < 0, inverse, positive)


def unary(function: Callable[[Array], Array]) -> Evaluator:
    """A function that is computed in f64 for floats."""

    def evaluator(op: Operation, x: Array) -> Array:
        return function(wide(x))

    return evaluator


def binary(function: Callable[[Array, Array], Array]) -> Evaluator:
    """A function that is rounded once in the element type."""

    def evaluator(op: Operation, a: Array, b: Array) -> Array:
        return function(a, b)

    return evaluator


ERF = np.frompyfunc(math.erf, 1, 1)


def erf(x: Array) -> Array:
    return np.asarray(ERF(x)).astype(np.float64)


def gelu(x: Array) -> Array:
    return x / 2 * (1 + erf(x / math.sqrt(2.0)))


def leaky_relu(op: graph.LeakyReluOp, x: Array) -> Array:
    return np.where(x > 0, x, x * x.dtype.type(op.alpha.value.data))


def clamp(op: graph.ClampOp, x: Array) -> Array:
    if op.min is not None:
        x = np.maximum(x, x.dtype.type(op.min.value.data))
    if op.max is not None:
        x = np.minimum(x, x.dtype.type(op.max.value.data))
    return x


COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def compare(op: graph.CompareOp, a: Array, b: Array) -> Array:
    return COMPARISONS[op.predicate.data](a, b)


def select(op: Operation, cond: Array, on_true: Array, on_false: Array) -> Array:
    return np.where(cond, on_true, on_false)


def quantize(op: graph.QuantizeOp, x: Array, scale: Array, zero: Array) -> Array:
    dtype = np.result_type(*(accumulator(v.dtype) for v in (x, scale)))
    whole = np.rint(x.astype(dtype) / scale.astype(dtype)) + zero.astype(dtype)
    return saturated(wide(whole), zero.dtype)


def dequantize(op: graph.DequantizeOp, x: Array, scale: Array, zero: Array) -> Array:
    dtype = accumulator(scale.dtype)
    moved = x.astype(np.int32) - zero.astype(np.int32)
    return rounded(moved.astype(dtype) * scale.astype(dtype), scale.dtype)


def convert(op: graph.CastOp, x: Array) -> Array:
    dtype = numpy_dtype(op.declared_type().element_type)
    if dtype == np.bool_:
        return x != 0
    if is_floating(x.dtype) and not is_floating(dtype):
        return saturated(wide(x), dtype)
    if dtype == BFLOAT16 and x.dtype.kind in "iu" and x.dtype.itemsize == 8:
        low = (x & x.dtype.type(0x7FF)) != 0  # bits that an f64 has no room for
        x = ((x >> x.dtype.type(11)) | low.astype(x.dtype)).astype(np.float64) * 2048.0
    elif dtype == BFLOAT16:
        x = x.astype(np.float64)
    return rounded(x, dtype)


def bitcast(op: graph.BitcastOp, x: Array) -> Array:
    return np.asarray(x, order="C").view(numpy_dtype(op.declared_type().element_type))


def saturated(x: npt.NDArray[np.float64], dtype: np.dtype[Any]) -> Array:
    """Truncated towards zero, kept in the range of an integer type; NaN is 0."""
    limits = np.iinfo(dtype)
    whole = np.trunc(x)
    low, high = whole <= float(limits.min), whole >= float(limits.max)
    inside = np.where(low | high | np.isnan(x), 0.0, whole).astype(dtype)
    return np.where(high, limits.max, np.where(low, limits.min, inside)).astype(dtype)


def matmul(op: graph.MatmulOp, a: Array, b: Array) -> Array:
    dtype = accumulator(numpy_dtype(op.declared_type().element_type))
    a, b = a.astype(dtype), b.astype(dtype)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*batch, a.shape[-2], b.shape[-1]), dtype)
    for k in range(a.shape[-1]):  # in order, so that every machine has the same sum
        total += a[..., :, k, None] * b[..., k, None, :]
    return total


def softmax(op: graph.SoftmaxOp | graph.LogSoftmaxOp, x: Array) -> Array:
    axis = op.axis.value.data
    if not x.size:
        return x
    x = wide(x) - wide(x).max(axis, keepdims=True)
    total = np.exp(x).sum(axis, keepdims=True)
    if isinstance(op, graph.SoftmaxOp):
        return np.exp(x) / total
    return x - np.log(total)


def batch_norm(
    op: graph.BatchNormOp, x: Array, scale: Array, bias: Array, mean: Array, var: Array
) -> Array:
    shape = (-1,) + (1,) * (x.ndim - 2)
    scale, bias, mean, var = (wide(v).reshape(shape) for v in (scale, bias, mean, var))
    root = np.sqrt(var + op.epsilon.value.data)
    return (wide(x) - mean) / root * scale + bias


def reduce(op: graph.ReduceOp, x: Array) -> Array:
    kind, axes, dtype = op.kind.data, op.axes.get_values(), x.dtype
    keepdims = op.keepdims is not None
    if kind in ("max", "min"):
        function = np.maximum if kind == "max" else np.minimum
        return function.reduce(
            wide(x), axes, initial=extreme(dtype, kind), keepdims=keepdims
        )
    function = np.multiply if kind == "prod" else np.add
    x = x.astype(accumulator(dtype))
    total = function.reduce(x, axes, dtype=x.dtype, keepdims=keepdims)
    if kind != "mean":
        return total
    return total / total.dtype.type(math.prod(x.shape[axis] for axis in axes))


def extreme(dtype: np.dtype[Any], kind: str) -> Any:
    """The largest (`max`) or smallest element of none."""
    if is_floating(dtype):
        return -np.inf if kind == "max" else np.inf
    limits = np.iinfo(dtype)
    return limits.min if kind == "max" else limits.max


def arg_reduce(op: graph.ArgReduceOp, x: Array) -> Array:
    function = np.argmax if op.kind.data == "argmax" else np.argmin
    keepdims = op.keepdims is not None
    return function(wide(x), axis=op.axis.value.data, keepdims=keepdims)


CUMULATIONS: dict[str, tuple[np.ufunc, int]] = {
    "sum": (np.add, 0),
    "prod": (np.multiply, 1),
    "max": (np.maximum, 0),
    "min": (np.minimum, 0),
}
"""The function of each kind, and what a sum or a product starts from."""


def cumulate(op: graph.CumulateOp, x: Array) -> Array:
    kind, axis, dtype = op.kind.data, op.axis.value.data, accumulator(x.dtype)
    function, start = CUMULATIONS[kind]
    first = extreme(x.dtype, kind) if kind in ("max", "min") else start
    x = x.astype(dtype)
    if op.reverse is not None:
        x = np.flip(x, axis)
    if op.exclusive is not None:
        none = np.full_like(np.take(x, range(min(1, x.shape[axis])), axis), first)
        x = np.concatenate((none, np.take(x, range(x.shape[axis] - 1), axis)), axis)
    total = function.accumulate(x, axis, dtype=dtype)
    return np.flip(total, axis) if op.reverse is not None else total


def reshape(op: graph.ReshapeOp, x: Array) -> Array:
    return x.reshape(op.declared_type().get_shape())


def transpose(op: graph.TransposeOp, x: Array) -> Array:
    return x.transpose(op.permutation.get_values())


def broadcast(op: graph.BroadcastOp, x: Array) -> Array:
    return np.broadcast_to(x, op.declared_type().get_shape())


def concat(op: graph.ConcatOp, *arrays: Array) -> Array:
    return np.concatenate(arrays, op.axis.value.data)


def slice_(op: graph.SliceOp, x: Array) -> Array:
    index: list[Any] = []
    for start, count, step, size in zip(
        op.starts.get_values(),
        op.declared_type().get_shape(),
        op.steps.get_values(),
        x.shape,
        strict=True,
    ):
        first = start + size if start < 0 else start
        index.append(range(first, first + count * step, step))
    return x[np.ix_(*index)] if index else x


def pad(op: graph.PadOp, x: Array) -> Array:
    widths = list(zip(op.low.get_values(), op.high.get_values(), strict=True))
    value = x.dtype.type(op.value.value.data)
    result = np.full(
        [n + a + b for n, (a, b) in zip(x.shape, widths, strict=True)], value
    )
    inner = tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths, strict=True))
    result[inner] = x
    return result


def gather(op: graph.GatherOp, data: Array, indices: Array) -> Array:
    axis = op.axis.value.data
    size = data.shape[axis]
    if not size:
        return np.empty(op.declared_type().get_shape(), data.dtype)
    places = np.clip(np.where(indices < 0, indices + size, indices), 0, size - 1)
    return np.take(data, places, axis)


def gather_elements(op: graph.GatherElementsOp, data: Array, indices: Array) -> Array:
    axis = op.axis.value.data
    size = data.shape[axis]
    if not indices.size:
        return np.empty(indices.shape, data.dtype)
    places = np.clip(np.where(indices < 0, indices + size, indices), 0, size - 1)
    cut = [slice(None, extent) for extent in indices.shape]
    cut[axis] = slice(None)
    return np.take_along_axis(data[tuple(cut)], places.astype(np.int64), axis)


def argsort(op: graph.ArgsortOp, x: Array) -> Array:
    axis = op.axis.value.data
    if op.descending is None:
        order = np.argsort(wide(x), axis, kind="stable")
    else:
        turned = np.argsort(np.flip(wide(x), axis), axis, kind="stable")
        order = x.shape[axis] - 1 - np.flip(turned, axis)
    return order if op.count is None else order.take(range(op.count), axis)


def iota(op: graph.IotaOp, x: Array) -> Array:
    return np.indices(x.shape, np.int64)[op.axis.value.data]


def shift_left(op: Operation, a: Array, b: Array) -> Array:
    bits = np.iinfo(a.dtype).bits
    fits = np.logical_and(b >= 0, b < bits)
    return np.where(fits, a << np.where(fits, b, b.dtype.type(0)), a.dtype.type(0))


def shift_right(op: Operation, a: Array, b: Array) -> Array:
    bits = np.iinfo(a.dtype).bits
    fits = np.logical_and(b >= 0, b < bits)
    rest = np.where(a < 0, a.dtype.type(-1 if a.dtype.kind == "i" else 0), a & 0)
    return np.where(fits, a >> np.where(fits, b, b.dtype.type(0)), rest)


COMBINATIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def scatter(
    op: graph.ScatterOp, data: Array, indices: Array, updates: Array
) -> Array | None:
    axis = op.axis.value.data
    size = data.shape[axis]
    if not size:
        return None if updates.size else data
    places = np.where(indices < 0, indices + size, indices)
    index: list[Any] = list(np.indices(places.shape))
    index[axis] = np.clip(places, 0, size - 1)
    result: Array = data.astype(accumulator(data.dtype), order="C")
    if op.combine.data == "none":
        for *place, update in zip(*(i.flat for i in index), updates.flat, strict=True):
            result[tuple(place)] = update  # in this order: the last one stays
    else:
        COMBINATIONS[op.combine.data].at(
            result, tuple(index), updates.astype(result.dtype)
        )
    return result


EVALUATORS: dict[type[Operation], Evaluator] = {
    graph.AbsOp: unary(np.abs),
    graph.AddOp: binary(np.add),
    graph.AndOp: binary(np.bitwise_and),
    graph.ArgReduceOp: arg_reduce,
    graph.ArgsortOp: argsort,
    graph.BatchNormOp: batch_norm,
    graph.BitcastOp: bitcast,
    graph.BroadcastOp: broadcast,
    graph.CastOp: convert,
    graph.CeilOp: unary(np.ceil),
    graph.ClampOp: clamp,
    graph.CompareOp: compare,
    graph.ConcatOp: concat,
    graph.CosOp: unary(np.cos),
    graph.CumulateOp: cumulate,
    graph.DequantizeOp: dequantize,
    graph.DivOp: divide,
    graph.ErfOp: unary(erf),
    graph.ExpOp: unary(np.exp),
    graph.FloorOp: unary(np.floor),
    graph.GatherOp: gather,
    graph.GeluOp: unary(gelu),
    graph.LeakyReluOp: leaky_relu,
    graph.LogOp: unary(np.log),
    graph.LogSoftmaxOp: softmax,
    graph.MatmulOp: matmul,
    graph.MaximumOp: binary(np.maximum),
    graph.MinimumOp: binary(np.minimum),
    graph.ModOp: remainder,
    graph.MulOp: binary(np.multiply),
    graph.NegOp: unary(np.negative),
    graph.NotOp: unary(np.invert),
    graph.OrOp: binary(np.bitwise_or),
    graph.PadOp: pad,
    graph.PowOp: power,
    graph.QuantizeOp: quantize,
    graph.ReciprocalOp: unary(np.reciprocal),
    graph.ReduceOp: reduce,
    graph.ReluOp: unary(lambda x: np.maximum(x, x.dtype.type(0))),
    graph.ReshapeOp: reshape,
    graph.RoundOp: unary(np.rint),
    graph.RsqrtOp: unary(lambda x: 1 / np.sqrt(x)),
    graph.ScatterOp: scatter,
    graph.GatherElementsOp: gather_elements,
    graph.IotaOp: iota,
    graph.ShiftLeftOp: shift_left,
    graph.ShiftRightOp: shift_right,
    graph.AcosOp: unary(np.arccos),
    graph.AcoshOp: unary(np.arccosh),
    graph.AsinOp: unary(np.arcsin),
    graph.AsinhOp: unary(np.arcsinh),
    graph.AtanOp: unary(np.arctan),
    graph.AtanhOp: unary(np.arctanh),
    graph.CoshOp: unary(np.cosh),
    graph.SinhOp: unary(np.sinh),
    graph.TanOp: unary(np.tan),
    graph.SelectOp: select,
    graph.SigmoidOp: unary(lambda x: 1 / (1 + np.exp(-x))),
    graph.SignOp: unary(np.sign),
    graph.SinOp: unary(np.sin),
    graph.SliceOp: slice_,
    graph.SoftmaxOp: softmax,
    graph.SqrtOp: unary(np.sqrt),
    graph.SubOp: binary(np.subtract),
    graph.TanhOp: unary(np.tanh),
    graph.TransposeOp: transpose,
    graph.XorOp: binary(np.bitwise_xor),
}
"""The evaluator of each op that has one."""
