"""
The order of elements.
"""

from xdsl.dialects.builtin import I64, AnyTensorTypeConstr, IntegerAttr, UnitAttr, i64
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from transom.dialects.graph.elements import NUMBERS
from transom.dialects.graph.operation import GraphOp, Value
from transom.dialects.graph.properties import INT, check_axis, flag, int_attr
from transom.dialects.graph.shapes import ResultShape
from transom.dialects.graph.syntax import Signature


@irdl_op_definition
class ArgsortOp(GraphOp):
    """
    The places of the elements along `axis` in rising order, with `descending` in
    falling order. Equal elements keep theirs; NaN counts as larger than all others.

    ```mlir
    %y = graph.argsort %x axis 1 descending : tensor<4x8xf32> -> tensor<4x8xi64>
    ```
    """

    name = "graph.argsort"

    input = operand_def(AnyTensorTypeConstr)
    axis = prop_def(INT)
    descending = opt_prop_def(UnitAttr)
    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `axis` $axis (`descending` $descending^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        axis: int | IntegerAttr[I64],
        *,
        descending: bool = False,
    ) -> None:
        properties = {"axis": int_attr(axis), "descending": flag(descending)}
        self._build((input,), properties)

    def infer(self) -> tuple[ResultShape, ...]:
        NUMBERS.check(self.operand_type(0).element_type, "the operand")
        dims = self.operand_dims(0)
        check_axis(self.axis.value.data, len(dims))
        return (ResultShape(dims, i64),)
