"""
Floats as small integers with a scale and a zero point, and back.
"""

from xdsl.dialects.builtin import AnyTensorTypeConstr, i8, i16, i32
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.elements import FLOATS, ElementSet, ui8, ui16
from transom.dialects.graph.elementwise import ElementwiseOp
from transom.dialects.graph.operation import Value
from transom.dialects.graph.shapes import ResultShape
from transom.dialects.graph.syntax import Signature

TENSOR = AnyTensorTypeConstr

QUANTIZED = ElementSet("8-bit or 16-bit integer", frozenset((i8, ui8, i16, ui16)))
SUMS = ElementSet(
    "8-bit, 16-bit or signed 32-bit integer", QUANTIZED.types | frozenset((i32,))
)


@irdl_op_definition
class QuantizeOp(ElementwiseOp):
    """
    `x / scale`, rounded to the nearest integer, ties to even, plus `zero_point`, whose
    element type the result has; what does not fit saturates, and NaN gives 0. All
    broadcast: scales per channel have the sizes of the channels and ones. ONNX
    `QuantizeLinear`.

    It is computed in f32, or in f64 if an operand is f64.

    ```mlir
    %q = graph.quantize %x, %s, %z : tensor<1x8x4x4xf32>, tensor<8x1x1xf32>, tensor<i8> -> tensor<1x8x4x4xi8>
    ```
    """  # noqa: E501

    name = "graph.quantize"

    input = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    zero_point = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `,` $scale `,` $zero_point attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, input: Value, scale: Value, zero_point: Value) -> None:
        self._build((input, scale, zero_point), {})

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(2).element_type
        FLOATS.check(self.operand_type(0).element_type, "'input'")
        FLOATS.check(self.operand_type(1).element_type, "'scale'")
        QUANTIZED.check(element_type, "'zero_point'")
        dims = self._common_shape("input", "scale", "zero_point")
        return (ResultShape(dims, element_type),)


@irdl_op_definition
class DequantizeOp(ElementwiseOp):
    """
    `(x - zero_point) * scale`, of the element type of `scale`; all broadcast. The
    difference is taken in i32, the product in f32, or f64 if `scale` is f64. ONNX
    `DequantizeLinear`.

    ```mlir
    %x = graph.dequantize %q, %s, %z : tensor<4x8xi8>, tensor<f32>, tensor<i8> -> tensor<4x8xf32>
    ```
    """  # noqa: E501

    name = "graph.dequantize"

    input = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    zero_point = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `,` $scale `,` $zero_point attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, input: Value, scale: Value, zero_point: Value) -> None:
        self._build((input, scale, zero_point), {})

    def infer(self) -> tuple[ResultShape, ...]:
        quantized, zero_point = (self.operand_type(i).element_type for i in (0, 2))
        element_type = self.operand_type(1).element_type
        SUMS.check(quantized, "'input'")
        FLOATS.check(element_type, "'scale'")
        if quantized != zero_point:
            raise VerifyException(
                "expected 'input' and 'zero_point' of one element type, "
                f"but got '{quantized}' and '{zero_point}'"
            )
        dims = self._common_shape("input", "scale", "zero_point")
        return (ResultShape(dims, element_type),)
