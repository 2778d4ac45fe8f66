"""
The command line of `transom-opt` beyond that of `xdsl-opt`.
"""

import argparse
from collections.abc import Sequence

FLAGS = (
    ("--print-ir-before-all", "dump the IR before each pass, to stderr"),
    ("--print-ir-after-all", "dump the IR after each pass, to stderr"),
    ("--print-ir-after-change", "dump the IR after each pass that changed it"),
    ("--print-ir-after-failure", "dump the IR after a pass that failed"),
    ("--print-ir-module-scope", "dump the whole module, not only a function"),
    ("--verify-roundtrip", "check that the result parses back to itself"),
    ("--show-phases", "list phases with their passes, and exit"),
    ("--list-passes", "list passes with their options, and exit"),
    ("--show-dialects", "list dialects, and exit"),
    ("--strict-plugins", "a broken plug-in is an error"),
    ("--traceback", "end with a traceback where the compiler is wrong"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add our flags to those of `xDSLOptMain`."""
    parser.add_argument(
        "--to",
        metavar="PHASE",
        help="lower the module to a phase, before the passes of -p",
    )
    parser.add_argument(
        "--pass-pipeline",
        dest="passes",
        default=argparse.SUPPRESS,
        help="the same as -p",
    )
    parser.add_argument(
        "--verify-each",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="verify the IR after each pass",
    )
    for option, dest in (
        ("--print-ir-before", "print_ir_before"),
        ("--print-ir-after", "print_ir_after"),
    ):
        parser.add_argument(
            option,
            dest=dest,
            metavar="PASS",
            action="append",
            default=[],
            help="dump the IR around one pass, to stderr",
        )
    add_data_folders(parser)
    for option, help in FLAGS:
        parser.add_argument(option, action="store_true", help=help)
    parser.add_argument(
        "--only-expected-diagnostics", action="store_true", help=argparse.SUPPRESS
    )


def add_data_folders(parser: argparse.ArgumentParser) -> None:
    """Add the flag that lets weights lie elsewhere."""
    parser.add_argument(
        "--allow-external-data-dir",
        dest="data_folders",
        metavar="DIR",
        action="append",
        default=[],
        help="a folder that links to models and their weights may lead to",
    )


def normalize(args: Sequence[str]) -> list[str]:
    """`--verify-diagnostics[=all|only-expected]` in terms of flags without a value."""
    result: list[str] = []
    for arg in args:
        if arg == "--verify-diagnostics=only-expected":
            result += ["--verify-diagnostics", "--only-expected-diagnostics"]
        elif arg == "--verify-diagnostics=all":
            result.append("--verify-diagnostics")
        else:
            result.append(arg)
    return result
