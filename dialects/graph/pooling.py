"""
Pooling over windows of rows and columns.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyTensorTypeConstr, UnitAttr, i64
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.contraction import (
    check_rank,
    check_window_fits,
    check_windows,
)
from transom.dialects.graph.elements import FLOATS, NUMBERS
from transom.dialects.graph.operation import GraphOp, Value
from transom.dialects.graph.properties import (
    INT_LIST,
    IntList,
    check_at_least,
    check_count,
    flag,
    int_list,
)
from transom.dialects.graph.shapes import (
    Dim,
    ResultShape,
    ceil_divide,
    floor_divide,
    minimum,
)
from transom.dialects.graph.syntax import Signature

TENSOR = AnyTensorTypeConstr


def pooled_sizes(
    sizes: Sequence[Dim],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    ceil_mode: bool,
) -> tuple[Dim, Dim]:
    """
    How many windows there are in rows and columns.

    With `ceil_mode` windows may reach over the end, but none starts beyond the input
    and the padding in front of it (as ONNX says since operator set 19).
    """
    check_windows(strides, padding, dilations)
    check_count(kernel, 2, "kernel sizes")
    check_at_least(kernel, 1, "kernel sizes")
    places: list[Dim] = []
    for axis in (0, 1):
        before, after, stride = padding[axis], padding[axis + 2], strides[axis]
        span = (kernel[axis] - 1) * dilations[axis] + 1
        if max(before, after) >= span:
            raise VerifyException(
                f"expected paddings below the {span} "
                f"{('rows', 'columns')[axis]} of the kernel, but got {list(padding)}"
            )
        padded = sizes[axis] + (before + after)
        check_window_fits(padded, span, axis)
        if ceil_mode:
            reaching = ceil_divide(padded - span, stride) + 1
            starting = ceil_divide(sizes[axis] + before, stride)
            places.append(minimum(reaching, starting))
        else:
            places.append(floor_divide(padded - span, stride) + 1)
    return places[0], places[1]


@irdl_op_definition
class MaxPool2dOp(GraphOp):
    """
    The largest element of each window of input `[N, C, H, W]`, as ONNX `MaxPool`.
    Padding never wins, and NaN does. The second result, if there is one, is the place of
    each first largest element or first NaN, counted over the whole input.

    ```mlir
    %y = graph.max_pool2d %x kernel [3, 3] strides [2, 2] : tensor<1x64x112x112xf32> -> tensor<1x64x55x55xf32>
    ```
    """  # noqa: E501

    name = "graph.max_pool2d"

    input = operand_def(TENSOR)
    kernel = prop_def(INT_LIST)
    strides = prop_def(INT_LIST, int_list((1, 1)))
    padding = prop_def(INT_LIST, int_list((0, 0, 0, 0)))
    dilations = prop_def(INT_LIST, int_list((1, 1)))
    ceil_mode = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)
    indices = opt_result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `kernel` $kernel (`strides` $strides^)? (`padding` $padding^)? "
        "(`dilations` $dilations^)? (`ceil_mode` $ceil_mode^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        kernel: Sequence[int] | IntList,
        *,
        strides: Sequence[int] | IntList = (1, 1),
        padding: Sequence[int] | IntList = (0, 0, 0, 0),
        dilations: Sequence[int] | IntList = (1, 1),
        ceil_mode: bool = False,
        indices: bool = False,
    ) -> None:
        properties = {
            "kernel": int_list(kernel),
            "strides": int_list(strides),
            "padding": int_list(padding),
            "dilations": int_list(dilations),
            "ceil_mode": flag(ceil_mode),
        }
        self._build((input,), properties, results=2 if indices else 1)

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        NUMBERS.check(element_type, "the operand")
        x = self.operand_dims(0)
        check_rank(x, 4, "the operand")
        windows = pooled_sizes(
            x[2:],
            self.kernel.get_values(),
            self.strides.get_values(),
            self.padding.get_values(),
            self.dilations.get_values(),
            self.ceil_mode is not None,
        )
        dims = (x[0], x[1], *windows)
        return (ResultShape(dims, element_type), ResultShape(dims, i64))


@irdl_op_definition
class AvgPool2dOp(GraphOp):
    """
    The mean of each window of input `[N, C, H, W]`, as ONNX `AveragePool`. Padding is
    left out of it, or with `count_include_pad` counts as zero.

    ```mlir
    %y = graph.avg_pool2d %x kernel [2, 2] strides [2, 2] : tensor<1x8x4x4xf32> -> tensor<1x8x2x2xf32>
    ```
    """  # noqa: E501

    name = "graph.avg_pool2d"

    input = operand_def(TENSOR)
    kernel = prop_def(INT_LIST)
    strides = prop_def(INT_LIST, int_list((1, 1)))
    padding = prop_def(INT_LIST, int_list((0, 0, 0, 0)))
    dilations = prop_def(INT_LIST, int_list((1, 1)))
    ceil_mode = opt_prop_def(UnitAttr)
    count_include_pad = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `kernel` $kernel (`strides` $strides^)? (`padding` $padding^)? "
        "(`dilations` $dilations^)? (`ceil_mode` $ceil_mode^)? "
        "(`count_include_pad` $count_include_pad^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        kernel: Sequence[int] | IntList,
        *,
        strides: Sequence[int] | IntList = (1, 1),
        padding: Sequence[int] | IntList = (0, 0, 0, 0),
        dilations: Sequence[int] | IntList = (1, 1),
        ceil_mode: bool = False,
        count_include_pad: bool = False,
    ) -> None:
        properties = {
            "kernel": int_list(kernel),
            "strides": int_list(strides),
            "padding": int_list(padding),
            "dilations": int_list(dilations),
            "ceil_mode": flag(ceil_mode),
            "count_include_pad": flag(count_include_pad),
        }
        self._build((input,), properties)

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        FLOATS.check(element_type, "the operand")
        x = self.operand_dims(0)
        check_rank(x, 4, "the operand")
        windows = pooled_sizes(
            x[2:],
            self.kernel.get_values(),
            self.strides.get_values(),
            self.padding.get_values(),
            self.dilations.get_values(),
            self.ceil_mode is not None,
        )
        return (ResultShape((x[0], x[1], *windows), element_type),)
