"""
Plans of pools.
"""

from math import prod

import numpy as np
from xdsl.dialects.builtin import i8
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.targets.cmsis_nn import ops
from transom.targets.cmsis_nn.arithmetic import quantized_scale
from transom.targets.cmsis_nn.known import refuse
from transom.targets.cmsis_nn.plans.factors import check_sums
from transom.targets.cmsis_nn.plans.site import Builder, Plan, Site


def plan_max_pool(site: Site) -> Plan:
    op = site.found.operator
    assert isinstance(op, graph.MaxPool2dOp), "what the label is for"
    return _pool(site, op, ops.MaxPoolOp)


def plan_avg_pool(site: Site) -> Plan:
    op = site.found.operator
    if isinstance(op, graph.AvgPool2dOp):
        if op.count_include_pad is not None and any(op.padding.get_values()):
            raise refuse("expected a mean without the padding")
        return _pool(site, op, ops.AvgPoolOp)
    assert isinstance(op, graph.ReduceOp), "what the label is for"
    shape = site.input_shape()
    if op.kind.data is not graph.ReduceKind.MEAN:
        raise refuse(f"expected a mean, but got '{op.kind.data}'")
    if len(shape) != 4 or sorted(op.axes.get_values()) != [2, 3]:
        raise refuse("expected a mean over the rows and columns of an image")
    if site.inputs[0] != site.output:
        return _rescaled_mean(site)
    kernel, activation = shape[2:], site.activation()
    result = site.result_shape

    def build(b: Builder) -> SSAValue:
        x = b.to_nhwc(site.input(b))
        pooled = b(ops.AvgPoolOp(x, kernel, activation=activation))
        return b(graph.ReshapeOp(b.to_nchw(pooled), result))

    return build


def _rescaled_mean(site: Site) -> Plan:
    """
    A mean whose result has another scale: sums of the rows of a matrix, which are
    rounded once, as products with ones.
    """
    batch, channels, *size = site.input_shape()
    count = prod(size)
    (given,) = site.inputs
    scale = quantized_scale(given.scale / count / site.output.scale)
    check_sums(scale.shift, count)
    offsets = (-given.zero_point, 0, site.output.zero_point)
    activation, result = site.activation(), site.result_shape

    def build(b: Builder) -> SSAValue:
        x = b(graph.ReshapeOp(site.input(b), [batch * channels, count]))
        ones = b(graph.ConstantOp.splat(graph.tensor([1, count], i8), 1))
        op = ops.FullyConnectedOp(
            (x, ones, b.table(np.zeros(1))),
            offsets=offsets,
            scale=scale,
            activation=activation,
        )
        return b(graph.ReshapeOp(b(op), result))

    return build


def _pool(
    site: Site,
    op: graph.MaxPool2dOp | graph.AvgPool2dOp,
    kind: type[ops.MaxPoolOp | ops.AvgPoolOp],
) -> Plan:
    if any(step != 1 for step in op.dilations.get_values()):
        raise refuse(
            f"expected no dilations, but got {list(op.dilations.get_values())}"
        )
    if op.ceil_mode is not None:
        raise refuse("expected windows that end with the input and its padding")
    site.same_quantization()
    kernel, activation = op.kernel.get_values(), site.activation()
    strides, padding = op.strides.get_values(), op.padding.get_values()

    def build(b: Builder) -> SSAValue:
        x = b.to_nhwc(site.input(b))
        made = kind(x, kernel, strides=strides, padding=padding, activation=activation)
        return b.to_nchw(b(made))

    return build
