"""
Element-wise arithmetic and logic of two tensors.
"""

from abc import ABC
from typing import ClassVar

from xdsl.irdl import (
    irdl_op_definition,
)

from transom.dialects.graph.elements import (
    BITS,
    INTEGERS,
    ElementSet,
)
from transom.dialects.graph.elementwise import BinaryOp


@irdl_op_definition
class AddOp(BinaryOp):
    """
    The sum; integers wrap around.

    ```mlir
    %y = graph.add %a, %b : tensor<4x1xf32>, tensor<3xf32> -> tensor<4x3xf32>
    ```
    """

    name = "graph.add"


@irdl_op_definition
class SubOp(BinaryOp):
    """
    The difference; integers wrap around.

    ```mlir
    %y = graph.sub %a, %b : tensor<4xf32>
    ```
    """

    name = "graph.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """
    The product; integers wrap around.

    ```mlir
    %y = graph.mul %a, %b : tensor<4xf32>
    ```
    """

    name = "graph.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """
    The quotient. That of integers is rounded towards zero; by zero it is 0, and that of
    the least number by -1 wraps around to the least.

    ```mlir
    %y = graph.div %a, %b : tensor<4xi32>
    ```
    """

    name = "graph.div"


@irdl_op_definition
class ModOp(BinaryOp):
    """
    The remainder, as ONNX `Mod`: of integers with the sign of the divisor, of floats
    that of C's `fmod`, with the sign of the dividend. By integer zero it is 0.

    ```mlir
    %y = graph.mod %a, %b : tensor<4xi32>
    ```
    """

    name = "graph.mod"


@irdl_op_definition
class PowOp(BinaryOp):
    """
    `lhs` to the power of `rhs`. Integers wrap around; a negative exponent of an integer
    gives the quotient 1 / power, rounded towards zero.

    ```mlir
    %y = graph.pow %a, %b : tensor<4xf32>
    ```
    """

    name = "graph.pow"


@irdl_op_definition
class MinimumOp(BinaryOp):
    """
    The smaller one; NaN if one of two floats is.

    ```mlir
    %y = graph.minimum %a, %b : tensor<4xf32>
    ```
    """

    name = "graph.minimum"


@irdl_op_definition
class MaximumOp(BinaryOp):
    """
    The larger one; NaN if one of two floats is.

    ```mlir
    %y = graph.maximum %a, %b : tensor<4xf32>
    ```
    """

    name = "graph.maximum"


class ShiftOp(BinaryOp, ABC):
    """Base of shifts of integers."""

    ELEMENTS: ClassVar[ElementSet] = INTEGERS


@irdl_op_definition
class ShiftLeftOp(ShiftOp):
    """
    The bits of `lhs` moved up by `rhs`; none is left from its width on, and of a
    negative number of places.

    ```mlir
    %y = graph.shift_left %a, %b : tensor<4xui8>
    ```
    """

    name = "graph.shift_left"


@irdl_op_definition
class ShiftRightOp(ShiftOp):
    """
    The bits of `lhs` moved down by `rhs`; a signed number keeps its sign. From its
    width on, and for a negative number of places, only the sign is left.

    ```mlir
    %y = graph.shift_right %a, %b : tensor<4xui8>
    ```
    """

    name = "graph.shift_right"


class BitwiseOp(BinaryOp, ABC):
    """Base of logic on truth values and, bit by bit, on integers."""

    ELEMENTS: ClassVar[ElementSet] = BITS


@irdl_op_definition
class AndOp(BitwiseOp):
    """
    The conjunction, bit by bit.

    ```mlir
    %y = graph.and %a, %b : tensor<4xi1>
    ```
    """

    name = "graph.and"


@irdl_op_definition
class OrOp(BitwiseOp):
    """
    The disjunction, bit by bit.

    ```mlir
    %y = graph.or %a, %b : tensor<4xi1>
    ```
    """

    name = "graph.or"


@irdl_op_definition
class XorOp(BitwiseOp):
    """
    The exclusive disjunction, bit by bit.

    ```mlir
    %y = graph.xor %a, %b : tensor<4xi1>
    ```
    """

    name = "graph.xor"
