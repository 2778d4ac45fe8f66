"""
Compare an input with checks, in the order of LLVM's FileCheck: regions between labels,
in them directives one after the other, before each its DAG and NOT directives.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

from transom.tools.filecheck.directives import Check, Directive, Kind
from transom.tools.filecheck.expressions import NoValue
from transom.tools.filecheck.patterns import Found, Variables


class Outcome(StrEnum):
    """What came of a directive."""

    FOUND = "found"
    MISSING = "missing"
    EXCLUDED = "excluded"
    WRONG_LINE = "wrong line"
    UNDEFINED = "undefined"


@dataclass(frozen=True)
class Event:
    """What came of a directive at a place of the input; offsets are in all of it."""

    directive: Directive
    outcome: Outcome
    start: int
    """Of the match, or of the text that was searched."""
    end: int
    message: str = ""
    since: int | None = None
    """Where the match before ended, if that is what is wrong."""
    substitutions: tuple[tuple[str, str], ...] = ()
    example: str = ""
    """Literal text that the pattern matches, roughly."""
    error_offset: int = 0
    """Where the fault is in the pattern."""

    @property
    def is_failure(self) -> bool:
        return self.outcome is not Outcome.FOUND


class Failed(Exception):
    """A directive failed; what is needed to say so is among the events."""


WRONG_LINES = {
    (Kind.NEXT, False): "is on the same line as previous match",
    (Kind.NEXT, True): "is not on the line after the previous match",
    (Kind.EMPTY, False): "is on the same line as previous match",
    (Kind.EMPTY, True): "is not on the line after the previous match",
    (Kind.SAME, True): "is not on the same line as the previous match",
}
"""Messages by kind, and whether there are lines between the matches."""


@dataclass
class Matcher:
    """Matches one input; `events` tell what came of each directive."""

    text: str
    variables: Variables
    var_scope: bool = False
    events: list[Event] = field(default_factory=list[Event], init=False)

    def match(self, checks: Sequence[Check]) -> bool:
        """True if the input is what the checks ask for."""
        good = True
        region_start = 0
        first = 0
        labels = [i for i, c in enumerate(checks) if c.main.kind is Kind.LABEL]
        for last in [*labels, None]:
            region_end = len(self.text)
            if last is not None:
                try:
                    label = self.search(checks[last].main, region_start, region_end)
                except Failed:
                    return False
                region_end = label.end
            if first != 0 and self.var_scope:
                self.variables.clear_local()
            end = len(checks) if last is None else last + 1
            good &= self.match_region(checks[first:end], region_start, region_end)
            region_start, first = region_end, end
        return good

    def match_region(self, checks: Sequence[Check], start: int, end: int) -> bool:
        """Match the checks up to a label; the first that fails ends it."""
        try:
            for check in checks:
                start = self.match_check(check, start, end).end
        except Failed:
            return False
        return True

    def match_check(self, check: Check, start: int, end: int) -> Found:
        """Match a directive and those before it between two offsets."""
        after_dags, nots = self.match_dags(check.before, start, end)
        main = check.main
        if main.kind is Kind.END:
            found = Found(end, end)
        else:
            found = self.search(main, after_dags, end)
            self.expect_line(main, found, after_dags)
            self.found(main, found)
            first = found.start
            for number in range(2, main.count + 1):
                found = self.search(main, found.end, end, number)
                self.found(main, found)
            found = Found(first, found.end)
        self.expect_absent(nots, after_dags, found.start)
        return found

    def search(
        self, directive: Directive, start: int, end: int, number: int = 1
    ) -> Found:
        """
        Where a directive matches first, for the `number`th time.

        Raises `Failed` if it does not.
        """
        region = self.text[start:end]
        if directive.kind is Kind.EMPTY:
            return self.search_empty(directive, region, start, end)
        try:
            found = directive.pattern.find(region, self.variables)
        except NoValue as e:
            self.add_no_value(directive, start, end, e)
            raise Failed from None
        if found is None:
            count = f" ({number} out of {directive.count})"
            which = count if directive.kind is Kind.COUNT else ""
            self.fail(
                directive,
                Outcome.MISSING,
                start,
                end,
                f"expected string not found in input{which}",
            )
        return Found(start + found.start, start + found.end)

    def search_empty(
        self, directive: Directive, region: str, start: int, end: int
    ) -> Found:
        """The next empty line; the match is its end, behind the end of the last."""
        at = region.find("\n\n")
        if at < 0 and region.endswith("\n"):
            at = len(region) - 1
        if at < 0:
            self.fail(
                directive,
                Outcome.MISSING,
                start,
                end,
                "expected string not found in input",
            )
        return Found(start + at + 1, start + at + 1)

    def expect_line(self, directive: Directive, found: Found, start: int) -> None:
        """Raise `Failed` if a match is not on the line where it has to be."""
        lines = self.text.count("\n", start, found.start)
        is_wrong = (
            lines != 1 if directive.kind in (Kind.NEXT, Kind.EMPTY) else lines > 0
        )
        if directive.kind in (Kind.NEXT, Kind.EMPTY, Kind.SAME) and is_wrong:
            message = WRONG_LINES[directive.kind, lines > 0]
            self.add(
                directive, Outcome.WRONG_LINE, found.start, found.end, message, start
            )
            raise Failed

    def match_dags(
        self, directives: Sequence[Directive], start: int, end: int
    ) -> tuple[int, list[Directive]]:
        """
        Match groups of DAG directives, in any order within a group, without overlap.

        Returns where the last group ends, and the NOT directives behind it.
        """
        nots: list[Directive] = []
        ranges: list[Found] = []
        for index, directive in enumerate(directives):
            if directive.kind is Kind.NOT:
                nots.append(directive)
                continue
            found = self.search_apart(directive, start, end, ranges)
            self.found(directive, found)
            ranges.append(found)
            ranges.sort(key=lambda r: (r.start, r.end))
            is_last = index + 1 == len(directives)
            if is_last or directives[index + 1].kind is Kind.NOT:
                self.expect_absent(nots, start, ranges[0].start)
                nots = []
                start = ranges[-1].end
                ranges = []
        return start, nots

    def search_apart(
        self, directive: Directive, start: int, end: int, taken: Sequence[Found]
    ) -> Found:
        """The first match that shares nothing with others."""
        at = start
        others = iter(taken)
        while True:
            found = self.search(directive, at, end)
            for other in others:
                if found.start < other.end:
                    if other.start < found.end:
                        at = other.end
                        break
                    return found
            else:
                return found

    def expect_absent(
        self, directives: Sequence[Directive], start: int, end: int
    ) -> None:
        """Raise `Failed` if one of some NOT directives matches between two offsets."""
        failed = False
        for directive in directives:
            try:
                found = directive.pattern.find(self.text[start:end], self.variables)
            except NoValue as e:
                self.add_no_value(directive, start, end, e)
                failed = True
                continue
            if found is not None:
                self.add(
                    directive,
                    Outcome.EXCLUDED,
                    start + found.start,
                    start + found.end,
                    "excluded string found in input",
                )
                failed = True
        if failed:
            raise Failed

    def found(self, directive: Directive, found: Found) -> None:
        self.add(directive, Outcome.FOUND, found.start, found.end)

    def fail(
        self, directive: Directive, outcome: Outcome, start: int, end: int, message: str
    ) -> NoReturn:
        self.add(directive, outcome, start, end, message)
        raise Failed

    def add_no_value(
        self, directive: Directive, start: int, end: int, error: NoValue
    ) -> None:
        self.add(
            directive,
            Outcome.UNDEFINED,
            start,
            end,
            str(error),
            error_offset=error.offset,
        )

    def add(
        self,
        directive: Directive,
        outcome: Outcome,
        start: int,
        end: int,
        message: str = "",
        since: int | None = None,
        error_offset: int = 0,
    ) -> None:
        pattern = directive.pattern
        values, example = (), ""
        if outcome is not Outcome.FOUND:
            values = tuple(pattern.substitutions(self.variables))
            example = pattern.example(dict(values))
        self.events.append(
            Event(
                directive,
                outcome,
                start,
                end,
                message,
                since,
                values,
                example,
                error_offset,
            )
        )
