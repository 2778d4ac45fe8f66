"""
`transom-filecheck`: compare an input with the check lines of a file.

Exit status: 0 all is as expected, 1 it is not, 2 the command line or the check lines
are wrong.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import transom
from transom.tools.filecheck.diagnostics import BadPattern, CheckFileError, Text
from transom.tools.filecheck.directives import (
    Language,
    NoChecks,
    one_space,
    parse_checks,
)
from transom.tools.filecheck.expressions import parse_expression
from transom.tools.filecheck.matching import Matcher
from transom.tools.filecheck.options import (
    USAGE,
    Arguments,
    UsageError,
    parse_arguments,
)
from transom.tools.filecheck.patterns import Options, Variables
from transom.tools.filecheck.report import Dump, Report

PROGRAM = "transom-filecheck"

DIFFERS, WRONG = 1, 2


def main(args: Sequence[str] | None = None) -> int:
    """The exit status."""
    words = sys.argv[1:] if args is None else args
    try:
        arguments = parse_arguments(words, os.environ)
        if "help" in arguments.flags:
            print(USAGE, end="")
            return 0
        if "version" in arguments.flags:
            print(f"{PROGRAM} {transom.__version__}")
            return 0
        return run(arguments)
    except (UsageError, NoChecks) as e:
        print(f"{PROGRAM}: error: {e}", file=sys.stderr)
    except CheckFileError as e:
        sys.stderr.write(e.render())
    except OSError as e:
        print(f"{PROGRAM}: error: {e.filename}: {e.strerror}", file=sys.stderr)
    return WRONG


def run(arguments: Arguments) -> int:
    """Do what the command line says. Raises what `main` shows."""
    variables = defined(arguments)
    language = language_of(arguments, variables)
    file = arguments.files[0]
    checks = parse_checks(Text.of(file, _read(file)), language)
    name = arguments.last("input-file", "-")
    content = _read(name).replace("\r\n", "\n")
    shown = "<stdin>" if name == "-" else name
    if not content and "allow-empty" not in arguments.flags:
        print(f"{PROGRAM}: error: '{shown}' is empty", file=sys.stderr)
        return WRONG
    if not language.patterns.strict_whitespace:
        content = one_space(content)
    matcher = Matcher(content, variables, "enable-var-scope" in arguments.flags)
    good = matcher.match(checks)
    report = Report(shown, content)
    sys.stderr.write("".join(report.messages(matcher.events)))
    dump = dump_of(arguments)
    if dump.when == "always" or (dump.when == "fail" and not good):
        sys.stderr.write(f"\nInput file: {shown}\nCheck file: {file}\n\nInput was:\n")
        sys.stderr.write("".join(report.dump(matcher.events, dump)))
    return 0 if good else DIFFERS


def language_of(arguments: Arguments, variables: Variables) -> Language:
    """How check lines look, by a command line and what it defines."""
    patterns = Options(
        "strict-whitespace" in arguments.flags,
        "match-full-lines" in arguments.flags,
        "ignore-case" in arguments.flags,
    )
    return Language(
        arguments.prefixes,
        arguments.comment_prefixes,
        patterns,
        arguments.values.get("implicit-check-not", ()),
        tuple(variables.strings),
        tuple(variables.numbers),
        "allow-unused-prefixes" in arguments.flags,
    )


def dump_of(arguments: Arguments) -> Dump:
    """What the command line says about the dump of the input."""
    when = arguments.last("dump-input", "fail")
    filter = arguments.last("dump-input-filter", "all" if when == "always" else "error")
    context = int(arguments.last("dump-input-context", "5"))
    return Dump(when, context, filter, bool(arguments.flags & {"v", "vv"}))


def defined(arguments: Arguments) -> Variables:
    """The variables that are defined by `-D`. Raises `UsageError`."""
    variables = Variables()
    for definition in arguments.definitions:
        name, equals, value = definition.partition("=")
        if not equals or not name.removeprefix("#"):
            raise UsageError(
                "expected '-DNAME=VALUE', or '-D#NAME=NUMBER', but got "
                f"'-D{definition}'"
            )
        if not name.startswith("#"):
            variables.strings[name] = value
            continue
        try:
            expression = parse_expression(value, 0)
            assert expression is not None, "for the type"
            variables.numbers[name[1:]] = expression.evaluate(variables.number)
        except BadPattern as e:
            raise UsageError(f"'-D{definition}': {e.message}") from None
    return variables


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    return Path(name).read_bytes().decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
