"""
xDSL's parser, with a place on all that it makes.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException


class TransomParser(Parser):
    """xDSL's parser, which leaves `loc(unknown)` on ops without a trailing `loc(…)`."""

    def parse_operation(self) -> Operation:
        start = self.pos
        try:
            op = super().parse_operation()
        except VerifyException as e:  # of an attribute: attributes verify at birth
            self.raise_error(str(e), start)
        if isinstance(op.location, UnknownLoc):
            op.location = self.location_at(start)
        return op

    def location_at(self, position: int) -> LocationAttr:
        """The location of a position in the text."""
        content = self.lexer.input.content
        line = content.count("\n", 0, position) + 1
        column = position - (content.rfind("\n", 0, position) + 1) + 1
        return FileLineColLoc(
            StringAttr(self.lexer.input.name), IntAttr(line), IntAttr(column)
        )


def parse_attribute_prefix(
    ctx: Context, text: str, position: int = 0, name: str = "<text>"
) -> tuple[Attribute, int]:
    """
    Parse an attribute or type that starts at a position of a text.

    Returns it with the position after its last character. Raises `ParseError`.
    """
    parser = TransomParser(ctx, text[position:], name)
    attribute = parser.parse_attribute()
    return attribute, position + len(text[position : position + parser.pos].rstrip())
