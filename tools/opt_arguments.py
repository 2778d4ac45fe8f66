"""
The command line of `transom-opt`: that of `xdsl-opt`, that of `mlir-opt` without the
prefix `mlir-`, and our own, in groups.

What names passes, `-p` and a flag per pass, and `--to` are *steps*: they run in the
order in which they are given.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.xdsl_opt_main import VersionAction

from transom.tools import observer_arguments
from transom.tools.observer_arguments import (
    add_numbers,
    add_printing,
    add_reports,
    add_reproducers,
    add_watching,
    complete,
)
from transom.tools.plugin_problems import STRICT, STRICT_HELP
from transom.tools.program_arguments import (
    Add,
    add_data_folders,
    add_devices,
    add_error_format,
    add_memory_limit,
    add_traceback,
    check_option,
    one_of,
    recorded,
    refuse,
)
from transom.tools.size_arguments import add_sizes
from transom.tools.split_input import DEFAULT_MARKER

OPTIONAL_VALUES = {
    "--verify-diagnostics": "all",
    "--split-input-file": DEFAULT_MARKER,
    "--verify-each": "true",
    **observer_arguments.OPTIONAL_VALUES,
}
"""Flags that stand alone or before `=`, with what they mean if they stand alone."""

SHELLS = ("bash", "zsh", "tcsh")

PASS_OPTIONS = ("-p", "--passes", "--pass-pipeline")

EPILOG = """\
exit status: 0 done, 1 the input is wrong, 2 the command line is wrong;
docs/transom-opt.md is the manual
"""

PASSES_AND_PHASES = """\
run in the order given; '--PASS' or '--PASS=OPTIONS' runs the pass of that name, as in
'--canonicalize --tir-choose-schedule=vector-bytes=64'
"""


@dataclass(frozen=True)
class Names:
    """What the values of options may name."""

    passes: Iterable[str]
    emitters: Iterable[str]
    readers: Iterable[str]
    phases: Iterable[str]


@dataclass(frozen=True)
class Step:
    """A part of what is done with a module: a pipeline as text, or a phase."""

    text: str
    is_phase: bool = False


class _AddStep(argparse.Action):
    """Appends a `Step`."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        step = Step(values, is_phase=option_string == "--to")
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), step])


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """
    Shows a flag whose value may be left out as `--flag[=VALUE]`, and breaks no names.
    """

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        text = ", ".join(action.option_strings)
        if action.option_strings[-1] in OPTIONAL_VALUES:
            return f"{text}[={action.metavar}]"
        return f"{text} {action.metavar}"


def add_arguments(
    parser: argparse.ArgumentParser, names: Names, version: str
) -> tuple[argparse.Action, ...]:
    """Fill the parser that `xDSLOptMain` made. Returns what was added."""
    parser.formatter_class = _Formatter
    parser.allow_abbrev = False
    parser.usage = "%(prog)s [OPTION…] [FILE]"
    parser.epilog = EPILOG
    parser.error = refuse
    actions: list[argparse.Action] = []

    def group(title: str, description: str | None = None) -> Add:
        add = parser.add_argument_group(title, description).add_argument
        return recorded(add, actions)

    _add_listings(recorded(parser.add_argument, actions), version)
    _add_input(group("input"), names)
    _add_output(group("output"), names)
    _add_passes(group("passes and phases", PASSES_AND_PHASES), names)
    _add_checks(group("checks"))
    _add_diagnostics(group("diagnostics"))
    add_printing(group("printing"))
    add_watching(group("watching passes"))
    add_numbers(group("numbers"))
    add_reports(group("reports"))
    add_reproducers(group("reproducers"))
    return tuple(actions)


def _flag(add: Add, *options: str, help: str) -> None:
    add(*options, action="store_true", help=help)


def _add_listings(add: Add, version: str) -> None:
    add(
        "-v",
        "--version",
        action=VersionAction,
        version_format=version,
        help="print the versions of transom and xDSL, and exit",
    )
    _flag(add, "--list-passes", help="list passes with their options, and exit")
    _flag(
        add,
        "--show-phases",
        help="list phases with their passes, for the targets of a file if one is given",
    )
    _flag(add, "--show-dialects", help="list dialects, and exit")
    add(
        "--print-completion",
        metavar="SHELL",
        type=one_of("shell", SHELLS),
        help=f"print the completion for {_either(SHELLS)}, and exit",
    )


