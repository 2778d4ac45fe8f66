"""
Plans of sums and products of elements, of softmax, and of what only moves elements.
"""

from collections.abc import Callable
from math import prod

from xdsl.ir import Operation, SSAValue

from transom.dialects import graph
from transom.targets.cmsis_nn import ops
from transom.targets.cmsis_nn.arithmetic import (
    LEFT_SHIFT,
    addition,
    quantized_scale,
    softmax_numbers,
)
from transom.targets.cmsis_nn.known import Quantization, refuse
from transom.targets.cmsis_nn.plans.site import Builder, Plan, Site, retyped, text_of

MAX_ROW = 4095
"""Elements of a row whose softmax is sure to fit into 32 bits."""


def plan_softmax(site: Site) -> Plan:
    op = site.found.operator
    assert isinstance(op, graph.SoftmaxOp), "what the label is for"
    shape = site.input_shape()
    if op.axis.value.data != len(shape) - 1:
        raise refuse("expected the last axis")
    if site.found.activations:
        raise refuse("expected no activation behind it")
    if site.output != Quantization(1 / 256, -128):
        raise refuse(
            "expected results of scale 1/256 and zero point -128, but got "
            f"{text_of(site.output)}"
        )
    if shape[-1] > MAX_ROW:
        raise refuse(f"expected rows of at most {MAX_ROW}, but got {shape[-1]}")
    numbers = softmax_numbers(site.inputs[0].scale)
    if not 0 <= numbers.scale.shift <= 31:
        raise refuse(
            "expected a scale of the input above 2^-27, but got "
            f"{text_of(site.inputs[0])}"
        )
    rows = [prod(shape[:-1]), shape[-1]]

    def build(b: Builder) -> SSAValue:
        x = b(graph.ReshapeOp(site.input(b), rows))
        made = ops.SoftmaxOp(x, scale=numbers.scale, diff_min=numbers.diff_min)
        return b(graph.ReshapeOp(b(made), shape))

    return build


def _order(site: Site) -> tuple[int, int]:
    """
    The numbers of two operands, an image before the channels that its pixels meet.

    Raises `RefusalError` for other shapes that differ.
    """
    shapes = site.input_shape(0), site.input_shape(1)
    for first, second in ((0, 1), (1, 0)):
        large, small = shapes[first], shapes[second]
        if small in (large, (*large[:2], 1, 1)) and (small == large or len(large) == 4):
            return first, second
    raise refuse(
        "expected operands of one shape, or the channels of an image, but got "
        f"{list(shapes[0])} and {list(shapes[1])}"
    )


def _pair(site: Site, make: Callable[[SSAValue, SSAValue], Operation]) -> Plan:
    """An op on two tensors; images have their channels last for it."""
    order = _order(site)

    def build(b: Builder) -> SSAValue:
        values = [site.input(b, number) for number in order]
        if len(site.result_shape) != 4:
            return b(make(*values))
        return b.to_nchw(b(make(*map(b.to_nhwc, values))))

    return build


def plan_add(site: Site) -> Plan:
    left, right = (site.inputs[number] for number in _order(site))
    scales = addition(left.scale, right.scale, site.output.scale)
    offsets = (-left.zero_point, -right.zero_point, site.output.zero_point)
    if not all(-31 <= scale.shift <= 0 for scale in scales):
        raise refuse("expected scales of inputs and result that are closer")
    activation = site.activation()
    return _pair(
        site,
        lambda a, b: ops.AddOp(
            a,
            b,
            offsets=offsets,
            multipliers=[scale.multiplier for scale in scales],
            shifts=[scale.shift for scale in scales],
            left_shift=LEFT_SHIFT,
            activation=activation,
        ),
    )


def plan_mul(site: Site) -> Plan:
    left, right = (site.inputs[number] for number in _order(site))
    scale = quantized_scale(left.scale * right.scale / site.output.scale)
    offsets = (-left.zero_point, -right.zero_point, site.output.zero_point)
    if not -31 <= scale.shift <= 14:
        raise refuse("expected scales of inputs and result that are closer")
    activation = site.activation()
    return _pair(
        site,
        lambda a, b: ops.MulOp(
            a, b, offsets=offsets, scale=scale, activation=activation
        ),
    )


def plan_move(site: Site) -> Plan:
    """Elements that move or are limited: integers do as their floats do."""
    site.same_quantization()
    least, most = site.activation()

    def build(b: Builder) -> SSAValue:
        value = site.input(b)
        for op in site.found.moves:
            value = b(retyped(op.clone({op.operands[0]: value})))
        if (least, most) != ops.WHOLE_RANGE:
            value = b(graph.ClampOp(value, least, most))
        return value

    return build
