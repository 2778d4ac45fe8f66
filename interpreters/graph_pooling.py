"""
Pooling: one element of the windows after the other.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from transom.dialects import graph
from transom.interpreters import numerics
from transom.interpreters.evaluators import Array, Evaluators, Values
from transom.interpreters.interpreter import Frame
from transom.interpreters.numerics import where

POOLING = Evaluators()


class Windows(NamedTuple):
    """Windows along one axis: where each starts, and how far it may count."""

    starts: Array
    offsets: list[int]
    size: int
    """Of the axis."""
    end: int
    """Of the axis with the padding behind it."""


def _windows(
    size: int,
    kernel: int,
    stride: int,
    padding: tuple[int, int],
    dilation: int,
    ceil: bool,
) -> Windows:
    """
    The windows that fit into the padded axis.

    With `ceil` one more, which reaches over the end, if the one before it does not end
    there and it starts before the end of the axis.
    """
    before, after = padding
    span = (kernel - 1) * dilation + 1
    end = size + after
    starts = list(range(-before, end - span + 1, stride))
    if ceil and starts:
        following = starts[-1] + stride
        if starts[-1] + span < end and following < size:
            starts.append(following)
    offsets = [k * dilation for k in range(kernel)]
    return Windows(np.array(starts, np.int64), offsets, size, end)


def _both(op: Any, shape: tuple[int, ...]) -> tuple[Windows, Windows]:
    kernel, strides = op.kernel.get_values(), op.strides.get_values()
    dilations = op.dilations.get_values()
    top, left, bottom, right = op.padding.get_values()
    paddings = ((top, bottom), (left, right))
    rows, columns = (
        _windows(
            shape[axis + 2],
            kernel[axis],
            strides[axis],
            paddings[axis],
            dilations[axis],
            op.ceil_mode is not None,
        )
        for axis in (0, 1)
    )
    return rows, columns


def _visit(
    x: Array, rows: Windows, columns: Windows
) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
    """
    For each place of a window, in row-major order: the elements that all windows see
    there, their rows and columns, whether these are in the input, and whether they are
    in the padded input.
    """
    for i in rows.offsets:
        for j in columns.offsets:
            y = (rows.starts + i)[:, None]
            z = (columns.starts + j)[None, :]
            inside = (y >= 0) & (y < rows.size) & (z >= 0) & (z < columns.size)
            padded = (y < rows.end) & (z < columns.end)
            safe_y = np.clip(y, 0, rows.size - 1)
            safe_z = np.clip(z, 0, columns.size - 1)
            yield x[:, :, safe_y, safe_z], y, z, inside, padded


@POOLING.of(graph.MaxPool2dOp)
def max_pool2d(frame: Frame, op: graph.MaxPool2dOp, args: Values) -> Values:
    x = numerics.exact(args[0])
    rows, columns = _both(op, x.shape)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    shape = (*x.shape[:2], rows.starts.size, columns.starts.size)
    best = np.full(shape, lowest, x.dtype)
    places = np.full(shape, -1, np.int64)
    for seen, y, z, inside, _ in _visit(x, rows, columns):
        better = (seen > best) | (places < 0) | ((seen != seen) & (best == best))
        better &= inside
        best = where(better, seen, best)
        places = where(better, y * columns.size + z, places)
    first = (
        np.arange(x.shape[0] * x.shape[1], dtype=np.int64) * rows.size * columns.size
    )
    places = places + np.reshape(first, (*x.shape[:2], 1, 1))
    result = best.astype(args[0].dtype)
    return (result,) if op.indices is None else (result, places)


@POOLING.of(graph.AvgPool2dOp)
def avg_pool2d(frame: Frame, op: graph.AvgPool2dOp, args: Values) -> Values:
    x = args[0].astype(np.float64)
    rows, columns = _both(op, x.shape)
    total = np.zeros((*x.shape[:2], rows.starts.size, columns.starts.size))
    count = np.zeros(total.shape[2:])
    for seen, _, _, inside, padded in _visit(x, rows, columns):
        total += where(inside, seen, 0.0)
        count += padded if op.count_include_pad is not None else inside
    return (numerics.rounded(total / count, args[0].dtype),)
