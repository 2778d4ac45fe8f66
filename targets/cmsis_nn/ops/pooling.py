"""
Pools over windows of rows and columns.
"""

from abc import ABC
from collections.abc import Sequence

from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from transom.dialects.graph.operation import Value
from transom.dialects.graph.pooling import pooled_sizes
from transom.dialects.graph.properties import INT_LIST, int_list
from transom.dialects.graph.shapes import Dim
from transom.targets.cmsis_nn.ops.base import BYTES, TENSOR, WHOLE_RANGE, CmsisNnOp


class PoolOp(CmsisNnOp, ABC):
    """Base of pools over `[N, H, W, C]`."""

    input = operand_def(TENSOR)
    kernel = prop_def(INT_LIST)
    strides = prop_def(INT_LIST, int_list((1, 1)))
    padding = prop_def(INT_LIST, int_list((0, 0, 0, 0)))

    assembly_format = (
        "$input `kernel` $kernel (`strides` $strides^)? (`padding` $padding^)? "
        "(`activation` $activation^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        activation: Sequence[int] = WHOLE_RANGE,
    ) -> None:
        self._build(
            (input,),
            {
                "kernel": int_list(kernel),
                "strides": int_list(strides),
                "padding": int_list(padding),
                "activation": int_list(activation),
            },
        )

    def result_sizes(self) -> Sequence[Dim]:
        self.check_elements(0, BYTES, "input")
        batch, *sizes, channels = self.static_dims(0, 4, "input")
        windows = pooled_sizes(
            sizes,
            self.numbers("kernel"),
            self.numbers("strides"),
            self.numbers("padding"),
            (1, 1),
            False,
        )
        return (batch, *windows, channels)


@irdl_op_definition
class MaxPoolOp(PoolOp):
    """
    `arm_max_pool_s8`: the largest element of each window, without the padding.

    ```mlir
    %y = cmsis_nn.max_pool %x kernel [2, 2] strides [2, 2] : tensor<1x8x8x4xi8> -> tensor<1x4x4x4xi8>
    ```
    """  # noqa: E501

    name = "cmsis_nn.max_pool"


@irdl_op_definition
class AvgPoolOp(PoolOp):
    """
    `arm_avgpool_s8`: the mean of each window, without the padding, ties away from zero.

    ```mlir
    %y = cmsis_nn.avg_pool %x kernel [2, 2] strides [2, 2] : tensor<1x8x8x4xi8> -> tensor<1x4x4x4xi8>
    ```
    """  # noqa: E501

    name = "cmsis_nn.avg_pool"
