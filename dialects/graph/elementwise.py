"""
Element-wise ops, with NumPy broadcasting where there are several operands.
"""

from abc import ABC
from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    i1,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    base,
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

from transom.dialects.graph.desc import LayoutAttr, layout_of, tensor
from transom.dialects.graph.elements import (
    ANY,
    BITS,
    BOOLS,
    FLOATS,
    NUMBERS,
    SIGNED_NUMBERS,
    ElementSet,
    is_float,
)
from transom.dialects.graph.operation import GraphOp, Value, tensor_type
from transom.dialects.graph.properties import FLOAT, float_attr
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
        type = self.input.type
        if self.result.type is type:  # nothing is left to compare but the elements
            self.ELEMENTS.check(self.operand_type(0).element_type, "the operand")
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
        return (ResultShape(broadcast_shapes(self, ("lhs", "rhs")), element_type),)

    def verify_(self) -> None:
        type = self.result.type
        if self.lhs.type is type and self.rhs.type is type:
            self._check_elements()
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


def broadcast_shapes(op: GraphOp, names: Sequence[str]) -> tuple[Dim, ...]:
    """
    The common shape of all operands by NumPy's rule.

    Raises `VerifyException` with the names of two that do not meet.
    """
    shapes = [op.operand_dims(index) for index in range(len(names))]
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


@irdl_op_definition
class AddOp(BinaryOp):
    """
    The sum; integers wrap around.

    ```mlir
    %y = graph.add %a, %b : tensor<4x1xf32>, tensor<3xf32> -> tensor<4x3xf32>
    ```
    """

    name = "graph.add"


