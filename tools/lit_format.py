"""
A format for lit that runs `transom-opt … | filecheck %s` within lit's own workers.

A process costs half a second of start-up, most of a test's time. RUN lines that are
pipelines of `transom-opt` and `filecheck`, maybe after `not` and with `2>&1`, are run
in process; a test with any other is left to lit's shell, and so are all tests if
`TRANSOM_LIT_SHELL` is set. In a `lit.cfg.py`:

```python
from transom.tools.lit_format import configure

configure(config, __file__)
```
"""

import io
import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

RUN = re.compile(r"(?:^|\s)RUN:(.*)$", re.MULTILINE)
OTHER_KEYWORDS = re.compile(r"\b(XFAIL|REQUIRES|UNSUPPORTED|DEFINE|REDEFINE|END\.)")


Substitutions = list[tuple[str, str]]
"""What lit replaces in RUN lines, with what."""


@dataclass(frozen=True)
class Command:
    """One program of a pipeline."""

    args: tuple[str, ...]
    inverted: bool
    merges_stderr: bool


def pipelines_of(text: str, substitutions: Substitutions) -> list[list[Command]] | None:
    """The RUN lines of a test, or None if they need a shell."""
    if OTHER_KEYWORDS.search(text):
        return None
    lines = "\n".join(RUN.findall(text)).replace("\\\n", " ").split("\n")
    pipelines = [_pipeline(line.strip(), substitutions) for line in lines if line]
    known = [pipeline for pipeline in pipelines if pipeline is not None]
    return known if known and len(known) == len(pipelines) else None


def _pipeline(line: str, substitutions: Substitutions) -> list[Command] | None:
    for name, value in substitutions:
        line = re.sub(rf"{name}\b", lambda _, value=value: value, line)
    if re.search(r"%[a-zA-Z]", line):
        return None
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    try:
        tokens = list(lexer)
    except ValueError:
        return None
    commands: list[Command] = []
    part: list[str] = []
    for token in [*tokens, "|"]:
        if token != "|":
            part.append(token)
            continue
        command = _command(part)
        if command is None:
            return None
        commands.append(command)
        part = []
    return commands


def _command(tokens: list[str]) -> Command | None:
    inverted = tokens[:1] == ["not"]
    args = tokens[1:] if inverted else tokens
    merges = args[-3:] == ["2", ">&", "1"]
    args = args[:-3] if merges else args
    if not args or args[0] not in PROGRAMS:
        return None
    if any(set(arg) <= set("|&;<>()") for arg in args):
        return None
    return Command(tuple(args), inverted, merges)


def _transom_opt(args: list[str]) -> int:
    from transom.tools.transom_opt import main

    return main(args)


def _filecheck(args: list[str]) -> int:
    from filecheck.main import main

    try:
        main(["filecheck", *args])
    except SystemExit as e:
        return e.code if isinstance(e.code, int) else int(e.code is not None)
    return 0


PROGRAMS: dict[str, Callable[[list[str]], int]] = {
    "filecheck": _filecheck,
    "transom-opt": _transom_opt,
}


def run(command: Command, stdin: bytes) -> tuple[int, str, str]:
    """Exit status, standard output and error of a command."""
    out = io.StringIO()
    err = out if command.merges_stderr else io.StringIO()
    old_stdin = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    try:
        with redirect_stdout(out), redirect_stderr(err):
            program, *args = command.args
            try:
                status = PROGRAMS[program](args)
            except Exception:  # as the interpreter does at the top
                traceback.print_exc()
                status = 1
    finally:
        sys.stdin = old_stdin
    if command.inverted:
        status = int(status == 0)
    return status, out.getvalue(), "" if err is out else err.getvalue()


SUBSTITUTIONS: Substitutions = [
    # Custom form, read back, generic form, read back, with and without locations.
    ("%roundtrip", "transom-opt %s --verify-roundtrip"),
    # One failing case per `// -----` section, each with its `expected-error` comment.
    ("%diagnose", "transom-opt %s --split-input-file --verify-diagnostics"),
]


@dataclass
class WarmShTest:
    """lit's `ShTest` without processes, where it makes no difference."""

    shell: Any = field(default_factory=lambda: import_module("lit.formats").ShTest())

    def getTestsForPath(self, *args: Any) -> Any:
        """Called by lit: the tests of a file."""
        return self.shell.getTestsForPath(*args)

    def getTestsInDirectory(self, *args: Any) -> Any:
        """Called by lit: the tests of a folder."""
        return self.shell.getTestsInDirectory(*args)

    def execute(self, test: Any, lit_config: Any) -> Any:
        """Called by lit: run a test."""
        path = Path(test.getSourcePath())
        pipelines = None
        if not os.environ.get("TRANSOM_LIT_SHELL"):
            known = [*test.config.substitutions, ("%s", str(path))]
            pipelines = pipelines_of(path.read_text(encoding="utf-8"), known)
        if pipelines is None:
            return self.shell.execute(test, lit_config)
        with chdir(path.parent):
            failure = run_all(pipelines)
        lit_test: Any = import_module("lit.Test")
        if failure is None:
            return lit_test.Result(lit_test.PASS, "")
        return lit_test.Result(lit_test.FAIL, failure)


def run_all(pipelines: list[list[Command]]) -> str | None:
    """What happened up to the first pipeline in which a command fails, if one does."""
    log: list[str] = []
    for pipeline in pipelines:
        data = ""
        failed = False
        for command in pipeline:
            status, data, err = run(command, data.encode())
            log.append(f"$ {shlex.join(command.args)}\n{err}")
            if status != 0:
                log.append(f"{data}exit status {status}\n")
                failed = True
        if failed:
            return "".join(log)
    return None


def configure(config: Any, file: str) -> None:
    """
    Set up lit for the tests in the folder of a `lit.cfg.py`.

    The programs are those of the environment that runs lit, whatever PATH says.
    """
    config.test_format = WarmShTest()
    config.suffixes = [".mlir"]
    config.excludes = ["Inputs"]
    config.test_source_root = str(Path(file).parent)
    scripts = str(Path(sys.executable).parent)
    config.environment["PATH"] = scripts + os.pathsep + os.environ["PATH"]
    config.substitutions.extend(SUBSTITUTIONS)
