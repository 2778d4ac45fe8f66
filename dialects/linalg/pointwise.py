"""
Element-wise ops that xDSL lacks.
"""

from typing import ClassVar

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.irdl import irdl_op_definition

from transom.dialects.linalg.bodies import absolute, binary, reciprocal, square, unary
from transom.dialects.linalg.named import PointwiseOp


@irdl_op_definition
class AbsOp(PointwiseOp):
    """
    The absolute value.

    ```mlir
    %y = linalg.abs ins(%a : tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.abs"

    INPUTS: ClassVar = 1
    POINT: ClassVar = staticmethod(absolute)


@irdl_op_definition
class CeilOp(PointwiseOp):
    """
    The next integer above.

    ```mlir
    %y = linalg.ceil ins(%a : tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.ceil"

    INPUTS: ClassVar = 1
    POINT: ClassVar = staticmethod(unary(math.CeilOp))
    ELEMENTS: ClassVar = AnyFloat


@irdl_op_definition
class FloorOp(PointwiseOp):
    """
    The next integer below.

    ```mlir
    %y = linalg.floor ins(%a : tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.floor"

    INPUTS: ClassVar = 1
    POINT: ClassVar = staticmethod(unary(math.FloorOp))
    ELEMENTS: ClassVar = AnyFloat


@irdl_op_definition
class NegfOp(PointwiseOp):
    """
    The number with the other sign.

    ```mlir
    %y = linalg.negf ins(%a : tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.negf"

    INPUTS: ClassVar = 1
    POINT: ClassVar = staticmethod(unary(arith.NegfOp))
    ELEMENTS: ClassVar = AnyFloat


@irdl_op_definition
class ReciprocalOp(PointwiseOp):
    """
    One over the number.

    ```mlir
    %y = linalg.reciprocal ins(%a : tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.reciprocal"

    INPUTS: ClassVar = 1
    POINT: ClassVar = staticmethod(reciprocal)
    ELEMENTS: ClassVar = AnyFloat


@irdl_op_definition
class RoundOp(PointwiseOp):
    """
    The nearest integer, halves away from zero.

    ```mlir
    %y = linalg.round ins(%a : tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.round"

    INPUTS: ClassVar = 1
    POINT: ClassVar = staticmethod(unary(math.RoundOp))
    ELEMENTS: ClassVar = AnyFloat


@irdl_op_definition
class RsqrtOp(PointwiseOp):
    """
    One over the square root.

    ```mlir
    %y = linalg.rsqrt ins(%a : tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.rsqrt"

    INPUTS: ClassVar = 1
    POINT: ClassVar = staticmethod(unary(math.RsqrtOp))
    ELEMENTS: ClassVar = AnyFloat


@irdl_op_definition
class SquareOp(PointwiseOp):
    """
    The number times itself.

    ```mlir
    %y = linalg.square ins(%a : tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.square"

    INPUTS: ClassVar = 1
    POINT: ClassVar = staticmethod(square)


@irdl_op_definition
class TanhOp(PointwiseOp):
    """
    The hyperbolic tangent.

    ```mlir
    %y = linalg.tanh ins(%a : tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.tanh"

    INPUTS: ClassVar = 1
    POINT: ClassVar = staticmethod(unary(math.TanhOp))
    ELEMENTS: ClassVar = AnyFloat


@irdl_op_definition
class ErfOp(PointwiseOp):
    """
    The error function.

    ```mlir
    %y = linalg.erf ins(%a : tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.erf"

    INPUTS: ClassVar = 1
    POINT: ClassVar = staticmethod(unary(math.ErfOp))
    ELEMENTS: ClassVar = AnyFloat


@irdl_op_definition
class DivOp(PointwiseOp):
    """
    A quotient, of signed integers.

    ```mlir
    %y = linalg.div ins(%a, %b : tensor<4xf32>, tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.div"

    INPUTS: ClassVar = 2
    POINT: ClassVar = staticmethod(binary(arith.DivfOp, arith.DivSIOp))


@irdl_op_definition
class DivUnsignedOp(PointwiseOp):
    """
    A quotient, of unsigned integers.

    ```mlir
    %y = linalg.div_unsigned ins(%a, %b : tensor<4xi32>, tensor<4xi32>)
        outs(%c : tensor<4xi32>) -> tensor<4xi32>
    ```
    """

    name = "linalg.div_unsigned"

    INPUTS: ClassVar = 2
    POINT: ClassVar = staticmethod(binary(arith.DivfOp, arith.DivUIOp, unsigned=True))
    ELEMENTS: ClassVar = IntegerType


@irdl_op_definition
class PowfOp(PointwiseOp):
    """
    A power.

    ```mlir
    %y = linalg.powf ins(%a, %b : tensor<4xf32>, tensor<4xf32>)
        outs(%c : tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "linalg.powf"

    INPUTS: ClassVar = 2
    POINT: ClassVar = staticmethod(binary(math.PowFOp, math.PowFOp))
    ELEMENTS: ClassVar = AnyFloat


OPERATIONS = (
    AbsOp,
    CeilOp,
    FloorOp,
    NegfOp,
    ReciprocalOp,
    RoundOp,
    RsqrtOp,
    SquareOp,
    TanhOp,
    ErfOp,
    DivOp,
    DivUnsignedOp,
    PowfOp,
)
