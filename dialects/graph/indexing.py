"""
Ops that pick elements, or put them, by place.
"""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import (
    I64,
    AnyTensorTypeConstr,
    IntegerAttr,
    i1,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from transom.dialects.graph.desc import tensor
from transom.dialects.graph.elements import ANY, INDICES, NUMBERS
from transom.dialects.graph.operation import GraphOp, Value
from transom.dialects.graph.properties import (
    INT,
    INT_LIST,
    IntList,
    check_axis,
    check_count,
    int_attr,
    int_list,
)
from transom.dialects.graph.shapes import (
    DataDim,
    Dim,
    ResultShape,
    ceil_divide,
    floor_divide,
    product,
)
from transom.dialects.graph.syntax import Signature

TENSOR = AnyTensorTypeConstr


@irdl_op_definition
class SliceOp(GraphOp):
    """
    Every `step`-th element from `start` on, `size` many, in each dimension.

    A negative start counts from the end. A step may be negative. A negative size is what
    there is: -1 up to the last element (down to the first, for a negative step), -k
    without the last k - 1.

    ```mlir
    %y = graph.slice %x starts [0, 1] sizes [-1, 2] steps [1, 1] : tensor<?x4xf32> -> tensor<?x2xf32>
    ```
    """  # noqa: E501

    name = "graph.slice"

    input = operand_def(TENSOR)
    starts = prop_def(INT_LIST)
    sizes = prop_def(INT_LIST)
    steps = prop_def(INT_LIST)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `starts` $starts `sizes` $sizes `steps` $steps attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        starts: Sequence[int] | IntList,
        sizes: Sequence[int] | IntList,
        steps: Sequence[int] | IntList | None = None,
    ) -> None:
        starts = int_list(starts)
        properties = {
            "starts": starts,
            "sizes": int_list(sizes),
            "steps": int_list((1,) * len(starts) if steps is None else steps),
        }
        self._build((input,), properties)

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        ANY.check(element_type, "the operand")
        dims = self.operand_dims(0)
        lists = [v.get_values() for v in (self.starts, self.sizes, self.steps)]
        for values, name in zip(lists, ("starts", "sizes", "steps"), strict=True):
            check_count(values, len(dims), name)
        result = tuple(
            sliced_size(axis, dim, *entry)
            for axis, (dim, *entry) in enumerate(zip(dims, *lists, strict=True))
        )
        return (ResultShape(result, element_type),)


def sliced_size(axis: int, dim: Dim, start: int, size: int, step: int) -> Dim:
    """The size of one dimension of a slice."""
    if step == 0:
        raise VerifyException(f"expected a step for dimension {axis}, but got 0")
    first: Dim = start if start >= 0 else dim + start
    if size >= 0:
        result: Dim = size
    elif step > 0:
        result = ceil_divide(dim + (size + 1) - first, step)
    elif size == -1:
        result = floor_divide(first, -step) + 1
    else:
        raise VerifyException(
            f"expected a size >= -1 with step {step} for dimension {axis}, "
            f"but got {size}"
        )
    if isinstance(first, int) and isinstance(dim, int) and isinstance(result, int):
        last = first + (result - 1) * step
        if result < 0 or (result > 0 and not (0 <= first < dim and 0 <= last < dim)):
            raise VerifyException(
                f"expected start {start}, size {size} and step {step} to be inside "
                f"dimension {axis} of size {dim}"
            )
    return result


