"""
`vector`: values are arrays; loads and stores are checked against the buffer.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import vector
from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir.affine import AffineDimExpr, AffineMap

from transom.interpreters import numerics
from transom.interpreters.evaluators import Array, Evaluators, Value, Values
from transom.interpreters.indexing import check_indices, mixed, window
from transom.interpreters.interpreter import Frame, dtype_of

VECTOR = Evaluators()


def _shape(type: Any) -> tuple[int, ...]:
    return cast("VectorType[Any]", type).get_shape()


def _part(array: Array, indices: Values, shape: tuple[int, ...]) -> Array:
    """The view that a vector of this shape at these indices covers."""
    at = [int(index) for index in indices]
    sizes = [1] * (array.ndim - len(shape)) + list(shape)
    view = array[(*window(array.shape, at, sizes, [1] * array.ndim), ...)]
    return view.reshape(shape) if len(shape) < array.ndim else view


@VECTOR.of(vector.LoadOp)
def load(frame: Frame, op: vector.LoadOp, args: Values) -> Values:
    array, *indices = args
    return (_part(array, indices, _shape(op.result.type)).copy(),)


@VECTOR.of(vector.StoreOp)
def store(frame: Frame, op: vector.StoreOp, args: Values) -> Values:
    value, array, *indices = args
    at = [int(index) for index in indices]
    sizes = [1] * (array.ndim - value.ndim) + list(value.shape)
    array[window(array.shape, at, sizes, [1] * array.ndim)] = value
    return ()


def _lanes(array: Array, indices: Values, mask: Array) -> tuple[Array, ...]:
    """The indices of the lanes that a mask sets, along the last axis."""
    lanes = np.flatnonzero(mask)
    *outer, last = (int(index) for index in indices)
    for lane in lanes:
        check_indices([*outer, last + int(lane)], array.shape)
    at = [np.full_like(lanes, index) for index in outer]
    return (*at, lanes + last)


@VECTOR.of(vector.MaskedLoadOp)
def maskedload(frame: Frame, op: vector.MaskedLoadOp, args: Values) -> Values:
    array, *indices, mask, otherwise = args
    result = otherwise.copy()
    result[mask] = array[_lanes(array, indices, mask)]
    return (result,)


@VECTOR.of(vector.MaskedStoreOp)
def maskedstore(frame: Frame, op: vector.MaskedStoreOp, args: Values) -> Values:
    array, *indices, mask, value = args
    array[_lanes(array, indices, mask)] = value[mask]
    return ()


@VECTOR.of(vector.BroadcastOp)
def broadcast(frame: Frame, op: vector.BroadcastOp, args: Values) -> Values:
    return (np.broadcast_to(args[0], _shape(op.vector.type)),)


@VECTOR.of(vector.CreateMaskOp)
def create_mask(frame: Frame, op: vector.CreateMaskOp, args: Values) -> Values:
    shape = _shape(op.mask_vector.type)
    mask = np.zeros(shape, np.bool_)
    inner = zip(args, shape, strict=True)
    mask[tuple(slice(0, max(0, min(int(n), size))) for n, size in inner)] = True
    return (mask,)


@VECTOR.of(vector.ExtractOp)
def extract(frame: Frame, op: vector.ExtractOp, args: Values) -> Values:
    value, *dynamic = args
    at = mixed(op.static_position, dynamic)
    check_indices(at, value.shape[: len(at)])
    return (value[tuple(at)],)


@VECTOR.of(vector.InsertOp)
def insert(frame: Frame, op: vector.InsertOp, args: Values) -> Values:
    source, destination, *dynamic = args
    at = mixed(op.static_position, dynamic)
    check_indices(at, destination.shape[: len(at)])
    result = destination.copy()
    result[tuple(at)] = source
    return (result,)


@VECTOR.of(vector.FMAOp)
def fma(frame: Frame, op: vector.FMAOp, args: Values) -> Values:
    return (numerics.fused_multiply_add(*args),)


@VECTOR.of(vector.BitcastOp)
def bitcast(frame: Frame, op: vector.BitcastOp, args: Values) -> Values:
    type = cast("VectorType[Any]", op.result.type)
    octets = np.ascontiguousarray(args[0])
    return (octets.view(dtype_of(op, type.element_type)).reshape(type.get_shape()),)


@VECTOR.of(vector.ShuffleOp)
def shuffle(frame: Frame, op: vector.ShuffleOp, args: Values) -> Values:
    both = np.concatenate([np.atleast_1d(args[0]), np.atleast_1d(args[1])])
    lanes = np.array(cast(Any, op.mask).get_values(), np.int64)
    return (both[np.maximum(lanes, 0)],)  # -1 is poison: any element will do


def reduce_all(kind: str, x: Array) -> Value:
    """All elements folded to one; float sums and products are rounded once."""
    if kind in ("add", "mul"):
        fold = np.add if kind == "add" else np.multiply
        if numerics.is_float_dtype(x.dtype):
            return numerics.rounded(fold.reduce(x.astype(np.float64)), x.dtype)
        if x.dtype == numerics.BOOL:
            return np.logical_xor.reduce(x) if kind == "add" else x.all()
        return fold.reduce(x, dtype=x.dtype)
    if kind in _BITWISE:
        return _BITWISE[kind].reduce(x)
    if kind.endswith("f"):
        return _FLOAT_ORDER[kind].reduce(numerics.exact(x)).astype(x.dtype)
    view = numerics.as_signed if kind.endswith("si") else numerics.as_unsigned
    order = np.maximum if kind.startswith("max") else np.minimum
    result = order.reduce(view(x))
    return result.view(x.dtype) if x.dtype != numerics.BOOL else result != 0


_BITWISE = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_FLOAT_ORDER = {
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
}


@VECTOR.of(vector.ReductionOp)
def reduction(frame: Frame, op: vector.ReductionOp, args: Values) -> Values:
    elements = args[0].reshape(-1)
    if len(args) == 2:
        elements = np.append(args[1:2], elements).astype(elements.dtype)
    return (np.asarray(reduce_all(op.kind.data.value, elements))[()],)


@VECTOR.of(vector.TransferReadOp)
def transfer_read(frame: Frame, op: vector.TransferReadOp, args: Values) -> Values:
    array, rest = args[0], args[1:]
    indices, padding, mask = (
        rest[: array.ndim],
        rest[array.ndim],
        rest[array.ndim + 1 :],
    )
    shape = _shape(op.result.type)
    at, inside = _transfer(op, array, indices, shape, mask)
    result = np.full(shape, padding, array.dtype)
    result[inside] = array[tuple(index[inside] for index in at)]
    return (result,)


@VECTOR.of(vector.TransferWriteOp)
def transfer_write(frame: Frame, op: vector.TransferWriteOp, args: Values) -> Values:
    value, array, rest = args[0], args[1], args[2:]
    if isinstance(op.source.type, TensorType):
        array = array.copy()
    indices, mask = rest[: array.ndim], rest[array.ndim :]
    at, inside = _transfer(op, array, indices, value.shape, mask)
    array[tuple(index[inside] for index in at)] = value[inside]
    return (array,) if op.results else ()


def _transfer(
    op: Any,
    array: Array,
    indices: Values,
    shape: tuple[int, ...],
    mask: Sequence[Array],
) -> tuple[list[Array], Array]:
    """The index of each lane in the array, and which lanes are transferred."""
    axes = _axes(op.permutation_map.data)
    at = [np.full(shape, int(index), np.int64) for index in indices]
    lanes = np.indices(shape, np.int64)
    for lane, axis in enumerate(axes):
        if axis is not None:
            at[axis] += lanes[lane]
    inside = np.ones(shape, np.bool_)
    if mask:
        order = sorted((axis, i) for i, axis in enumerate(axes) if axis is not None)
        inside &= mask[0][tuple(lanes[i] for _, i in order)]
    exact = {
        axis
        for axis, flag in zip(axes, op.in_bounds.data, strict=True)
        if axis is not None and flag.value.data
    } | (set(range(array.ndim)) - set(axes))
    for axis, extent in enumerate(array.shape):
        fits = (at[axis] >= 0) & (at[axis] < extent)
        if axis in exact and not fits[inside].all():
            raise IndexError(f"expected indices within {list(array.shape)}")
        inside &= fits
    return at, inside


def _axes(map: AffineMap) -> list[int | None]:
    """The axis that each dimension of the vector runs along, None for a broadcast."""
    return [
        expr.position if isinstance(expr, AffineDimExpr) else None
        for expr in map.results
    ]


@VECTOR.of(vector.PrintOp)
def print_(frame: Frame, op: vector.PrintOp, args: Values) -> Values:
    return ()
