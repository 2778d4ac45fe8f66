"""
Plans of sums of products: convolutions and fully connected layers.
"""

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.dialects.graph.operation import tensor_type
from transom.targets.cmsis_nn import ops
from transom.targets.cmsis_nn.arithmetic import quantized_scale
from transom.targets.cmsis_nn.cores import Conv, conv_scratch, depthwise_scratch
from transom.targets.cmsis_nn.known import refuse
from transom.targets.cmsis_nn.patterns import UNKNOWN_SCRATCH
from transom.targets.cmsis_nn.plans.factors import Factors
from transom.targets.cmsis_nn.plans.site import TO_NHWC, Builder, Plan, Site


def plan_conv(site: Site) -> Plan:
    op = site.found.operator
    assert isinstance(op, graph.Conv2dOp), "what the label is for"
    shape = tensor_type(op.weight).get_shape()
    is_depthwise = shape[1] == 1 and op.groups.value.data > 1
    _check_scratch(site, op, is_depthwise)
    factors = Factors(site, shape[0], prod(shape[1:]), axis=0, bias_axis=-3)
    factors.check_weights()
    if factors.weights.transpose is not None:
        raise refuse("expected the weights as they are stored")
    if factors.weight_zero():
        raise refuse("expected 0 as the zero point of the weights")
    factors.factors()
    bias = factors.bias()
    numbers: dict[str, Sequence[int]] = {
        "strides": op.strides.get_values(),
        "padding": op.padding.get_values(),
        "dilations": op.dilations.get_values(),
        "offsets": (-site.inputs[0].zero_point, site.output.zero_point),
        "activation": site.activation(),
    }
    # `[O, C, KH, KW]` to `[O, KH, KW, C]`, depthwise to `[1, KH, KW, O]`.
    order = (1, 2, 3, 0) if is_depthwise else TO_NHWC
    stem = "hwo" if is_depthwise else "ohwi"
    kind = ops.DepthwiseConvOp if is_depthwise else ops.ConvOp

    def build(b: Builder) -> SSAValue:
        filters = b.derived(
            stem, lambda e: e(graph.TransposeOp(factors.stored(e), order))
        )
        x = b.to_nhwc(site.input(b))
        operands = (x, filters, bias(b), *factors.tables(b))
        return b.to_nchw(b(kind(operands, **numbers)))

    return build


def _check_scratch(site: Site, op: graph.Conv2dOp, is_depthwise: bool) -> None:
    """Refuse a convolution whose scratch memory is not known, or that reads too far."""
    outputs, inner, *kernel = tensor_type(op.weight).get_shape()
    batch, channels, *size = site.input_shape()
    padding, dilations = op.padding.get_values(), op.dilations.get_values()
    if op.fill.value.data:
        raise refuse(f"expected padding with 0, but got {op.fill.value.data}")
    if kernel == [1, 1] and any(padding):
        raise refuse("expected no padding of a 1x1 kernel")
    conv = Conv(
        batch,
        (size[0], size[1]),
        channels,
        (kernel[0], kernel[1]),
        inner,
        outputs,
        (padding[0], padding[1]),
        (dilations[0], dilations[1]),
    )
    scratch = depthwise_scratch if is_depthwise else conv_scratch
    if scratch(conv, site.core) is None:
        raise refuse(UNKNOWN_SCRATCH)


def plan_dense(site: Site) -> Plan:
    op = site.found.operator
    assert isinstance(op, graph.MatmulOp), "what the label is for"
    shape = tensor_type(op.rhs).get_shape()
    if len(shape) != 2:
        raise refuse(f"expected weights that are a matrix, but got '{op.rhs.type}'")
    depth, outputs = shape
    weights = site.found.weights
    is_transposed = weights.transpose is not None
    axis = 0 if is_transposed else 1
    factors = Factors(site, outputs, depth, axis, bias_axis=-1)
    factors.check_weights()
    zero, scales = factors.weight_zero(), factors.factors()
    if zero and scales.size > 1:
        raise refuse("expected 0 as the zero point of weights with several scales")
    bias, activation = factors.bias(), site.activation()
    in_offset, out_offset = -site.inputs[0].zero_point, site.output.zero_point
    rows, result = prod(site.input_shape()[:-1]), site.result_shape

    def build(b: Builder) -> SSAValue:
        if is_transposed:
            stored = b.value(weights.dequantize.input)
        else:
            stored = b.derived(
                "oi", lambda e: e(graph.TransposeOp(factors.stored(e), (1, 0)))
            )
        x = b(graph.ReshapeOp(site.input(b), [rows, depth]))
        if scales.size > 1:
            op = ops.FullyConnectedPerChannelOp(
                (x, stored, bias(b), *factors.tables(b)),
                offsets=(in_offset, out_offset),
                activation=activation,
            )
        else:
            op = ops.FullyConnectedOp(
                (x, stored, bias(b)),
                offsets=(in_offset, -zero, out_offset),
                scale=quantized_scale(float(scales[0])),
                activation=activation,
            )
        return b(graph.ReshapeOp(b(op), result))

    return build
