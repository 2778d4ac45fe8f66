"""
Where check lines stand in a test: in blocks before the functions that they are about.

```text
// transom-checks: begin
// CHECK-LABEL: func.func @f(
…
// transom-checks: end
func.func @f(%x: i32) -> i32 {
```

What is outside of the blocks is left as it is. Options stand behind `begin`.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from transom.tools.checks.lines import CheckLine, Section, label_in

_BEGIN = re.compile(r"^\s*\S+ transom-checks: begin(?P<options>.*)$")
_END = re.compile(r"^\s*\S+ transom-checks: end\s*$")

LINE = "\0"
"""Stands before and behind the number of a line of the test in a check line."""

_PLACEHOLDER = re.compile(rf"{LINE}(\d+){LINE}")


class LayoutError(Exception):
    """The blocks in a test are wrong, at a line of it."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class Source:
    """A test without its blocks."""

    lines: list[str]
    numbers: list[int]
    """The number of each line in the file, from 1."""
    options: list[str] | None
    """Those of the first block; None if there is no block."""

    def line_of(self, number: int) -> int | None:
        """The index of a line by its number in the file."""
        return self.numbers.index(number) if number in self.numbers else None


def without_blocks(text: str) -> Source:
    """Raises `LayoutError`."""
    source = Source([], [], None)
    begin: int | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if (match := _BEGIN.match(line)) is not None:
            if begin is not None:
                raise LayoutError(number, "expected 'end' before another 'begin'")
            begin = number
            if source.options is None:
                source.options = shlex.split(match["options"])
        elif _END.match(line) is not None:
            if begin is None:
                raise LayoutError(number, "expected 'begin' before 'end'")
            begin = None
        elif begin is None:
            source.lines.append(line)
            source.numbers.append(number)
    if begin is not None:
        raise LayoutError(begin, "expected 'end' after 'begin'")
    return source


@dataclass
class Blocks:
    """Check lines by the line of the source that they stand before."""

    source: Source
    comment: str
    first: int
    """The first line that may have a block before it: after the RUN lines."""
    options: Sequence[str] = ()
    by_line: dict[int, list[str]] = field(default_factory=dict[int, list[str]])

    def add(self, prefix: str, sections: Sequence[Section]) -> None:
        """Add what a prefix checks; blocks keep the order of the sections."""
        for at, section in zip(self._places(sections), sections, strict=True):
            lines = self.by_line.setdefault(at, [])
            if lines:
                lines.append(self.comment)
            least = min((n.indent for n in section.lines if n.indent), default=0)
            lines.extend(self._text(prefix, line, least) for line in section.lines)

    def _places(self, sections: Sequence[Section]) -> list[int]:
        """Lines in order, each before the function of its section if that can be."""
        symbols = self._symbols()
        places: list[int | None] = []
        last = 0
        for section in sections:
            at = None if section.name is None else symbols.get(section.name)
            if at is not None and at >= last:
                last = at
                places.append(at)
            else:
                places.append(None)
        known = next((place for place in places if place is not None), self.first)
        result: list[int] = []
        for place in places:
            known = known if place is None else place
            result.append(known)
        return result

    def _symbols(self) -> Mapping[str, int]:
        """The first line that defines each symbol at the outermost level."""
        found: dict[str, int] = {}
        for number, line in enumerate(self.source.lines):
            label = label_in(line)
            if label is not None and number >= self.first:
                found.setdefault(label["name"].strip('"'), number)
        return found

    def _text(self, prefix: str, line: CheckLine, least: int) -> str:
        """A check line, indented as what it is about is."""
        directive = f"{prefix}{line.suffix}:"
        indent = 2 + line.indent - least if line.indent else 0
        width = len(prefix) + len("-LABEL: ")
        return f"{self.comment} {directive:<{width}}{' ' * indent}{line.text}"

    def lines(self) -> Iterator[tuple[str, int | None]]:
        """The lines of the whole, each with its index in the source if it is there."""
        options = "".join(f" {shlex.quote(option)}" for option in self.options)
        for number, line in enumerate(self.source.lines):
            if number in self.by_line:
                indent = line[: len(line) - len(line.lstrip())]
                begin = f"{self.comment} transom-checks: begin{options}"
                end = f"{self.comment} transom-checks: end"
                for text in (begin, *self.by_line[number], end):
                    yield indent + text, None
            yield line, number

    def text(self) -> str:
        """The test with its blocks, with numbers of lines relative to check lines."""
        lines = list(self.lines())
        moved = {old: new for new, (_, old) in enumerate(lines, 1) if old is not None}

        def relative(number: int, line: str) -> str:
            def place(match: re.Match[str]) -> str:
                old = self.source.line_of(int(match[1]))
                if old is None:  # within a block, which nothing is about
                    return "[[#]]"
                distance = moved[old] - number
                return f"[[#@LINE{distance:+}]]" if distance else "[[#@LINE]]"

            return _PLACEHOLDER.sub(place, line)

        return "\n".join(relative(n, line) for n, (line, _) in enumerate(lines, 1))

    def moved(self, number: int) -> int:
        """Where a line of the file is afterwards, by its number before."""
        old = self.source.line_of(number)
        if old is None:
            return number
        news = {o: new for new, (_, o) in enumerate(self.lines(), 1) if o is not None}
        return news[old]
