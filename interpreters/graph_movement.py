"""
Graph ops that move elements.
"""

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, cast

import numpy as np

from transom.dialects import graph
from transom.interpreters import numerics
from transom.interpreters.arith import attribute_value
from transom.interpreters.evaluators import Array, Evaluators, Values
from transom.interpreters.indexing import window
from transom.interpreters.interpreter import Frame
from transom.interpreters.numerics import where
from transom.interpreters.tensor import result_type

MOVEMENT = Evaluators()


@MOVEMENT.of(graph.ReshapeOp)
def reshape(frame: Frame, op: graph.ReshapeOp, args: Values) -> Values:
    (x,) = args
    shape: list[int] = []
    sizes: Sequence[int] = x.shape
    left, rest = dict(enumerate(sizes)), 1
    for entry in op.shape.data:
        if isinstance(entry, graph.InputDim):
            shape.append(sizes[entry.axis])
            if left.pop(entry.axis, None) is None:
                rest *= shape[-1]
        else:
            shape.append(entry)
            rest *= abs(entry)
    if -1 in shape and rest:  # sizes that both have may be 0, which tells nothing
        shape[shape.index(-1)] = prod(left.values()) // rest
    return (x.reshape(shape),)


@MOVEMENT.of(graph.TransposeOp)
def transpose(frame: Frame, op: graph.TransposeOp, args: Values) -> Values:
    return (np.transpose(args[0], op.permutation.get_values()),)


@MOVEMENT.of(graph.BroadcastOp)
def broadcast(frame: Frame, op: graph.BroadcastOp, args: Values) -> Values:
    (x,) = args
    sizes = result_type(op).get_shape()
    own = (1,) * (len(sizes) - x.ndim) + x.shape
    shape = [n if s < 0 else s for s, n in zip(sizes, own, strict=True)]
    frame.interpreter.check_size(op, shape, x.itemsize)
    return (np.broadcast_to(x, shape),)


@MOVEMENT.of(graph.ConcatOp)
def concat(frame: Frame, op: graph.ConcatOp, args: Values) -> Values:
    return (np.concatenate(list(args), op.axis.value.data),)


@MOVEMENT.of(graph.SliceOp)
def slice_(frame: Frame, op: graph.SliceOp, args: Values) -> Values:
    (x,) = args
    starts: list[int] = []
    sizes: list[int] = []
    steps = op.steps.get_values()
    for extent, start, size, step in zip(
        x.shape, op.starts.get_values(), op.sizes.get_values(), steps, strict=True
    ):
        first = start if start >= 0 else extent + start
        end = extent + size + 1 if step > 0 else -1  # where a negative size ends
        starts.append(first)
        sizes.append(size if size >= 0 else len(range(first, end, step)))
    return (x[window(x.shape, starts, sizes, steps)],)


@MOVEMENT.of(graph.PadOp)
def pad(frame: Frame, op: graph.PadOp, args: Values) -> Values:
    (x,) = args
    low, high = op.low.get_values(), op.high.get_values()
    shape = [sum(sizes) for sizes in zip(low, x.shape, high, strict=True)]
    frame.interpreter.check_size(op, shape, x.itemsize)
    result = np.full(shape, attribute_value(op, op.value), x.dtype)
    result[tuple(slice(a, a + n) for a, n in zip(low, x.shape, strict=True))] = x
    return (result,)


@MOVEMENT.of(graph.GatherOp)
def gather(frame: Frame, op: graph.GatherOp, args: Values) -> Values:
    data, indices = args
    axis = op.axis.value.data
    shape = (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :])
    frame.interpreter.check_size(op, shape, data.itemsize)
    if 0 in shape:
        return (np.empty(shape, data.dtype),)
    extent = data.shape[axis]
    from_start = where(indices < 0, indices + extent, indices)
    return (np.take(data, np.clip(from_start, 0, extent - 1), axis),)


@MOVEMENT.of(graph.GatherElementsOp)
def gather_elements(frame: Frame, op: graph.GatherElementsOp, args: Values) -> Values:
    data, indices = args
    axis = op.axis.value.data
    if any(
        found > size
        for number, (size, found) in enumerate(
            zip(data.shape, indices.shape, strict=True)
        )
        if number != axis
    ):
        raise ValueError(
            f"expected indices within the shape {list(data.shape)}, but theirs is "
            f"{list(indices.shape)}"
        )
    extent = data.shape[axis]
    if indices.size and not extent:
        raise ValueError("expected data with elements along the axis")
    at: list[Array] = [*_grid(indices.shape)]
    from_start = where(indices < 0, indices + extent, indices)
    at[axis] = np.clip(from_start, 0, max(extent - 1, 0))
    return (data[tuple(at)],)


@MOVEMENT.of(graph.NonzeroOp)
def nonzero(frame: Frame, op: graph.NonzeroOp, args: Values) -> Values:
    (x,) = args
    return (np.array(np.nonzero(x != 0), np.int64),)


@MOVEMENT.of(graph.IotaOp)
def iota(frame: Frame, op: graph.IotaOp, args: Values) -> Values:
    (x,) = args
    return (np.array(np.broadcast_to(_grid_axis(x.shape, op), x.shape), np.int64),)


def _grid_axis(shape: tuple[int, ...], op: graph.IotaOp) -> Array:
    axis = op.axis.value.data
    ones = [1] * len(shape)
    ones[axis] = shape[axis]
    return np.arange(shape[axis]).reshape(ones)


def _grid(shape: tuple[int, ...]) -> Iterable[Array]:
    """The index along each axis, as arrays that broadcast."""
    return cast(Any, np.indices(shape, np.int64, sparse=True))


_COMBINE: dict[graph.ScatterCombine, Any] = {
    graph.ScatterCombine.ADD: np.add,
    graph.ScatterCombine.MUL: np.multiply,
    graph.ScatterCombine.MIN: np.minimum,
    graph.ScatterCombine.MAX: np.maximum,
}


@MOVEMENT.of(graph.ScatterOp)
def scatter(frame: Frame, op: graph.ScatterOp, args: Values) -> Values:
    """Floats that meet at one place are combined in `f64`."""
    data, indices, updates = args
    axis, dtype = op.axis.value.data, data.dtype
    if indices.shape != updates.shape:
        raise ValueError(
            f"expected equal shapes, but got {list(indices.shape)} and "
            f"{list(updates.shape)}"
        )
    extent = data.shape[axis]
    if updates.size and not extent:
        raise ValueError("expected data with elements along the axis")
    from_start = where(indices < 0, indices + extent, indices)
    at: list[Array] = [*_grid(indices.shape)]
    at[axis] = np.clip(from_start, 0, max(extent - 1, 0))
    if op.combine.data == graph.ScatterCombine.NONE:
        result = data.copy(order="C")
        # One index array in row-major order, so that the last update stays.
        flat = np.ravel_multi_index(np.broadcast_arrays(*at), data.shape).ravel()
        result.reshape(-1)[flat] = updates.ravel()
        return (result,)
    wide = np.dtype(np.float64) if numerics.is_float_dtype(dtype) else dtype
    result = data.astype(wide)
    _COMBINE[op.combine.data].at(result, tuple(at), updates.astype(wide))
    return (numerics.rounded(result, dtype),)
