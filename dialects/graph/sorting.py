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
from xdsl.utils.exceptions import VerifyException

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

    With `first`, only so many of them, of an axis that has as many at least.

    ```mlir
    %y = graph.argsort %x axis 1 descending : tensor<4x8xf32> -> tensor<4x8xi64>
    %z = graph.argsort %x axis 1 first 2 : tensor<4x8xf32> -> tensor<4x2xi64>
    ```
    """

    name = "graph.argsort"

    input = operand_def(AnyTensorTypeConstr)
    axis = prop_def(INT)
    first = opt_prop_def(INT)
    descending = opt_prop_def(UnitAttr)
    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `axis` $axis (`first` $first^)? (`descending` $descending^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        axis: int | IntegerAttr[I64],
        *,
        first: int | IntegerAttr[I64] | None = None,
        descending: bool = False,
    ) -> None:
        properties = {
            "axis": int_attr(axis),
            "first": None if first is None else int_attr(first),
            "descending": flag(descending),
        }
        self._build((input,), properties)

    @property
    def count(self) -> int | None:
        """How many places are wanted; None if all are."""
        return None if self.first is None else self.first.value.data

    def infer(self) -> tuple[ResultShape, ...]:
        NUMBERS.check(self.operand_type(0).element_type, "the operand")
        dims = self.operand_dims(0)
        axis, count = self.axis.value.data, self.count
        check_axis(axis, len(dims))
        if count is not None:
            size = dims[axis]
            if not isinstance(size, int) or not 0 <= count <= size:
                raise VerifyException(
                    f"expected 'first' to be from 0 to the static size of axis {axis}, "
                    f"which is {size}, but got {count}"
                )
            dims = (*dims[:axis], count, *dims[axis + 1 :])
        return (ResultShape(dims, i64),)
