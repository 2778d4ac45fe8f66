"""
Reading and writing elements by index: checked, and of whole arrays of indices in nests.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase

from transom.interpreters.evaluators import Array, Value, Values
from transom.interpreters.interpreter import Frame


def element(frame: Frame, array: Array, indices: Values) -> Value:
    """`array[indices]`; at points where the mask is unset it is any element."""
    if all(index.ndim == 0 for index in indices):
        at = tuple(map(int, indices))
        if frame.mask is None or np.all(frame.mask):
            check_indices(at, array.shape)
        elif not is_inside(at, array.shape):
            return array.dtype.type(0)
        return array[at]
    return array[checked_indices(frame, array.shape, indices)]


def checked_indices(
    frame: Frame, shape: Sequence[int], indices: Values
) -> tuple[Array, ...]:
    """
    The indices as arrays of one shape, within the extents.

    Raises IndexError for one outside them, where the mask is set.
    """
    arrays = np.broadcast_arrays(*indices)
    outside = np.zeros(arrays[0].shape, np.bool_)
    for index, extent in zip(arrays, shape, strict=True):
        outside |= (index < 0) | (index >= extent)
    wrong = outside if frame.mask is None else outside & frame.mask
    if wrong.any():
        where = np.broadcast_arrays(wrong, *arrays)
        first = np.unravel_index(np.argmax(where[0]), where[0].shape)
        check_indices([int(index[first]) for index in where[1:]], shape)
    if not outside.any():
        return tuple(arrays)
    if 0 in shape:
        raise IndexError("an empty array has no element to read")
    return tuple(
        np.clip(index, 0, extent - 1)
        for index, extent in zip(arrays, shape, strict=True)
    )


def is_inside(indices: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether every index is within its extent."""
    return all(0 <= i < n for i, n in zip(indices, shape, strict=True))


def check_indices(indices: Sequence[int], shape: Sequence[int]) -> None:
    """Raise IndexError if an index is outside its extent."""
    if not is_inside(indices, shape):
        raise IndexError(
            f"expected indices within {list(shape)}, but got {list(indices)}"
        )


def set_element(frame: Frame, array: Array, indices: Values, value: Value) -> None:
    """`array[indices] = value`, at one point."""
    at = tuple(map(int, indices))
    check_indices(at, array.shape)
    array[at] = value


def mixed(static: DenseArrayBase[Any], dynamic: Values) -> list[int]:
    """Sizes, some of them in an attribute, the others operands."""
    rest = iter(dynamic)
    return [
        int(next(rest)) if size == DYNAMIC_INDEX else int(size)
        for size in static.get_values()
    ]


def window(
    shape: Sequence[int],
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
) -> tuple[slice, ...]:
    """
    The slices of a strided window.

    Raises IndexError if it leaves the shape.
    """
    slices: list[slice] = []
    for extent, offset, size, stride in zip(
        shape, offsets, sizes, strides, strict=True
    ):
        last = offset + (size - 1) * stride
        if size < 0 or (size and not (0 <= offset < extent and 0 <= last < extent)):
            raise IndexError(
                f"expected a window within {list(shape)}, but got offsets "
                f"{list(offsets)}, sizes {list(sizes)} and strides {list(strides)}"
            )
        if size == 0:
            slices.append(slice(0, 0))
        elif stride == 0:
            raise IndexError("expected strides that are not 0")
        else:
            end = last + (1 if stride > 0 else -1)
            slices.append(slice(offset, end if end >= 0 else None, stride))
    return tuple(slices)


def collapsed(shape: Sequence[int], groups: Sequence[Sequence[int]]) -> list[int]:
    """The shape with each group of dimensions made one."""
    return [int(np.prod([shape[i] for i in group], dtype=np.int64)) for group in groups]


def drop_ones(array: Array, shape: Sequence[int]) -> Array:
    """The array without dimensions of size 1 that `shape` lacks; one below 0 is any."""
    surplus = array.ndim - len(shape)
    ones = [axis for axis, size in enumerate(array.shape) if size == 1]
    for axes in combinations(ones, surplus):
        kept = [size for axis, size in enumerate(array.shape) if axis not in axes]
        if all(w < 0 or w == size for w, size in zip(shape, kept, strict=True)):
            return np.squeeze(array, axes)
    raise ValueError(f"expected sizes {list(shape)}, but got {list(array.shape)}")
