"""
Composite behaviour as regions, and marks: where things run, are stored, and how they
lie in memory.
"""

from abc import ABC
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    LocationAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import (
    Attribute,
    Block,
    Operation,
    Region,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.graph.operation import Value
from transom.dialects.graph.syntax import parse_type, print_type
from transom.dialects.graph.weights import WeightOp
from transom.dialects.target import PlaceAttr

TENSOR = AnyTensorTypeConstr


class GroupOp(HasCanonicalizationPatternsInterface, IRDLOperation, ABC):
    """
    Base of ops that compute their results by a block of ops on their operands.

    The block sees its arguments only, one per operand; `graph.yield` gives the results.
    """

    inputs = var_operand_def()
    outputs = var_result_def()
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect())

    def _build_group(
        self,
        inputs: Sequence[Value],
        result_types: Sequence[Attribute],
        body: Region | None,
        properties: dict[str, Attribute] | None = None,
        location: LocationAttr | None = None,
    ) -> None:
        operands = [SSAValue.get(value) for value in inputs]
        if body is None:
            body = Region(Block(arg_types=[value.type for value in operands]))
        Operation.__init__(
            self,
            operands=operands,
            result_types=result_types,
            properties=properties or {},
            location=location,
            regions=(body,),
        )

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from transom.dialects.graph.canonicalization import PATTERNS

        return PATTERNS.get(cls, ())

    def verify_(self) -> None:
        block = self.body.block
        operand_types = tuple(value.type for value in self.operands)
        argument_types = tuple(argument.type for argument in block.args)
        if argument_types != operand_types:
            raise VerifyException(
                "expected block arguments of the types of the operands: "
                f"({_list(operand_types)}), but got ({_list(argument_types)})"
            )
        last = block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("expected the block to end with 'graph.yield'")
        yielded, results = tuple(last.operand_types), tuple(self.result_types)
        if yielded != results:
            raise VerifyException(
                f"expected 'graph.yield' of ({_list(results)}), "
                f"but got ({_list(yielded)})"
            )

    @classmethod
    def _parse_group(
        cls, parser: Parser, properties: dict[str, Attribute]
    ) -> "GroupOp":
        arguments: list[Parser.Argument] = []
        operands: list[SSAValue] = []

        def parse_binding() -> None:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            type = parse_type(parser)
            arguments.append(argument.resolve(type))
            operands.append(parser.resolve_operand(operand, type))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_binding)
        parser.parse_punctuation("->")
        types = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_type(parser)
        )
        attributes = parser.parse_optional_attr_dict_with_keyword()
        return cls.create(
            operands=operands,
            result_types=types,
            properties=properties,
            attributes={} if attributes is None else attributes.data,
            regions=(parser.parse_region(arguments),),
        )

    def print(self, printer: Printer) -> None:
        self._print_head(printer)
        printer.print_string(" (")
        for index, (argument, operand) in enumerate(
            zip(self.body.block.args, self.operands, strict=True)
        ):
            printer.print_string(", " if index else "")
            printer.print_ssa_value(argument)
            printer.print_string(" = ")
            printer.print_ssa_value(operand)
            printer.print_string(" : ")
            print_type(printer, operand.type)
        printer.print_string(") -> (")
        for index, type in enumerate(self.result_types):
            printer.print_string(", " if index else "")
            print_type(printer, type)
        printer.print_string(")")
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    def _print_head(self, printer: Printer) -> None:
        """Print what stands between the name and the operands."""


def _list(types: Sequence[Attribute]) -> str:
    return ", ".join(f"'{type}'" for type in types)


@irdl_op_definition
class CompositeOp(GroupOp):
    """
    A pattern that was matched, under a name: what it computes is its body.

    ```mlir
    %y = graph.composite "acme.double" (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %s = graph.add %a, %a : tensor<4xf32>
      graph.yield %s : tensor<4xf32>
    }
    ```
    """

    name = "graph.composite"

    composite = prop_def(StringAttr)

    def __init__(
        self,
        composite: str | StringAttr,
        inputs: Sequence[Value],
        result_types: Sequence[Attribute],
        body: Region | None = None,
        location: LocationAttr | None = None,
    ) -> None:
        if isinstance(composite, str):
            composite = StringAttr(composite)
        self._build_group(
            inputs, result_types, body, {"composite": composite}, location
        )

    def verify_(self) -> None:
        super().verify_()
        if not self.composite.data:
            raise VerifyException("expected a name")

    @classmethod
    def parse(cls, parser: Parser) -> "CompositeOp":
        name = StringAttr(parser.parse_str_literal())
        return cast(CompositeOp, cls._parse_group(parser, {"composite": name}))

    def _print_head(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.composite.data)


@irdl_op_definition
class RegionOp(GroupOp):
    """
    What one place gets to compute; with `hint` what it should, if it can.

    ```mlir
    %y = graph.region #target.place<@npu, ?, ?> (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %s = graph.add %a, %a : tensor<4xf32>
      graph.yield %s : tensor<4xf32>
    }
    ```
    """  # noqa: E501

    name = "graph.region"

    place = prop_def(PlaceAttr)
    hint = opt_prop_def(UnitAttr)

    def __init__(
        self,
        place: PlaceAttr,
        inputs: Sequence[Value],
        result_types: Sequence[Attribute],
        body: Region | None = None,
        location: LocationAttr | None = None,
    ) -> None:
        self._build_group(inputs, result_types, body, {"place": place}, location)

    @classmethod
    def parse(cls, parser: Parser) -> "RegionOp":
        is_hint = parser.parse_optional_keyword("hint") is not None
        start = parser.pos
        place = parser.parse_attribute()
        if not isinstance(place, PlaceAttr):
            parser.raise_error("expected '#target.place<…>'", start, parser.pos)
        properties: dict[str, Attribute] = {"place": place}
        if is_hint:
            properties["hint"] = UnitAttr()
        return cast(RegionOp, cls._parse_group(parser, properties))

    def _print_head(self, printer: Printer) -> None:
        printer.print_string(" " if self.hint is None else " hint ")
        printer.print_attribute(self.place)


@irdl_op_definition
class FusedOp(GroupOp):
    """
    What becomes one kernel.

    ```mlir
    %y = graph.fused (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %s = graph.add %a, %a : tensor<4xf32>
      %r = graph.relu %s : tensor<4xf32>
      graph.yield %r : tensor<4xf32>
    }
    ```
    """

    name = "graph.fused"

    def __init__(
        self,
        inputs: Sequence[Value],
        result_types: Sequence[Attribute],
        body: Region | None = None,
        location: LocationAttr | None = None,
    ) -> None:
        self._build_group(inputs, result_types, body, {}, location)

    @classmethod
    def parse(cls, parser: Parser) -> "FusedOp":
        return cast(FusedOp, cls._parse_group(parser, {}))


@irdl_op_definition
class YieldOp(IRDLOperation):
    """
    The results of the op around it.

    ```mlir
    graph.yield %x, %y : tensor<4xf32>, tensor<4xi1>
    ```
    """

    name = "graph.yield"

    values = var_operand_def()

    traits = traits_def(
        IsTerminator(), Pure(), HasParent(CompositeOp, RegionOp, FusedOp, WeightOp)
    )

    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: Value) -> None:
        Operation.__init__(self, operands=[SSAValue.get(value) for value in values])
