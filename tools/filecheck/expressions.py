"""
Numbers in patterns: `[[#N:]]`, `[[#%x,N+1]]`, `[[#@LINE-2]]`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from transom.tools.filecheck.diagnostics import BadPattern

NAME = r"[$@]?[A-Za-z_][A-Za-z0-9_]*"

_TOKEN = re.compile(
    rf"\s*(?:(?P<number>0x[0-9a-fA-F]+|[0-9]+)|(?P<name>{NAME})|(?P<sign>[-+(),]))"
)

FUNCTIONS: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "div": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "max": max,
    "min": min,
    "mul": lambda a, b: a * b,
    "sub": lambda a, b: a - b,
}


class NoValue(Exception):
    """A part of a pattern, at an offset, has no value."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


class UndefinedVariable(NoValue):
    """A variable is used that was not defined."""

    def __init__(self, name: str, offset: int = 0) -> None:
        super().__init__(f"undefined variable: {name}", offset)
        self.name = name


class Unrepresentable(NoValue):
    """A value cannot be written in its format, or cannot be computed."""


@dataclass(frozen=True)
class Format:
    """How a number is written."""

    kind: str = "u"
    """`u`, `d`, `x` or `X`."""
    precision: int = 0
    """The least number of digits."""
    has_prefix: bool = False
    """Whether `0x` stands before the digits."""

    def pattern(self) -> str:
        """A regular expression for any number, of Python."""
        digits = {"u": "0-9", "d": "0-9", "x": "0-9a-f", "X": "0-9A-F"}[self.kind]
        sign = "-?" if self.kind == "d" else ""
        prefix = "0x" if self.has_prefix else ""
        if not self.precision:
            return f"{sign}{prefix}[{digits}]+"
        first = digits.replace("0-9", "1-9", 1)
        return f"{sign}{prefix}(?:[{first}][{digits}]*)?[{digits}]{{{self.precision}}}"

    def read(self, text: str) -> int:
        """The number that a text is."""
        negative = text.startswith("-")
        digits = text.removeprefix("-").removeprefix("0x" if self.has_prefix else "")
        value = int(digits, 16 if self.kind in "xX" else 10)
        return -value if negative else value

    def write(self, value: int) -> str:
        """A number as text. Raises `Unrepresentable`."""
        if value < 0 and self.kind != "d":
            raise Unrepresentable("unable to represent numeric value")
        digits = format(abs(value), "d" if self.kind in "ud" else self.kind)
        prefix = "0x" if self.has_prefix else ""
        return ("-" if value < 0 else "") + prefix + digits.zfill(self.precision)


Values = Callable[[str], int]
"""The number of a variable. Raises `UndefinedVariable`."""


@dataclass(frozen=True)
class Expression:
    """A computation, and the variables in it in order."""

    evaluate: Callable[[Values], int]
    names: tuple[str, ...]


def parse_expression(text: str, line: int) -> Expression | None:
    """
    The expression that a text is, or None if it is empty; `@LINE` is `line`.

    Raises `BadPattern`.
    """
    parser = _Parser(text, line)
    if not text.strip():
        return None
    expression = parser.sum()
    if parser.peek() is not None:
        parser.fail("unexpected characters at end of expression")
    return expression


class _Parser:
    def __init__(self, text: str, line: int) -> None:
        self.text = text
        self.line = line
        self.at = 0

    def fail(self, message: str) -> BadPattern:
        at = len(self.text) - len(self.text[self.at :].lstrip())
        rest = self.text[at:].strip()
        raise BadPattern(at, f"{message} '{rest}'" if rest else message)

    def peek(self) -> re.Match[str] | None:
        if not self.text[self.at :].strip():
            return None
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            self.fail("unsupported operation")
        return match

    def take(self, sign: str) -> bool:
        token = self.peek()
        if token is None or token["sign"] != sign:
            return False
        self.at = token.end()
        return True

    def expect(self, sign: str, message: str) -> None:
        if not self.take(sign):
            self.fail(message)

    def sum(self) -> Expression:
        left = self.operand()
        while True:
            if self.take("+"):
                left = _applied("add", left, self.operand())
            elif self.take("-"):
                left = _applied("sub", left, self.operand())
            else:
                return left

    def operand(self) -> Expression:
        if self.take("("):
            inner = self.sum()
            self.expect(")", "missing ')' at end of nested expression")
            return inner
        if self.take("-"):
            return _applied("sub", Expression(lambda _: 0, ()), self.operand())
        token = self.peek()
        if token is None or token["sign"] is not None:
            raise self.fail("invalid operand format")
        self.at = token.end()
        if (number := token["number"]) is not None:
            value = int(number, 0) if number.startswith("0x") else int(number)
            return Expression(lambda _: value, ())
        name = token["name"]
        if name.startswith("@"):
            if name != "@LINE":
                self.at = token.start("name")
                self.fail("invalid pseudo numeric variable")
            line = self.line
            return Expression(lambda _: line, ())
        if self.text.startswith("(", self.at):
            return self.call(name, token.start("name"))
        return Expression(lambda values: values(name), (name,))

    def call(self, name: str, start: int) -> Expression:
        if name not in FUNCTIONS:
            self.at = start
            self.fail("call to undefined function")
        self.expect("(", "expected '('")
        first = self.sum()
        self.expect(",", f"function '{name}' takes 2 arguments but 1 given:")
        second = self.sum()
        self.expect(")", "missing ')' at end of call expression")
        return _applied(name, first, second)


def _applied(name: str, left: Expression, right: Expression) -> Expression:
    function = FUNCTIONS[name]

    def evaluate(values: Values) -> int:
        try:
            return function(left.evaluate(values), right.evaluate(values))
        except ZeroDivisionError:
            raise Unrepresentable("expected no division by zero") from None

    return Expression(evaluate, left.names + right.names)
