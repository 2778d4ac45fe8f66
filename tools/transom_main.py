"""
`transom`: what is installed, what is kept, and beginnings of something new.

```text
transom plugins --json
transom cache --clear
transom show build/model.transom
transom new target woofles --into src
```

Exit status: 0 done, 1 the input is wrong, 2 the command line is wrong, 130 interrupted.
"""

import argparse
import pkgutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import transom
from transom.dialects.diagnostics import did_you_mean
from transom.passes.pipeline import PipelineError
from transom.tools.exit_status import exit_status
from transom.tools.plugin_problems import (
    STRICT,
    STRICT_HELP,
    all_plugins_usable,
    warning_of_plugins,
)
from transom.tools.program_arguments import (
    ProgramParser,
    add_error_format,
    add_traceback,
    error_format,
)
from transom.tools.reporter import Reporter

PROGRAM = "transom"


@dataclass(frozen=True)
class Command:
    """A word after `transom`: what it does, and the module that does it."""

    summary: str
    module: str
    """Has `add_arguments(parser)` and `run(args, reporter) -> bool`."""


COMMANDS: dict[str, Command] = {
    "cache": Command(
        "tell what the cache of kernels and code holds, or remove it",
        "transom.tools.cache_command",
    ),
    "new": Command(
        "begin a target, a dialect, a pass or a conversion of your own",
        "transom.tools.new_project",
    ),
    "plugins": Command(
        "list the plug-ins that are installed, and what is wrong with them",
        "transom.tools.plugin_listing",
    ),
    "show": Command(
        "print what a saved program holds, bytecode and graphs as text",
        "transom.tools.show_program",
    ),
}


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """What the command line says. Raises `PipelineError`."""
    parser = ProgramParser(
        PROGRAM,
        f"{__doc__}".partition("\n\n")[0].strip(),
        epilog="'transom COMMAND --help' says more about a command",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"{PROGRAM} {transom.__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", parser_class=ProgramParser
    )
    named = next((word for word in words if not word.startswith("-")), None)
    if named is not None and named not in COMMANDS:
        raise PipelineError(f"unknown command '{named}'{did_you_mean(named, COMMANDS)}")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name, help=command.summary, description=command.summary
        )
        if name == named:
            pkgutil.resolve_name(command.module).add_arguments(sub)
            sub.add_argument(STRICT, action="store_true", help=STRICT_HELP)
            add_error_format(sub.add_argument)
            add_traceback(sub.add_argument)
            parser.check(words, (*parser.flags, *sub.flags))
    if named is None and not {"-h", "--help", "--version"} & set(words):
        raise PipelineError(f"expected a command{did_you_mean('', COMMANDS)}")
    return parser.parse_args(words)


def run(words: Sequence[str], reporter: Reporter) -> bool:
    """Do what the command line says. True if the input was right."""
    args = arguments(words)
    # `transom plugins` lists all first.
    checks_first = args.strict_plugins and args.command != "plugins"
    if checks_first and not all_plugins_usable(reporter):
        return False
    module = pkgutil.resolve_name(COMMANDS[args.command].module)
    with warning_of_plugins(reporter):
        done: bool = module.run(args, reporter)
    return done


def main(args: Sequence[str] | None = None) -> int:
    """The exit status."""
    words = sys.argv[1:] if args is None else args
    reporter = Reporter(PROGRAM, error_format(words) == "json")
    return exit_status(reporter, words, lambda: run(words, reporter))


if __name__ == "__main__":
    sys.exit(main())
