"""
`llvm.switch`, a branch on an integer to one of several blocks.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntElementsAttr,
    IntegerType,
    SignlessIntegerConstraint,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_successor_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException


def parse_destination(parser: Parser) -> tuple[Block, list[SSAValue]]:
    """`^block(%a, %b : i32, f32)`; the parentheses may be left out."""
    block = parser.parse_successor()
    if parser.parse_optional_punctuation("(") is None:
        return block, []
    start = parser.pos
    operands = parser.parse_comma_separated_list(
        Parser.Delimiter.NONE, parser.parse_unresolved_operand
    )
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return block, list(parser.resolve_operands(operands, types, start))


def print_destination(
    printer: Printer, block: Block, operands: Sequence[SSAValue]
) -> None:
    """The inverse of `parse_destination`."""
    printer.print_block_name(block)
    if not operands:
        return
    with printer.in_parens():
        printer.print_list(operands, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list([v.type for v in operands], printer.print_attribute)


@irdl_op_definition
class SwitchOp(IRDLOperation):
    """
    Branch to the block of the case that equals the value, else to the first block.

    ```mlir
    llvm.switch %x : i32, ^default [
      1: ^one(%a : i32),
      -1: ^other
    ]
    ```
    """

    name = "llvm.switch"

    value = operand_def(SignlessIntegerConstraint)
    default_operands = var_operand_def()
    case_operands = var_operand_def()
    case_values = opt_prop_def(DenseIntElementsAttr)
    case_operand_segments = prop_def(DenseArrayBase.constr(i32))
    default_block = successor_def()
    case_blocks = var_successor_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(IsTerminator(), Pure())

    def __init__(
        self,
        value: SSAValue | Operation,
        default: tuple[Block, Sequence[SSAValue]],
        cases: Sequence[tuple[int, Block, Sequence[SSAValue]]] = (),
    ):
        type = cast(IntegerType, SSAValue.get(value).type)
        segments = [len(operands) for _, _, operands in cases]
        properties: dict[str, Attribute] = {
            "case_operand_segments": DenseArrayBase.from_list(i32, segments)
        }
        if cases:
            properties["case_values"] = DenseIntElementsAttr.from_list(
                VectorType(type, [len(cases)]), [number for number, _, _ in cases]
            )
        super().__init__(
            operands=[value, default[1], [v for _, _, vs in cases for v in vs]],
            properties=properties,
            successors=[default[0], [block for _, block, _ in cases]],
        )

    @property
    def cases(self) -> tuple[tuple[int, Block, tuple[SSAValue, ...]], ...]:
        """Value, block and operands of each case."""
        numbers: Sequence[int] = (
            self.case_values.get_values() if self.case_values is not None else ()
        )
        operands = iter(self.case_operands)
        segments = self.case_operand_segments.get_values()
        return tuple(
            (number, block, tuple(next(operands) for _ in range(count)))
            for number, block, count in zip(
                numbers, self.case_blocks, segments, strict=True
            )
        )

    def verify_(self) -> None:
        segments = self.case_operand_segments.get_values()
        values = 0 if self.case_values is None else len(self.case_values.get_values())
        if not values == len(self.case_blocks) == len(segments):
            raise VerifyException(
                f"expected as many cases as blocks, but got {values} values, "
                f"{len(self.case_blocks)} blocks and {len(segments)} operand counts"
            )
        if sum(segments) != len(self.case_operands):
            raise VerifyException(
                f"expected {sum(segments)} case operands, "
                f"but got {len(self.case_operands)}"
            )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", ")
        print_destination(printer, self.default_block, self.default_operands)
        printer.print_string(" [")
        with printer.indented():
            for i, (number, block, operands) in enumerate(self.cases):
                printer.print_string(",\n" if i else "\n")
                printer.print_string(f"{number}: ")
                print_destination(printer, block, operands)
        printer.print_string("\n]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser):
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(value, parser.parse_type())
        parser.parse_punctuation(",")
        default = parse_destination(parser)

        def parse_case() -> tuple[int, Block, Sequence[SSAValue]]:
            number = parser.parse_integer()
            parser.parse_punctuation(":")
            return number, *parse_destination(parser)

        cases = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parse_case)
        op = cls(value, default, cases)
        op.attributes |= parser.parse_optional_attr_dict()
        return op
