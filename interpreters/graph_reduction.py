"""
Reductions, normalizations and running sums.

Floats are computed in `f64` and rounded once; sums and products of integers wrap.
"""

from typing import Any

import numpy as np

from transom.dialects import graph
from transom.interpreters import numerics
from transom.interpreters.evaluators import Array, Evaluators, Values
from transom.interpreters.interpreter import Frame

REDUCTION = Evaluators()


def _limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest value of a dtype."""
    if numerics.is_float_dtype(dtype):
        return -np.inf, np.inf
    info = np.iinfo(dtype)
    return info.min, info.max


@REDUCTION.of(graph.ReduceOp)
def reduce_(frame: Frame, op: graph.ReduceOp, args: Values) -> Values:
    (x,) = args
    kind, axes = op.kind.data, tuple(op.axes.get_values())
    keepdims = op.keepdims is not None
    least, greatest = _limits(x.dtype)
    if kind in (graph.ReduceKind.MAX, graph.ReduceKind.MIN):
        largest = kind == graph.ReduceKind.MAX
        fold = np.maximum if largest else np.minimum
        result = fold.reduce(
            numerics.exact(x),
            axes,
            keepdims=keepdims,
            initial=least if largest else greatest,
        )
        return (np.asarray(result).astype(x.dtype),)
    wide = x.astype(np.float64) if numerics.is_float_dtype(x.dtype) else x
    fold = np.multiply if kind == graph.ReduceKind.PROD else np.add
    total = np.asarray(fold.reduce(wide, axes, dtype=wide.dtype, keepdims=keepdims))
    if kind == graph.ReduceKind.MEAN:
        count = np.prod([x.shape[axis] for axis in axes], dtype=np.float64)
        total = np.asarray(total / count)
    return (numerics.rounded(total, x.dtype),)


@REDUCTION.of(graph.ArgReduceOp)
def arg_reduce(frame: Frame, op: graph.ArgReduceOp, args: Values) -> Values:
    first = np.argmax if op.kind.data == graph.ArgReduceKind.ARGMAX else np.argmin
    axis, keepdims = op.axis.value.data, op.keepdims is not None
    place = first(numerics.exact(args[0]), axis=axis, keepdims=keepdims)
    return (np.asarray(place, np.int64),)


def _shifted(x: Array, axis: int) -> Array:
    """In `f64`, with the largest along the axis at 0."""
    wide = x.astype(np.float64)
    return wide - np.max(wide, axis=axis, keepdims=True, initial=-np.inf)


@REDUCTION.of(graph.SoftmaxOp)
def softmax(frame: Frame, op: graph.SoftmaxOp, args: Values) -> Values:
    axis = op.axis.value.data
    powers = np.exp(_shifted(args[0], axis))
    result = powers / powers.sum(axis, keepdims=True)
    return (numerics.rounded(result, args[0].dtype),)


@REDUCTION.of(graph.LogSoftmaxOp)
def log_softmax(frame: Frame, op: graph.LogSoftmaxOp, args: Values) -> Values:
    axis = op.axis.value.data
    shifted = _shifted(args[0], axis)
    result = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
    return (numerics.rounded(result, args[0].dtype),)


@REDUCTION.of(graph.BatchNormOp)
def batch_norm(frame: Frame, op: graph.BatchNormOp, args: Values) -> Values:
    x = args[0].astype(np.float64)
    per_channel = (-1,) + (1,) * (x.ndim - 2)
    scale, bias, mean, variance = (
        a.astype(np.float64).reshape(per_channel) for a in args[1:]
    )
    deviation = np.sqrt(variance + op.epsilon.value.data)
    return (numerics.rounded((x - mean) / deviation * scale + bias, args[0].dtype),)


_CUMULATE: dict[graph.CumulateKind, Any] = {
    graph.CumulateKind.SUM: np.add,
    graph.CumulateKind.PROD: np.multiply,
    graph.CumulateKind.MAX: np.maximum,
    graph.CumulateKind.MIN: np.minimum,
}


def _of_none(kind: graph.CumulateKind, dtype: np.dtype[Any]) -> Any:
    """What the elements of nothing make."""
    least, greatest = _limits(dtype)
    return {"sum": 0, "prod": 1, "max": least, "min": greatest}[kind.value]


@REDUCTION.of(graph.CumulateOp)
def cumulate(frame: Frame, op: graph.CumulateOp, args: Values) -> Values:
    axis, kind = op.axis.value.data, op.kind.data
    x = np.moveaxis(args[0], axis, 0)
    wide = x.astype(np.float64) if numerics.is_float_dtype(x.dtype) else x
    wide = wide[::-1] if op.reverse is not None else wide
    total = _CUMULATE[kind].accumulate(wide, axis=0, dtype=wide.dtype)
    if op.exclusive is not None:
        none = np.full_like(total[:1], _of_none(kind, x.dtype))
        total = np.concatenate([none, total[:-1]])
    total = total[::-1] if op.reverse is not None else total
    return (numerics.rounded(np.moveaxis(total, 0, axis), args[0].dtype),)


@REDUCTION.of(graph.ArgsortOp)
def argsort(frame: Frame, op: graph.ArgsortOp, args: Values) -> Values:
    """By the rank of each element among those that differ, NaN being one of them."""
    axis, x = op.axis.value.data, numerics.exact(args[0])
    _, ranks = np.unique(x, return_inverse=True, equal_nan=True)
    keys = np.asarray(ranks, np.int64).reshape(x.shape)
    keys = -keys if op.descending is not None else keys
    order = np.asarray(np.argsort(keys, axis, kind="stable"), np.int64)
    return (order if op.count is None else order.take(range(op.count), axis),)
