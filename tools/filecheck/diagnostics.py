"""
Messages about check files and inputs, with the line that they are about.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A file by its lines."""

    name: str
    lines: Sequence[str]

    @staticmethod
    def of(name: str, content: str) -> "Text":
        return Text(name, content.split("\n"))


@dataclass(frozen=True)
class Place:
    """A position; lines and columns count from 1."""

    text: Text
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.text.name}:{self.line}:{self.column}"

    def render(self, severity: str, message: str) -> str:
        """The message, the line, and a caret under the column."""
        line = self.text.lines[self.line - 1] if self.text.lines else ""
        before = line[: self.column - 1]
        indent = "".join("\t" if c == "\t" else " " for c in before)
        return f"{self}: {severity}: {message}\n{line}\n{indent}^\n"


class CheckFileError(Exception):
    """What is wrong with the check lines themselves."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place
        self.message = message

    def render(self) -> str:
        """As a program shows it."""
        return self.place.render("error", self.message)


class BadPattern(Exception):
    """What is wrong with a pattern, at an offset in it."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
