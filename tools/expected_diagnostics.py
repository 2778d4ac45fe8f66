"""
Match diagnostics against comments: `// expected-error @+1 {{a part of the message}}`.

A comment names a severity (`error`, `warning`, `note`, `remark`), a line relative to
its own (`@+N`, `@-N`, `@above` and `@below`, which pass over lines that only hold such
comments, or `@unknown` for what has no place in this file; by default its own line),
and a part of the message. After `-re`, as in `expected-error-re`, what stands in
`{{…}}` within the text is a regular expression.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from transom.dialects.diagnostics import (
    Diagnostic,
    OpError,
    Position,
    file_location,
)

_COMMENT = re.compile(
    r"expected-(?P<severity>error|warning|note|remark)(?P<regex>-re)?\s*"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown)\s*)?\{\{(?P<text>.*)\}\}\s*$"
)
_ONLY_COMMENT = re.compile(r"^\s*//.*expected-(error|warning|note|remark)")


@dataclass
class Expectation:
    """One comment: `line` is where the diagnostic shall be, None for nowhere."""

    severity: str
    line: int | None
    text: str
    pattern: re.Pattern[str]
    position: Position
    met: bool = False

    def is_about(self, diagnostic: Diagnostic) -> bool:
        """True if the place and the message are those expected."""
        place = diagnostic.position
        here = place is not None and place.file == self.position.file
        line = place.line if place is not None and here else None
        return line == self.line and self.pattern.search(diagnostic.message) is not None


def expectations_in(text: str, file: str, line_offset: int = 0) -> list[Expectation]:
    """The expectations of a text. Raises `OpError` for a wrong regular expression."""
    lines = text.split("\n")
    found: list[Expectation] = []
    for index, line in enumerate(lines):
        match = _COMMENT.search(line)
        if match is None:
            continue
        position = Position(file, index + 1 + line_offset, match.start() + 1)
        target = _target_line(lines, index, match["place"])
        found.append(
            Expectation(
                match["severity"],
                None if target is None else target + 1 + line_offset,
                match["text"],
                _pattern(match["text"], match["regex"] is not None, position),
                position,
            )
        )
    return found


def _pattern(text: str, is_regex: bool, position: Position) -> re.Pattern[str]:
    if not is_regex:
        return re.compile(re.escape(text))
    parts = re.split(r"\{\{(.*?)\}\}", text)
    pattern = "".join(
        f"(?:{part})" if i % 2 else re.escape(part) for i, part in enumerate(parts)
    )
    try:
        return re.compile(pattern)
    except re.error as e:
        where = file_location(*position)
        raise OpError(where, f"expected a regular expression: {e}") from None


def _target_line(lines: list[str], index: int, place: str | None) -> int | None:
    match place:
        case None:
            return index
        case "unknown":
            return None
        case "above" | "below":
            step = -1 if place == "above" else 1
            index += step
            while 0 <= index < len(lines) and _ONLY_COMMENT.match(lines[index]):
                index += step
            return index
        case _:
            return index + int(place)


def compare(
    expectations: list[Expectation],
    diagnostics: Iterable[Diagnostic],
    only_expected: bool = False,
) -> list[str]:
    """
    What does not agree, a message each; empty if all is as expected.

    Notes count as diagnostics of their own. With `only_expected` a diagnostic that
    nothing expects is passed over.
    """
    problems: list[str] = []
    for diagnostic in _with_notes(diagnostics):
        about = [e for e in expectations if not e.met and e.is_about(diagnostic)]
        exact = [e for e in about if e.severity == diagnostic.severity]
        if exact:
            exact[0].met = True
        elif about:
            about[0].met = True
            problems.append(
                f"{diagnostic.place()}: error: '{diagnostic.severity}' diagnostic "
                f"emitted when expecting a '{about[0].severity}'"
            )
        elif not only_expected:
            problems.append(
                f"{diagnostic.place()}: error: unexpected {diagnostic.severity}: "
                f"{diagnostic.message}"
            )
    problems.extend(
        f'{e.position}: error: expected {e.severity} "{e.text}" was not produced'
        for e in expectations
        if not e.met
    )
    return problems


def _with_notes(diagnostics: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    for diagnostic in diagnostics:
        yield diagnostic
        yield from diagnostic.notes
