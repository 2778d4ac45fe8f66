"""
Normalizations.
"""

from abc import ABC

from xdsl.dialects.builtin import (
    I64,
    AnyTensorTypeConstr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
)
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.elements import FLOATS
from transom.dialects.graph.operation import GraphOp, Value
from transom.dialects.graph.properties import (
    FLOAT,
    INT,
    check_axis,
    float_attr,
    int_attr,
)
from transom.dialects.graph.shapes import ResultShape
from transom.dialects.graph.syntax import Signature

TENSOR = AnyTensorTypeConstr


@irdl_op_definition
class BatchNormOp(GraphOp):
    """
    `(x - mean) / sqrt(variance + epsilon) * scale + bias`, per channel, which is
    dimension 1: ONNX `BatchNormalization` with given statistics.

    ```mlir
    %y = graph.batch_norm %x, %scale, %bias, %mean, %variance epsilon 1.0e-05 : tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<1x8x4x4xf32>
    ```
    """  # noqa: E501

    name = "graph.batch_norm"

    input = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    bias = operand_def(TENSOR)
    mean = operand_def(TENSOR)
    variance = operand_def(TENSOR)
    epsilon = prop_def(FLOAT)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `,` $scale `,` $bias `,` $mean `,` $variance `epsilon` $epsilon "
        "attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        scale: Value,
        bias: Value,
        mean: Value,
        variance: Value,
        epsilon: float | FloatAttr[Float64Type] = 1e-5,
    ) -> None:
        self._build(
            (input, scale, bias, mean, variance), {"epsilon": float_attr(epsilon)}
        )

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        FLOATS.check(element_type, "'input'")
        dims = self.operand_dims(0)
        if len(dims) < 2:
            raise VerifyException(
                f"expected 'input' to have 2 dimensions or more, but got {len(dims)}"
            )
        for index, name in enumerate(("scale", "bias", "mean", "variance"), 1):
            type = self.operand_type(index)
            sizes = self.operand_dims(index)
            known = [size for size in (*sizes, dims[1]) if isinstance(size, int)]
            if len(sizes) != 1 or len(set(known)) > 1:
                raise VerifyException(
                    f"expected '{name}' to have one dimension of the {dims[1]} "
                    f"channels of 'input', but got '{type}'"
                )
            FLOATS.check(type.element_type, f"'{name}'")
        return (ResultShape(dims, element_type),)

    def verify_(self) -> None:
        super().verify_()
        if not self.epsilon.value.data >= 0:
            raise VerifyException(
                f"expected epsilon >= 0, but got {self.epsilon.value.data}"
            )


class AlongAxisOp(GraphOp, ABC):
    """Base of ops on floats along one axis that keep the shape."""

    input = operand_def(TENSOR)
    axis = prop_def(INT)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `axis` $axis attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, input: Value, axis: int | IntegerAttr[I64]) -> None:
        self._build((input,), {"axis": int_attr(axis)})

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        FLOATS.check(element_type, "the operand")
        dims = self.operand_dims(0)
        check_axis(self.axis.value.data, len(dims))
        return (ResultShape(dims, element_type),)


@irdl_op_definition
class SoftmaxOp(AlongAxisOp):
    """
    `exp(x - max(x))` over its sum along `axis`, as ONNX `Softmax`.

    ```mlir
    %y = graph.softmax %x axis 1 : tensor<8x?xf32>
    ```
    """

    name = "graph.softmax"


@irdl_op_definition
class LogSoftmaxOp(AlongAxisOp):
    """
    The logarithm of the softmax along `axis`, as ONNX `LogSoftmax`.

    ```mlir
    %y = graph.log_softmax %x axis 1 : tensor<8x?xf32>
    ```
    """

    name = "graph.log_softmax"
