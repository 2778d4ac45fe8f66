"""
The command line, which is that of LLVM's FileCheck.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from transom.dialects.diagnostics import did_you_mean

USAGE = """\
usage: transom-filecheck [options] <check-file>

Compare an input with the check lines of a file, as LLVM's FileCheck does.

  --input-file=FILE           the input (default: standard input)
  --check-prefix=P            prefix of check lines (default: CHECK), may be repeated
  --check-prefixes=P,Q        the same for several
  --allow-unused-prefixes     no error if no line has one of the prefixes
  --comment-prefixes=P,Q      lines to pass over (default: COM,RUN)
  --implicit-check-not=PAT    a CHECK-NOT before and after each line that has to match
  -DVAR=VALUE                 define a variable; -D#VAR=N one that is a number
  --enable-var-scope          forget variables without a $ at each CHECK-LABEL
  --allow-empty               an empty input is no error
  --strict-whitespace         all spaces count
  --match-full-lines          a line has to match as a whole
  --ignore-case               letters match in either case
  --dump-input=WHEN           show the input: never, fail (default), always
  --dump-input-context=N      lines to show around what is marked (default: 5)
  --dump-input-filter=KIND    which lines: error (default), annotation,
                              annotation-full, all
  -v, --vv                    mark what matches as well
  --color                     nothing; output is plain
  --help, --version

Exit status: 0 all is as expected, 1 it is not, 2 the command line or the check lines
are wrong. The environment variable FILECHECK_OPTS holds options that come first.
"""

FLAGS = (
    "allow-deprecated-dag-overlap",
    "allow-empty",
    "allow-unused-prefixes",
    "color",
    "enable-var-scope",
    "help",
    "ignore-case",
    "match-full-lines",
    "strict-whitespace",
    "v",
    "version",
    "vv",
)
WITH_VALUE = (
    "check-prefix",
    "check-prefixes",
    "comment-prefixes",
    "dump-input",
    "dump-input-context",
    "dump-input-filter",
    "implicit-check-not",
    "input-file",
)
DUMPS = ("always", "fail", "never")
FILTERS = ("all", "annotation", "annotation-full", "error")

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


class UsageError(Exception):
    """What is wrong with the command line."""


@dataclass
class Arguments:
    """A command line, taken apart."""

    values: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    flags: set[str] = field(default_factory=set[str])
    definitions: list[str] = field(default_factory=list[str])
    files: list[str] = field(default_factory=list[str])

    def last(self, name: str, default: str) -> str:
        return self.values.get(name, [default])[-1]

    def all(self, *names: str) -> list[str]:
        """All values of options, which hold several between commas."""
        return [
            word
            for name in names
            for value in self.values.get(name, ())
            for word in value.split(",")
        ]

    @property
    def prefixes(self) -> list[str]:
        """Of check lines."""
        return self.all("check-prefix", "check-prefixes") or ["CHECK"]

    @property
    def comment_prefixes(self) -> list[str]:
        return self.all("comment-prefixes") or ["COM", "RUN"]


def parse_arguments(words: Sequence[str], environ: Mapping[str, str]) -> Arguments:
    """Raises `UsageError`."""
    found = Arguments()
    rest = iter([*shlex.split(environ.get("FILECHECK_OPTS", "")), *words])
    for word in rest:
        _take(word, rest, found)
    if found.flags & {"help", "version"}:
        return found
    _verify(found)
    return found


def _take(word: str, rest: Iterator[str], found: Arguments) -> None:
    if not word.startswith("-") or word == "-":
        found.files.append(word)
        return
    name, equals, value = word.lstrip("-").partition("=")
    if name.startswith("D") and name not in (*FLAGS, *WITH_VALUE):
        definition = word.lstrip("-")[1:] or next(rest, "")
        found.definitions.append(definition)
    elif name in FLAGS:
        if equals:
            raise UsageError(f"expected no value for '--{name}'")
        found.flags.add(name)
    elif name in WITH_VALUE:
        if not equals:
            value = next(rest, None)
            if value is None:
                raise UsageError(f"expected a value after '--{name}'")
        found.values.setdefault(name, []).append(value)
    else:
        near = did_you_mean(name, (*FLAGS, *WITH_VALUE)).replace("'", "'--", 1)
        raise UsageError(f"unknown option '{word}'{near}")


def _verify(found: Arguments) -> None:
    if len(found.files) != 1:
        raise UsageError(f"expected one check file, but got {len(found.files)}")
    if "allow-deprecated-dag-overlap" in found.flags:
        raise UsageError(
            "'--allow-deprecated-dag-overlap' is not supported; write CHECK lines "
            "that do not overlap"
        )
    seen: set[str] = set()
    for kind, prefixes in (
        ("check", found.prefixes),
        ("comment", found.comment_prefixes),
    ):
        for prefix in prefixes:
            if _PREFIX.fullmatch(prefix) is None:
                raise UsageError(
                    f"supplied {kind} prefix must start with a letter and contain "
                    f"only alphanumeric characters, hyphens, and underscores: "
                    f"'{prefix}'"
                )
            if prefix in seen:
                raise UsageError(
                    f"supplied {kind} prefix must be unique among check and comment "
                    f"prefixes: '{prefix}'"
                )
            seen.add(prefix)
    for name, allowed in (("dump-input", DUMPS), ("dump-input-filter", FILTERS)):
        value = found.last(name, allowed[0])
        if value not in allowed:
            near = did_you_mean(value, allowed)
            raise UsageError(f"unknown value '{value}' of '--{name}'{near}")
    if not found.last("dump-input-context", "5").isdecimal():
        raise UsageError("expected a number of lines after '--dump-input-context'")


def prefixes_of(words: Sequence[str]) -> list[str]:
    """The prefixes that a command line names; none if it is wrong."""
    try:
        return parse_arguments(words, {}).prefixes
    except UsageError:
        return []