def _add_input(add: Add, names: Names) -> None:
    add(
        "input_file",
        nargs="?",
        metavar="FILE",
        help="IR text or an ONNX model; without it, or for -, standard input",
    )
    add(
        "-f",
        "--frontend",
        metavar="KIND",
        type=_spec_of("kind of input", names.readers),
        help=f"read FILE as {_either(names.readers)}, whatever its suffix says",
    )
    add(
        "--split-input-file",
        metavar="MARKER",
        help="take each part between lines that start with MARKER "
        f"(default: '{DEFAULT_MARKER}') as a module of its own",
    )
    _flag(
        add,
        "--allow-unregistered-dialect",
        help="accept ops, types and attributes of unknown dialects",
    )
    _flag(
        add,
        "--no-implicit-module",
        help="expect 'builtin.module' around all operations",
    )
    add_data_folders(add)
    add_sizes(add)
    add_devices(add)
    add_memory_limit(add)
    add(
        "--time-limit",
        metavar="SECONDS",
        type=_seconds,
        help="end in an error if a module takes longer; what comes out then depends on "
        "the machine",
    )


def _add_output(add: Add, names: Names) -> None:
    add(
        "-o",
        "--output-file",
        metavar="FILE",
        help="write to FILE, whole or not at all; - is standard output",
    )
    add(
        "-t",
        "--target",
        metavar="EMITTER",
        default="mlir",
        type=_spec_of("emitter", names.emitters),
        help=f"write {_either(sorted(names.emitters))} (default: mlir)",
    )
    add(
        "--output-split-marker",
        metavar="MARKER",
        default=DEFAULT_MARKER,
        help="line between the outputs of a split file (default: '%(default)s')",
    )


def _add_passes(add: Add, names: Names) -> None:
    add(
        *PASS_OPTIONS,
        dest="steps",
        metavar="PIPELINE",
        action=_AddStep,
        default=[],
        help="run passes, such as 'graph-fold-constants,func.func(canonicalize,cse)'",
    )
    add(
        "--to",
        dest="steps",
        metavar="PHASE",
        action=_AddStep,
        type=one_of("phase", names.phases),
        help=f"lower to a phase: {_either(names.phases)}",
    )
    _flag(
        add,
        "--dump-pass-pipeline",
        help="print what runs, to stderr, in a form that -p takes",
    )


def _add_checks(add: Add) -> None:
    add(
        "--verify-each",
        metavar="BOOL",
        type=_boolean,
        default=True,
        help="verify the IR after each pass (default: true)",
    )
    add(
        "--no-verify-each",
        dest="verify_each",
        action="store_false",
        help="the same as --verify-each=false",
    )
    _flag(add, "--disable-verify", help="verify nothing at all")
    _flag(
        add,
        "--verify-roundtrip",
        help="check that the result parses back to itself, in every form",
    )


def _add_diagnostics(add: Add) -> None:
    add(
        "--verify-diagnostics",
        metavar="MODE",
        type=one_of("mode", ("all", "only-expected")),
        help="compare what is reported with 'expected-error {{…}}' comments; with "
        "'only-expected' pass over what no comment expects (default: all)",
    )
    _flag(
        add,
        "--parsing-diagnostics",
        help="print errors of the parser to standard output, with status 0",
    )
    add_error_format(add)
    _flag(add, STRICT, help=STRICT_HELP)
    add_traceback(add)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(
            f"expected a number of seconds above 0, but got '{text}'"
        )
    return seconds


def _boolean(text: str) -> bool:
    values = {"true": True, "1": True, "false": False, "0": False}
    if text not in values:
        raise argparse.ArgumentTypeError(f"expected true or false, but got '{text}'")
    return values[text]


def _spec_of(kind: str, names: Iterable[str]) -> Callable[[str], str]:
    """A check of `NAME` or `NAME{option=value}`, as readers and emitters have it."""
    check_name = one_of(kind, names)

    def checked(text: str) -> str:
        try:
            check_name(parse_spec(text).name)
        except ArgSpecParseError as e:
            raise argparse.ArgumentTypeError(
                f"expected a name, maybe with options in braces, but got '{text}'"
            ) from e
        return text

    return checked


def _either(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


# Flags that argparse does not do


def normalize(
    args: Sequence[str], options: Sequence[str], names: Names, program: str
) -> list[str]:
    """
    A command line in terms that argparse knows.

    A flag per pass becomes `--passes=…`, a flag without its optional value gets it, and
    one dash before a long name, as `mlir-opt` allows, becomes two. Raises
    `PipelineError` for an unknown option.
    """
    passes = pass_flags(names)
    known = set(options) | set(passes)
    result: list[str] = []
    args = tuple(complete(args))
    for index, arg in enumerate(args):
        if arg == "--":
            return result + list(args[index:])
        if f"-{arg.partition('=')[0]}" in known:
            arg = f"-{arg}"
        option, equals, value = arg.partition("=")
        if option in OPTIONAL_VALUES and not equals:
            arg = f"{option}={OPTIONAL_VALUES[option]}"
        elif option in passes and option not in options:
            arg = f"--passes={passes[option]}{_braced(value)}"
        else:
            check_option(arg, known, program)
        result.append(arg)
    return result


def pass_flags(names: Names) -> dict[str, str]:
    """The names of passes by the flags that run them."""
    return {f"--{name}": name for name in names.passes}


def _braced(options: str) -> str:
    if not options or options.startswith("{"):
        return options
    return f"{{{options}}}"
