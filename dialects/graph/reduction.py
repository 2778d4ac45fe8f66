"""
Reductions along axes.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, AnyTensorTypeConstr, IntegerAttr, UnitAttr, i64
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
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from transom.dialects.graph.elements import FLOATS, NUMBERS
from transom.dialects.graph.operation import GraphOp, Value, tensor_type
from transom.dialects.graph.properties import (
    INT,
    INT_LIST,
    IntList,
    check_axes,
    check_axis,
    flag,
    int_attr,
    int_list,
)
from transom.dialects.graph.shapes import Dim, ResultShape
from transom.dialects.graph.syntax import Signature

TENSOR = AnyTensorTypeConstr


def reduced(
    dims: Sequence[Dim], axes: Sequence[int], keepdims: bool
) -> tuple[Dim, ...]:
    """The sizes that are left when axes are reduced."""
    if keepdims:
        return tuple(1 if axis in axes else dim for axis, dim in enumerate(dims))
    return tuple(dim for axis, dim in enumerate(dims) if axis not in axes)


class ReduceKind(StrEnum):
    """What `graph.reduce` makes of the elements along its axes."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


@irdl_attr_definition
class ReduceKindAttr(EnumAttribute[ReduceKind], SpacedOpaqueSyntaxAttribute):
    """What `graph.reduce` makes of the elements along its axes."""

    name = "graph.reduce_kind"


@irdl_op_definition
class ReduceOp(GraphOp):
    """
    The sum, mean, largest, smallest or product of the elements along axes.

    Of no elements the sum is 0, the product 1, the largest and smallest the least and
    the greatest value of the element type, the mean NaN. Sums and products of integers
    wrap around. The largest and smallest of floats are NaN if one is.

    ```mlir
    %y = graph.reduce sum %x axes [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>
    ```
    """

    name = "graph.reduce"

    kind = prop_def(ReduceKindAttr)
    input = operand_def(TENSOR)
    axes = prop_def(INT_LIST)
    keepdims = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$kind $input `axes` $axes (`keepdims` $keepdims^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        kind: str | ReduceKind,
        input: Value,
        axes: Sequence[int] | IntList | None = None,
        keepdims: bool = False,
    ) -> None:
        if axes is None:
            axes = range(len(tensor_type(input).get_shape()))
        properties = {
            "kind": ReduceKindAttr(ReduceKind(kind)),
            "axes": int_list(axes),
            "keepdims": flag(keepdims),
        }
        self._build((input,), properties)

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        elements = FLOATS if self.kind.data == ReduceKind.MEAN else NUMBERS
        elements.check(element_type, "the operand")
        dims, axes = self.operand_dims(0), self.axes.get_values()
        check_axes(axes, len(dims))
        left = reduced(dims, axes, self.keepdims is not None)
        return (ResultShape(left, element_type),)


class ArgReduceKind(StrEnum):
    """Which place `graph.arg_reduce` looks for."""

    ARGMAX = "argmax"
    ARGMIN = "argmin"


@irdl_attr_definition
class ArgReduceKindAttr(EnumAttribute[ArgReduceKind], SpacedOpaqueSyntaxAttribute):
    """Which place `graph.arg_reduce` looks for."""

    name = "graph.arg_reduce_kind"


@irdl_op_definition
class ArgReduceOp(GraphOp):
    """
    The place along `axis` of the first largest or smallest element, as `i64`; of the
    first NaN if there is one.

    ```mlir
    %y = graph.arg_reduce argmax %x axis 1 : tensor<4x8xf32> -> tensor<4xi64>
    ```
    """

    name = "graph.arg_reduce"

    kind = prop_def(ArgReduceKindAttr)
    input = operand_def(TENSOR)
    axis = prop_def(INT)
    keepdims = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$kind $input `axis` $axis (`keepdims` $keepdims^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        kind: str | ArgReduceKind,
        input: Value,
        axis: int | IntegerAttr[I64],
        keepdims: bool = False,
    ) -> None:
        properties = {
            "kind": ArgReduceKindAttr(ArgReduceKind(kind)),
            "axis": int_attr(axis),
            "keepdims": flag(keepdims),
        }
        self._build((input,), properties)

    def infer(self) -> tuple[ResultShape, ...]:
        NUMBERS.check(self.operand_type(0).element_type, "the operand")
        dims, axis = self.operand_dims(0), self.axis.value.data
        check_axis(axis, len(dims))
        if dims[axis] == 0:
            raise VerifyException(
                f"expected elements along axis {axis}, but its size is 0"
            )
        return (ResultShape(reduced(dims, (axis,), self.keepdims is not None), i64),)
