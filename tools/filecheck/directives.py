"""
Check lines: finding them in a file, and what each of them asks for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from transom.tools.filecheck.diagnostics import (
    BadPattern,
    CheckFileError,
    Place,
    Text,
)
from transom.tools.filecheck.patterns import (
    Options,
    Pattern,
    PatternParser,
)


class Kind(StrEnum):
    """What stands after the prefix."""

    PLAIN = ""
    NEXT = "-NEXT"
    SAME = "-SAME"
    NOT = "-NOT"
    DAG = "-DAG"
    LABEL = "-LABEL"
    EMPTY = "-EMPTY"
    COUNT = "-COUNT"
    END = "end of file"
    """No directive: what the last ones before the end of the file hang on."""


@dataclass(frozen=True)
class Directive:
    """A check line."""

    prefix: str
    kind: Kind
    pattern: Pattern
    place: Place
    """Of the pattern, or of the directive where there is none."""
    count: int = 1
    is_implicit: bool = False
    """Whether it comes from the command line."""

    @property
    def name(self) -> str:
        """As messages call it."""
        return f"{self.prefix}{self.kind}"


@dataclass(frozen=True)
class Check:
    """A directive that has to match, and the DAG and NOT ones before it."""

    main: Directive
    before: tuple[Directive, ...]


@dataclass(frozen=True)
class Language:
    """How check lines look."""

    prefixes: Sequence[str] = ("CHECK",)
    comment_prefixes: Sequence[str] = ("COM", "RUN")
    patterns: Options = field(default_factory=Options)
    implicit_not: Sequence[str] = ()
    strings: Sequence[str] = ()
    numbers: Sequence[str] = ()
    """Variables that are defined from the start."""
    allow_unused_prefixes: bool = False


_SUFFIX = re.compile(
    r"(?P<kind>-NEXT|-SAME|-NOT|-DAG|-LABEL|-EMPTY|-COUNT-(?P<count>[^:{]*))?"
    r"(?P<modifiers>\{[^}:]*\})?:"
)
_COMBINED = re.compile(r"-(?:(?:DAG|NEXT|SAME|EMPTY)-NOT|NOT-(?:DAG|NEXT|SAME|EMPTY)):")
_MISSPELT = re.compile(r"_(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+)(?:\{[^}:]*\})?:")


class NoChecks(Exception):
    """There are no check lines, or none with some of the prefixes."""


def parse_checks(text: Text, language: Language) -> list[Check]:
    """
    What a file asks for. Raises `CheckFileError`, and `NoChecks` with a message.
    """
    return _Reader(text, language).read()


@dataclass
class _Reader:
    text: Text
    language: Language
    checks: list[Check] = field(default_factory=list[Check])
    waiting: list[Directive] = field(default_factory=list[Directive])
    """Directives that go with the next one that has to match."""

    def __post_init__(self) -> None:
        self.parser = PatternParser(self.language.patterns)
        self.parser.kinds.update(dict.fromkeys(self.language.strings, False))
        self.parser.kinds.update(dict.fromkeys(self.language.numbers, True))
        self.used: set[str] = set()
        self.implicit = [
            self.implicit_directive(pattern) for pattern in self.language.implicit_not
        ]
        self.waiting += self.implicit

    def read(self) -> list[Check]:
        for directive in self.directives():
            self.used.add(directive.prefix)
            if directive.kind in (Kind.DAG, Kind.NOT):
                self.waiting.append(directive)
                continue
            if directive.kind in (Kind.NEXT, Kind.SAME, Kind.EMPTY) and not self.checks:
                raise CheckFileError(
                    Place(self.text, directive.place.line, self.column_of(directive)),
                    f"found '{directive.name}' without previous "
                    f"'{self.language.prefixes[0]}: line",
                )
            self.close(directive)
        if len(self.waiting) > len(self.implicit) or (self.implicit and self.checks):
            last = Place(self.text, len(self.text.lines), 1)
            prefix = self.language.prefixes[0]
            end = Pattern("", (), self.language.patterns)
            self.close(Directive(prefix, Kind.END, end, last))
        self.expect_use()
        return self.checks

    def column_of(self, directive: Directive) -> int:
        """Where the name of a directive begins."""
        line = self.text.lines[directive.place.line - 1]
        return line.rfind(directive.prefix, 0, directive.place.column) + 1

    def close(self, directive: Directive) -> None:
        self.checks.append(Check(directive, tuple(self.waiting)))
        self.waiting = list(self.implicit)

    def expect_use(self) -> None:
        """Raise `NoChecks` unless there are lines with each prefix."""
        unused = [p for p in self.language.prefixes if p not in self.used]
        if not self.used or (unused and not self.language.allow_unused_prefixes):
            names = ", ".join(f"'{prefix}:'" for prefix in unused)
            s = "es" if len(unused) > 1 else ""
            raise NoChecks(f"no check strings found with prefix{s} {names}")

    def directives(self) -> Iterator[Directive]:
        """All check lines in order."""
        prefixes = (*self.language.prefixes, *self.language.comment_prefixes)
        names = "|".join(map(re.escape, sorted(prefixes, key=len, reverse=True)))
        finder = re.compile(rf"(?<![A-Za-z0-9_-])({names})(?=[-_:{{])")
        for number, line in enumerate(self.text.lines, 1):
            line = line.rstrip("\r")
            for match in finder.finditer(line):
                prefix = match[1]
                if prefix in self.language.comment_prefixes:
                    if line.startswith(":", match.end()):
                        break
                    continue
                suffix = _SUFFIX.match(line, match.end())
                place = Place(self.text, number, match.start() + 1)
                if suffix is None:
                    self.refuse(line, match, place)
                    continue
                yield self.directive(line, prefix, suffix, place)
                break

    def refuse(self, line: str, match: re.Match[str], place: Place) -> None:
        """Raise `CheckFileError` for what is nearly a directive."""
        if _COMBINED.match(line, match.end()) is not None:
            raise CheckFileError(
                place, f"unsupported -NOT combo on prefix '{match[1]}'"
            )
        if (wrong := _MISSPELT.match(line, match.end())) is not None:
            name = match[1] + wrong[0].removesuffix(":")
            raise CheckFileError(place, f"misspelled directive '{name}:'")

    def directive(
        self, line: str, prefix: str, suffix: re.Match[str], place: Place
    ) -> Directive:
        kind, count = Kind.PLAIN, 1
        if suffix["count"] is not None:
            kind = Kind.COUNT
            if not suffix["count"].isdecimal() or int(suffix["count"]) < 1:
                raise CheckFileError(
                    place,
                    f"invalid count in -COUNT specification on prefix '{prefix}'",
                )
            count = int(suffix["count"])
        elif suffix["kind"] is not None:
            kind = Kind(suffix["kind"])
        is_literal = False
        if suffix["modifiers"] is not None:
            words = [word.strip() for word in suffix["modifiers"][1:-1].split(",")]
            if words != ["LITERAL"]:
                raise CheckFileError(
                    place,
                    f"unknown modifier '{suffix['modifiers']}' on prefix '{prefix}'; "
                    "expected '{LITERAL}'",
                )
            is_literal = True
        start, pattern = self.pattern_text(line, suffix.end())
        where = Place(place.text, place.line, start + 1)
        name = f"{prefix}{suffix['kind'] or ''}:"
        if kind is Kind.EMPTY:
            if pattern:
                raise CheckFileError(
                    where,
                    "found non-empty check string for empty check with prefix "
                    f"'{name}'",
                )
        elif not pattern:
            raise CheckFileError(
                where, f"found empty check string with prefix '{name}'"
            )
        parsed = self.pattern(pattern, where, is_literal, kind is Kind.NOT)
        if kind is Kind.LABEL and parsed.has_variables:
            raise CheckFileError(
                where, f"found '{prefix}-LABEL:' with variable definition or use"
            )
        return Directive(prefix, kind, parsed, where, count)

    def pattern_text(self, line: str, start: int) -> tuple[int, str]:
        """Where the pattern begins, and the pattern."""
        options = self.language.patterns
        text = line[start:]
        if not (options.strict_whitespace and options.full_lines):
            start += len(text) - len(text.lstrip(" \t"))
            text = text.strip(" \t")
        return start, text

    def pattern(
        self,
        text: str,
        place: Place,
        is_literal: bool = False,
        is_negative: bool = False,
    ) -> Pattern:
        try:
            canonical = text
            if not self.language.patterns.strict_whitespace:
                canonical = one_space(text)
            return self.parser.parse(
                canonical,
                place.line,
                is_literal=is_literal,
                is_negative=is_negative,
            )
        except BadPattern as e:
            where = Place(place.text, place.line, place.column + e.offset)
            raise CheckFileError(where, e.message) from None

    def implicit_directive(self, pattern: str) -> Directive:
        source = Text("command line", [f"-implicit-check-not='{pattern}'"])
        place = Place(source, 1, len("-implicit-check-not='") + 1)
        parsed = self.pattern(pattern, place, is_negative=True)
        return Directive("IMPLICIT-CHECK", Kind.NOT, parsed, place, is_implicit=True)


def one_space(text: str) -> str:
    """A text whose gaps are one space each."""
    return re.sub(r"[ \t]+", " ", text)
