"""
Element-wise ops, with NumPy broadcasting where there are several operands.
"""

from abc import ABC
from collections.abc import Iterator, Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    AnyTensorTypeConstr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    i1,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
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

from transom.dialects.graph.desc import LayoutAttr, check_names, layout_of, tensor
from transom.dialects.graph.elements import (
    ANY,
    BOOLS,
    FLOATS,
    NUMBERS,
    ElementSet,
    bit_width,
)
from transom.dialects.graph.operation import GraphOp, Value, tensor_type
from transom.dialects.graph.shapes import Dim, ResultShape, broadcast, same
from transom.dialects.graph.syntax import Signature

TENSOR = AnyTensorTypeConstr


class ElementwiseOp(GraphOp, ABC):
    """
    Base of ops whose result element depends on the operands' elements at its place.

    The layout of the result is that of the operands of its shape.
    """

    def inferred_layout(self, shape: ResultShape) -> LayoutAttr | None:
        return next(iter(self._layouts(shape.dims)), None)

    def _common_shape(self, *names: str) -> tuple[Dim, ...]:
        """The shape to which the operands of these names broadcast."""
        return common_shape([self.operand_dims(i) for i in range(len(names))], names)

    def _layouts(self, dims: tuple[Dim, ...]) -> Iterator[LayoutAttr | None]:
        """The layouts of the operands of this shape."""
        for index in range(len(self.operands)):
            sizes = self.operand_dims(index)
            if len(sizes) == len(dims) and all(map(same, sizes, dims)):
                yield layout_of(self.operand_type(index))

    def verify_(self) -> None:
        super().verify_()
        result = self.declared_type()
        if all(layout_of(type) is None for type in (result, *self.operand_types)):
            return
        layout = layout_of(result)
        for other in self._layouts(self.infer()[0].dims):
            if other != layout:
                raise VerifyException(
                    "expected operands and result of one shape to have one layout, "
                    f"but got '{other or 'none'}' and '{layout or 'none'}'"
                )


class UnaryOp(ElementwiseOp, ABC):
    """Base of ops on one tensor whose result has its type."""

    ELEMENTS: ClassVar[ElementSet] = FLOATS

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
        element_type = self.operand_type(0).element_type
        self.ELEMENTS.check(element_type, "the operand")
        return (ResultShape(self.operand_dims(0), element_type),)

    def verify_(self) -> None:
        if self.result.type is self.input.type:  # nothing is left to compare
            type = self.operand_type(0)
            self.ELEMENTS.check(type.element_type, "the operand")
            check_names(type)
        else:
            super().verify_()


class BinaryOp(ElementwiseOp, ABC):
    """Base of ops on two tensors of one element type that broadcast."""

    ELEMENTS: ClassVar[ElementSet] = NUMBERS

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$lhs `,` $rhs attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, lhs: Value, rhs: Value) -> None:
        self._build((lhs, rhs), {})

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self._check_elements()
        return (ResultShape(self._common_shape("lhs", "rhs"), element_type),)

    def verify_(self) -> None:
        type = self.result.type
        if self.lhs.type is type and self.rhs.type is type:
            self._check_elements()
            check_names(self.declared_type())
        else:
            super().verify_()

    def _check_elements(self) -> Attribute:
        lhs, rhs = (self.operand_type(i).element_type for i in (0, 1))
        self.ELEMENTS.check(lhs, "'lhs'")
        if lhs is not rhs and lhs != rhs:
            raise VerifyException(
                f"expected operands of one element type, but got '{lhs}' and '{rhs}'"
            )
        return lhs


def common_shape(
    shapes: Sequence[tuple[Dim, ...]], names: Sequence[str]
) -> tuple[Dim, ...]:
    """
    The shape to which shapes broadcast by NumPy's rule.

    Raises `VerifyException` with the names of two that do not meet.
    """
    rank = max(len(shape) for shape in shapes)
    result: list[Dim] = []
    for axis in range(-rank, 0):
        common: Dim = 1
        origin = 0
        for index, shape in enumerate(shapes):
            if -axis > len(shape):
                continue
            size = shape[axis]
            met = broadcast(common, size)
            if met is None:
                raise VerifyException(
                    "expected shapes that broadcast, but dimension "
                    f"{axis + len(shapes[origin])} of '{names[origin]}' is {common} "
                    f"and dimension {axis + len(shape)} of '{names[index]}' is {size}"
                )
            if not same(met, common):
                origin = index
            common = met
        result.append(common)
    return tuple(result)


Number = IntegerAttr | FloatAttr