@irdl_op_definition
class GatherOp(GraphOp):
    """
    The slices of `data` along `axis` that `indices` name, as ONNX `Gather`: result
    `[data[:axis], indices, data[axis + 1:]]`. Negative indices count from the end; those
    out of range are clamped.

    ```mlir
    %y = graph.gather %data, %indices axis 0 : tensor<10x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
    ```
    """  # noqa: E501

    name = "graph.gather"

    data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    axis = prop_def(INT)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$data `,` $indices `axis` $axis attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self, data: Value, indices: Value, axis: int | IntegerAttr[I64] = 0
    ) -> None:
        self._build((data, indices), {"axis": int_attr(axis)})

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        ANY.check(element_type, "'data'")
        INDICES.check(self.operand_type(1).element_type, "'indices'")
        data, indices = self.operand_dims(0), self.operand_dims(1)
        axis = self.axis.value.data
        check_axis(axis, len(data))
        if data[axis] == 0 and 0 not in indices:
            raise VerifyException(
                f"expected 'data' to have elements along axis {axis}, but its size is 0"
            )
        dims = (*data[:axis], *indices, *data[axis + 1 :])
        return (ResultShape(dims, element_type),)


@irdl_op_definition
class GatherElementsOp(GraphOp):
    """
    Elements of `data` by place, as ONNX `GatherElements`: the result at `[i, j, k]` is
    that at `[indices[i, j, k], j, k]` for axis 0. Negative indices count from the end;
    those out of range are clamped.

    ```mlir
    %y = graph.gather_elements %data, %indices axis 1 : tensor<2x3xf32>, tensor<2x2xi64> -> tensor<2x2xf32>
    ```
    """  # noqa: E501

    name = "graph.gather_elements"

    data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    axis = prop_def(INT)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$data `,` $indices `axis` $axis attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self, data: Value, indices: Value, axis: int | IntegerAttr[I64] = 0
    ) -> None:
        self._build((data, indices), {"axis": int_attr(axis)})

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        ANY.check(element_type, "'data'")
        INDICES.check(self.operand_type(1).element_type, "'indices'")
        data, indices = self.operand_dims(0), self.operand_dims(1)
        axis = self.axis.value.data
        check_axis(axis, len(data))
        if len(indices) != len(data):
            raise VerifyException(
                f"expected 'indices' to have the {len(data)} dimensions of 'data', "
                f"but got {len(indices)}"
            )
        for number, (size, found) in enumerate(zip(data, indices, strict=True)):
            if number == axis or not isinstance(size, int):
                continue
            if isinstance(found, int) and found > size:
                raise VerifyException(
                    f"expected 'indices' of at most {size} along dimension {number}, "
                    f"but got {found}"
                )
        if data[axis] == 0 and 0 not in indices:
            raise VerifyException(
                f"expected 'data' to have elements along axis {axis}, but its size is 0"
            )
        return (ResultShape(indices, element_type),)


@irdl_op_definition
class IotaOp(GraphOp):
    """
    The place of each element of a tensor along an axis, from 0 on. The elements
    themselves are not read.

    ```mlir
    %y = graph.iota %x axis 1 : tensor<2x?xf32> -> tensor<2x?xi64>
    ```
    """

    name = "graph.iota"

    input = operand_def(TENSOR)
    axis = prop_def(INT)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `axis` $axis attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, input: Value, axis: int | IntegerAttr[I64] = 0) -> None:
        self._build((input,), {"axis": int_attr(axis)})

    def infer(self) -> tuple[ResultShape, ...]:
        dims = self.operand_dims(0)
        check_axis(self.axis.value.data, len(dims))
        return (ResultShape(dims, i64),)


@irdl_op_definition
class NonzeroOp(GraphOp):
    """
    The places of the elements that are not zero, in row-major order, as ONNX `NonZero`:
    a row per dimension of the input, and a column per element, of which there are as
    many as the elements say. NaN is not zero.

    ```mlir
    %y = graph.nonzero %x : tensor<2x?xf32> -> tensor<2x?xi64>
    ```
    """

    name = "graph.nonzero"

    input = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, input: Value) -> None:
        self._build((input,), {})

    def infer(self) -> tuple[ResultShape, ...]:
        type = self.operand_type(0)
        ANY.check(type.element_type, "the operand")
        dims = self.operand_dims(0)
        if not dims:
            raise VerifyException(
                f"expected the operand to have 1 dimension or more, but got '{type}'"
            )
        return (ResultShape((len(dims), DataDim(0, product(dims))), i64),)

    def data_sizes(
        self, operands: Sequence[SSAValue], add: Callable[[Operation], SSAValue]
    ) -> tuple[SSAValue, ...]:
        from transom.dialects.graph.constants import ConstantOp
        from transom.dialects.graph.elementwise import CastOp, CompareOp
        from transom.dialects.graph.reduction import ReduceOp

        (flags,) = operands
        element_type = self.operand_type(0).element_type
        if element_type != i1:
            zero = add(ConstantOp.splat(tensor((), element_type), 0))
            flags = add(CompareOp("ne", flags, zero))
        return (add(ReduceOp("sum", add(CastOp(flags, i64)))),)


