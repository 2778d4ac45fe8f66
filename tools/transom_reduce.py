"""
`transom-reduce`: a small module for which a command still does the same.

```text
transom-reduce big.mlir --pipeline 'graph-fuse,tir-fuse-nests' --fails -o small.mlir
transom-reduce big.mlir --check 'transom-opt -p cse %s' --expect-stderr 'has no uses'
transom-reduce big.mlir --check './is_interesting.sh %s'
```

Only modules that verify are tried. On an interrupt, or when a limit is reached, the
smallest module so far is what is written.

Exit status: 0 done, 1 the input is wrong or not interesting, 2 the command line is
wrong, 130 interrupted.
"""

import argparse
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from time import monotonic

from transom.tools.interrupts import interruptible_imports

with interruptible_imports():
    from xdsl.dialects.builtin import ModuleOp

    import transom
    from transom.dialects.diagnostics import OpError
    from transom.dialects.parser import parse_ir
    from transom.passes.pipeline import PipelineError
    from transom.registry import new_context
    from transom.runtime.files import write_whole
    from transom.tools.exit_status import exit_status
    from transom.tools.input_files import STDIN, read_stdin
    from transom.tools.ir_printing import ir_text
    from transom.tools.output_files import write_stdout
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
    from transom.tools.reduction import NotInteresting, Reducer
    from transom.tools.reduction.commands import TIMED_OUT, CommandCheck, Expectation
    from transom.tools.reporter import Reporter

PROGRAM = "transom-reduce"


def arguments() -> ProgramParser:
    """The command line."""
    parser = ProgramParser(
        PROGRAM, "a small module for which a command still does the same"
    )
    add = parser.add_argument
    add("--version", action="version", version=f"{PROGRAM} {transom.__version__}")
    add("file", help="IR text; - is standard input")
    add(
        "--check",
        metavar="COMMAND",
        help="the command; %%s in it, or else a last argument, is the module's file. "
        "A module is interesting if it ends with status 0, or as --expect-… say",
    )
    add(
        "--pipeline",
        metavar="PIPELINE",
        help="the same as --check 'transom-opt -p PIPELINE %%s'",
    )
    add(
        "--fails",
        action="store_true",
        help="a module is interesting if the command fails as it does for FILE: with "
        "the same status or signal, and the same first error but for names and numbers",
    )
    add("--expect-status", type=int, metavar="N", help="the exit status")
    add("--expect-stdout", type=_regex, metavar="REGEX", help="found in the output")
    add("--expect-stderr", type=_regex, metavar="REGEX", help="found in the errors")
    add("-o", "--output", metavar="FILE", help="the reduced module")
    add("--max-steps", type=_count, metavar="N", help="commands to run at most")
    add("--max-seconds", type=float, metavar="S", help="time after which to stop")
    add(
        "--check-seconds",
        type=float,
        metavar="S",
        default=60.0,
        help="time after which a command is stopped (default: %(default)s)",
    )
    add(
        "--print-op-generic",
        action="store_true",
        help="write modules in generic form",
    )
    add("--allow-unregistered-dialect", action="store_true", help="accept all ops")
    add("-q", "--quiet", action="store_true", help="write no summary")
    add("-v", "--verbose", action="store_true", help="write a line for each step ahead")
    add_error_format(add)
    add_traceback(add)
    add(STRICT, action="store_true", help=STRICT_HELP)
    return parser


def flags() -> Collection[str]:
    """All options."""
    return arguments().flags


def _regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as e:
        raise argparse.ArgumentTypeError(
            f"expected a regular expression: {e}"
        ) from None


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0, but got '{text}'")
    return int(text)


def command_of(args: argparse.Namespace) -> str:
    """The command to run. Raises `PipelineError`."""
    if (args.check is None) == (args.pipeline is None):
        raise PipelineError("expected one of '--check' and '--pipeline'")
    if args.pipeline is not None:
        flag = "--allow-unregistered-dialect " * args.allow_unregistered_dialect
        return f"transom-opt {flag}-p {shlex.quote(args.pipeline)} %s"
    return args.check if "%s" in args.check else f"{args.check} %s"


def expectation_of(args: argparse.Namespace) -> Expectation:
    """What makes a module interesting. Raises `PipelineError`."""
    expectation = Expectation(
        args.expect_status, args.expect_stdout, args.expect_stderr, args.fails
    )
    if args.pipeline is not None and expectation == Expectation():
        raise PipelineError(
            "expected '--fails' or one of '--expect-status', '--expect-stdout' and "
            "'--expect-stderr' with '--pipeline'"
        )
    return expectation


