"""
Matrix products and convolution: sums of products.

Sums of floats are taken in `f64` and rounded once; those of bytes, too, where they are
exact. Other integers wrap.
"""

from typing import Any

import numpy as np

from transom.dialects import graph
from transom.interpreters import numerics
from transom.interpreters.evaluators import Array, Evaluators, Value, Values
from transom.interpreters.interpreter import Frame, dtype_of
from transom.interpreters.tensor import result_type

CONTRACTION = Evaluators()

MAX_EXACT_SUM = 1 << 36
"""So many products of bytes are exact in `f64`."""


def accumulated(*operands: Array, terms: int) -> list[Array]:
    """The operands in a type that their sums of products are exact in, or nearly so."""
    integers = not numerics.is_float_dtype(operands[0].dtype)
    small = all(x.dtype.itemsize == 1 for x in operands) and terms < MAX_EXACT_SUM
    return [
        x.astype(np.int64 if integers and not small else np.float64) for x in operands
    ]


def settled(total: Value, dtype: np.dtype[Any]) -> Array:
    """A sum of products as the type of the result."""
    if numerics.is_float_dtype(dtype):
        return numerics.rounded(total, dtype)
    return total.astype(np.int64).astype(dtype)


@CONTRACTION.of(graph.MatmulOp)
def matmul(frame: Frame, op: graph.MatmulOp, args: Values) -> Values:
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in args))
    shape = (*batch, args[0].shape[-2], args[1].shape[-1])
    frame.interpreter.check_size(op, shape)
    lhs, rhs = accumulated(*args, terms=args[0].shape[-1])
    return (settled(lhs @ rhs, dtype_of(op, result_type(op).element_type)),)


@CONTRACTION.of(graph.Conv2dOp)
def conv2d(frame: Frame, op: graph.Conv2dOp, args: Values) -> Values:
    """The sum over the places of the kernel of a matrix product over the channels."""
    groups = op.groups.value.data
    top, left, bottom, right = op.padding.get_values()
    x, w = accumulated(*args, terms=args[1][:1].size)
    batch, channels, height, width = x.shape
    outputs, inputs, kernel_height, kernel_width = w.shape
    if channels != inputs * groups or outputs % groups:
        raise ValueError(
            f"expected {inputs} of {channels} channels in each of {groups} groups"
        )
    padded_shape = (batch, channels, height + top + bottom, width + left + right)
    frame.interpreter.check_size(op, padded_shape)
    padded = np.full(padded_shape, op.fill.value.data, x.dtype)
    padded[:, :, top : top + height, left : left + width] = x
    (dy, dx), (sy, sx) = op.dilations.get_values(), op.strides.get_values()
    rows = (padded_shape[2] - (kernel_height - 1) * dy - 1) // sy + 1
    columns = (padded_shape[3] - (kernel_width - 1) * dx - 1) // sx + 1
    frame.interpreter.check_size(op, (batch, outputs, rows, columns))
    total = np.zeros((batch, groups, outputs // groups, rows * columns), x.dtype)
    by_group = w.reshape(groups, outputs // groups, inputs, kernel_height, kernel_width)
    for i in range(kernel_height):
        for j in range(kernel_width):
            y0, x0 = i * dy, j * dx
            seen = padded[
                :,
                :,
                y0 : y0 + (rows - 1) * sy + 1 : sy,
                x0 : x0 + (columns - 1) * sx + 1 : sx,
            ].reshape(batch, groups, inputs, rows * columns)
            total += by_group[..., i, j] @ seen
    result = total.reshape(batch, outputs, rows, columns)
    return (settled(result, dtype_of(op, result_type(op).element_type)),)
