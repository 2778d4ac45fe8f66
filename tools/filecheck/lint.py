"""
Check lines that nobody looks at: misspelt ones, and those of prefixes that no RUN line
names. FileCheck passes them over, and the test passes whatever happens.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from transom.tools.filecheck.diagnostics import Place, Text

SUFFIXES = ("NEXT", "SAME", "NOT", "DAG", "LABEL", "EMPTY", "COUNT")

OTHER_WORDS = frozenset(
    {
        "ALLOW_RETRIES",
        "COM",
        "DEFINE",
        "END",
        "FIXME",
        "NOTE",
        "REDEFINE",
        "REQUIRES",
        "RUN",
        "TODO",
        "UNSUPPORTED",
        "XFAIL",
    }
)
"""What stands before a colon and is no check."""

_LINE = re.compile(
    r"^\s*(?://+|;+|#+)\s*(?P<word>[A-Z][A-Z0-9_-]*(?:-COUNT-\d+)?)"
    r"(?:\{LITERAL\})?(?P<gap>[ \t]*)(?P<colon>:)?"
)
_PARTS = re.compile(r"(?P<prefix>.+?)[-_](?P<suffix>[A-Z]+)(?P<count>-\d+)?")


@dataclass(frozen=True)
class Problem:
    """A line that is no check, though it looks like one."""

    place: Place
    message: str

    def __str__(self) -> str:
        return self.place.render("error", self.message).removesuffix("\n")


def lint(content: str, name: str, prefixes: Sequence[str]) -> Iterator[Problem]:
    """The problems of a test, of which RUN lines name some prefixes."""
    text = Text.of(name, content)
    for number, line in enumerate(text.lines, 1):
        match = _LINE.match(line)
        if match is None:
            continue
        message = _problem(match, prefixes)
        if message is not None:
            place = Place(text, number, match.start("word") + 1)
            yield Problem(place, message)


def _problem(match: re.Match[str], prefixes: Sequence[str]) -> str | None:
    word = match["word"]
    prefix, suffix, count = _parts(word, prefixes)
    if match["colon"] is None:
        if prefix in prefixes and suffix in SUFFIXES:
            return f"expected ':' after '{word}'"
        return None
    if prefix in prefixes and suffix in ("", *SUFFIXES):
        if match["gap"]:
            return f"expected no space between '{word}' and ':'"
        return None
    if word in OTHER_WORDS:
        return None
    if prefix in prefixes:
        near = get_close_matches(suffix, SUFFIXES, 1, 0.5)
        if near:
            meant = f"{prefix}-{near[0]}{count}:"
            return f"unknown directive '{word}:'; did you mean '{meant}'?"
    near = get_close_matches(prefix, prefixes, 1, 0.75) if len(prefix) > 3 else []
    if near and (not suffix or suffix in SUFFIXES):
        tail = f"-{suffix}{count}" if suffix else ""
        return f"unknown prefix '{prefix}'; did you mean '{near[0]}{tail}:'?"
    if suffix in SUFFIXES or "CHECK" in word:
        unused = prefix if suffix in SUFFIXES else word
        return f"no RUN line uses the prefix '{unused}'"
    return None


def _parts(word: str, prefixes: Sequence[str]) -> tuple[str, str, str]:
    """Prefix, suffix and count of a word; of prefixes the longest that fits."""
    if word in prefixes:
        return word, "", ""
    for prefix in sorted(prefixes, key=len, reverse=True):
        if word.startswith((f"{prefix}-", f"{prefix}_")):
            suffix, dash, count = word[len(prefix) + 1 :].partition("-")
            return prefix, suffix, dash + count
    match = _PARTS.fullmatch(word)
    if match is None:
        return word, "", ""
    return match["prefix"], match["suffix"], match["count"] or ""
