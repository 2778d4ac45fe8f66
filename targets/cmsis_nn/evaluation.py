"""
What the functions of CMSIS-NN compute, on whole NumPy arrays.

Activations are int8 with channels last; the results are those of the C functions, bit
by bit. Sums are taken in 64 bits and wrap to 32, as they would there.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from transom.targets.cmsis_nn.arithmetic import (
    LEFT_SHIFT,
    Addition,
    Array,
    clamped,
    requantized,
    wrapped,
)

Pair = Sequence[int]
"""Of rows and columns."""


class Window(NamedTuple):
    """How windows move over the rows and columns of an input."""

    kernel: Pair
    strides: Pair
    padding: Pair
    """On top and left; what lies behind the input follows from the result."""

    dilations: Pair = (1, 1)


class Requantization(NamedTuple):
    """From sums to results: per channel, or one for all."""

    multipliers: Array | int
    shifts: Array | int
    offset: int
    activation: Sequence[int]

    def __call__(self, sums: Array) -> Array:
        scaled = requantized(wrapped(sums), self.multipliers, self.shifts)
        return clamped(scaled + self.offset, self.activation)


def taps(
    x: Array, window: Window, out: Pair
) -> Iterator[tuple[int, int, Array, Array]]:
    """
    For each place of a kernel what it meets in `x` `[N, H, W, C]`, as `[N, OH, OW, C]`,
    and where that is inside, as `[OH, OW]`.
    """
    height, width = x.shape[1:3]
    rows = np.arange(out[0]) * window.strides[0] - window.padding[0]
    columns = np.arange(out[1]) * window.strides[1] - window.padding[1]
    for i in range(window.kernel[0]):
        for j in range(window.kernel[1]):
            r, c = rows + i * window.dilations[0], columns + j * window.dilations[1]
            inside = np.logical_and.outer(
                (r >= 0) & (r < height), (c >= 0) & (c < width)
            )
            met = x[:, np.clip(r, 0, height - 1)][:, :, np.clip(c, 0, width - 1)]
            yield i, j, met, inside


def conv(
    x: Array,
    weights: Array,
    bias: Array,
    window: Window,
    out: Pair,
    input_offset: int,
    finish: Requantization,
) -> Array:
    """`arm_convolve_s8`; weights are `[O, KH, KW, C / groups]`."""
    outputs, inner = weights.shape[0], weights.shape[3]
    groups = x.shape[3] // inner
    each = outputs // groups
    sums = np.zeros((x.shape[0], *out, outputs), np.int64)
    for i, j, met, inside in taps(x.astype(np.int64) + input_offset, window, out):
        met = met * inside[:, :, None]
        for group in range(groups):
            filters = slice(group * each, (group + 1) * each)
            part = met[..., group * inner : (group + 1) * inner]
            sums[..., filters] += part @ weights[filters, i, j].astype(np.int64).T
    return finish(sums + bias)


def depthwise_conv(
    x: Array,
    weights: Array,
    bias: Array,
    window: Window,
    out: Pair,
    input_offset: int,
    finish: Requantization,
) -> Array:
    """`arm_depthwise_conv_s8`; weights are `[1, KH, KW, O]`."""
    outputs = weights.shape[3]
    x = np.repeat(x.astype(np.int64) + input_offset, outputs // x.shape[3], axis=3)
    sums = np.zeros((x.shape[0], *out, outputs), np.int64)
    for i, j, met, inside in taps(x, window, out):
        sums += met * inside[:, :, None] * weights[0, i, j].astype(np.int64)
    return finish(sums + bias)


def fully_connected(
    x: Array,
    weights: Array,
    bias: Array,
    input_offset: int,
    filter_offset: int,
    finish: Requantization,
) -> Array:
    """`arm_fully_connected_s8` of rows `[N, K]` and weights `[M, K]`."""
    left = x.astype(np.int64) + input_offset
    right = weights.astype(np.int64) + filter_offset
    return finish(left @ right.T + bias)


def max_pool(x: Array, window: Window, out: Pair, activation: Sequence[int]) -> Array:
    """`arm_max_pool_s8`."""
    largest = np.full((x.shape[0], *out, x.shape[3]), -128, np.int64)
    for _, _, met, inside in taps(x.astype(np.int64), window, out):
        largest = np.maximum(largest, np.where(inside[:, :, None], met, -128))
    return clamped(largest, activation)


def avg_pool(x: Array, window: Window, out: Pair, activation: Sequence[int]) -> Array:
    """`arm_avgpool_s8`: of what is inside, rounded half away from zero."""
    total = np.zeros((x.shape[0], *out, x.shape[3]), np.int64)
    count = np.zeros((*out, 1), np.int64)
    for _, _, met, inside in taps(x.astype(np.int64), window, out):
        total += met * inside[:, :, None]
        count += inside[:, :, None]
    half = count // 2
    mean = np.sign(total) * ((np.abs(total) + half) // count)
    return clamped(mean, activation)


def add(
    a: Array,
    b: Array,
    offsets: Sequence[int],
    scales: Addition,
    activation: Sequence[int],
    left_shift: int = LEFT_SHIFT,
) -> Array:
    """`arm_elementwise_add_s8`; `b` may be what each row of `a` meets."""
    total = np.zeros(a.shape, np.int64)
    for x, offset, scale in zip((a, b), offsets[:2], scales[:2], strict=True):
        total += requantized((x.astype(np.int64) + offset) << left_shift, *scale)
    result = requantized(total, *scales.result)
    return clamped(result + offsets[2], activation)


def mul(
    a: Array,
    b: Array,
    offsets: Sequence[int],
    scale: tuple[int, int],
    activation: Sequence[int],
) -> Array:
    """`arm_elementwise_mul_s8`."""
    left, right = a.astype(np.int64) + offsets[0], b.astype(np.int64) + offsets[1]
    return clamped(requantized(left * right, *scale) + offsets[2], activation)


def kernel_sums(weights: Array, bias: Array, input_offset: int, offset: int) -> Array:
    """`arm_vector_sum_s8` of weights `[M, K]`, as int32."""
    sums = weights.astype(np.int64).sum(axis=1) + weights.shape[1] * offset
    return wrapped(bias + input_offset * sums).astype(np.int32)
