"""
Ops that give the same elements another shape, order or number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    TensorType,
)
from xdsl.ir import Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.desc import AnyTensor, tensor
from transom.dialects.graph.elements import ANY
from transom.dialects.graph.elementwise import element_type_of
from transom.dialects.graph.operation import GraphOp, Value, tensor_type
from transom.dialects.graph.properties import (
    INT_LIST,
    IntList,
    int_list,
)
from transom.dialects.graph.shapes import (
    DYNAMIC,
    Dim,
    ResultShape,
    Symbol,
    cancelled,
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
            if entry.axis >= len(dims):
                raise VerifyException(
                    f"expected 'dim(k)' with k < {len(dims)}, but got '{entry}'"
                )
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
    The operand repeated to the shape of the result, by NumPy's rule. A `?` of the
    result is the operand's size at that place.

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
        self._build((input,), {}, shape)

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
