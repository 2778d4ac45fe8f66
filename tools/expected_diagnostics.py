"""
Match diagnostics against comments: `// expected-error @+1 {{a part of the message}}`.

A comment names a severity (`error`, `warning`, `note`, `remark`), a place, and a part
of the message, and ends its line. After `-re`, as in `expected-error-re`, what stands
in `{{…}}` within the text is a regular expression. The place is one of

| place | the diagnostic is |
|---|---|
| none | on the line of the comment |
| `@+N`, `@-N` | so many lines below or above |
| `@below`, `@above` | on the next line that does not only hold such comments |
| `@unknown` | at no place of a file |
| `@FILE:LINE`, `@FILE:*` | in another file, whose path ends in `FILE` |

As in MLIR, the comments of another file count as soon as a diagnostic is in it; its
places and its severity are compared with them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from transom.dialects.diagnostics import (
    Diagnostic,
    OpError,
    Position,
    file_location,
)

_START = re.compile(r"expected-(?:error|warning|note|remark)(?:-re)?\s*[@{]")
_COMMENT = re.compile(
    r"expected-(?P<severity>error|warning|note|remark)(?P<regex>-re)?\s*"
    r"(?:@(?:(?P<place>[+-]\d{1,9}|above|below|unknown)"
    r"|(?P<file>[^\s{}]+):(?P<line>\d{1,9}|\*))\s*)?\{\{(?P<text>.*)\}\}\s*$"
)
_ONLY_COMMENT = re.compile(r"^\s*//.*expected-(?:error|warning|note|remark)")
_FORM = "expected 'expected-SEVERITY @PLACE {{TEXT}}' up to the end of the line"


@dataclass
class Expectation:
    """
    One comment, which stands at `position`.

    `file` is that in which the diagnostic shall be, None for nowhere, and `line` its
    line there, None for any.
    """

    severity: str
    file: str | None
    line: int | None
    text: str
    pattern: re.Pattern[str]
    position: Position
    met: bool = False

    def is_about(self, diagnostic: Diagnostic) -> bool:
        """True if the place and the message are those expected."""
        place = diagnostic.position
        if place is None or self.file is None:
            is_there = place is None and self.file is None
        else:
            is_same = f"/{place.file}".endswith(f"/{self.file}")
            is_there = is_same and self.line in (None, place.line)
        return is_there and self.pattern.search(diagnostic.message) is not None


def expectations_in(text: str, file: str, line_offset: int = 0) -> list[Expectation]:
    """The expectations of a text. Raises `OpError` for one of another form."""
    lines = text.split("\n")
    found: list[Expectation] = []
    for index, line in enumerate(lines):
        start = _START.search(line)
        if start is None:
            continue
        position = Position(file, index + 1 + line_offset, start.start() + 1)
        match = _COMMENT.match(line, start.start())
        if match is None:
            raise OpError(file_location(*position), _FORM)
        where: tuple[str | None, int | None]
        if match["file"] is not None:
            where = match["file"], None if match["line"] == "*" else int(match["line"])
        elif match["place"] == "unknown":
            where = None, None
        else:
            target = _target_line(lines, index, match["place"])
            where = file, target + 1 + line_offset
        pattern = _pattern(match["text"], match["regex"] is not None, position)
        found.append(
            Expectation(match["severity"], *where, match["text"], pattern, position)
        )
    return found


def _pattern(text: str, is_regex: bool, position: Position) -> re.Pattern[str]:
    if not is_regex:
        return re.compile(re.escape(text))
    parts = re.split(r"\{\{(.*?)\}\}", text)
    where = file_location(*position)
    if any("{{" in part for part in parts):
        raise OpError(where, "expected '}}' at the end of a regular expression")
    pattern = "".join(
        f"(?:{part})" if i % 2 else re.escape(part) for i, part in enumerate(parts)
    )
    try:
        return re.compile(pattern)
    except re.error as e:
        raise OpError(where, f"expected a regular expression: {e}") from None


def _target_line(lines: list[str], index: int, place: str | None) -> int:
    match place:
        case None:
            return index
        case "above" | "below":
            step = -1 if place == "above" else 1
            index += step
            while 0 <= index < len(lines) and _ONLY_COMMENT.match(lines[index]):
                index += step
            return index
        case _:
            return index + int(place)


def compare(
    text: str,
    file: str,
    diagnostics: Iterable[Diagnostic],
    *,
    line_offset: int = 0,
    only_expected: bool = False,
    text_of: Callable[[str], str] = lambda file: "",
) -> list[Diagnostic]:
    """
    What does not agree with the comments of a text, an error each.

    `file` and `line_offset` say where the text is from. Notes count as diagnostics of
    their own. With `only_expected` a diagnostic that nothing expects is passed over.
    `text_of` gives the text of another file, empty if it cannot be had.

    Raises `OpError` for a comment of another form.
    """
    problems: list[Diagnostic] = []
    expectations = expectations_in(text, file, line_offset)
    read = {file}
    for diagnostic in _with_notes(diagnostics):
        place = diagnostic.position
        if place is not None and place.file not in read:
            read.add(place.file)
            expectations += expectations_in(text_of(place.file), place.file)
        about = [e for e in expectations if not e.met and e.is_about(diagnostic)]
        exact = [e for e in about if e.severity == diagnostic.severity]
        if exact:
            exact[0].met = True
        elif about:
            about[0].met = True
            message = (
                f"'{diagnostic.severity}' diagnostic emitted when expecting a "
                f"'{about[0].severity}'"
            )
            problems.append(Diagnostic("error", diagnostic.location, message))
        elif not only_expected:
            message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            problems.append(Diagnostic("error", diagnostic.location, message))
    for e in expectations:
        if not e.met:
            message = f'expected {e.severity} "{e.text}" was not produced'
            where = file_location(*e.position)
            problems.append(Diagnostic("error", where, message))
    return problems


def _with_notes(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    for diagnostic in diagnostics:
        yield diagnostic
        yield from diagnostic.notes
