"""
The type signature that ends the custom form of every op.

Types are most of the text of a graph, so a type is parsed and printed once per
spelling, not once per use.
"""

import re
from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

_TENSOR = re.compile(r'tensor<[^<>"/-]*(>?)')
_BRACKET = re.compile(r'->|[<>]|//|"(?:[^"\\]|\\.)*"')


def parse_type(parser: AttrParser) -> Attribute:
    """A type; one that this parser has read before is the same object."""
    content = parser.lexer.input.content
    start = parser.pos
    match = _TENSOR.match(content, start)
    if match is None:
        return parser.parse_type()
    end = match.end() if match.group(1) else _closing_bracket(content, start)
    text = content[start:end]
    types: dict[str, Attribute] = vars(parser).setdefault("graph_types", {})
    type = types.get(text)
    if type is None:
        type = parser.parse_type()
        if text:
            types[text] = type
        return type
    parser.lexer.pos = end
    parser.parse_identifier()  # drops the word `tensor` and reads on from `end`
    return type


def _closing_bracket(content: str, start: int) -> int:
    """The end of a type with nested brackets, or `start` if a comment is in it."""
    depth = 0
    for match in _BRACKET.finditer(content, start):
        token = match.group()
        if token == "<":
            depth += 1
        elif token == ">":
            depth -= 1
            if depth == 0:
                return match.end()
        elif token == "//":
            break
    return start


def print_type(printer: Printer, type: Attribute) -> None:
    """Print a type; one that this printer has printed before costs nothing."""
    texts: dict[int, tuple[Attribute, str]] = vars(printer).setdefault(
        "graph_types", {}
    )
    entry = texts.get(id(type))
    if entry is None:  # the entry keeps the type alive, and so its id its own
        entry = texts[id(type)] = (type, str(type))
    printer.print_string(entry[1])


def _parse_types(parser: Parser) -> list[Attribute]:
    types = [parse_type(parser)]
    while parser.parse_optional_punctuation(",") is not None:
        types.append(parse_type(parser))
    return types


def _print_types(printer: Printer, types: Sequence[Attribute]) -> None:
    for index, type in enumerate(types):
        if index:
            printer.print_string(", ")
        print_type(printer, type)


@irdl_custom_directive
class Signature(CustomDirective):
    """
    `tensor<4x1xf32>, tensor<3xf32> -> tensor<4x3xf32>`, or one type alone if it is that
    of all operands and results.
    """

    operand_types: TypeDirective
    result_types: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        types = _parse_types(parser)
        count = sum(len(operands or ()) for operands in state.operands)
        if parser.parse_optional_punctuation("->") is not None:
            results = _parse_types(parser)
        elif len(types) == 1:
            results, types = types, types * count
        else:
            parser.raise_error("expected '->' after the types of operands", start)
        if len(types) != count:
            parser.raise_error(
                f"expected {count} types of operands, but got {len(types)}", start
            )
        try:
            self.operand_types.set(state, types)
            self.result_types.set(state, results)
        except VerifyException as e:
            parser.raise_error(str(e)[:1].lower() + str(e)[1:], start)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        types = [operand.type for operand in op.operands]
        results = [result.type for result in op.results]
        first = results[0]
        if len(results) > 1 or any(t is not first and t != first for t in types):
            _print_types(printer, types)
            printer.print_string(" -> ")
        _print_types(printer, results)
