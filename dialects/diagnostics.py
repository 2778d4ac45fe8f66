"""
What goes wrong with a user's IR, where, and how it is shown.

A pass or conversion that cannot do its job on valid IR raises `OpError`; a rule of the
IR itself is a `VerifyException` in a verifier, which `verify_module` turns into an
`OpError` at the op that broke it. The driver renders either as

```text
model.mlir:3:8: error: expected a static shape, but got 'tensor<?xf32>'
  %y = graph.relu %x : tensor<?xf32>
       ^
model.mlir:2:1: note: in this function
```
"""

import difflib
import logging
import unicodedata
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

MAX_LISTED_NAMES = 16
"""A list of expected names up to this length is shown whole."""

MAX_SOURCE_BYTES = 64 << 20
"""A larger file is not read to show a line of it."""


_COLORS = {"error": 31, "warning": 35}
"""Of the terminal, by severity; what is not here is cyan."""


class Note(NamedTuple):
    """A remark of its own place that belongs to an error."""

    where: "Operation | LocationAttr"
    message: str

    @property
    def location(self) -> LocationAttr:
        """The place of the note."""
        return location_of(self.where)


class PlacedNote(str):
    """
    A note of an exception (`add_note`) that has a place in the IR: what was being done
    when code of somebody raised it.
    """

    location: LocationAttr

    def __new__(cls, text: str, location: LocationAttr) -> "PlacedNote":
        note = super().__new__(cls, text)
        note.location = location
        return note


class OpError(Exception):
    """
    A user's mistake, found on IR that verifies.

    The message starts in lower case and has no final period: what was expected, then
    what was found, then help after `; `.
    """

    location: LocationAttr
    message: str
    notes: tuple[Note, ...]
    end: "Position | None"
    """Where the text that is wrong ends, if that is known."""

    def __init__(
        self,
        where: Operation | LocationAttr,
        message: str,
        *notes: Note,
        end: "Position | None" = None,
    ) -> None:
        super().__init__(message)
        self.location = location_of(where)
        self.message = message
        self.notes = notes
        self.end = end

    def __str__(self) -> str:
        return str(self.diagnostic())

    def diagnostic(self) -> "Diagnostic":
        """The error as the driver shows it."""
        return Diagnostic(
            "error", self.location, self.message, _diagnostics_of(self.notes), self.end
        )


class Position(NamedTuple):
    """A place in a file, lines and columns counted from 1 (0: unknown)."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def location_of(where: Operation | LocationAttr) -> LocationAttr:
    """
    The location itself, or that of an op. An op without one, such as those of kernels,
    which calls from many places share, is where what is around it is called.
    """
    if not isinstance(where, Operation):
        return where
    return where.location if is_located(where) else _location_of_uses(where)


def is_located(op: Operation) -> bool:
    """Whether an op has a location."""
    return not isinstance(op.location, UnknownLoc)


def _location_of_uses(op: Operation) -> LocationAttr:
    """
    The location of the nearest op around one, below its symbol table, or else of one
    that uses the symbol that it is in; unknown if there is none.
    """
    from transom.dialects.symbols import symbol_name, walk_symbol_uses

    seen: set[str] = set()
    work = [op]
    for start in work:
        around = start
        while (outer := around.parent_op()) is not None:
            if is_located(around):
                return around.location
            name = symbol_name(around)
            if name is not None and name not in seen:
                seen.add(name)
                work += [u.user for u in walk_symbol_uses(outer) if u.name == name]
            around = outer
    return op.location


def file_location(file: str, line: int, column: int) -> LocationAttr:
    """The location of a place in a file."""
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def position_of(location: Attribute) -> Position | None:
    """The first position in a file that a location names."""
    match location:
        case FileLineColLoc():
            return Position(
                location.filename.data, location.line.data, location.column.data
            )
        case NameLoc():
            return position_of(location.location)
        case CallSiteLoc():
            return position_of(location.callee) or position_of(location.caller)
        case FusedLoc(locations=ArrayAttr() as locations):
            for inner in locations.data:
                if (position := position_of(inner)) is not None:
                    return position
        case _:
            pass
    return None


def name_of(location: Attribute) -> str | None:
    """The first name that a location gives, such as that of a node of a model."""
    match location:
        case NameLoc():
            return location.desc.data
        case CallSiteLoc():
            return name_of(location.callee) or name_of(location.caller)
        case FusedLoc(locations=ArrayAttr() as locations):
            for inner in locations.data:
                if (name := name_of(inner)) is not None:
                    return name
        case _:
            pass
    return None


@dataclass
class Sources:
    """Texts by file name: those in memory first, then what the file system has."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    lines: dict[str, Sequence[str]] = field(
        default_factory=dict[str, Sequence[str]], init=False, repr=False
    )

    def text(self, file: str) -> str:
        """The text of a file, empty if it cannot be had."""
        text = self.texts.get(file)
        return _read_text(file) if text is None else text

    def line(self, position: Position) -> str | None:
        """The source line at a position, or None if the text cannot be had."""
        if position.file not in self.lines:
            self.lines[position.file] = self.text(position.file).split("\n")
        lines = self.lines[position.file]
        if not 1 <= position.line <= len(lines):
            return None
        return lines[position.line - 1].rstrip("\r")


