"""
What products are scaled by: scales of inputs, weights and results as tables, and biases
in units of the sums.
"""

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.dialects.graph.operation import tensor_type
from transom.passes.weight_expressions import Expression
from transom.targets.cmsis_nn import matching
from transom.targets.cmsis_nn.arithmetic import INT32_MAX, Array, quantized_scale
from transom.targets.cmsis_nn.known import refuse
from transom.targets.cmsis_nn.plans.site import Builder, Plan, Site, retyped

BIAS_TOLERANCE = 1e-5
"""How far the scale of a bias may be, relatively, from that of the sums it is added to:
a product of scales that was rounded to f32."""

MAX_PRODUCT_BITS = 15
"""Bits of the product of a weight and an input with its offset."""


@dataclass(frozen=True)
class Factors:
    """Weights and a bias, with the factor of each channel of the result."""

    site: Site
    channels: int
    depth: int
    """Products in a sum."""
    axis: int
    """Of the channels, in the weights as they are stored."""
    bias_axis: int
    """Of the channels from the end, in a bias that is added to the result."""

    @property
    def weights(self) -> matching.Weights:
        return self.site.found.weights

    def weight_scales(self) -> Array:
        """One per channel, or a single one."""
        op = self.weights.dequantize
        scales, rank = self.site.known.scales(op), tensor_type(op.input).get_num_dims()
        if scales.size == 1:
            return scales.reshape(-1)
        whole = (1,) * (rank - scales.ndim) + scales.shape
        if whole != tuple(self.channels if n == self.axis else 1 for n in range(rank)):
            raise refuse(
                "expected a scale of the weights for each channel of the result, but "
                f"got a shape of {list(scales.shape)}"
            )
        return scales.reshape(-1)

    def weight_zero(self) -> int:
        """The zero point of the weights."""
        zeros = self.site.known.elements(self.weights.dequantize.zero_point)
        first = int(zeros.reshape(-1)[0])
        if (zeros != first).any():
            raise refuse("expected one zero point of the weights")
        return first

    def factors(self) -> Array:
        """From sums to results, one per channel or a single one."""
        (given,) = self.site.inputs
        factors = given.scale * self.weight_scales() / self.site.output.scale
        for factor in factors:
            check_sums(quantized_scale(float(factor)).shift, self.depth)
        return factors

    def tables(self, b: Builder) -> tuple[SSAValue, SSAValue]:
        """Multipliers and shifts of all channels."""
        pairs = [quantized_scale(float(factor)) for factor in self.factors()]
        if len(pairs) == 1:
            pairs *= self.channels
        multipliers, shifts = (
            np.array(numbers, np.int64) for numbers in zip(*pairs, strict=True)
        )
        return b.table(multipliers), b.table(shifts)

    def check_weights(self) -> None:
        """Refuse weights of another type than i8."""
        type = tensor_type(self.weights.dequantize.input)
        if type.element_type != i8:
            raise refuse(f"expected weights of i8, but got '{type}'")

    def stored(self, e: Expression) -> SSAValue:
        """The integers of the weights, moved as their floats are."""
        value = e.known(self.weights.dequantize.input)
        op = self.weights.transpose
        return value if op is None else e(retyped(op.clone({op.input: value})))

    def bias(self) -> Plan:
        """The bias as a row of i32."""
        bias = self.site.found.bias
        if bias is None:
            return lambda b: b.table(np.zeros(self.channels))
        self._check_bias_shape(bias)
        units = self.site.inputs[0].scale * self.weight_scales()
        dequantize = self.site.found.bias_integers
        if dequantize is None:
            return self._rounded(self.site.known.elements(bias), units)
        type = tensor_type(dequantize.input)
        if (
            type.element_type != i32
            or self.site.known.elements(dequantize.zero_point).any()
        ):
            raise refuse(f"expected a bias of i32 with zero point 0, but got '{type}'")
        scales = self.site.known.scales(dequantize).reshape(-1)
        if scales.size not in (1, self.channels) or not np.allclose(
            scales, units, rtol=BIAS_TOLERANCE, atol=0
        ):
            raise refuse(
                "expected the bias to have the product of the scales of input and "
                "weights as its scale"
            )
        return lambda b: self._row(b, dequantize.input)

    def _row(self, b: Builder, value: SSAValue) -> SSAValue:
        """The elements of a known value, one per channel."""
        shape = [self.channels]
        if value.type == graph.tensor(shape, i32):
            return b.value(value)
        return b.derived("bias", lambda e: e(graph.ReshapeOp(e.known(value), shape)))

    def _check_bias_shape(self, bias: SSAValue) -> None:
        shape = tensor_type(bias).get_shape()
        rank = len(self.site.result_shape)
        whole = (1,) * (rank - len(shape)) + shape
        wanted = [1] * rank
        wanted[self.bias_axis] = self.channels
        if list(whole) != wanted:
            raise refuse(
                "expected a bias of one number per channel of the result, but got "
                f"'{tensor_type(bias)}'"
            )

    def _rounded(self, bias: Array, units: Array) -> Plan:
        """A bias of floats in whole units of the sums."""
        whole = np.rint(bias.reshape(-1).astype(np.float64) / units)
        if not (np.abs(whole) <= INT32_MAX).all():
            raise refuse("expected a bias that 32 bits hold")
        return lambda b: b.table(whole)


def check_sums(shift: int, depth: int) -> None:
    """Refuse sums of so many products that a shift would bring out of 32 bits."""
    if shift < -31:
        raise refuse("expected scales whose quotient is above 2^-32")
    if depth << (MAX_PRODUCT_BITS + max(0, shift)) > INT32_MAX // 2:
        raise refuse("expected sums that stay within 32 bits")
