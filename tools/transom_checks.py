"""
`transom-checks`: write the check lines of tests from what their RUN lines print.

```text
transom-checks -i test.mlir                    # write or refresh them in the file
transom-checks test.mlir --function f --only-op 'graph.*'
transom-checks -i --diagnostics invalid.mlir   # write expected-error comments
transom-checks --lint test/filecheck           # checks that nobody looks at
```

Exit status: 0 done, 1 the tests are wrong, or not as they would be written with
`--check`, 2 the command line is wrong.
"""

import argparse
import sys
from collections.abc import Collection, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from transom.tools.interrupts import interruptible_imports

with interruptible_imports():
    import transom
    from transom.passes.pipeline import PipelineError
    from transom.runtime.files import write_whole
    from transom.tools.exit_status import exit_status
    from transom.tools.output_files import write_stdout
    from transom.tools.program_arguments import ProgramParser, add_traceback
    from transom.tools.reporter import Reporter

PROGRAM = "transom-checks"


def arguments() -> ProgramParser:
    """The command line."""
    parser = ProgramParser(
        PROGRAM,
        "write the check lines of tests from what their RUN lines print",
    )
    add = parser.add_argument
    add("--version", action="version", version=f"{PROGRAM} {transom.__version__}")
    add("files", nargs="+", metavar="FILE", help="tests; with --lint also folders")
    add("-i", "--in-place", action="store_true", help="write into the files")
    add("--check", action="store_true", help="write nothing; is all up to date?")
    add(
        "--function",
        action="append",
        default=[],
        metavar="NAME",
        help="write checks of this function only, may be repeated",
    )
    add(
        "--only-op",
        action="append",
        default=[],
        metavar="PATTERN",
        help="write checks of such ops only, as 'graph.*', may be repeated",
    )
    add(
        "--prefix",
        action="append",
        default=[],
        metavar="PREFIX",
        help="write checks with this prefix only, may be repeated",
    )
    add(
        "--diagnostics",
        action="store_true",
        help="write expected-… comments for --verify-diagnostics",
    )
    add("--lint", action="store_true", help="show checks that nobody looks at")
    add_traceback(add)
    return parser


def flags() -> Collection[str]:
    """All options."""
    return arguments().flags


def kept_options(args: argparse.Namespace) -> list[str]:
    """What says which checks are wanted; blocks keep it for the next time."""
    return [
        *(f"--function={name}" for name in args.function),
        *(f"--only-op={pattern}" for pattern in args.only_op),
        *(f"--prefix={prefix}" for prefix in args.prefix),
    ]


def new_text(
    path: Path, content: str, args: argparse.Namespace
) -> tuple[str, list[str]]:
    """A test as it shall be, and what is wrong with it. Raises `RecordError`."""
    from transom.tools.checks.expected import write_expected
    from transom.tools.checks.layout import without_blocks
    from transom.tools.checks.lines import Selection
    from transom.tools.checks.recorder import comment_and_runs, record
    from transom.tools.checks.writer import write_checks

    comment_and_runs(content)
    if args.diagnostics:
        return write_expected(path, content, record(path).diagnostics), []
    options = kept_options(args)
    if not options:
        options = without_blocks(content).options or []
        args = arguments().parse_words([*options, str(path)])
    recording = record(path)
    written = write_checks(
        path,
        content,
        recording.runs,
        Selection(args.function, args.only_op),
        options,
        args.prefix,
    )
    return written.text, list(written.problems)


def refresh(path: Path, args: argparse.Namespace, reporter: Reporter) -> bool:
    """Write the checks of a test. True if that can be done."""
    from transom.tools.checks.layout import LayoutError
    from transom.tools.checks.recorder import RecordError

    content = path.read_bytes().decode()
    try:
        text, problems = new_text(path, content, args)
    except LayoutError as e:
        reporter.write(f"{path}:{e.line}:1: error: {e}")
        return False
    except RecordError as e:
        reporter.write(f"{path}: error: {e}")
        return False
    if problems:
        for problem in problems:
            reporter.write(problem.rstrip("\n"))
        reporter.write(
            f"{path}: error: the checks that are written by hand do not fit with the "
            "others; nothing is written"
        )
        return False
    if args.check:
        if text != content:
            reporter.write(
                f"{path}: error: the checks are not up to date; run '{PROGRAM} -i'"
            )
        return text == content
    if not args.in_place:
        write_stdout(text)
    elif text != content:
        write_whole(path, text)
    return True


def lint_all(files: Sequence[str], reporter: Reporter) -> bool:
    """Show checks that nobody looks at. True if there are none."""
    from transom.tools.checks.recorder import RecordError, prefixes_in
    from transom.tools.filecheck.lint import lint

    good = True
    for path in tests_in(files):
        try:
            prefixes = prefixes_in(path)
        except RecordError as e:
            reporter.write(f"{path}: error: {e}")
            good = False
            continue
        text = path.read_text(encoding="utf-8")
        for problem in lint(text, str(path), prefixes) if prefixes else ():
            reporter.write(str(problem))
            good = False
    return good


def tests_in(files: Sequence[str]) -> Iterator[Path]:
    """Files, and all tests in folders."""
    for name in files:
        path = Path(name)
        if not path.is_dir():
            yield path
            continue
        for file in sorted(path.rglob("*.mlir")):
            if "Inputs" not in file.parts and "Output" not in file.parts:
                yield file


def run(args: argparse.Namespace, reporter: Reporter) -> bool:
    """Do what the command line says."""
    if find_spec("lit") is None:
        reporter.error("expected the package 'lit'; install 'transom[testing]'")
        return False
    if args.lint:
        return lint_all(args.files, reporter)
    if len(args.files) > 1 and not (args.in_place or args.check):
        raise PipelineError("expected '--in-place' or '--check' with several files")
    return all([refresh(Path(name), args, reporter) for name in args.files])


def main(args: Sequence[str] | None = None) -> int:
    """The exit status."""
    words = sys.argv[1:] if args is None else args
    reporter = Reporter(PROGRAM)
    return exit_status(
        reporter, words, lambda: run(arguments().parse_words(words), reporter)
    )


if __name__ == "__main__":
    sys.exit(main())
