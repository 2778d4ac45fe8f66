"""
A test with check lines that fit what its RUN lines print.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transom.tools.checks.layout import LINE, Blocks, without_blocks
from transom.tools.checks.lines import CheckLine, Section, Selection, check_lines
from transom.tools.checks.recorder import RecordError, Run, comment_and_runs
from transom.tools.filecheck.diagnostics import CheckFileError, Text
from transom.tools.filecheck.directives import (
    NoChecks,
    one_space,
    parse_checks,
)
from transom.tools.filecheck.main import defined, language_of
from transom.tools.filecheck.matching import Matcher
from transom.tools.filecheck.report import Report

ANY_FOLDER = '{{[^ "]*}}'


@dataclass(frozen=True)
class Written:
    """The text of a test, and how the checks compare with what was printed."""

    text: str
    problems: tuple[str, ...]
    """Messages where hand-written checks do not fit; empty if all is well."""


def write_checks(
    path: Path,
    content: str,
    runs: Sequence[Run],
    selection: Selection,
    options: Sequence[str],
    only_prefixes: Sequence[str] = (),
) -> Written:
    """
    The test with new blocks of check lines; `options` are kept in them.

    Raises `RecordError` and `LayoutError`.
    """
    comment, header = comment_and_runs(content)
    if not runs:
        raise RecordError("expected a RUN line with 'filecheck'")
    source = without_blocks(content)
    first = source.line_of(header)
    assert first is not None, "RUN lines are in no block"
    blocks = Blocks(source, comment, first + 1, options)
    for prefix, text in texts_by_prefix(runs).items():
        if only_prefixes and prefix not in only_prefixes:
            continue
        sections = check_lines(text, selection)
        if not sections:
            raise RecordError(f"nothing of what is printed for '{prefix}' is asked for")
        blocks.add(prefix, [_located(section, path) for section in sections])
    text = blocks.text()
    problems = [
        problem for run in runs for problem in _mismatches(path, text, run, blocks)
    ]
    return Written(text, tuple(problems))


def texts_by_prefix(runs: Sequence[Run]) -> dict[str, str]:
    """
    What is printed for each prefix. A run with several is checked by the first whose
    runs all print the same. Raises `RecordError`.
    """
    printed: dict[str, set[str]] = {}
    for run in runs:
        for prefix in run.arguments.prefixes:
            printed.setdefault(prefix, set()).add(run.text)
    used: dict[str, str] = {}
    for run in runs:
        prefixes = [p for p in run.arguments.prefixes if len(printed[p]) == 1]
        if not prefixes:
            names = ", ".join(f"'{prefix}'" for prefix in run.arguments.prefixes)
            raise RecordError(
                f"RUN lines with the prefix {names} print different texts; give each "
                "a prefix of its own"
            )
        if not run.text.strip():
            raise RecordError(f"nothing is printed for the prefix '{prefixes[0]}'")
        used[prefixes[0]] = run.text
    for run in runs:
        if "allow-unused-prefixes" in run.arguments.flags:
            continue
        for prefix in run.arguments.prefixes:
            if prefix not in used:
                raise RecordError(
                    f"the prefix '{prefix}' has no check lines of its own; remove it "
                    "from the RUN line"
                )
    return used


def _located(section: Section, path: Path) -> Section:
    """A section with places in the test that do not depend on where the test is."""
    lines: list[CheckLine] = []
    for line in section.lines:
        text = _place(line.text, path)
        if line.suffix == "-LABEL" and LINE in text:
            # Labels have no variables, and the number of a line is one.
            at = line.text.find("(") + 1
            lines.append(CheckLine(line.suffix, line.text[:at]))
            rest = _place(line.text[at:], path)
            lines.append(CheckLine("-SAME", f"{{{{^}}}}{rest}", 4))
        else:
            lines.append(CheckLine(line.suffix, text, line.indent))
    return Section(section.name, lines)


def _place(text: str, path: Path) -> str:
    """A check line without folders, and with marks for numbers of lines."""
    folder = re.escape(f"{path.resolve().parent}/")
    name = re.escape(path.name)
    text = re.sub(
        rf"{folder}{name}(\"?):(\d+)",
        rf"{ANY_FOLDER}{path.name}\1:{LINE}\2{LINE}",
        text,
    )
    return re.sub(folder, ANY_FOLDER, text).removeprefix(ANY_FOLDER)


def _mismatches(path: Path, text: str, run: Run, blocks: Blocks) -> list[str]:
    """What `filecheck` would say of the new test."""
    variables = defined(run.arguments)
    language = language_of(run.arguments, variables)
    name = re.escape(path.name)
    printed = re.sub(
        rf"({name}\"?:)(\d+)",
        lambda m: f"{m[1]}{blocks.moved(int(m[2]))}",
        run.text,
    )
    if not language.patterns.strict_whitespace:
        printed = one_space(printed)
    try:
        checks = parse_checks(Text.of(str(path), text), language)
    except CheckFileError as e:
        return [e.render()]
    except NoChecks as e:
        return [f"{path}: error: {e}\n"]
    matcher = Matcher(printed, variables, "enable-var-scope" in run.arguments.flags)
    if matcher.match(checks):
        return []
    return list(Report("<stdin>", printed).messages(matcher.events))
