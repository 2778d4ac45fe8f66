"""
Ops that put elements next to each other.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    AnyTensorTypeConstr,
    FloatAttr,
    IntegerAttr,
)
from xdsl.irdl import (
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.elements import ANY
from transom.dialects.graph.elementwise import Number, element_type_of, scalar_attr
from transom.dialects.graph.operation import GraphOp, Value
from transom.dialects.graph.properties import (
    INT,
    INT_LIST,
    IntList,
    check_at_least,
    check_axis,
    check_count,
    int_attr,
    int_list,
)
from transom.dialects.graph.shapes import (
    DYNAMIC,
    ResultShape,
)
from transom.dialects.graph.syntax import Signature

TENSOR = AnyTensorTypeConstr


@irdl_op_definition
class ConcatOp(GraphOp):
    """
    The operands one after the other along `axis`.

    ```mlir
    %y = graph.concat %a, %b axis 0 : tensor<2x4xf32>, tensor<3x4xf32> -> tensor<5x4xf32>
    ```
    """  # noqa: E501

    name = "graph.concat"

    inputs = var_operand_def(TENSOR)
    axis = prop_def(INT)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$inputs `axis` $axis attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, inputs: Sequence[Value], axis: int | IntegerAttr[I64]) -> None:
        self._build(inputs, {"axis": int_attr(axis)})

    def infer(self) -> tuple[ResultShape, ...]:
        if not self.operands:
            raise VerifyException("expected an operand or more")
        element_type = self.operand_type(0).element_type
        ANY.check(element_type, "operand 0")
        axis = self.axis.value.data
        result = list(self.operand_dims(0))
        check_axis(axis, len(result))
        for index in range(1, len(self.operands)):
            type, dims = self.operand_type(index), self.operand_dims(index)
            if type.element_type != element_type or len(dims) != len(result):
                raise VerifyException(
                    f"expected operand {index} to have {len(result)} dimensions and "
                    f"element type '{element_type}', but got '{type}'"
                )
            for other, (a, b) in enumerate(zip(result, dims, strict=True)):
                if other == axis:
                    result[axis] = a + b
                elif isinstance(a, int) and isinstance(b, int) and a != b:
                    raise VerifyException(
                        f"expected dimension {other} of operand {index} to be {a}, "
                        f"but got {b}"
                    )
                elif isinstance(b, int):
                    result[other] = b
        return (ResultShape(tuple(result), element_type),)


@irdl_op_definition
class PadOp(GraphOp):
    """
    The operand with `low` elements before and `high` elements behind it in each
    dimension, all of them `value`.

    ```mlir
    %y = graph.pad %x low [0, 1] high [0, 1] value 0.0 : f32 : tensor<4x4xf32> -> tensor<4x6xf32>
    ```
    """  # noqa: E501

    name = "graph.pad"

    input = operand_def(TENSOR)
    low = prop_def(INT_LIST)
    high = prop_def(INT_LIST)
    value = prop_def(base(IntegerAttr) | base(FloatAttr))
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `low` $low `high` $high `value` $value attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        low: Sequence[int] | IntList,
        high: Sequence[int] | IntList,
        value: float | Number = 0,
    ) -> None:
        properties = {
            "low": int_list(low),
            "high": int_list(high),
            "value": scalar_attr(value, element_type_of(input)),
        }
        self._build((input,), properties)

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        ANY.check(element_type, "the operand")
        if self.value.type != element_type:
            raise VerifyException(
                f"expected 'value' of type '{element_type}', but got '{self.value}'"
            )
        dims = self.operand_dims(0)
        low, high = self.low.get_values(), self.high.get_values()
        for values, name in ((low, "'low'"), (high, "'high'")):
            check_count(values, len(dims), f"entries of {name}")
            check_at_least(values, 0, name)
        result = tuple(d + (a + b) for d, a, b in zip(dims, low, high, strict=True))
        return (ResultShape(result, element_type),)

    @property
    def has_known_frame(self) -> bool:
        """Whether it is known where in the result the elements around are."""
        shape = self.operand_type(0).get_shape()
        low, high = self.low.get_values(), self.high.get_values()
        return all(
            size != DYNAMIC or not (before or behind)
            for size, before, behind in zip(shape, low, high, strict=True)
        )
