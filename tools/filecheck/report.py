"""
What a mismatch looks like: the check line, where it was looked for, what looks like it,
and the input with marks.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from transom.tools.filecheck.diagnostics import Place, Text
from transom.tools.filecheck.directives import Kind
from transom.tools.filecheck.matching import Event, Outcome

MAX_LINES_AHEAD = 100
"""How far to look for what a check line may have meant."""

LEAST_RATIO = 0.5
"""How alike a text has to be."""

WORD_START = re.compile(r"(?<!\S)\S")


@dataclass(frozen=True)
class Dump:
    """What to show of the input."""

    when: str = "fail"
    context: int = 5
    filter: str = "error"
    matches_too: bool = False


@dataclass(frozen=True)
class Mark:
    """Something about a part of a line of the input, columns from 0."""

    label: str
    line: int
    start: int
    end: int
    sign: str
    note: str
    is_error: bool
    is_start: bool


class Report:
    """Tells what came of checks, about one input."""

    def __init__(self, name: str, content: str) -> None:
        self.text = Text.of(name, content)
        self.content = content
        self.starts = [0]
        for line in self.text.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def place(self, offset: int) -> Place:
        """The position of an offset in the input."""
        line = max(bisect_right(self.starts, offset), 1)
        line = min(line, len(self.text.lines))
        return Place(self.text, line, offset - self.starts[line - 1] + 1)

    def messages(self, events: Sequence[Event]) -> Iterator[str]:
        """All failures, each with its notes."""
        for event in events:
            if event.is_failure:
                yield from self._failure(event)

    def _failure(self, event: Event) -> Iterator[str]:
        directive = event.directive
        message = event.message
        if event.outcome is not Outcome.UNDEFINED:
            message = f"{directive.name}: {message}"
        column = directive.place.column + event.error_offset
        yield replace(directive.place, column=column).render("error", message)
        match event.outcome:
            case Outcome.EXCLUDED:
                yield self.place(event.start).render("note", "found here")
            case Outcome.WRONG_LINE:
                yield from self._wrong_line(event)
            case _:
                yield self.place(event.start).render("note", "scanning from here")
        for name, value in event.substitutions:
            yield self.place(event.start).render(
                "note", f'with "{name}" equal to "{value}"'
            )
        if event.outcome is Outcome.MISSING:
            meant = self.meant(event)
            if meant is not None:
                yield self.place(meant).render("note", "possible intended match here")

    def _wrong_line(self, event: Event) -> Iterator[str]:
        assert event.since is not None, "the matcher says it with this outcome"
        kind = event.directive.kind.removeprefix("-").lower()
        yield self.place(event.start).render("note", f"'{kind}' match was here")
        yield self.place(event.since).render("note", "previous match ended here")
        after = self.content.find("\n", event.since) + 1
        if event.directive.kind is not Kind.SAME and 0 < after < event.start:
            yield self.place(after).render(
                "note", "non-matching line after previous match is here"
            )

    def meant(self, event: Event) -> int | None:
        """Where the text begins that is most like a pattern that was not found."""
        wanted = event.example.strip()
        if not wanted:
            return None
        best, best_ratio = None, LEAST_RATIO
        matcher = SequenceMatcher(None, autojunk=False)
        matcher.set_seq2(wanted)
        offset = event.start
        lines = self.content[event.start : event.end].split("\n")[:MAX_LINES_AHEAD]
        for distance, line in enumerate(lines):
            for word in WORD_START.finditer(line):
                # Many lines further on it has to be more alike.
                least = best_ratio + distance / 1000
                matcher.set_seq1(line[word.start() : word.start() + len(wanted)])
                if (
                    matcher.real_quick_ratio() > least
                    and matcher.quick_ratio() > least
                    and matcher.ratio() > least
                ):
                    best = offset + word.start()
                    best_ratio = matcher.ratio() - distance / 1000
            offset += len(line) + 1
        return best

    def dump(self, events: Sequence[Event], dump: Dump) -> Iterator[str]:
        """The input with marks where checks matched, or should have."""
        marks = [
            mark
            for event in events
            if event.is_failure or dump.matches_too
            for mark in self._marks(event)
        ]
        by_line: dict[int, list[Mark]] = {}
        for mark in marks:
            by_line.setdefault(mark.line, []).append(mark)
        shown = self._shown(marks, dump)
        width = max((len(mark.label) for mark in marks), default=0)
        digits = len(str(len(self.text.lines)))
        lines = self.text.lines
        count = len(lines) - (lines[-1] == "")  # nothing comes after the last newline
        yield "<<<<<<\n"
        is_gap = False
        for number in range(1, count + 1):
            if number not in shown:
                if not is_gap:
                    yield f"{'.':>{width + digits + 2}}\n" * 3
                is_gap = True
                continue
            is_gap = False
            yield f"{number:>{width + digits + 1}}: {lines[number - 1]}\n"
            for mark in by_line.get(number, ()):
                gap = " " * (digits + 3 + mark.start)
                sign = mark.sign * max(mark.end - mark.start, 1)
                if mark.sign == "^":
                    sign = "^" + "~" * (mark.end - mark.start - 1)
                yield f"{mark.label:<{width}}{gap}{sign} {mark.note}".rstrip() + "\n"
        yield ">>>>>>\n"

    def _shown(self, marks: Sequence[Mark], dump: Dump) -> set[int]:
        count = len(self.text.lines)
        match dump.filter:
            case "all":
                return set(range(1, count + 1))
            case "annotation-full":
                chosen = {mark.line for mark in marks}
            case "annotation":
                chosen = {mark.line for mark in marks if mark.is_start}
            case _:
                chosen = {m.line for m in marks if m.is_start and m.is_error}
        return {
            number
            for line in chosen
            for number in range(line - dump.context, line + dump.context + 1)
        }

    def _marks(self, event: Event) -> Iterator[Mark]:
        directive = event.directive
        name = directive.kind.removeprefix("-").lower() or "check"
        label = f"{name}:{directive.place.line}"
        if directive.is_implicit:
            label = "imp-not"
        match event.outcome:
            case Outcome.FOUND:
                yield from self._spread(label, event, "^", "", False)
            case Outcome.EXCLUDED:
                note = "error: no match expected"
                yield from self._spread(label, event, "!", note, True)
            case Outcome.WRONG_LINE:
                note = "error: match on wrong line"
                yield from self._spread(label, event, "!", note, True)
            case _:
                place = self.place(event.start)
                at = place.column - 1
                note = "error: no match found"
                if event.outcome is Outcome.UNDEFINED:
                    note = f"error: {event.message}"
                yield Mark(label, place.line, at, at + 1, "X", note, True, True)
                meant = self.meant(event)
                if event.outcome is Outcome.MISSING and meant is not None:
                    place = self.place(meant)
                    at = place.column - 1
                    note = "possible intended match"
                    yield Mark(label, place.line, at, at + 1, "?", note, False, True)

    def _spread(
        self, label: str, event: Event, sign: str, note: str, is_error: bool
    ) -> Iterator[Mark]:
        """Marks on each line of a match; the note stands at the first."""
        first = self.place(event.start)
        last = self.place(max(event.end - 1, event.start))
        for number in range(first.line, last.line + 1):
            is_start = number == first.line
            start = first.column - 1 if is_start else 0
            length = len(self.text.lines[number - 1])
            end = last.column if number == last.line else max(length, start + 1)
            yield Mark(
                label,
                number,
                start,
                end,
                sign if is_start else "~",
                note if is_start else "",
                is_error,
                is_start,
            )