def element_type_of(value: Value) -> Attribute:
    """The element type of a tensor value."""
    return tensor_type(value).element_type


def scalar_attr(value: float | Number | None, type: Attribute) -> Number | None:
    """A number of an element type; an attribute stays as it is."""
    if value is None or isinstance(value, IntegerAttr | FloatAttr):
        return value
    if isinstance(type, IntegerType | IndexType):
        return IntegerAttr(int(value), cast(IntegerType, type))
    return FloatAttr(float(value), cast(AnyFloat, type))


class ComparePredicate(StrEnum):
    """How `graph.compare` compares."""

    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"


@irdl_attr_definition
class ComparePredicateAttr(
    EnumAttribute[ComparePredicate], SpacedOpaqueSyntaxAttribute
):
    """How `graph.compare` compares."""

    name = "graph.compare_predicate"


@irdl_op_definition
class CompareOp(BinaryOp):
    """
    The truth of a comparison; one with NaN is false, but for `ne`. Truth values compare
    with `eq` and `ne`.

    ```mlir
    %y = graph.compare lt %a, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xi1>
    ```
    """

    name = "graph.compare"
    ELEMENTS: ClassVar[ElementSet] = ANY

    predicate = prop_def(ComparePredicateAttr)

    assembly_format = (
        "$predicate $lhs `,` $rhs attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self, predicate: str | ComparePredicate, lhs: Value, rhs: Value
    ) -> None:
        attr = ComparePredicateAttr(ComparePredicate(predicate))
        self._build((lhs, rhs), {"predicate": attr})

    def infer(self) -> tuple[ResultShape, ...]:
        (shape,) = super().infer()
        predicate = self.predicate.data
        if shape.element_type == i1 and predicate not in ("eq", "ne"):
            raise VerifyException(
                f"expected 'eq' or 'ne' for 'i1' elements, but got '{predicate}'"
            )
        return (ResultShape(shape.dims, i1),)

    def verify_(self) -> None:
        ElementwiseOp.verify_(self)


@irdl_op_definition
class SelectOp(ElementwiseOp):
    """
    `on_true` where `cond` is true, else `on_false`; all three broadcast.

    ```mlir
    %y = graph.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    ```
    """  # noqa: E501

    name = "graph.select"

    cond = operand_def(TENSOR)
    on_true = operand_def(TENSOR)
    on_false = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$cond `,` $on_true `,` $on_false attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, cond: Value, on_true: Value, on_false: Value) -> None:
        self._build((cond, on_true, on_false), {})

    def infer(self) -> tuple[ResultShape, ...]:
        cond, on_true, on_false = (self.operand_type(i).element_type for i in range(3))
        BOOLS.check(cond, "'cond'")
        ANY.check(on_true, "'on_true'")
        if on_true != on_false:
            raise VerifyException(
                "expected 'on_true' and 'on_false' of one element type, "
                f"but got '{on_true}' and '{on_false}'"
            )
        dims = self._common_shape("cond", "on_true", "on_false")
        return (ResultShape(dims, on_true),)


@irdl_op_definition
class CastOp(ElementwiseOp):
    """
    The same numbers as another element type. From float to integer is truncated towards
    zero, saturates, and NaN gives 0; between integers bits are cut off or extended; to
    `i1` is true where the number is not 0.

    ```mlir
    %y = graph.cast %x : tensor<4xf32> -> tensor<4xi32>
    ```
    """

    name = "graph.cast"

    input = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, input: Value, element_type: Attribute) -> None:
        self._build((input,), {}, tensor((), element_type))

    def infer(self) -> tuple[ResultShape, ...]:
        element_type = self.declared_type().element_type
        ANY.check(self.operand_type(0).element_type, "the operand")
        ANY.check(element_type, "the result")
        return (ResultShape(self.operand_dims(0), element_type),)


@irdl_op_definition
class BitcastOp(ElementwiseOp):
    """
    The bits of the elements, read as another element type of as many bits.

    ```mlir
    %y = graph.bitcast %x : tensor<4xf32> -> tensor<4xi32>
    ```
    """

    name = "graph.bitcast"

    input = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, input: Value, element_type: Attribute) -> None:
        self._build((input,), {}, tensor((), element_type))

    def infer(self) -> tuple[ResultShape, ...]:
        source = self.operand_type(0).element_type
        target = self.declared_type().element_type
        NUMBERS.check(source, "the operand")
        NUMBERS.check(target, "the result")
        if bit_width(source) != bit_width(target):
            raise VerifyException(
                f"expected a result of {bit_width(source)} bits, but got '{target}'"
            )
        return (ResultShape(self.operand_dims(0), target),)
