"""
The C functions of CMSIS-NN as NumPy evaluators: they get what a `tir.extern` passes,
structs as tuples of their fields and memory as arrays, write results in place, and
return the status.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transom.targets.cmsis_nn import evaluation
from transom.targets.cmsis_nn.arithmetic import Addition, Array, Scale, softmax
from transom.targets.cmsis_nn.evaluation import Requantization, Window

Struct = Sequence[Any]

SUCCESS, ARGUMENT_ERROR = 0, -1
"""Of `arm_cmsis_nn_status`."""


def _shaped(values: Array, dims: Struct) -> Array:
    """Elements in the order of `cmsis_nn_dims`: n, h, w, c."""
    return values.reshape(tuple(map(int, dims)))


def _filled(out: Array, values: Array) -> int:
    out.reshape(-1)[:] = values.reshape(-1)
    return SUCCESS


def _turned(tile: Struct) -> tuple[int, int]:
    """Height and width of a `cmsis_nn_tile`, which has them the other way round."""
    width, height = tile
    return int(height), int(width)


def _per_channel(quant: Struct, offset: int, activation: Struct) -> Requantization:
    multipliers, shifts = (table.reshape(-1) for table in quant)
    return Requantization(multipliers, shifts, int(offset), activation)


def convolve(
    ctx: Struct,
    params: Struct,
    quant: Struct,
    in_dims: Struct,
    x: Array,
    filter_dims: Struct,
    weights: Array,
    bias_dims: Struct,
    bias: Array,
    out_dims: Struct,
    out: Array,
) -> int:
    """`arm_convolve_wrapper_s8`."""
    in_offset, out_offset, stride, padding, dilation, activation = params
    filters = _shaped(weights, filter_dims)
    window = Window(
        filters.shape[1:3], _turned(stride), _turned(padding), _turned(dilation)
    )
    made = evaluation.conv(
        _shaped(x, in_dims),
        filters,
        bias.reshape(-1),
        window,
        out_dims[1:3],
        int(in_offset),
        _per_channel(quant, out_offset, activation),
    )
    return _filled(out, made)


def depthwise(
    ctx: Struct,
    params: Struct,
    quant: Struct,
    in_dims: Struct,
    x: Array,
    filter_dims: Struct,
    weights: Array,
    bias_dims: Struct,
    bias: Array,
    out_dims: Struct,
    out: Array,
) -> int:
    """`arm_depthwise_conv_wrapper_s8`."""
    in_offset, out_offset, multiple, stride, padding, dilation, activation = params
    if in_dims[3] * multiple != out_dims[3]:
        return ARGUMENT_ERROR
    filters = _shaped(weights, filter_dims)
    window = Window(
        filters.shape[1:3], _turned(stride), _turned(padding), _turned(dilation)
    )
    made = evaluation.depthwise_conv(
        _shaped(x, in_dims),
        filters,
        bias.reshape(-1),
        window,
        out_dims[1:3],
        int(in_offset),
        _per_channel(quant, out_offset, activation),
    )
    return _filled(out, made)


def _dense(
    finish: Callable[[int, Struct], Requantization],
    params: Struct,
    x: Array,
    filter_dims: Struct,
    weights: Array,
    bias: Array,
    out: Array,
) -> int:
    in_offset, filter_offset, out_offset, activation = params
    depth, outputs = int(filter_dims[0]), int(filter_dims[3])
    made = evaluation.fully_connected(
        x.reshape(-1, depth),
        weights.reshape(outputs, depth),
        bias.reshape(-1),
        int(in_offset),
        int(filter_offset),
        finish(out_offset, activation),
    )
    return _filled(out, made)


def fully_connected(
    ctx: Struct,
    params: Struct,
    quant: Struct,
    in_dims: Struct,
    x: Array,
    filter_dims: Struct,
    weights: Array,
    bias_dims: Struct,
    bias: Array,
    out_dims: Struct,
    out: Array,
) -> int:
    """`arm_fully_connected_s8`; kernel sums in the scratch do not matter here."""

    def finish(offset: int, activation: Struct) -> Requantization:
        return Requantization(int(quant[0]), int(quant[1]), int(offset), activation)

    return _dense(finish, params, x, filter_dims, weights, bias, out)


def fully_connected_per_channel(
    ctx: Struct,
    params: Struct,
    quant: Struct,
    in_dims: Struct,
    x: Array,
    filter_dims: Struct,
    weights: Array,
    bias_dims: Struct,
    bias: Array,
    out_dims: Struct,
    out: Array,
) -> int:
    """`arm_fully_connected_per_channel_s8`."""

    def finish(offset: int, activation: Struct) -> Requantization:
        return _per_channel(quant, offset, activation)

    return _dense(finish, params, x, filter_dims, weights, bias, out)


def vector_sum(
    sums: Array,
    columns: int,
    rows: int,
    data: Array,
    lhs_offset: int,
    rhs_offset: int,
    bias: Array,
) -> int:
    """`arm_vector_sum_s8`."""
    made = evaluation.kernel_sums(
        data.reshape(int(rows), int(columns)),
        bias.reshape(-1),
        int(lhs_offset),
        int(rhs_offset),
    )
    return _filled(sums, made)


def _pool(
    compute: Callable[[Array, Window, Sequence[int], Sequence[int]], Array],
    params: Struct,
    in_dims: Struct,
    x: Array,
    filter_dims: Struct,
    out_dims: Struct,
    out: Array,
) -> int:
    stride, padding, activation = params
    window = Window(filter_dims[1:3], _turned(stride), _turned(padding))
    return _filled(out, compute(_shaped(x, in_dims), window, out_dims[1:3], activation))


def max_pool(
    ctx: Struct,
    params: Struct,
    in_dims: Struct,
    x: Array,
    filter_dims: Struct,
    out_dims: Struct,
    out: Array,
) -> int:
    """`arm_max_pool_s8`."""
    return _pool(evaluation.max_pool, params, in_dims, x, filter_dims, out_dims, out)


def avg_pool(
    ctx: Struct,
    params: Struct,
    in_dims: Struct,
    x: Array,
    filter_dims: Struct,
    out_dims: Struct,
    out: Array,
) -> int:
    """`arm_avgpool_s8`."""
    return _pool(evaluation.avg_pool, params, in_dims, x, filter_dims, out_dims, out)


def softmax_rows(
    x: Array,
    rows: int,
    row_size: int,
    multiplier: int,
    shift: int,
    diff_min: int,
    out: Array,
) -> None:
    """`arm_softmax_s8`."""
    values = x.reshape(int(rows), int(row_size))
    _filled(out, softmax(values, int(multiplier), int(shift), int(diff_min)))


def elementwise_add(
    a: Array,
    b: Array,
    a_offset: int,
    a_multiplier: int,
    a_shift: int,
    b_offset: int,
    b_multiplier: int,
    b_shift: int,
    left_shift: int,
    out: Array,
    out_offset: int,
    out_multiplier: int,
    out_shift: int,
    least: int,
    most: int,
    size: int,
) -> int:
    """`arm_elementwise_add_s8`."""
    scales = Addition(
        Scale(int(a_multiplier), int(a_shift)),
        Scale(int(b_multiplier), int(b_shift)),
        Scale(int(out_multiplier), int(out_shift)),
    )
    offsets = (int(a_offset), int(b_offset), int(out_offset))
    made = evaluation.add(
        a.reshape(-1), b.reshape(-1), offsets, scales, (least, most), int(left_shift)
    )
    return _filled(out, made[: int(size)])


def elementwise_mul(
    a: Array,
    b: Array,
    a_offset: int,
    b_offset: int,
    out: Array,
    out_offset: int,
    out_multiplier: int,
    out_shift: int,
    least: int,
    most: int,
    size: int,
) -> int:
    """`arm_elementwise_mul_s8`."""
    offsets = (int(a_offset), int(b_offset), int(out_offset))
    scale = (int(out_multiplier), int(out_shift))
    made = evaluation.mul(a.reshape(-1), b.reshape(-1), offsets, scale, (least, most))
    return _filled(out, made[: int(size)])


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "arm_avgpool_s8": avg_pool,
    "arm_convolve_wrapper_s8": convolve,
    "arm_depthwise_conv_wrapper_s8": depthwise,
    "arm_elementwise_add_s8": elementwise_add,
    "arm_elementwise_mul_s8": elementwise_mul,
    "arm_fully_connected_per_channel_s8": fully_connected_per_channel,
    "arm_fully_connected_s8": fully_connected,
    "arm_max_pool_s8": max_pool,
    "arm_softmax_s8": softmax_rows,
    "arm_vector_sum_s8": vector_sum,
}
"""The functions by their C names."""
