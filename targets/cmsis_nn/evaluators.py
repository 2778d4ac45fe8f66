"""
Evaluators of the ops of `cmsis_nn`, so that modules that hold them can be interpreted.
"""

from typing import cast

from transom.interpreters.evaluators import Array, Evaluators, Values
from transom.interpreters.interpreter import Frame
from transom.targets.cmsis_nn import evaluation, ops
from transom.targets.cmsis_nn.arithmetic import Addition, Scale, softmax
from transom.targets.cmsis_nn.evaluation import Requantization, Window

CMSIS_NN = Evaluators()


def _out(op: ops.CmsisNnOp) -> tuple[int, int]:
    """Rows and columns of the result."""
    _, height, width, _ = op.declared_type().get_shape()
    return height, width


def _window_of(op: ops.WindowedConvOp, kernel: tuple[int, ...]) -> Window:
    return Window(
        kernel,
        op.strides.get_values(),
        op.padding.get_values()[:2],
        op.dilations.get_values(),
    )


def _tables(op: ops.PerChannelOp, args: Values, offset: int) -> Requantization:
    return Requantization(args[3], args[4], offset, op.activation.get_values())


@CMSIS_NN.of(ops.ConvOp)
def conv(frame: Frame, op: ops.ConvOp, args: Values) -> Values:
    x, weights, bias = cast("list[Array]", args[:3])
    in_offset, out_offset = op.offsets.get_values()
    finish = _tables(op, args, out_offset)
    window = _window_of(op, weights.shape[1:3])
    return (evaluation.conv(x, weights, bias, window, _out(op), in_offset, finish),)


@CMSIS_NN.of(ops.DepthwiseConvOp)
def depthwise_conv(frame: Frame, op: ops.DepthwiseConvOp, args: Values) -> Values:
    x, weights, bias = cast("list[Array]", args[:3])
    in_offset, out_offset = op.offsets.get_values()
    finish = _tables(op, args, out_offset)
    window = _window_of(op, weights.shape[1:3])
    made = evaluation.depthwise_conv(
        x, weights, bias, window, _out(op), in_offset, finish
    )
    return (made,)


@CMSIS_NN.of(ops.FullyConnectedOp)
def fully_connected(frame: Frame, op: ops.FullyConnectedOp, args: Values) -> Values:
    in_offset, filter_offset, out_offset = op.offsets.get_values()
    multiplier, shift = op.scale.get_values()
    finish = Requantization(multiplier, shift, out_offset, op.activation.get_values())
    x, weights, bias = args
    made = evaluation.fully_connected(
        x, weights, bias, in_offset, filter_offset, finish
    )
    return (made,)


@CMSIS_NN.of(ops.FullyConnectedPerChannelOp)
def fully_connected_per_channel(
    frame: Frame, op: ops.FullyConnectedPerChannelOp, args: Values
) -> Values:
    in_offset, out_offset = op.offsets.get_values()
    finish = _tables(op, args, out_offset)
    x, weights, bias = args[:3]
    return (evaluation.fully_connected(x, weights, bias, in_offset, 0, finish),)


@CMSIS_NN.of(ops.MaxPoolOp)
def max_pool(frame: Frame, op: ops.MaxPoolOp, args: Values) -> Values:
    activation = op.activation.get_values()
    return (evaluation.max_pool(args[0], _pool_window(op), _out(op), activation),)


@CMSIS_NN.of(ops.AvgPoolOp)
def avg_pool(frame: Frame, op: ops.AvgPoolOp, args: Values) -> Values:
    activation = op.activation.get_values()
    return (evaluation.avg_pool(args[0], _pool_window(op), _out(op), activation),)


def _pool_window(op: ops.PoolOp) -> Window:
    return Window(
        op.kernel.get_values(), op.strides.get_values(), op.padding.get_values()[:2]
    )


@CMSIS_NN.of(ops.SoftmaxOp)
def softmax_rows(frame: Frame, op: ops.SoftmaxOp, args: Values) -> Values:
    multiplier, shift = op.scale.get_values()
    return (softmax(args[0], multiplier, shift, op.diff_min.value.data),)


@CMSIS_NN.of(ops.AddOp)
def add(frame: Frame, op: ops.AddOp, args: Values) -> Values:
    pairs = zip(op.multipliers.get_values(), op.shifts.get_values(), strict=True)
    made = evaluation.add(
        args[0],
        args[1],
        op.offsets.get_values(),
        Addition(*(Scale(*pair) for pair in pairs)),
        op.activation.get_values(),
        op.left_shift.value.data,
    )
    return (made,)


@CMSIS_NN.of(ops.MulOp)
def mul(frame: Frame, op: ops.MulOp, args: Values) -> Values:
    multiplier, shift = op.scale.get_values()
    made = evaluation.mul(
        args[0],
        args[1],
        op.offsets.get_values(),
        (multiplier, shift),
        op.activation.get_values(),
    )
    return (made,)
