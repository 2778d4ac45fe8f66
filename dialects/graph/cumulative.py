"""
Sums, products and extremes of the elements up to each place.
"""

from xdsl.dialects.builtin import I64, AnyTensorTypeConstr, IntegerAttr, UnitAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.str_enum import StrEnum

from transom.dialects.graph.elements import NUMBERS
from transom.dialects.graph.operation import GraphOp, Value
from transom.dialects.graph.properties import INT, check_axis, flag, int_attr
from transom.dialects.graph.shapes import ResultShape
from transom.dialects.graph.syntax import Signature


class CumulateKind(StrEnum):
    """What `graph.cumulate` makes of the elements up to each place."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


@irdl_attr_definition
class CumulateKindAttr(EnumAttribute[CumulateKind], SpacedOpaqueSyntaxAttribute):
    """What `graph.cumulate` makes of the elements up to each place."""

    name = "graph.cumulate_kind"


@irdl_op_definition
class CumulateOp(GraphOp):
    """
    The sum, product, largest or smallest of the elements up to each place along `axis`:
    with `exclusive` without the element itself, with `reverse` from the end.

    Of no elements, and in rounding, overflow and NaN, it is as `graph.reduce`.

    ```mlir
    %y = graph.cumulate sum %x axis 1 exclusive reverse : tensor<4x8xf32>
    ```
    """

    name = "graph.cumulate"

    kind = prop_def(CumulateKindAttr)
    input = operand_def(AnyTensorTypeConstr)
    axis = prop_def(INT)
    exclusive = opt_prop_def(UnitAttr)
    reverse = opt_prop_def(UnitAttr)
    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$kind $input `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? "
        "attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        kind: str | CumulateKind,
        input: Value,
        axis: int | IntegerAttr[I64],
        *,
        exclusive: bool = False,
        reverse: bool = False,
    ) -> None:
        properties = {
            "kind": CumulateKindAttr(CumulateKind(kind)),
            "axis": int_attr(axis),
            "exclusive": flag(exclusive),
            "reverse": flag(reverse),
        }
        self._build((input,), properties)

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        NUMBERS.check(element_type, "the operand")
        dims = self.operand_dims(0)
        check_axis(self.axis.value.data, len(dims))
        return (ResultShape(dims, element_type),)
