"""
Element-wise functions of one tensor.
"""

from typing import ClassVar

from xdsl.dialects.builtin import (
    Float64Type,
    FloatAttr,
    IntegerAttr,
)
from xdsl.irdl import (
    base,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.elements import (
    BITS,
    NUMBERS,
    SIGNED_NUMBERS,
    ElementSet,
)
from transom.dialects.graph.elementwise import (
    Number,
    UnaryOp,
    element_type_of,
    scalar_attr,
)
from transom.dialects.graph.operation import Value
from transom.dialects.graph.properties import FLOAT, float_attr


@irdl_op_definition
class NegOp(UnaryOp):
    """
    The negative; integers wrap around.

    ```mlir
    %y = graph.neg %x : tensor<4xf32>
    ```
    """

    name = "graph.neg"
    ELEMENTS: ClassVar[ElementSet] = SIGNED_NUMBERS


@irdl_op_definition
class AbsOp(UnaryOp):
    """
    The magnitude; that of the least integer wraps around.

    ```mlir
    %y = graph.abs %x : tensor<4xf32>
    ```
    """

    name = "graph.abs"
    ELEMENTS: ClassVar[ElementSet] = NUMBERS


@irdl_op_definition
class SignOp(UnaryOp):
    """
    -1, 0 or 1; NaN stays NaN.

    ```mlir
    %y = graph.sign %x : tensor<4xf32>
    ```
    """

    name = "graph.sign"
    ELEMENTS: ClassVar[ElementSet] = NUMBERS


@irdl_op_definition
class NotOp(UnaryOp):
    """
    The complement, bit by bit.

    ```mlir
    %y = graph.not %x : tensor<4xi1>
    ```
    """

    name = "graph.not"
    ELEMENTS: ClassVar[ElementSet] = BITS


@irdl_op_definition
class ReluOp(UnaryOp):
    """
    The positive part: `maximum(x, 0)`.

    ```mlir
    %y = graph.relu %x : tensor<8x?xf32>
    ```
    """

    name = "graph.relu"
    ELEMENTS: ClassVar[ElementSet] = SIGNED_NUMBERS


@irdl_op_definition
class ExpOp(UnaryOp):
    """
    The exponential function.

    ```mlir
    %y = graph.exp %x : tensor<4xf32>
    ```
    """

    name = "graph.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    """
    The natural logarithm.

    ```mlir
    %y = graph.log %x : tensor<4xf32>
    ```
    """

    name = "graph.log"


@irdl_op_definition
class SqrtOp(UnaryOp):
    """
    The square root.

    ```mlir
    %y = graph.sqrt %x : tensor<4xf32>
    ```
    """

    name = "graph.sqrt"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """
    The reciprocal of the square root.

    ```mlir
    %y = graph.rsqrt %x : tensor<4xf32>
    ```
    """

    name = "graph.rsqrt"


@irdl_op_definition
class ReciprocalOp(UnaryOp):
    """
    One over the operand.

    ```mlir
    %y = graph.reciprocal %x : tensor<4xf32>
    ```
    """

    name = "graph.reciprocal"


@irdl_op_definition
class TanhOp(UnaryOp):
    """
    The hyperbolic tangent.

    ```mlir
    %y = graph.tanh %x : tensor<4xf32>
    ```
    """

    name = "graph.tanh"


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """
    The logistic function `1 / (1 + exp(-x))`.

    ```mlir
    %y = graph.sigmoid %x : tensor<4xf32>
    ```
    """

    name = "graph.sigmoid"


@irdl_op_definition
class ErfOp(UnaryOp):
    """
    The error function.

    ```mlir
    %y = graph.erf %x : tensor<4xf32>
    ```
    """

    name = "graph.erf"


@irdl_op_definition
class GeluOp(UnaryOp):
    """
    `x / 2 * (1 + erf(x / sqrt(2)))`, as ONNX `Gelu` without approximation.

    ```mlir
    %y = graph.gelu %x : tensor<4xf32>
    ```
    """

    name = "graph.gelu"


@irdl_op_definition
class SinOp(UnaryOp):
    """
    The sine.

    ```mlir
    %y = graph.sin %x : tensor<4xf32>
    ```
    """

    name = "graph.sin"


@irdl_op_definition
class CosOp(UnaryOp):
    """
    The cosine.

    ```mlir
    %y = graph.cos %x : tensor<4xf32>
    ```
    """

    name = "graph.cos"


@irdl_op_definition
class FloorOp(UnaryOp):
    """
    The largest integer that is not above.

    ```mlir
    %y = graph.floor %x : tensor<4xf32>
    ```
    """

    name = "graph.floor"


@irdl_op_definition
class CeilOp(UnaryOp):
    """
    The smallest integer that is not below.

    ```mlir
    %y = graph.ceil %x : tensor<4xf32>
    ```
    """

    name = "graph.ceil"


@irdl_op_definition
class RoundOp(UnaryOp):
    """
    The nearest integer, of two the even one.

    ```mlir
    %y = graph.round %x : tensor<4xf32>
    ```
    """

    name = "graph.round"


@irdl_op_definition
class LeakyReluOp(UnaryOp):
    """
    `x` where it is positive, else `alpha * x`.

    ```mlir
    %y = graph.leaky_relu %x alpha 0.01 : tensor<4xf32>
    ```
    """

    name = "graph.leaky_relu"

    alpha = prop_def(FLOAT)

    assembly_format = (
        "$input `alpha` $alpha attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self, input: Value, alpha: float | FloatAttr[Float64Type] = 0.01
    ) -> None:
        self._build((input,), {"alpha": float_attr(alpha)})


@irdl_op_definition
class ClampOp(UnaryOp):
    """
    `minimum(maximum(x, min), max)`; a bound that is left out does not bound.

    ```mlir
    %y = graph.clamp %x min 0.0 : f32 max 6.0 : f32 : tensor<4xf32>
    ```
    """

    name = "graph.clamp"
    ELEMENTS: ClassVar[ElementSet] = NUMBERS

    min = opt_prop_def(base(IntegerAttr) | base(FloatAttr))
    max = opt_prop_def(base(IntegerAttr) | base(FloatAttr))

    assembly_format = (
        "$input (`min` $min^)? (`max` $max^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        min: float | Number | None = None,
        max: float | Number | None = None,
    ) -> None:
        type = element_type_of(input)
        self._build(
            (input,), {"min": scalar_attr(min, type), "max": scalar_attr(max, type)}
        )

    def verify_(self) -> None:
        super().verify_()
        type = self.operand_type(0).element_type
        for name, bound in (("min", self.min), ("max", self.max)):
            if bound is not None and bound.type != type:
                raise VerifyException(
                    f"expected '{name}' of type '{type}', but got '{bound}'"
                )
