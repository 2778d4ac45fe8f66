"""
xDSL's lexer, faster, with a limit on digits, and with labels such as `^64`.
"""

import re
from typing import cast

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import (
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
    PunctuationSpelling,
    StringLiteral,
)

MAX_DIGITS = 4096
"""Digits of a number; Python refuses integers of more than 4,300 by default."""


class TransomLexer(MLIRLexer):
    """One regular expression takes the common tokens; xDSL's code gets the others."""

    # xDSL's pattern takes exponential time on a string that is not closed.
    _unescaped_characters_regex = re.compile(
        r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"'
    )

    def lex(self) -> MLIRToken:
        match = _COMMON_TOKEN.match(self.input.content, self.pos)
        if match is None or (group := match.lastgroup) is None:
            return super().lex()
        self.pos = match.end()
        kind = _KIND_OF_GROUP.get(group)
        if kind is None:
            kind = MLIRTokenKind.get_punctuation_kind_from_name(
                cast(PunctuationSpelling, match.group(group))
            )
        return MLIRToken(kind, Span(match.start(group), self.pos, self.input))

    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind == MLIRTokenKind.BYTES_LIT:
            # A text such as "é", which is printed as bytes, is a text still.
            literal = StringLiteral.from_span(token.span)
            try:
                literal.bytes_contents.decode("utf-8")
            except UnicodeDecodeError:
                return token
            return MLIRToken(MLIRTokenKind.STRING_LIT, token.span)
        return token

    def _lex_number(self, start_pos: int) -> MLIRToken:
        token = super()._lex_number(start_pos)
        if not token.text.isascii():  # such as "³1"
            raise ParseError(
                token.span,
                f"expected a number of digits 0 to 9, but got '{token.text}'",
            )
        if token.span.len > MAX_DIGITS:
            raise ParseError(
                token.span, f"expected a number of at most {MAX_DIGITS} digits"
            )
        return token

    def _lex_prefixed_ident(self, start_pos: int) -> MLIRToken:
        token = super()._lex_prefixed_ident(start_pos)
        if token.kind == MLIRTokenKind.CARET_IDENT and token.text[1].isdigit():
            span = token.span
            return MLIRToken(
                token.kind, _NumericLabel(span.start, span.end, span.input)
            )
        return token


_COMMON_TOKEN = re.compile(
    r"(?:\s++|//[^\n]*+)*+"
    r"(?:(?P<bare>[A-Za-z_][A-Za-z0-9_$.]*)"
    r"|(?P<percent>%(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*))"
    r"|(?P<at>@[A-Za-z_][A-Za-z0-9_$.]*)"
    r"|(?P<hash>\#(?!-\})(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*))"
    r"|(?P<integer>(?:[1-9][0-9]{0,17}|0(?!x))(?![0-9.]))"
    r"|(?P<punctuation>->|\{(?!-\#)|[-:,()}\[\]<>=+*?/|]))",
    re.ASCII,
)
_KIND_OF_GROUP = {
    "bare": MLIRTokenKind.BARE_IDENT,
    "percent": MLIRTokenKind.PERCENT_IDENT,
    "at": MLIRTokenKind.AT_IDENT,
    "hash": MLIRTokenKind.HASH_IDENT,
    "integer": MLIRTokenKind.INTEGER_LIT,
}


class _NumericLabel(Span[str]):
    """
    The label `^64` under a name that a block may have: those of `bb` and digits are
    numbered anew by the printer. The zeros keep it apart from a label `^bb64`.
    """

    @property
    def content(self) -> str:
        return "^bb00000000" + super().content[1:]
