"""
Constants: elements written out.
"""

from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    TensorType,
)
from xdsl.ir import Operation
from xdsl.irdl import (
    base,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.dense_splat import Dense, compact, element_count, is_splat, splat
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.graph.elements import ANY
from transom.dialects.graph.elementwise import scalar_attr
from transom.dialects.graph.operation import GraphOp
from transom.dialects.graph.shapes import DYNAMIC, ResultShape

TENSOR = AnyTensorTypeConstr


def check_elements(type: AnyTensor, value: Dense) -> None:
    """Check that a tensor type is static and that a value has its elements."""
    ANY.check(type.element_type, "a constant")
    shape = type.get_shape()
    if DYNAMIC in shape:
        raise VerifyException(f"expected a static shape, but got '{type}'")
    count = 1
    for size in shape:
        count *= size
    if (found := element_count(value)) != count:
        raise VerifyException(
            f"expected {count} elements for '{type}', but got {found}"
        )


@irdl_op_definition
class ConstantOp(GraphOp):
    """
    Elements written out; for small tensors.

    ```mlir
    %c = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
    """

    name = "graph.constant"

    value: Dense = prop_def(base(DenseIntOrFPElementsAttr))
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(self, value: Dense) -> None:
        Operation.__init__(
            self, result_types=(value.type,), properties={"value": value}
        )

    @classmethod
    def splat(cls, type: AnyTensor, value: float) -> "ConstantOp":
        """The constant of a static type whose elements are all this number."""
        number = scalar_attr(value, type.element_type)
        assert number is not None, "a number has an attribute"
        one = cast(Any, TensorType(type.element_type, (1,)))
        packed: Dense = DenseIntOrFPElementsAttr.from_list(one, [number.value.data])
        return cls(splat(cast(Any, type), packed.data.data))

    @classmethod
    def from_bytes(cls, type: AnyTensor, data: bytes) -> "ConstantOp":
        """The constant of a static type with these little-endian row-major elements."""
        value: Dense = DenseIntOrFPElementsAttr(cast(Any, type), BytesAttr(data))
        return cls(compact(value))

    def infer(self) -> tuple[ResultShape, ...]:
        type = cast(AnyTensor, self.value.type)
        return (ResultShape(type.get_shape(), type.element_type),)

    def verify_(self) -> None:
        type = cast(AnyTensor, self.value.type)
        if self.result.type != type:
            raise VerifyException(
                f"expected the result to have type '{type}', "
                f"but got '{self.result.type}'"
            )
        check_elements(type, self.value)

    @property
    def is_splat(self) -> bool:
        """Whether there are elements, all with the same bits."""
        data, count = self.value.data.data, len(self.value)
        return count > 0 and is_splat(data, len(data) // count)

    @classmethod
    def parse(cls, parser: Parser) -> "ConstantOp":
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error("expected 'dense<…>'", start, parser.pos)
        op = cls(cast(Dense, value))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)
