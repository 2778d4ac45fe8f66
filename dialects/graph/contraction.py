"""
Contractions: sums of products.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    I64,
    AnyTensorTypeConstr,
    IntegerAttr,
    IntegerType,
    bf16,
    f16,
    f32,
    i8,
    i16,
    i32,
)
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.desc import tensor
from transom.dialects.graph.elements import NUMBERS, integer_range, ui8
from transom.dialects.graph.operation import GraphOp, Value, tensor_type
from transom.dialects.graph.properties import (
    INT,
    INT_LIST,
    IntList,
    check_at_least,
    check_count,
    int_attr,
    int_list,
)
from transom.dialects.graph.shapes import (
    Dim,
    ResultShape,
    broadcast,
    floor_divide,
)
from transom.dialects.graph.syntax import Signature

TENSOR = AnyTensorTypeConstr

_SMALL = frozenset[Attribute]((i8, ui8, i16))
_HALVES = frozenset[Attribute]((f16, bf16))


def check_contraction(lhs: Attribute, rhs: Attribute, result: Attribute) -> None:
    """
    Check the element types of a contraction.

    They are all the same, or the result is the accumulator: `f32` for two equal halves,
    `i32` for bytes of either signedness and i16.
    """
    NUMBERS.check(lhs, "'lhs'")
    NUMBERS.check(rhs, "'rhs'")
    if {lhs, rhs} <= _SMALL and result == i32:
        return
    if lhs != rhs:
        raise VerifyException(
            f"expected operands of one element type, but got '{lhs}' and '{rhs}'"
        )
    if result != lhs and not (lhs in _HALVES and result == f32):
        wide = "f32" if lhs in _HALVES else "i32" if lhs in _SMALL else None
        choice = f"'{lhs}'" if wide is None else f"'{lhs}' or '{wide}'"
        raise VerifyException(
            f"expected the result to have {choice} elements, but got '{result}'"
        )


@irdl_op_definition
class MatmulOp(GraphOp):
    """
    The matrix product, as NumPy's `matmul`: of the last two dimensions, for each place
    of the leading ones, which broadcast. Both operands have at least two dimensions.

    The sum is taken in `f32` for `f16` and `bf16`, and in `i32` for bytes when the
    result is that.

    ```mlir
    %c = graph.matmul %a, %b : tensor<2x4x8xf32>, tensor<8x16xf32> -> tensor<2x4x16xf32>
    ```
    """

    name = "graph.matmul"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$lhs `,` $rhs attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self, lhs: Value, rhs: Value, element_type: Attribute | None = None
    ) -> None:
        element_type = element_type or tensor_type(lhs).element_type
        self._build((lhs, rhs), {}, tensor((), element_type))

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.declared_type().element_type
        check_contraction(
            self.operand_type(0).element_type,
            self.operand_type(1).element_type,
            element_type,
        )
        lhs, rhs = self.operand_dims(0), self.operand_dims(1)
        for name, dims in (("lhs", lhs), ("rhs", rhs)):
            if len(dims) < 2:
                raise VerifyException(
                    f"expected '{name}' to have 2 dimensions or more, "
                    f"but got {len(dims)}"
                )
        if _differ(lhs[-1], rhs[-2]):
            raise VerifyException(
                f"expected the last dimension of 'lhs' and the last but one of 'rhs' "
                f"to be equal, but got {lhs[-1]} and {rhs[-2]}"
            )
        batch = _broadcast_batch(lhs[:-2], rhs[:-2])
        return (ResultShape((*batch, lhs[-2], rhs[-1]), element_type),)


def _differ(a: Dim, b: Dim) -> bool:
    """Whether two sizes are known to be different."""
    return isinstance(a, int) and isinstance(b, int) and a != b


def _broadcast_batch(lhs: Sequence[Dim], rhs: Sequence[Dim]) -> list[Dim]:
    rank = max(len(lhs), len(rhs))
    batch: list[Dim] = []
    for a, b in zip(
        (*(1,) * (rank - len(lhs)), *lhs),
        (*(1,) * (rank - len(rhs)), *rhs),
        strict=True,
    ):
        met = broadcast(a, b)
        if met is None:
            raise VerifyException(
                "expected leading dimensions that broadcast, but dimension "
                f"{len(batch) - rank + len(lhs)} of 'lhs' is {a} and dimension "
                f"{len(batch) - rank + len(rhs)} of 'rhs' is {b}"
            )
        batch.append(met)
    return batch


@irdl_op_definition
class Conv2dOp(GraphOp):
    """
    Two-dimensional cross-correlation, as ONNX `Conv`: input `[N, C, H, W]`, weight
    `[O, C / groups, KH, KW]`, result `[N, O, OH, OW]`. Padding is `[top, left, bottom,
    right]` and counts as `fill`, which is zero if it is not said: quantised images are
    padded with their zero point.

    ```mlir
    %y = graph.conv2d %x, %w strides [2, 2] padding [3, 3, 3, 3] : tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32> -> tensor<1x64x112x112xf32>
    ```
    """  # noqa: E501

    name = "graph.conv2d"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    strides = prop_def(INT_LIST, int_list((1, 1)))
    padding = prop_def(INT_LIST, int_list((0, 0, 0, 0)))
    dilations = prop_def(INT_LIST, int_list((1, 1)))
    groups = prop_def(INT, int_attr(1))
    fill = prop_def(INT, int_attr(0))
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input `,` $weight (`strides` $strides^)? (`padding` $padding^)? "
        "(`dilations` $dilations^)? (`groups` $groups^)? (`fill` $fill^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        weight: Value,
        *,
        strides: Sequence[int] | IntList = (1, 1),
        padding: Sequence[int] | IntList = (0, 0, 0, 0),
        dilations: Sequence[int] | IntList = (1, 1),
        groups: int | IntegerAttr[I64] = 1,
        fill: int | IntegerAttr[I64] = 0,
        element_type: Attribute | None = None,
    ) -> None:
        properties = {
            "strides": int_list(strides),
            "padding": int_list(padding),
            "dilations": int_list(dilations),
            "groups": int_attr(groups),
            "fill": int_attr(fill),
        }
        element_type = element_type or tensor_type(input).element_type
        self._build((input, weight), properties, tensor((), element_type))

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.declared_type().element_type
        check_contraction(
            self.operand_type(0).element_type,
            self.operand_type(1).element_type,
            element_type,
        )
        x, w = self.operand_dims(0), self.operand_dims(1)
        check_rank(x, 4, "'input'")
        check_rank(w, 4, "'weight'")
        self._check_channels(x[1], w)
        self._check_fill()
        windows = window_sizes(
            x[2:],
            w[2:],
            self.strides.get_values(),
            self.padding.get_values(),
            self.dilations.get_values(),
        )
        return (ResultShape((x[0], w[0], *windows), element_type),)

    def _check_channels(self, channels: Dim, weight: Sequence[Dim]) -> None:
        groups = self.groups.value.data
        if groups < 1:
            raise VerifyException(f"expected groups >= 1, but got {groups}")
        if isinstance(weight[0], int) and weight[0] % groups:
            raise VerifyException(
                f"expected the {weight[0]} output channels of 'weight' to be a "
                f"multiple of groups {groups}"
            )
        if _differ(channels, weight[1] * groups):
            raise VerifyException(
                f"expected 'input' to have {weight[1] * groups} channels, which is "
                f"{weight[1]} of 'weight' x {groups} groups, but got {channels}"
            )

    def _check_fill(self) -> None:
        element_type, fill = self.operand_type(0).element_type, self.fill.value.data
        if isinstance(element_type, IntegerType):
            low, high = integer_range(cast("IntegerType", element_type))
            if not low <= fill <= high:
                raise VerifyException(
                    f"expected 'fill' within {low} to {high}, the numbers of "
                    f"'{element_type}', but got {fill}"
                )


def check_rank(dims: Sequence[Dim], rank: int, what: str) -> None:
    """Check the number of dimensions of an operand."""
    if len(dims) != rank:
        raise VerifyException(
            f"expected {what} to have {rank} dimensions, but got {len(dims)}"
        )


def window_sizes(
    sizes: Sequence[Dim],
    kernel: Sequence[Dim],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
) -> tuple[Dim, Dim]:
    """
    How many places a window has in the padded rows and columns.

    Raises `VerifyException` for wrong lists and for a window larger than its input.
    """
    check_windows(strides, padding, dilations)
    places: list[Dim] = []
    for axis in (0, 1):
        padded = sizes[axis] + (padding[axis] + padding[axis + 2])
        extent = (kernel[axis] - 1) * dilations[axis] + 1
        check_window_fits(padded, extent, axis)
        places.append(floor_divide(padded - extent, strides[axis]) + 1)
    return places[0], places[1]


def check_windows(
    strides: Sequence[int], padding: Sequence[int], dilations: Sequence[int]
) -> None:
    """Check the lists that describe windows in two dimensions."""
    check_count(strides, 2, "strides")
    check_count(padding, 4, "paddings")
    check_count(dilations, 2, "dilations")
    check_at_least(strides, 1, "strides")
    check_at_least(padding, 0, "paddings")
    check_at_least(dilations, 1, "dilations")


def check_window_fits(padded: Dim, extent: Dim, axis: int) -> None:
    """Check that a window is not larger than what it moves over."""
    if isinstance(extent, int) and extent < 1:
        raise VerifyException("expected a kernel of size 1 or more")
    if isinstance(padded, int) and isinstance(extent, int) and padded < extent:
        raise VerifyException(
            f"expected the kernel, which spans {extent} "
            f"{('rows', 'columns')[axis]}, to fit the padded input of {padded}"
        )
