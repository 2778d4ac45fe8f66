"""
Sums and products of elements, and softmax of rows.
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.operation import Value
from transom.dialects.graph.properties import INT, INT_LIST, int_attr, int_list
from transom.dialects.graph.shapes import Dim
from transom.targets.cmsis_nn.ops.base import BYTES, TENSOR, WHOLE_RANGE, CmsisNnOp


@irdl_op_definition
class SoftmaxOp(CmsisNnOp):
    """
    `arm_softmax_s8` of the rows of the input, with scale 1/256 and zero point -128.
    `scale` is the multiplier and shift of the input; what is less than `diff_min` below
    the largest element of its row gives -128.

    ```mlir
    %y = cmsis_nn.softmax %x scale [1073741824, 20] diff_min -1984 : tensor<2x10xi8>
    ```
    """

    name = "cmsis_nn.softmax"

    LISTS: ClassVar[Mapping[str, int]] = {"scale": 2}

    input = operand_def(TENSOR)
    scale = prop_def(INT_LIST)
    diff_min = prop_def(INT)

    assembly_format = (
        "$input `scale` $scale `diff_min` $diff_min (`activation` $activation^)? "
        "attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, input: Value, *, scale: Sequence[int], diff_min: int) -> None:
        self._build(
            (input,),
            {
                "scale": int_list(scale),
                "diff_min": int_attr(diff_min),
                "activation": int_list(WHOLE_RANGE),
            },
        )

    def result_sizes(self) -> Sequence[Dim]:
        self.check_elements(0, BYTES, "input")
        return self.static_dims(0, 2, "input")

    def verify_(self) -> None:
        super().verify_()
        if self.numbers("activation") != WHOLE_RANGE:
            raise VerifyException("expected no 'activation': the library has none here")


class PairOp(CmsisNnOp, ABC):
    """
    Base of ops on two tensors of one shape, or on images `[N, H, W, C]` and the
    channels `[N, 1, 1, C]` that each of their pixels meets, in a call each.
    """

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    offsets = prop_def(INT_LIST)

    def result_sizes(self) -> Sequence[Dim]:
        self.check_elements(0, BYTES, "lhs")
        self.check_elements(1, BYTES, "rhs")
        lhs, rhs = self.operand_type(0).get_shape(), self.operand_type(1).get_shape()
        sizes = self.static_dims(0, len(lhs), "lhs")
        if rhs != lhs and not is_row_of_channels(rhs, lhs):
            raise VerifyException(
                "expected operands of one shape, or 'rhs' of the channels of an image "
                f"'lhs', but got '{self.operand_type(0)}' and '{self.operand_type(1)}'"
            )
        return sizes

    @property
    def is_per_pixel(self) -> bool:
        """Whether the second operand has the channels of one pixel."""
        return self.operand_type(0).get_shape() != self.operand_type(1).get_shape()


def is_row_of_channels(shape: Sequence[int], image: Sequence[int]) -> bool:
    """Whether a shape is that of the channels of images `[N, H, W, C]`."""
    if len(image) != 4:
        return False
    batch, _, _, channels = image
    return tuple(shape) == (batch, 1, 1, channels)


@irdl_op_definition
class AddOp(PairOp):
    """
    `arm_elementwise_add_s8`: `offsets`, `multipliers` and `shifts` are those of both
    inputs and of the result; inputs are shifted left by `left_shift` before.

    ```mlir
    %y = cmsis_nn.add %a, %b offsets [1, 2, -3] multipliers [1073741824, 1073741824, 1518500250] shifts [0, 0, -19] left_shift 20 : tensor<4xi8>
    ```
    """  # noqa: E501

    name = "cmsis_nn.add"

    LISTS: ClassVar[Mapping[str, int]] = {"offsets": 3, "multipliers": 3, "shifts": 3}

    multipliers = prop_def(INT_LIST)
    shifts = prop_def(INT_LIST)
    left_shift = prop_def(INT)

    assembly_format = (
        "$lhs `,` $rhs `offsets` $offsets `multipliers` $multipliers `shifts` $shifts "
        "`left_shift` $left_shift (`activation` $activation^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        lhs: Value,
        rhs: Value,
        *,
        offsets: Sequence[int],
        multipliers: Sequence[int],
        shifts: Sequence[int],
        left_shift: int,
        activation: Sequence[int] = WHOLE_RANGE,
    ) -> None:
        self._build(
            (lhs, rhs),
            {
                "offsets": int_list(offsets),
                "multipliers": int_list(multipliers),
                "shifts": int_list(shifts),
                "left_shift": int_attr(left_shift),
                "activation": int_list(activation),
            },
        )


@irdl_op_definition
class MulOp(PairOp):
    """
    `arm_elementwise_mul_s8`: `offsets` are those of both inputs and of the result,
    `scale` the multiplier and shift of the product.

    ```mlir
    %y = cmsis_nn.mul %a, %b offsets [1, 2, -3] scale [1518500250, -6] : tensor<4xi8>
    ```
    """

    name = "cmsis_nn.mul"

    LISTS: ClassVar[Mapping[str, int]] = {"offsets": 3, "scale": 2}

    scale = prop_def(INT_LIST)

    assembly_format = (
        "$lhs `,` $rhs `offsets` $offsets `scale` $scale "
        "(`activation` $activation^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        lhs: Value,
        rhs: Value,
        *,
        offsets: Sequence[int],
        scale: Sequence[int],
        activation: Sequence[int] = WHOLE_RANGE,
    ) -> None:
        self._build(
            (lhs, rhs),
            {
                "offsets": int_list(offsets),
                "scale": int_list(scale),
                "activation": int_list(activation),
            },
        )
