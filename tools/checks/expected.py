"""
Comments for `--verify-diagnostics`, from what it finds wrong.

A diagnostic that nothing expects gets a comment before its line; a comment whose
diagnostic does not come goes away; one of another severity gets that. All others stay
as they are, but for distances that change.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transom.tools.checks.recorder import RecordError, comment_and_runs
from transom.tools.expected_diagnostics import Expectation, expectations_in

_UNEXPECTED = re.compile(r"unexpected (error|warning|note|remark): (.*)", re.DOTALL)
_OTHER = re.compile(r"'(\w+)' diagnostic emitted when expecting a '(\w+)'")
_MISSING = re.compile(r"expected (?:error|warning|note|remark) \".*\" was not produced")
_WORDS = re.compile(r"(?P<word>expected-)(?P<severity>error|warning|note|remark)")
_DISTANCE = re.compile(r"(?P<before>expected-\w+(?:-re)?\s*@)(?P<distance>[+-]\d+)")
_ONLY_COMMENT = re.compile(r"\s*\S+\s*expected-(?:error|warning|note|remark)")
_SPLIT = re.compile(r"// -----")


def write_expected(path: Path, content: str, found: Sequence[str]) -> str:
    """
    A test whose comments are those of the diagnostics that come.

    `found` is what `--verify-diagnostics` writes as JSON. Raises `RecordError`.
    """
    if not found:
        raise RecordError("expected a RUN line with '--verify-diagnostics'")
    comment, header = comment_and_runs(content)
    editor = _Editor(path, content.split("\n"), comment, header)
    # Several RUN lines say the same thing about one diagnostic.
    for problem in dict.fromkeys(line for text in found for line in text.split("\n")):
        if problem.strip():
            editor.take(json.loads(problem))
    return editor.text()


@dataclass
class _Editor:
    path: Path
    lines: list[str]
    comment: str
    header: int
    """The number of lines up to the last RUN line."""
    before: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """New comments by the index of the line before which they go."""
    removed: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        text = "\n".join(self.lines)
        self.expectations = {
            e.position.line - 1: e for e in expectations_in(text, str(self.path))
        }

    def take(self, problem: Mapping[str, Any]) -> None:
        """Note what has to change because of one problem."""
        message: str = problem["message"]
        file: str | None = problem["file"]
        is_here = file is not None and Path(file).resolve() == self.path.resolve()
        line: int = problem["line"] - 1 if is_here else -1
        if (match := _UNEXPECTED.fullmatch(message)) is not None:
            self.expect(match[1], match[2].split("\n")[0].rstrip(), line, problem)
        elif (match := _OTHER.fullmatch(message)) is not None:
            self.change(match[1], match[2], line)
        elif _MISSING.fullmatch(message) is not None and is_here:
            self.removed.add(line)
        else:
            where = "" if file is None else f"{file}:{problem['line']}: "
            raise RecordError(f"{where}{message}")

    def expect(
        self, severity: str, message: str, line: int, problem: Mapping[str, Any]
    ) -> None:
        """Add a comment for a diagnostic."""
        if line >= 0:
            at = line
            while at > 0 and _ONLY_COMMENT.match(self.lines[at - 1]):
                at -= 1
            indent = re.match(r"\s*", self.lines[line])
            space = "" if indent is None else indent[0]
            place = "@below"
        else:
            if any(_SPLIT.match(text) for text in self.lines):
                raise RecordError(
                    f"a diagnostic has no place in this file: {severity}: {message}; "
                    "write its comment into the section that it is of"
                )
            at, space, place = self.header, "", "@unknown"
            if problem["file"] is not None:
                place = f"@{Path(problem['file']).name}:{problem['line']}"
        text = f"{space}{self.comment} expected-{severity} {place} {{{{{message}}}}}"
        self.before.setdefault(at, []).append(text)

    def change(self, severity: str, old: str, line: int) -> None:
        """Give the comment about a line another severity."""
        for at, expectation in self.expectations.items():
            if expectation.severity == old and self._target(expectation) == line:
                self.lines[at] = _WORDS.sub(
                    rf"\g<word>{severity}", self.lines[at], count=1
                )
                return

    def _target(self, expectation: Expectation) -> int | None:
        return None if expectation.line is None else expectation.line - 1

    def text(self) -> str:
        """The whole test afterwards."""
        result: list[str] = []
        moved: dict[int, int] = {}
        for at, line in enumerate(self.lines):
            result.extend(self.before.get(at, ()))
            moved[at] = len(result)
            if at in self.removed:
                line = self._without_comment(line)
                if not line.strip():
                    continue
            result.append(line)
        for at, expectation in self.expectations.items():
            target = self._target(expectation)
            if at not in self.removed and target is not None and target in moved:
                distance = moved[target] - moved[at]
                new = moved[at]
                result[new] = _DISTANCE.sub(
                    rf"\g<before>{distance:+}", result[new], count=1
                )
        return "\n".join(result)

    def _without_comment(self, line: str) -> str:
        """A line without what expects something."""
        match = _WORDS.search(line)
        assert match is not None, "the comment was found on this line"
        return line[: match.start()].rstrip().removesuffix(self.comment).rstrip()