class Output:
    """Where the smallest module goes; it is there whatever happens."""

    def __init__(self, args: argparse.Namespace, reporter: Reporter) -> None:
        self.args = args
        self.reporter = reporter

    def text(self, module: ModuleOp) -> str:
        return ir_text(module, generic=self.args.print_op_generic) + "\n"

    def progress(self, module: ModuleOp) -> None:
        """Keep a better module."""
        if self.args.output not in (None, "-"):
            write_whole(self.args.output, self.text(module))
        if self.args.verbose:
            self.reporter.write(f"{PROGRAM}: {ops_of(module)} ops")

    def finish(self, module: ModuleOp) -> None:
        """Write the module that is the result."""
        if self.args.output in (None, "-"):
            write_stdout(self.text(module))
        else:
            write_whole(self.args.output, self.text(module))


def ops_of(module: ModuleOp) -> int:
    """How many ops a module holds, without itself."""
    return sum(1 for _ in module.walk()) - 1


def folder_for(file: str) -> Path:
    """Where modules are written: beside the file, if that can be."""
    folder = Path.cwd() if file == "-" else Path(file).parent
    return folder if os.access(folder, os.W_OK) else Path(tempfile.gettempdir())


def run(args: argparse.Namespace, reporter: Reporter) -> bool:
    """Do what the command line says."""
    command, expectation = command_of(args), expectation_of(args)
    name = STDIN if args.file == "-" else args.file
    content = read_stdin() if args.file == "-" else Path(name).read_bytes()
    reporter.sources.texts[name] = content.decode("utf-8", "replace")
    ctx = new_context(args.allow_unregistered_dialect)
    module = parse_ir(ctx, content, name)
    check = CommandCheck(
        command,
        expectation,
        folder_for(args.file),
        args.check_seconds,
        args.print_op_generic,
    )
    output = Output(args, reporter)
    reducer = Reducer(
        module,
        check,
        args.max_steps,
        args.max_seconds,
        on_progress=output.progress,
    )
    start = monotonic()
    try:
        reducer.run()
    except NotInteresting:
        raise OpError(module, _not_interesting(check)) from None
    except KeyboardInterrupt:
        if reducer.steps > 1:
            output.finish(reducer.best)
        raise
    finally:
        check.close()
    output.finish(reducer.best)
    if not args.quiet:
        limit = "" if reducer.is_complete else ", stopped by a limit"
        reporter.write(
            f"{PROGRAM}: {ops_of(module)} ops to {ops_of(reducer.best)} in "
            f"{reducer.steps} steps, {monotonic() - start:.1f} s{limit}"
        )
    return True


def _not_interesting(check: CommandCheck) -> str:
    """Why the module that was given is no start."""
    outcome, expected = check.last, check.expectation
    assert outcome is not None, "it was run"
    if outcome.status == TIMED_OUT:
        return f"the command takes longer than {check.seconds:g} s on this module"
    if expected.same_failure and outcome.status == 0:
        return "expected the command to fail on this module, but it ends with status 0"
    status = 0 if expected == Expectation() else expected.status
    if status is not None and outcome.status != status:
        said = outcome.error.strip().split("\n")[0]
        return (
            f"expected the command to end with status {status} on this module, but it "
            f"ends with {outcome.status}" + (f": {said}" if said else "")
        )
    for stream, pattern in (("output", expected.output), ("errors", expected.error)):
        text = outcome.output if stream == "output" else outcome.error
        if pattern is not None and pattern.search(text) is None:
            return (
                f"expected '{pattern.pattern}' in the {stream} of the command on this "
                "module"
            )
    raise AssertionError("one of the above is what was expected")


def main(args: Sequence[str] | None = None) -> int:
    """The exit status."""
    words = sys.argv[1:] if args is None else args
    reporter = Reporter(PROGRAM, error_format(words) == "json")

    def body() -> bool:
        parsed = arguments().parse_words(words)
        if parsed.strict_plugins and not all_plugins_usable(reporter):
            return False
        with warning_of_plugins(reporter):
            return run(parsed, reporter)

    return exit_status(reporter, words, body)


if __name__ == "__main__":
    sys.exit(main())
