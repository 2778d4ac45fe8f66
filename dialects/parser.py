"""
IR from text, with a place on all of it and an error for all that is refused.

`parse_ir` is what programs call: text in, module out, or an `OpError` with a position.
Bad text never ends in another exception.
"""

import struct
import sys
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Input, Span

from transom.dialects.diagnostics import Note, OpError, Position, file_location
from transom.dialects.file_resources import ExternalResources
from transom.dialects.parser_messages import reworded
from transom.dialects.text_parser import TransomParser

RECURSION_LIMIT = 60_000
"""Python frames that `MAX_DEPTH` levels may need in a parser, printer or clone."""

_ZIP = b"PK\x03\x04"
"""What zip files begin with, and so do saved programs."""

_BAD_TEXT = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    struct.error,
    TypeError,
    ValueError,
)
"""What parsers of ops and attributes raise on text that they did not think of."""


def parse_ir(
    ctx: Context,
    text: str | bytes,
    name: str = "<stdin>",
    *,
    line_offset: int = 0,
    implicit_module: bool = True,
    resources: ExternalResources | None = None,
) -> ModuleOp:
    """
    Parse the text of a module; text without an op is an empty module.

    `name` and `line_offset`, the number of lines before this text, give the places of
    all ops. `resources` takes the external resources of the file. Raises `OpError`.
    """
    allow_deep_recursion()
    if isinstance(text, bytes):
        text = _decode(text, name, line_offset)
    try:
        parser = TransomParser(ctx, text, name, line_offset=line_offset)
    except ParseError as e:  # of the first token
        raise _positioned(e, line_offset) from None
    parser.external_resources = resources
    try:
        return parser.parse_module(implicit_module)
    except ParseError as e:
        raise _positioned(e, line_offset) from None
    except _BAD_TEXT as e:
        raise OpError(parser.location_at(parser.pos), _describe(e)) from e
    except MemoryError:
        raise OpError(parser.location_at(parser.pos), "out of memory") from None


def allow_deep_recursion() -> None:
    """Let Python recurse as deep as IR of `MAX_DEPTH` levels needs."""
    if sys.getrecursionlimit() < RECURSION_LIMIT:
        sys.setrecursionlimit(RECURSION_LIMIT)


def parse_attribute_prefix(
    ctx: Context, text: str, position: int = 0, name: str = "<text>"
) -> tuple[Attribute, int]:
    """
    Parse an attribute or type that starts at a position of a text.

    Returns it with the position after its last character. Raises `ParseError` with a
    span relative to `position`.
    """
    allow_deep_recursion()
    parser = TransomParser(ctx, text[position:], name)
    start = parser.pos
    try:
        attribute = parser.parse_attribute()
    except _BAD_TEXT as e:
        parser.raise_error(_describe(e), start)
    return attribute, position + len(text[position : position + parser.pos].rstrip())


def parse_attribute_text(ctx: Context, text: str, name: str = "<text>") -> Attribute:
    """Parse a text that is one attribute or type. Raises `ParseError`."""
    attribute, end = parse_attribute_prefix(ctx, text, 0, name)
    if text[end:].strip():
        span = Span(end, end, Input(text, name))
        raise ParseError(span, f"expected the end, but got '{text[end:].strip()}'")
    return attribute


def _decode(text: bytes, name: str, line_offset: int) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as e:
        before = text[: e.start].decode("utf-8")
        line = before.count("\n") + 1 + line_offset
        column = len(before) - (before.rfind("\n") + 1) + 1
        where = file_location(name, line, column)
        expected = "expected UTF-8 text"
        if text.startswith(_ZIP):
            expected = (
                "expected IR text, but got a zip file; saved programs are shown by "
                "'transom show', and run from Python: 'transom.runtime.load'"
            )
        raise OpError(where, expected) from None


def _describe(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "expected less nesting"
    detail = str(error).strip().split("\n")[0]
    kind = type(error).__name__
    return f"expected valid syntax; the parser stopped at {kind}: {detail}".rstrip(": ")


def _positioned(error: ParseError, line_offset: int) -> OpError:
    """The error of a parser as one with a location, with the line of the file."""
    notes: list[Note] = []
    if isinstance(error, MultipleSpansParseError):
        for span, message in error.refs:
            text = message or error.ref_text or "here"
            notes.append(Note(_location_of_span(span, line_offset), text.rstrip(":")))
    where = _location_of_span(error.span, line_offset)
    message = reworded(error.msg, None)
    return OpError(where, message, *notes, end=_end_of_span(error.span, line_offset))


def _location_of_span(span: Span[str] | Span[bytes], line_offset: int) -> LocationAttr:
    file, line, column = span.get_location()
    return file_location(file, line + line_offset, column)


def _end_of_span(span: Span[str] | Span[bytes], line_offset: int) -> Position | None:
    """The place after a span that has characters."""
    if span.end <= span.start:
        return None
    after: Span[Any] = Span(span.end, span.end, cast(Any, span.input))
    file, line, column = after.get_location()
    return Position(file, line + line_offset, column)
