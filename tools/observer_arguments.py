"""
The flags of `transom-opt` that say how IR is printed and what watches the passes.
"""

import argparse
import re
from collections.abc import Callable, Iterator, Sequence

Add = Callable[..., argparse.Action]

FOR_ALL = {
    "--print-ir-before": "--print-ir-before-all",
    "--print-ir-after": "--print-ir-after-all",
}
"""Flags that may name passes, with what they mean if they name none."""


def add_printing(add: Add) -> None:
    """Add the flags that say how IR is printed, as output and in dumps."""
    flag = _flags(add)
    flag("--print-op-generic", "print all ops in the generic form")
    flag("--print-debuginfo", "print locations")
    flag("--print-no-properties", "print properties as attributes")
    flag("--print-local-scope", "print locations and types in place (always so)")
    flag("--print-value-users", "print the users of each value as a comment")
    flag("--print-skip-regions", "print {...} in place of regions")
    flag("--print-unique-ssa-ids", "print no name twice, whatever its function")
    flag("--use-nameloc-as-prefix", "name values after their locations' names")
    add(
        "--elide-elements-larger",
        "--elide-elementsattrs-if-larger",
        metavar="N",
        type=_limit,
        help="leave out lists of more than N elements; 'never' leaves out none "
        "(default: never, but 32 on a terminal)",
    )
    flag("--syntax-highlight", "colour the output")


def add_watching(add: Add) -> None:
    """Add the flags that ask for dumps."""
    flag = _flags(add)
    for option, when in (
        ("--print-ir-before", "before"),
        ("--print-ir-after", "after"),
    ):
        add(
            option,
            metavar="PASS,…",
            action="extend",
            type=_names,
            default=[],
            help=f"dump the IR {when} some passes (default: all), to stderr",
        )
    flag("--print-ir-before-all", "dump the IR before each pass")
    flag("--print-ir-after-all", "dump the IR after each pass")
    flag("--print-ir-after-change", "dump the IR after each pass that changed it")
    flag("--print-ir-after-failure", "dump the IR after a pass that failed")
    flag("--print-ir-module-scope", "dump the whole module, not only a function")
    add(
        "--print-ir-tree-dir",
        metavar="DIR",
        help="dump into numbered files of a folder, by default after each change; "
        "DIR/index.txt lists all passes",
    )
    flag("--print-between-passes", "the same as --print-ir-after-all")
    flag("--shrink", "exit 0 if a pass says that a reducer may go on")


OPTIONAL_VALUES = {
    "--audit-attributes": "report",
    "--bisect": "bisect",
    "--check-each": "pass",
}
"""Flags that stand alone or before `=`, with what they mean if they stand alone."""


def add_reports(add: Add) -> None:
    """Add the flags that ask for reports on what passes did."""
    add(
        "--audit-attributes",
        metavar="MODE",
        choices=("report", "error"),
        help="tell which attributes and locations passes drop, as a report (default) "
        "or as an error",
    )
    flag = _flags(add)
    flag("--timing", "tell how long passes and other parts took")
    add(
        "--timing-display",
        metavar="tree|list",
        choices=("tree", "list"),
        default="tree",
        help="show times as a tree (default) or as a list, the longest first",
    )
    flag("--time-passes", "the same as --timing --timing-display=list")
    flag("--pass-statistics", "tell what passes count")
    add(
        "--pass-statistics-display",
        metavar="pipeline|list",
        choices=("pipeline", "list"),
        default="pipeline",
        help="show counts in the order of the passes (default) or by their names",
    )
    add(
        "--output-format",
        metavar="FORMAT",
        choices=("text", "json"),
        default="text",
        help="write reports as text (default) or as json, an object a line",
    )
    add(
        "--memory-report",
        metavar="FILE",
        help="draw a map of the memory plan: a page (.html), or the same as .json",
    )
    add(
        "--explain-placement",
        metavar="FILE",
        help="tell where each op runs and why, and what other targets said: "
        "a .txt or .json file",
    )


def add_numbers(add: Add) -> None:
    """Add the flags that run a module after each pass and compare the numbers."""
    add(
        "--check-each",
        metavar="pass|phase",
        choices=("pass", "phase"),
        help="run the module after each pass (default) or phase on the same inputs, "
        "and name the first that moves the numbers",
    )
    add(
        "--check-input",
        metavar="VALUE",
        action="append",
        default=[],
        help="an input for that, as --input of transom-run takes it "
        "(default: random:0)",
    )
    add("--check-function", metavar="NAME", help="the function to run (default: main)")
    add("--check-rtol", metavar="X", type=float, help="relative tolerance")
    add("--check-atol", metavar="X", type=float, help="absolute tolerance")
    add(
        "--check-max-steps",
        metavar="N",
        type=int,
        help="scalar steps before a module is too large to be interpreted",
    )
    _flags(add)(
        "--check-finish",
        "finish a module to machine code where it cannot be interpreted",
    )
    add(
        "--bisect",
        metavar="DIR",
        help="go on from the pass to pattern and op, and write a small test and "
        "a reproducer into a folder (default: bisect)",
    )


def add_reproducers(add: Add) -> None:
    """Add the flags that write and run reproducers."""
    flag = _flags(add)
    add(
        "--crash-reproducer",
        metavar="FILE",
        help="if a pass fails, write what makes it fail to FILE, and say whether it "
        "fails again; - is standard output",
    )
    flag("--local-reproducer", "let it hold the failing pass alone")
    add(
        "--generate-reproducer",
        metavar="FILE",
        help="write the module and all that is done with it to FILE, failure or not",
    )
    flag("--run-reproducer", "do with FILE what its reproducer section says")


def check_observers(args: argparse.Namespace) -> str | None:
    """Why some of these flags do not fit each other, or None."""
    if args.local_reproducer and args.crash_reproducer is None:
        return "expected '--crash-reproducer=FILE' with '--local-reproducer'"
    if args.generate_reproducer is not None and args.split_input_file is not None:
        return "expected one module for '--generate-reproducer', but not a split file"
    if args.bisect is not None and args.check_each is None:
        return "expected '--check-each' with '--bisect'"
    if args.run_reproducer and args.steps:
        return (
            "expected no passes or phases with '--run-reproducer', "
            "which takes them from the file"
        )
    return None


def complete(args: Sequence[str]) -> Iterator[str]:
    """
    A command line with the flags that may name passes in one word each: as
    `--print-ir-after=cse,dce`, or as the one for all.
    """
    words = iter(args)
    for word in words:
        option = "-" * (word[:2] != "--") + word
        if word == "--":
            yield word
            yield from words
        elif option not in FOR_ALL:
            yield word
        else:
            following = next(words, None)
            if following is not None and _PASSES.fullmatch(following):
                yield f"{option}={following}"
                continue
            yield FOR_ALL[option]
            if following is not None:
                yield from complete((following, *words))


_PASSES = re.compile(r"[a-z][a-z0-9-]*(,[a-z][a-z0-9-]*)*")
"""The form of names of passes, which no file with a suffix has."""


def _names(text: str) -> list[str]:
    return text.split(",")


def _limit(text: str) -> int:
    from transom.tools.ir_printing import NEVER

    if text == "never":
        return NEVER
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(
            f"expected a number of elements or 'never', but got '{text}'"
        )
    return int(text)


def _flags(add: Add) -> Callable[[str, str], None]:
    def flag(option: str, help: str) -> None:
        add(option, action="store_true", help=help)

    return flag