@irdl_op_definition
class SubOp(BinaryOp):
    """
    The difference; integers wrap around.

    ```mlir
    %y = graph.sub %a, %b : tensor<4xf32>
    ```
    """

    name = "graph.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """
    The product; integers wrap around.

    ```mlir
    %y = graph.mul %a, %b : tensor<4xf32>
    ```
    """

    name = "graph.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """
    The quotient. That of integers is rounded towards zero; by zero it is undefined.

    ```mlir
    %y = graph.div %a, %b : tensor<4xi32>
    ```
    """

    name = "graph.div"


@irdl_op_definition
class ModOp(BinaryOp):
    """
    The remainder, as ONNX `Mod`: of integers with the sign of the divisor, of floats
    that of C's `fmod`, with the sign of the dividend. By integer zero it is undefined.

    ```mlir
    %y = graph.mod %a, %b : tensor<4xi32>
    ```
    """

    name = "graph.mod"


@irdl_op_definition
class PowOp(BinaryOp):
    """
    `lhs` to the power of `rhs`. Integers wrap around; a negative exponent of an integer
    gives the quotient 1 / power, rounded towards zero.

    ```mlir
    %y = graph.pow %a, %b : tensor<4xf32>
    ```
    """

    name = "graph.pow"


@irdl_op_definition
class MinimumOp(BinaryOp):
    """
    The smaller one; NaN if one of two floats is.

    ```mlir
    %y = graph.minimum %a, %b : tensor<4xf32>
    ```
    """

    name = "graph.minimum"


@irdl_op_definition
class MaximumOp(BinaryOp):
    """
    The larger one; NaN if one of two floats is.

    ```mlir
    %y = graph.maximum %a, %b : tensor<4xf32>
    ```
    """

    name = "graph.maximum"


class BitwiseOp(BinaryOp, ABC):
    """Base of logic on truth values and, bit by bit, on integers."""

    ELEMENTS: ClassVar[ElementSet] = BITS


@irdl_op_definition
class AndOp(BitwiseOp):
    """
    The conjunction, bit by bit.

    ```mlir
    %y = graph.and %a, %b : tensor<4xi1>
    ```
    """

    name = "graph.and"


@irdl_op_definition
class OrOp(BitwiseOp):
    """
    The disjunction, bit by bit.

    ```mlir
    %y = graph.or %a, %b : tensor<4xi1>
    ```
    """

    name = "graph.or"


@irdl_op_definition
class XorOp(BitwiseOp):
    """
    The exclusive disjunction, bit by bit.

    ```mlir
    %y = graph.xor %a, %b : tensor<4xi1>
    ```
    """

    name = "graph.xor"


@irdl_op_definition
class NegOp(UnaryOp):
    """
    The negative; integers wrap around.

    ```mlir
    %y = graph.neg %x : tensor<4xf32>
    ```
    """

    name = "graph.neg"
    ELEMENTS: ClassVar[ElementSet] = SIGNED_NUMBERS


@irdl_op_definition
class AbsOp(UnaryOp):
    """
    The magnitude; that of the least integer wraps around.

    ```mlir
    %y = graph.abs %x : tensor<4xf32>
    ```
    """

    name = "graph.abs"
    ELEMENTS: ClassVar[ElementSet] = NUMBERS


@irdl_op_definition
class SignOp(UnaryOp):
    """
    -1, 0 or 1; NaN stays NaN.

    ```mlir
    %y = graph.sign %x : tensor<4xf32>
    ```
    """

    name = "graph.sign"
    ELEMENTS: ClassVar[ElementSet] = NUMBERS


@irdl_op_definition
class NotOp(UnaryOp):
    """
    The complement, bit by bit.

    ```mlir
    %y = graph.not %x : tensor<4xi1>
    ```
    """

    name = "graph.not"
    ELEMENTS: ClassVar[ElementSet] = BITS


@irdl_op_definition
class ReluOp(UnaryOp):
    """
    The positive part: `maximum(x, 0)`.

    ```mlir
    %y = graph.relu %x : tensor<8x?xf32>
    ```
    """

    name = "graph.relu"
    ELEMENTS: ClassVar[ElementSet] = SIGNED_NUMBERS


@irdl_op_definition
class ExpOp(UnaryOp):
    """
    The exponential function.

    ```mlir
    %y = graph.exp %x : tensor<4xf32>
    ```
    """

    name = "graph.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    """
    The natural logarithm.

    ```mlir
    %y = graph.log %x : tensor<4xf32>
    ```
    """

    name = "graph.log"


@irdl_op_definition
class SqrtOp(UnaryOp):
    """
    The square root.

    ```mlir
    %y = graph.sqrt %x : tensor<4xf32>
    ```
    """

    name = "graph.sqrt"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """
    The reciprocal of the square root.

    ```mlir
    %y = graph.rsqrt %x : tensor<4xf32>
    ```
    """

    name = "graph.rsqrt"


@irdl_op_definition
class ReciprocalOp(UnaryOp):
    """
    One over the operand.

    ```mlir
    %y = graph.reciprocal %x : tensor<4xf32>
    ```
    """

    name = "graph.reciprocal"


@irdl_op_definition
class TanhOp(UnaryOp):
    """
    The hyperbolic tangent.

    ```mlir
    %y = graph.tanh %x : tensor<4xf32>
    ```
    """

    name = "graph.tanh"


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """
    The logistic function `1 / (1 + exp(-x))`.

    ```mlir
    %y = graph.sigmoid %x : tensor<4xf32>
    ```
    """

    name = "graph.sigmoid"


@irdl_op_definition
class ErfOp(UnaryOp):
    """
    The error function.

    ```mlir
    %y = graph.erf %x : tensor<4xf32>
    ```
    """

    name = "graph.erf"


@irdl_op_definition
class GeluOp(UnaryOp):
    """
    `x / 2 * (1 + erf(x / sqrt(2)))`, as ONNX `Gelu` without approximation.

    ```mlir
    %y = graph.gelu %x : tensor<4xf32>
    ```
    """

    name = "graph.gelu"


@irdl_op_definition
class SinOp(UnaryOp):
    """
    The sine.

    ```mlir
    %y = graph.sin %x : tensor<4xf32>
    ```
    """

    name = "graph.sin"


@irdl_op_definition
class CosOp(UnaryOp):
    """
    The cosine.

    ```mlir
    %y = graph.cos %x : tensor<4xf32>
    ```
    """

    name = "graph.cos"


@irdl_op_definition
class FloorOp(UnaryOp):
    """
    The largest integer that is not above.

    ```mlir
    %y = graph.floor %x : tensor<4xf32>
    ```
    """

    name = "graph.floor"


@irdl_op_definition
class CeilOp(UnaryOp):
    """
    The smallest integer that is not below.

    ```mlir
    %y = graph.ceil %x : tensor<4xf32>
    ```
    """

    name = "graph.ceil"


@irdl_op_definition
class RoundOp(UnaryOp):
    """
    The nearest integer, of two the even one.

    ```mlir
    %y = graph.round %x : tensor<4xf32>
    ```
    """

    name = "graph.round"


@irdl_op_definition
class LeakyReluOp(UnaryOp):
    """
    `x` where it is positive, else `alpha * x`.

    ```mlir
    %y = graph.leaky_relu %x alpha 0.01 : tensor<4xf32>
    ```
    """

    name = "graph.leaky_relu"

    alpha = prop_def(FLOAT)

    assembly_format = (
        "$input `alpha` $alpha attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self, input: Value, alpha: float | FloatAttr[Float64Type] = 0.01
    ) -> None:
        self._build((input,), {"alpha": float_attr(alpha)})


Number = IntegerAttr | FloatAttr


@irdl_op_definition
class ClampOp(UnaryOp):
    """
    `minimum(maximum(x, min), max)`; a bound that is left out does not bound.

    ```mlir
    %y = graph.clamp %x min 0.0 : f32 max 6.0 : f32 : tensor<4xf32>
    ```
    """

    name = "graph.clamp"
    ELEMENTS: ClassVar[ElementSet] = NUMBERS

    min = opt_prop_def(base(IntegerAttr) | base(FloatAttr))
    max = opt_prop_def(base(IntegerAttr) | base(FloatAttr))

    assembly_format = (
        "$input (`min` $min^)? (`max` $max^)? attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        min: float | Number | None = None,
        max: float | Number | None = None,
    ) -> None:
        type = element_type_of(input)
        self._build(
            (input,), {"min": scalar_attr(min, type), "max": scalar_attr(max, type)}
        )

    def infer(self) -> tuple[ResultShape, ...]:
        type = self.operand_type(0).element_type
        for name, bound in (("min", self.min), ("max", self.max)):
            if bound is not None and bound.type != type:
                raise VerifyException(
                    f"expected '{name}' of type '{type}', but got '{bound}'"
                )
        return super().infer()


def element_type_of(value: Value) -> Attribute:
    """The element type of a tensor value."""
    return tensor_type(value).element_type


def scalar_attr(value: float | Number | None, type: Attribute) -> Number | None:
    """A number of an element type; an attribute stays as it is."""
    if value is None or isinstance(value, IntegerAttr | FloatAttr):
        return value
    if is_float(type):
        return FloatAttr(float(value), type)
    return IntegerAttr(int(value), type)


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
    """

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
        dims = broadcast_shapes(self, ("cond", "on_true", "on_false"))
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
