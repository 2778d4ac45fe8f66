"""
Fourier transforms, as products with matrices, and what goes with them.
"""

from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.onnx_weights import dtype_of_kind, kind_name
from transom.dialects.weight_files import Array
from transom.frontends.onnx.node import Node, Unsupported, positive_axis, shape_of
from transom.frontends.onnx.values import (
    constant,
    cut,
    elements_of,
    merge,
    pad,
    split,
    transpose,
)

REAL, COMPLEX = 1, 2
"""The size of the last dimension: a number, or its two parts."""


def dft(n: Node) -> SSAValue:
    x, rank = n.input(), n.rank()
    if n.opset < 20:
        axis = n.axis("axis", 1, rank)
    else:
        axis = positive_axis(int(n.scalar(2)) if n.has(2) else -2, rank)
    if axis == rank - 1:
        raise Unsupported("expected another axis than that of the parts of numbers")
    length = int(n.scalar(1)) if n.has(1) else None
    inverse, onesided = n.flag("inverse"), n.flag("onesided")
    return transform(n, x, axis, length, inverse=inverse, onesided=onesided)


def transform(
    n: Node,
    x: SSAValue,
    axis: int,
    length: int | None,
    *,
    inverse: bool = False,
    onesided: bool = False,
) -> SSAValue:
    """
    The transform along an axis of numbers whose parts are the last dimension.

    What is `onesided` are the first half of the frequencies, the others being their
    conjugates: of the result, or of the operand of an inverse, whose result is real.
    """
    size, parts = shape_of(x)[axis], shape_of(x)[-1]
    if size < 1 or parts not in (REAL, COMPLEX):
        raise Unsupported(
            "expected a static size along the axis and 1 or 2 parts of numbers, "
            f"but got {size} and {parts}"
        )
    if length is None:
        length = 2 * (size - 1) if inverse and onesided else size
    if length < 1 or (onesided and not inverse and parts != REAL):
        raise Unsupported(
            "expected a length of 1 and more, and real numbers if the result is one "
            "of real numbers"
        )
    needed = length // 2 + 1 if inverse and onesided else length
    order = [a for a in range(len(shape_of(x))) if a != axis]
    order.insert(-1, axis)
    x = _resized(n, transpose(n, x, order), needed)
    at = len(order) - 2
    matrix = fourier_matrix(length, parts, inverse=inverse, onesided=onesided)
    made = matrix.shape[1] // (parts_of := REAL if inverse and onesided else COMPLEX)
    matrix = matrix.astype(numpy_dtype(elements_of(x)))
    rows = merge(n, x, at)
    if at == 0:
        rows = n.reshape(rows, [1, -1])
    product = n.add(graph.MatmulOp(rows, constant(n, matrix)))
    if at == 0:
        return n.reshape(product, [made, parts_of])
    result = split(n, product, at, [made, parts_of])
    back = [*range(axis), at, *range(axis, at), at + 1]
    return transpose(n, result, back)


def _resized(n: Node, x: SSAValue, size: int) -> SSAValue:
    """A value with so many elements along the last but one axis, zeros at the end."""
    rank = len(shape_of(x))
    own = shape_of(x)[rank - 2]
    if own >= size:
        return cut(n, x, rank - 2, 0, size) if own > size else x
    high = [0] * rank
    high[rank - 2] = size - own
    return pad(n, x, [0] * rank, high)


def fourier_matrix(length: int, parts: int, *, inverse: bool, onesided: bool) -> Array:
    """
    What a row of numbers, with their parts beside each other, is multiplied by.
    """
    halves = length // 2 + 1
    rows = halves if inverse and onesided else length
    columns = halves if onesided and not inverse else length
    turns = np.outer(np.arange(rows), np.arange(columns)) % length
    angles = 2 * np.pi * turns / length * (1 if inverse else -1)
    real, imaginary = np.cos(angles), np.sin(angles)
    if inverse and onesided:
        weights = np.full((rows, 1), 2.0)  # a frequency and its conjugate
        weights[0] = 1
        if length % 2 == 0:
            weights[-1] = 1
        both = np.stack([real * weights, -imaginary * weights], 1) / length
        return both[:, :parts].reshape(rows * parts, columns)
    # From each part of the operand to both parts of the result.
    entries = np.stack(
        [np.stack([real, imaginary], -1), np.stack([-imaginary, real], -1)], 1
    )
    entries = entries[:, :parts].reshape(rows * parts, columns * COMPLEX)
    return entries / length if inverse else entries


def stft(n: Node) -> SSAValue:
    """The transforms of frames, each so many elements after the other."""
    signal, step = n.input(0), int(n.scalar(1))
    if n.rank() != 3 or (size := n.shape()[1]) < 1:
        raise Unsupported("expected a signal of three dimensions and a static size")
    window = n.input(2) if n.has(2) else None
    if n.has(3):
        length = int(n.scalar(3))
    else:
        length = size if window is None else shape_of(window)[0]
    if step < 1 or not 1 <= length <= size:
        raise Unsupported(
            f"expected frames of 1 to {size} elements and a step, but got {length} "
            f"and {step}"
        )
    count = (size - length) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(length)
    frames = n.add(graph.GatherOp(signal, constant(n, places), 1))
    if window is not None:
        frames = n.add(graph.MulOp(frames, n.reshape(window, [length, 1])))
    onesided = n.flag("onesided", default=True) and n.shape()[2] == REAL
    return transform(n, frames, 2, None, onesided=onesided)


def mel_weight_matrix(n: Node) -> SSAValue:
    """A row per frequency of a transform, a column per triangle on the mel scale."""
    bins, length, rate = (int(n.scalar(i)) for i in range(3))
    low, high = float(n.scalar(3)), float(n.scalar(4))
    kind = n.int_attr("output_datatype", 1)
    dtype = dtype_of_kind(kind)
    if dtype is None:
        raise Unsupported(f"elements of type {kind_name(kind)} are not supported")
    if bins < 1 or length < 1 or rate < 1 or not 0 <= low < high:
        raise Unsupported("expected bins, a length, a rate, and a range of frequencies")
    ends = 2595 * np.log10(1 + np.array([low, high]) / 700)
    mels = ends[0] + np.arange(bins + 2) * ((ends[1] - ends[0]) / (bins + 2))
    hertz = 700 * (10 ** (mels / 2595) - 1)
    edges = np.floor((length + 1) * hertz / rate).astype(np.int64)
    result = np.zeros((length // 2 + 1, bins))
    for column in range(bins):
        first, centre, last = edges[column : column + 3].tolist()
        for row in range(first, min(centre + 1, len(result))):
            width = centre - first
            result[row, column] = (row - first) / width if width else 1.0
        for row in range(centre, min(last, len(result))):
            result[row, column] = (last - row) / (last - centre)
    return constant(n, result.astype(dtype))


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {
    "DFT": dft,
    "MelWeightMatrix": mel_weight_matrix,
    "STFT": stft,
}
