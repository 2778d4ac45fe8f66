"""
Marks: where values are computed, where they are stored, and how they lie in memory.
"""

from abc import ABC

from xdsl.dialects.builtin import AnyTensorTypeConstr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Operation,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
)
from xdsl.irdl import (
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import (
    Pure,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from transom.dialects.graph.desc import (
    LayoutAttr,
    layout_of,
    place_of,
    with_desc,
)
from transom.dialects.graph.operation import GraphOp, Value, tensor_type
from transom.dialects.graph.shapes import ResultShape
from transom.dialects.graph.syntax import Signature
from transom.dialects.target import AnyOfAttr, PlaceAttr

TENSOR = AnyTensorTypeConstr


class PlaceMark(StrEnum):
    """How much `graph.on_device` demands."""

    PINNED = "pinned"
    HINT = "hint"


@irdl_attr_definition
class PlaceMarkAttr(EnumAttribute[PlaceMark], SpacedOpaqueSyntaxAttribute):
    """How much `graph.on_device` demands."""

    name = "graph.place_mark"


class ForwardOp(GraphOp, ABC):
    """Base of ops whose result has the elements of the operand."""

    def infer(self) -> tuple[ResultShape, ...]:
        return (ResultShape(self.operand_dims(0), self.operand_type(0).element_type),)


@irdl_op_definition
class OnDeviceOp(ForwardOp):
    """
    The operand, with a mark: the op that computes it shall (`pinned`) or should
    (`hint`) run at a place, or at one of several.

    ```mlir
    %y = graph.on_device %x pinned #target.place<@npu, ?, ?> : tensor<4xf32>
    ```
    """

    name = "graph.on_device"

    input = operand_def(TENSOR)
    mark = prop_def(PlaceMarkAttr)
    place = prop_def(base(PlaceAttr) | base(AnyOfAttr))
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input $mark $place attr-dict "
        "`:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(
        self,
        input: Value,
        place: PlaceAttr | AnyOfAttr,
        mark: str | PlaceMark = "pinned",
    ) -> None:
        type = tensor_type(input)
        Operation.__init__(
            self,
            operands=(SSAValue.get(input),),
            result_types=(type,),
            properties={"mark": PlaceMarkAttr(PlaceMark(mark)), "place": place},
        )

    def verify_(self) -> None:
        if self.result.type != self.input.type:
            raise VerifyException(
                f"expected the result to have type '{self.input.type}', "
                f"but got '{self.result.type}'"
            )


@irdl_op_definition
class CopyOp(ForwardOp):
    """
    The operand, stored at another place: that of the result's type, or where values
    are whose types name no place.

    ```mlir
    %y = graph.copy %x : tensor<4xf32> -> tensor<4xf32, #graph.desc<place = #target.place<@npu, ?, @sram>>>
    ```
    """  # noqa: E501

    name = "graph.copy"

    input = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, input: Value, place: PlaceAttr | None) -> None:
        type = tensor_type(input)
        result = with_desc(type, layout=layout_of(type), place=place)
        Operation.__init__(
            self, operands=(SSAValue.get(input),), result_types=(result,)
        )

    @property
    def place(self) -> PlaceAttr | None:
        """Where the result is stored, if its type says so."""
        return place_of(self.declared_type())

    def verify_(self) -> None:
        super().verify_()
        type = self.declared_type()
        if place_of(type) is None and place_of(self.operand_type(0)) is None:
            raise VerifyException(
                f"expected the operand or the result to have a place, but got '{type}'"
            )
        if layout_of(type) != layout_of(self.operand_type(0)):
            raise VerifyException(
                "expected the result to have the layout of the operand, "
                f"but got '{type}'"
            )


@irdl_op_definition
class RelayoutOp(ForwardOp):
    """
    The operand in another layout: that of the result's type.

    ```mlir
    %y = graph.relayout %x : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32, #graph.desc<layout = #graph.layout<block = [1, 16]>>>
    ```
    """  # noqa: E501

    name = "graph.relayout"

    input = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    custom_directives = (Signature,)
    assembly_format = (
        "$input attr-dict `:` custom<Signature>(type(operands), type(results))"
    )

    def __init__(self, input: Value, layout: LayoutAttr | None) -> None:
        type = tensor_type(input)
        result = with_desc(type, layout=layout, place=place_of(type))
        Operation.__init__(
            self, operands=(SSAValue.get(input),), result_types=(result,)
        )

    @property
    def layout(self) -> LayoutAttr | None:
        """The layout of the result, None for the canonical one."""
        return layout_of(self.declared_type())

    def verify_(self) -> None:
        super().verify_()
        if place_of(self.declared_type()) != place_of(self.operand_type(0)):
            raise VerifyException(
                "expected the result to have the place of the operand, "
                f"but got '{self.declared_type()}'"
            )
