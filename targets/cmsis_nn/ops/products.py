"""
Sums of products: convolutions and fully connected layers.
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i8
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.contraction import window_sizes
from transom.dialects.graph.desc import tensor
from transom.dialects.graph.operation import Value
from transom.dialects.graph.properties import INT_LIST, int_list
from transom.dialects.graph.shapes import Dim
from transom.targets.cmsis_nn.ops.base import BYTES, TENSOR, WHOLE_RANGE, CmsisNnOp


class PerChannelOp(CmsisNnOp, ABC):
    """Base of ops with weights, whose requantisation has a table over channels."""

    input = operand_def(TENSOR)
    weights = operand_def(TENSOR)
    bias = operand_def(TENSOR)
    multipliers = operand_def(TENSOR)
    shifts = operand_def(TENSOR)

    def _check_tables(self, outputs: int) -> None:
        self.check_elements(0, BYTES, "input")
        self.check_elements(1, BYTES, "weights")
        for operand, what in enumerate(("bias", "multipliers", "shifts"), 2):
            self.check_table(operand, outputs, what)


class WindowedConvOp(PerChannelOp, ABC):
    """Base of convolutions."""

    LISTS: ClassVar[Mapping[str, int]] = {"offsets": 2}

    strides = prop_def(INT_LIST, int_list((1, 1)))
    padding = prop_def(INT_LIST, int_list((0, 0, 0, 0)))
    dilations = prop_def(INT_LIST, int_list((1, 1)))
    offsets = prop_def(INT_LIST)

    assembly_format = (
        "$input `,` $weights `,` $bias `,` $multipliers `,` $shifts "
        "(`strides` $strides^)? (`padding` $padding^)? (`dilations` $dilations^)? "
        "`offsets` $offsets (`activation` $activation^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        operands: Sequence[Value],
        *,
        strides: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        offsets: Sequence[int],
        activation: Sequence[int] = WHOLE_RANGE,
    ) -> None:
        self._build(
            operands,
            {
                "strides": int_list(strides),
                "padding": int_list(padding),
                "dilations": int_list(dilations),
                "offsets": int_list(offsets),
                "activation": int_list(activation),
            },
            tensor((), i8),
        )

    def _windows(self, sizes: Sequence[int], kernel: Sequence[int]) -> Sequence[Dim]:
        return window_sizes(
            sizes,
            kernel,
            self.numbers("strides"),
            self.numbers("padding"),
            self.numbers("dilations"),
        )


@irdl_op_definition
class ConvOp(WindowedConvOp):
    """
    `arm_convolve_wrapper_s8`: input `[N, H, W, C]`, weights `[O, KH, KW, C / groups]`,
    a bias, multiplier and shift for each of the O filters. `padding` is top, left,
    bottom, right; `offsets` are what is added to inputs and to results.

    ```mlir
    %y = cmsis_nn.conv %x, %w, %b, %m, %s padding [1, 1, 1, 1] offsets [3, -5] : tensor<1x8x8x3xi8>, tensor<4x3x3x3xi8>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32> -> tensor<1x8x8x4xi8>
    ```
    """  # noqa: E501

    name = "cmsis_nn.conv"

    def result_sizes(self) -> Sequence[Dim]:
        batch, height, width, channels = self.static_dims(0, 4, "input")
        outputs, *kernel, inner = self.static_dims(1, 4, "weights")
        groups, left = divmod(channels, max(inner, 1))
        if not inner or left or outputs % groups:
            raise VerifyException(
                f"expected channels of 'input' and filters in groups of {inner}, but "
                f"got {channels} channels and {outputs} filters"
            )
        self._check_tables(outputs)
        return (batch, *self._windows((height, width), kernel), outputs)


@irdl_op_definition
class DepthwiseConvOp(WindowedConvOp):
    """
    `arm_depthwise_conv_wrapper_s8`: input `[N, H, W, C]`, weights `[1, KH, KW, O]`,
    where output channel `o` is of input channel `o / (O / C)`; else as `cmsis_nn.conv`.

    ```mlir
    %y = cmsis_nn.depthwise_conv %x, %w, %b, %m, %s offsets [3, -5] : tensor<1x8x8x4xi8>, tensor<1x3x3x4xi8>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32> -> tensor<1x6x6x4xi8>
    ```
    """  # noqa: E501

    name = "cmsis_nn.depthwise_conv"

    def result_sizes(self) -> Sequence[Dim]:
        batch, height, width, channels = self.static_dims(0, 4, "input")
        one, *kernel, outputs = self.static_dims(1, 4, "weights")
        if one != 1 or not channels or outputs % channels:
            raise VerifyException(
                f"expected 'weights' of one filter for each of {channels} channels, or "
                f"for a multiple, but got '{self.operand_type(1)}'"
            )
        self._check_tables(outputs)
        return (batch, *self._windows((height, width), kernel), outputs)


class DenseOp(CmsisNnOp, ABC):
    """Base of fully connected layers."""

    def _sizes(self) -> tuple[int, int]:
        """Rows of the input and of the weights."""
        self.check_elements(0, BYTES, "input")
        self.check_elements(1, BYTES, "weights")
        rows, depth = self.static_dims(0, 2, "input")
        outputs, inner = self.static_dims(1, 2, "weights")
        if depth != inner:
            raise VerifyException(
                "expected rows of 'input' and 'weights' of one length, but got "
                f"{depth} and {inner}"
            )
        return rows, outputs


@irdl_op_definition
class FullyConnectedOp(DenseOp):
    """
    `arm_fully_connected_s8`: input `[N, K]`, weights `[M, K]`, bias `[M]`. `offsets` are
    added to inputs, weights and results; `scale` is one multiplier and its shift.

    ```mlir
    %y = cmsis_nn.fully_connected %x, %w, %b offsets [3, 0, -5] scale [1073741824, -4] : tensor<1x8xi8>, tensor<4x8xi8>, tensor<4xi32> -> tensor<1x4xi8>
    ```
    """  # noqa: E501

    name = "cmsis_nn.fully_connected"

    LISTS: ClassVar[Mapping[str, int]] = {"offsets": 3, "scale": 2}

    input = operand_def(TENSOR)
    weights = operand_def(TENSOR)
    bias = operand_def(TENSOR)
    offsets = prop_def(INT_LIST)
    scale = prop_def(INT_LIST)

    assembly_format = (
        "$input `,` $weights `,` $bias `offsets` $offsets `scale` $scale "
        "(`activation` $activation^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        operands: Sequence[Value],
        *,
        offsets: Sequence[int],
        scale: Sequence[int],
        activation: Sequence[int] = WHOLE_RANGE,
    ) -> None:
        self._build(
            operands,
            {
                "offsets": int_list(offsets),
                "scale": int_list(scale),
                "activation": int_list(activation),
            },
            tensor((), i8),
        )

    def result_sizes(self) -> Sequence[Dim]:
        rows, outputs = self._sizes()
        self.check_table(2, outputs, "bias")
        return rows, outputs


@irdl_op_definition
class FullyConnectedPerChannelOp(DenseOp, PerChannelOp):
    """
    `arm_fully_connected_per_channel_s8`: as `cmsis_nn.fully_connected`, with a
    multiplier and a shift for each of the M results, and weights without an offset.

    ```mlir
    %y = cmsis_nn.fully_connected_per_channel %x, %w, %b, %m, %s offsets [3, -5] : tensor<1x8xi8>, tensor<4x8xi8>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32> -> tensor<1x4xi8>
    ```
    """  # noqa: E501

    name = "cmsis_nn.fully_connected_per_channel"

    LISTS: ClassVar[Mapping[str, int]] = {"offsets": 2}

    offsets = prop_def(INT_LIST)

    assembly_format = (
        "$input `,` $weights `,` $bias `,` $multipliers `,` $shifts "
        "`offsets` $offsets (`activation` $activation^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        operands: Sequence[Value],
        *,
        offsets: Sequence[int],
        activation: Sequence[int] = WHOLE_RANGE,
    ) -> None:
        self._build(
            operands,
            {"offsets": int_list(offsets), "activation": int_list(activation)},
            tensor((), i8),
        )

    def result_sizes(self) -> Sequence[Dim]:
        rows, outputs = self._sizes()
        self._check_tables(outputs)
        return rows, outputs
