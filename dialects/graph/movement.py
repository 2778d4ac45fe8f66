"""
Ops that move elements without computing on them, and sums along the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    I64,
    AnyTensorTypeConstr,
    FloatAttr,
    IntegerAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from transom.dialects.graph.desc import AnyTensor, tensor
from transom.dialects.graph.elements import ANY, INDICES, NUMBERS
from transom.dialects.graph.elementwise import Number, element_type_of, scalar_attr
from transom.dialects.graph.operation import GraphOp, Value, tensor_type
from transom.dialects.graph.properties import (
    INT,
    INT_LIST,
    IntList,
    check_at_least,
    check_axis,
    check_count,
    flag,
    int_attr,
    int_list,
)
from transom.dialects.graph.shapes import (
    DYNAMIC,
    Dim,
    ResultShape,
    Symbol,
    cancelled,
    ceil_divide,
    floor_divide,
)
from transom.dialects.graph.syntax import Signature

TENSOR = AnyTensorTypeConstr


@dataclass(frozen=True)
class InputDim:
    """The size of a dimension of the operand, as an entry of a shape."""

    axis: int

    def __str__(self) -> str:
        return f"dim({self.axis})"


@irdl_attr_definition
class ShapeAttr(Data[tuple[int | InputDim, ...]], SpacedOpaqueSyntaxAttribute):
    """
    The shape that `graph.reshape` gives: sizes, `-1` once for what is left over, and
    `dim(k)` for the size of dimension `k` of the operand.

    ```mlir
    #graph<shape [dim(0), -1, 4]>
    ```
    """

    name = "graph.shape"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int | InputDim, ...]:
        return tuple(
            parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _parse_shape_entry(parser)
            )
        )

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.text)

    @property
    def text(self) -> str:
        """The list as it is written."""
        return f"[{', '.join(str(entry) for entry in self.data)}]"

    def verify(self) -> None:
        sizes = [entry for entry in self.data if isinstance(entry, int)]
        if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
            raise VerifyException(
                f"expected sizes and -1 at most once, but got {self.text}"
            )


def _parse_shape_entry(parser: AttrParser) -> int | InputDim:
    if parser.parse_optional_keyword("dim") is None:
        return parser.parse_integer(allow_boolean=False)
    with parser.in_parens():
        return InputDim(parser.parse_integer(allow_boolean=False, allow_negative=False))


@irdl_op_definition
class ReshapeOp(GraphOp):
    """
    The same elements in row-major order, in another shape.

    ```mlir
    %y = graph.reshape %x to [dim(0), -1] : tensor<?x3x4xf32> -> tensor<?x12xf32>
    ```
    """

    name = "graph.reshape"

    input = operand_def(TENSOR)
    shape = prop_def(ShapeAttr)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `to` $shape attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self, input: Value, shape: Sequence[int | InputDim] | ShapeAttr
    ) -> None:
        if not isinstance(shape, ShapeAttr):
            shape = ShapeAttr(tuple(shape))
        self._build((input,), {"shape": shape})

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        ANY.check(element_type, "the operand")
        dims = reshaped(self.operand_dims(0), self.shape)
        return (ResultShape(dims, element_type),)


def reshaped(dims: Sequence[Dim], shape: ShapeAttr) -> tuple[Dim, ...]:
    """
    The sizes of a tensor of these sizes after it took a shape.

    Raises `VerifyException` if the numbers of elements are known to differ.
    """
    given: list[Dim] = []
    for entry in shape.data:
        if isinstance(entry, InputDim):
            check_axis(entry.axis, len(dims), f"the dimension of '{entry}'")
            given.append(dims[entry.axis])
        elif entry != -1:
            given.append(entry)
    count, rest = cancelled(dims, given)
    if -1 not in shape.data:
        if isinstance(count, int) and isinstance(rest, int) and count != rest:
            raise _wrong_count(dims, shape)
        return tuple(given)
    if rest == 0 or (isinstance(count, int) and isinstance(rest, int) and count % rest):
        raise _wrong_count(dims, shape)
    given.insert(shape.data.index(-1), floor_divide(count, rest))
    return tuple(given)


def _wrong_count(dims: Sequence[Dim], shape: ShapeAttr) -> VerifyException:
    sizes = ", ".join(str(dim) for dim in dims)
    return VerifyException(
        f"expected a shape for the elements of [{sizes}], but got {shape.text}"
    )


@irdl_op_definition
class TransposeOp(GraphOp):
    """
    Dimension `k` of the result is dimension `permutation[k]` of the operand.

    ```mlir
    %y = graph.transpose %x permutation [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    ```
    """

    name = "graph.transpose"

    input = operand_def(TENSOR)
    permutation = prop_def(INT_LIST)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `permutation` $permutation attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self, input: Value, permutation: Sequence[int] | IntList | None = None
    ) -> None:
        if permutation is None:
            permutation = range(len(tensor_type(input).get_shape()))[::-1]
        self._build((input,), {"permutation": int_list(permutation)})

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.operand_type(0).element_type
        ANY.check(element_type, "the operand")
        dims, order = self.operand_dims(0), self.permutation.get_values()
        if sorted(order) != list(range(len(dims))):
            raise VerifyException(
                f"expected a permutation of {list(range(len(dims)))}, "
                f"but got {list(order)}"
            )
        return (ResultShape(tuple(dims[axis] for axis in order), element_type),)


@irdl_op_definition
class BroadcastOp(GraphOp):
    """
    The operand repeated to the shape of the result, by NumPy's rule. A `?` of the result
    is the operand's size at that place.

    ```mlir
    %y = graph.broadcast %x : tensor<3x1xf32> -> tensor<2x3x4xf32>
    ```
    """

    name = "graph.broadcast"

    input = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self, input: Value, shape: Sequence[int | str | Symbol | None] | AnyTensor
    ) -> None:
        if not isinstance(shape, TensorType):
            shape = tensor(shape, element_type_of(input))
        self._build((input,), {}, cast(AnyTensor, shape))

    def infer(self) -> tuple[ResultShape, ...]:
        type = self.operand_type(0)
        ANY.check(type.element_type, "the operand")
        sizes = self.declared_type().get_shape()
        dims = self.operand_dims(0)
        new = len(sizes) - len(dims)
        if new < 0:
            raise VerifyException(
                f"expected the result to have {len(dims)} dimensions or more, "
                f"but got {len(sizes)}"
            )
        result = tuple(
            _broadcast_to(dims[axis - new] if axis >= new else 1, size, axis)
            for axis, size in enumerate(sizes)
        )
        return (ResultShape(result, type.element_type),)


def _broadcast_to(dim: Dim, size: int, axis: int) -> Dim:
    if size == DYNAMIC:
        if dim == 1:
            raise VerifyException(
                f"expected a size for dimension {axis} of the result, "
                "where the operand has none to repeat"
            )
        return dim
    if isinstance(dim, int) and dim not in (1, size):
        raise VerifyException(
            f"expected dimension {axis} of the result to be {dim}, but got {size}"
        )
    return size


@irdl_op_definition
class ConcatOp(GraphOp):
    """
    The operands one after the other along `axis`.

    ```mlir
    %y = graph.concat %a, %b axis 0 : tensor<2x4xf32>, tensor<3x4xf32> -> tensor<5x4xf32>
    ```
    """

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
    what is there, and no two go to one place. Negative indices count from the end; those
    out of range are undefined.

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
        for other, (size, limit) in enumerate(zip(indices, data, strict=True)):
            known = isinstance(size, int) and isinstance(limit, int)
            if other != axis and known and size > limit:
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


@irdl_op_definition
class CumsumOp(GraphOp):
    """
    The sum of the elements up to each place along `axis`: with `exclusive` without the
    element itself, with `reverse` from the end.

    ```mlir
    %y = graph.cumsum %x axis 1 exclusive reverse : tensor<4x8xf32>
    ```
    """

    name = "graph.cumsum"

    input = operand_def(TENSOR)
    axis = prop_def(INT)
    exclusive = opt_prop_def(UnitAttr)
    reverse = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? "
        "attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        axis: int | IntegerAttr[I64],
        *,
        exclusive: bool = False,
        reverse: bool = False,
    ) -> None:
        properties = {
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