def _read_text(file: str) -> str:
    """The text of a file, empty if it is none or too large to show a line of."""
    try:
        path = Path(file)
        if not path.is_file() or path.stat().st_size > MAX_SOURCE_BYTES:
            return ""
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):  # ValueError: not UTF-8, or a NUL in the name
        return ""
    return "" if "\0" in text else text


@dataclass(frozen=True)
class Diagnostic:
    """A message at a place; `severity` is error, warning, note or remark."""

    severity: str
    location: LocationAttr
    message: str
    notes: "tuple[Diagnostic, ...]" = ()
    end: Position | None = None
    """The first place after what is wrong, if known: in the file of `position`."""

    @property
    def position(self) -> Position | None:
        """The place in a file, if the location has one."""
        return position_of(self.location)

    @property
    def name(self) -> str | None:
        """The name that the location gives, such as that of a node of a model."""
        return name_of(self.location)

    def place(self) -> str:
        """`file:line:col`, else the name in quotes, else `<unknown>`."""
        if (position := self.position) is not None:
            return str(position)
        if self.name is not None:
            return f'"{self.name}"'
        return "<unknown>"

    def __str__(self) -> str:
        return self.render(None)

    def render(self, sources: Sources | None, colored: bool = False) -> str:
        """The message with its source line and caret, then its notes; no newline."""
        severity = f"{self.severity}:"
        if colored:
            severity = f"\x1b[1;{_COLORS.get(self.severity, 36)}m{severity}\x1b[0m"
        parts = [f"{self.place()}: {severity} {self.message}"]
        if sources is not None and (position := self.position) is not None:
            line = sources.line(position)
            if line is not None and line.strip() and position.column > 0:
                parts.extend(_underline(line, position.column))
        parts.extend(note.render(sources, colored) for note in self.notes)
        return "\n".join(parts)


def _diagnostics_of(notes: Iterable[Note]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic("note", note.location, note.message) for note in notes)


def _underline(line: str, column: int, width: int = 160) -> tuple[str, str]:
    """A line and a caret under one of its columns, cut to a window if it is long."""
    at = min(column - 1, len(line))
    start = 0
    if len(line) > width:
        start = max(0, min(at - width // 2, len(line) - width))
        line = line[start : start + width]
        at -= start
    return line, "".join(map(_blank, line[:at])) + "^"


def _blank(character: str) -> str:
    """White space as wide as a character on a terminal."""
    if character == "\t":  # at any tab width
        return "\t"
    if unicodedata.combining(character):
        return ""
    return "  " if unicodedata.east_asian_width(character) in "WF" else " "


def did_you_mean(name: str, candidates: Iterable[str], prefix: str = "") -> str:
    """
    The end of a message about an unknown name: `; did you mean 'x'?`, else the whole of
    a short list (`; expected one of 'a', 'b'`), else nothing. A `prefix` that all have
    makes none of them near.
    """
    names = sorted(set(candidates))
    folded = {n.removeprefix(prefix).lower(): n for n in names}
    own = name.removeprefix(prefix).lower()
    near = difflib.get_close_matches(own, folded, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{folded[near[0]]}'?"
    if not names or len(names) > MAX_LISTED_NAMES:
        return ""
    if len(names) == 1:
        return f"; expected '{names[0]}'"
    return "; expected one of " + ", ".join(f"'{n}'" for n in names)


Handler = Callable[[Diagnostic], None]

_HANDLER: ContextVar[Handler | None] = ContextVar("diagnostic handler", default=None)


@contextmanager
def handling(handler: Handler) -> Generator[None]:
    """Give what `report` says in this context to `handler`."""
    token = _HANDLER.set(handler)
    try:
        yield
    finally:
        _HANDLER.reset(token)


@contextmanager
def overheard() -> Generator[list[Diagnostic]]:
    """What `report` says in this context, where it is said to."""
    said: list[Diagnostic] = []
    usual = _HANDLER.get() or _log

    def both(diagnostic: Diagnostic) -> None:
        said.append(diagnostic)
        usual(diagnostic)

    with handling(both):
        yield said


def report(
    severity: str, where: Operation | LocationAttr, message: str, *notes: Note
) -> None:
    """
    Say something that stops nothing: a warning, a note or a remark.

    It goes to the handler of this context, else to the logger `transom`.
    """
    diagnostic = Diagnostic(
        severity, location_of(where), message, _diagnostics_of(notes)
    )
    (_HANDLER.get() or _log)(diagnostic)


def _log(diagnostic: Diagnostic) -> None:
    level = logging.WARNING if diagnostic.severity == "warning" else logging.INFO
    logging.getLogger("transom").log(level, "%s", diagnostic)