class ScatterCombine(StrEnum):
    """How `graph.scatter` combines an update with what is there."""

    NONE = "none"
    ADD = "add"
    MUL = "mul"
    MIN = "min"
    MAX = "max"


@irdl_attr_definition
class ScatterCombineAttr(EnumAttribute[ScatterCombine], SpacedOpaqueSyntaxAttribute):
    """How `graph.scatter` combines an update with what is there."""

    name = "graph.scatter_combine"


@irdl_op_definition
class ScatterOp(GraphOp):
    """
    `data` with updates at places, as ONNX `ScatterElements`: the element of `updates` at
    `[i, j, k]` goes to `[indices[i, j, k], j, k]` for axis 0. With `none` it replaces
    what is there; of several that go to one place the last in row-major order stays.
    Negative indices count from the end; those out of range are clamped.

    ```mlir
    %y = graph.scatter add %data, %indices, %updates axis 0 : tensor<8xf32>, tensor<3xi64>, tensor<3xf32> -> tensor<8xf32>
    ```
    """  # noqa: E501

    name = "graph.scatter"

    combine = prop_def(ScatterCombineAttr)
    data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    updates = operand_def(TENSOR)
    axis = prop_def(INT)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$combine $data `,` $indices `,` $updates `axis` $axis attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        data: Value,
        indices: Value,
        updates: Value,
        axis: int | IntegerAttr[I64] = 0,
        combine: str | ScatterCombine = "none",
    ) -> None:
        properties = {
            "axis": int_attr(axis),
            "combine": ScatterCombineAttr(ScatterCombine(combine)),
        }
        self._build((data, indices, updates), properties)

    def infer(self) -> tuple[ResultShape, ...]:
        data_type, indices_type, updates_type = (self.operand_type(i) for i in range(3))
        element_type = data_type.element_type
        elements = ANY if self.combine.data == ScatterCombine.NONE else NUMBERS
        elements.check(element_type, "'data'")
        INDICES.check(indices_type.element_type, "'indices'")
        data, indices, updates = (self.operand_dims(i) for i in range(3))
        axis = self.axis.value.data
        check_axis(axis, len(data))
        if len(indices) != len(data):
            raise VerifyException(
                f"expected 'indices' to have the {len(data)} dimensions of 'data', "
                f"but got {len(indices)}"
            )
        if updates_type.element_type != element_type or not _may_be_equal(
            updates, indices
        ):
            raise VerifyException(
                f"expected 'updates' to have the shape of 'indices' and element type "
                f"'{element_type}', but got '{updates_type}'"
            )
        if data[axis] == 0 and 0 not in indices:
            raise VerifyException(
                f"expected 'data' to have elements along axis {axis}, but its size is 0"
            )
        for other, (size, limit) in enumerate(zip(indices, data, strict=True)):
            if not (isinstance(size, int) and isinstance(limit, int)):
                continue
            if other != axis and size > limit:
                raise VerifyException(
                    f"expected dimension {other} of 'indices' to be at most {limit}, "
                    f"but got {size}"
                )
        return (ResultShape(data, element_type),)


def _may_be_equal(a: Sequence[Dim], b: Sequence[Dim]) -> bool:
    return len(a) == len(b) and not any(
        isinstance(x, int) and isinstance(y, int) and x != y
        for x, y in zip(a, b, strict=True)
    )
