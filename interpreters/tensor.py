"""
`tensor`: values are arrays that nobody writes to; views may share memory.
"""

from typing import Any, cast

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from transom.interpreters.evaluators import Array, Evaluators, Values
from transom.interpreters.indexing import (
    check_indices,
    collapsed,
    drop_ones,
    element,
    mixed,
    window,
)
from transom.interpreters.interpreter import Frame, dtype_of
from transom.interpreters.memref import check_static_sizes

TENSOR = Evaluators()


def result_type(op: Operation) -> TensorType[Any]:
    """The type of the first result."""
    return cast("TensorType[Any]", op.results[0].type)


def result_shape(op: Operation, dynamic: Values) -> list[int]:
    """The shape of the first result, whose open sizes are `dynamic`."""
    rest = iter(dynamic)
    return [int(next(rest)) if s < 0 else s for s in result_type(op).get_shape()]


@TENSOR.of(tensor.CastOp)
def cast_(frame: Frame, op: tensor.CastOp, args: Values) -> Values:
    check_static_sizes(args[0], op.dest.type)
    return (args[0],)


@TENSOR.of(tensor.DimOp)
def dim(frame: Frame, op: tensor.DimOp, args: Values) -> Values:
    array, axis = args
    check_indices([int(axis)], [array.ndim])
    return (np.int64(array.shape[int(axis)]),)


@TENSOR.of(tensor.EmptyOp)
def empty(frame: Frame, op: tensor.EmptyOp, args: Values) -> Values:
    dtype = dtype_of(op, result_type(op).element_type)
    return (frame.interpreter.allocate(op, result_shape(op, args), dtype),)


@TENSOR.of(tensor.SplatOp)
def splat(frame: Frame, op: tensor.SplatOp, args: Values) -> Values:
    value, *dynamic = args
    shape = result_shape(op, dynamic)
    frame.interpreter.check_size(op, shape, value.itemsize)
    return (np.broadcast_to(value, shape),)


@TENSOR.of(tensor.FromElementsOp)
def from_elements(frame: Frame, op: tensor.FromElementsOp, args: Values) -> Values:
    dtype = dtype_of(op, result_type(op).element_type)
    return (np.array(list(args), dtype).reshape(result_type(op).get_shape()),)


@TENSOR.of(tensor.ExtractOp)
def extract(frame: Frame, op: tensor.ExtractOp, args: Values) -> Values:
    array, *indices = args
    return (element(frame, array, indices),)


@TENSOR.of(tensor.InsertOp)
def insert(frame: Frame, op: tensor.InsertOp, args: Values) -> Values:
    value, array, *indices = args
    at = tuple(map(int, indices))
    check_indices(at, array.shape)
    result = array.copy()
    result[at] = value
    return (result,)


def _slices(op: Any, shape: tuple[int, ...], rest: Values) -> tuple[slice, ...]:
    """The window of an op with static and dynamic offsets, sizes and strides."""
    offsets, rest = rest[: len(op.offsets)], rest[len(op.offsets) :]
    sizes, strides = rest[: len(op.sizes)], rest[len(op.sizes) :]
    return window(
        shape,
        mixed(op.static_offsets, offsets),
        mixed(op.static_sizes, sizes),
        mixed(op.static_strides, strides),
    )


@TENSOR.of(tensor.ExtractSliceOp)
def extract_slice(frame: Frame, op: tensor.ExtractSliceOp, args: Values) -> Values:
    array, *rest = args
    part = array[(*_slices(op, array.shape, rest), ...)]
    return (drop_ones(part, result_type(op).get_shape()),)


@TENSOR.of(tensor.InsertSliceOp)
def insert_slice(frame: Frame, op: tensor.InsertSliceOp, args: Values) -> Values:
    source, destination, *rest = args
    result = destination.copy()
    part = result[(*_slices(op, result.shape, rest), ...)]
    if source.size != part.size:
        raise ValueError(
            f"expected a source of the window's sizes {list(part.shape)}, but got "
            f"{list(source.shape)}"
        )
    part[...] = source.reshape(part.shape)  # the source may lack sizes of 1
    return (result,)


@TENSOR.of(tensor.CollapseShapeOp)
def collapse_shape(frame: Frame, op: tensor.CollapseShapeOp, args: Values) -> Values:
    groups = [[i.value.data for i in group] for group in op.reassociation]
    return (args[0].reshape(collapsed(args[0].shape, groups)),)


@TENSOR.of(tensor.ExpandShapeOp)
def expand_shape(frame: Frame, op: tensor.ExpandShapeOp, args: Values) -> Values:
    array, *dynamic = args
    return (array.reshape(mixed(op.static_output_shape, dynamic)),)


@TENSOR.of(tensor.ReshapeOp)
def reshape(frame: Frame, op: tensor.ReshapeOp, args: Values) -> Values:
    array, shape = args
    sizes = [int(size) for size in shape]
    frame.interpreter.check_size(op, sizes)
    result = array.reshape(sizes)
    check_static_sizes(result, op.result.type)
    return (result,)


@TENSOR.of(tensor.ConcatOp)
def concat(frame: Frame, op: tensor.ConcatOp, args: Values) -> Values:
    return (np.concatenate(list(args), op.dim.value.data),)


@TENSOR.of(tensor.PadOp)
def pad(frame: Frame, op: tensor.PadOp, args: Values) -> Values:
    """The region gives the padding at each point; it is evaluated at all at once."""
    array, *rest = args
    low = mixed(op.static_low, rest[: len(op.low)])
    high = mixed(op.static_high, rest[len(op.low) :])
    shape = [sum(sizes) for sizes in zip(low, array.shape, high, strict=True)]
    frame.interpreter.check_size(op, shape)
    points: tuple[Array, ...] = np.indices(shape, np.int64, sparse=True)
    (value,) = frame.region(op.region, points).values
    result = np.empty(shape, array.dtype)
    result[...] = value
    inner = window(shape, low, array.shape, [1] * array.ndim)
    result[inner] = array
    return (result,)
