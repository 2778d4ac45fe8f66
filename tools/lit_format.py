"""
A format for lit that starts no process for RUN lines of transom's programs.

A process costs a third of a second of start-up, most of a test's time. lit's own shell
still reads the RUN lines and reports what fails; but `transom-opt`, `transom-run`,
`filecheck` and the like are called in a process that stays, one for each of lit's
workers. Whatever else a line calls gets a process as always. In a `lit.cfg.py`:

```python
from transom.tools.lit_format import configure

configure(config, __file__)
```

`docs/testing.md` says more. If `TRANSOM_LIT_SHELL` is set, all get processes.
"""

import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from transom.tools.filecheck.lint import lint
from transom.tools.filecheck.options import prefixes_of
from transom.tools.in_process.pipelines import Pipelines
from transom.tools.in_process.programs import CHECKERS, programs

SHELL_VARIABLE = "TRANSOM_LIT_SHELL"

CHECKER = "transom-filecheck"
"""What `filecheck` is where it gets a process."""

SUBSTITUTIONS = [
    # Custom form, read back, generic form, read back, with and without locations.
    ("%roundtrip", "transom-opt %s --verify-roundtrip"),
    # One failing case per `// -----` section, each with its `expected-error` comment.
    ("%diagnose", "transom-opt %s --split-input-file --verify-diagnostics"),
]

Execute = Callable[[Any, Any, list[Any], Any], Any]
"""lit's `_executeShCmd`: a command, the environment, results to add to, the timeout."""


@cache
def pipelines_with(names: tuple[str, ...]) -> Pipelines:
    """The runner of this process for these programs and transom's own."""
    return Pipelines(programs(names))


@contextmanager
def executing(replace: Callable[[Execute], Execute]) -> Generator[None]:
    """Let lit's shell execute commands in another way."""
    shell: Any = import_module("lit.TestRunner")
    original: Execute = shell._executeShCmd
    shell._executeShCmd = replace(original)
    try:
        yield
    finally:
        shell._executeShCmd = original


def in_runner(pipelines: Pipelines) -> Callable[[Execute], Execute]:
    """Execute pipelines without a process for each command, if that can be."""

    def replace(original: Execute) -> Execute:
        def execute(cmd: Any, shenv: Any, results: list[Any], timeout: Any) -> Any:
            if hasattr(cmd, "commands") and pipelines.takes(cmd, shenv):
                return pipelines.run(cmd, shenv, results, timeout)
            return original(cmd, shenv, results, timeout)

        return execute

    return replace


def in_processes(original: Execute) -> Execute:
    """Execute all in processes; `filecheck` is the same as without them."""

    def execute(cmd: Any, shenv: Any, results: list[Any], timeout: Any) -> Any:
        for command in getattr(cmd, "commands", ()):
            command.args = [
                CHECKER if isinstance(word, str) and word in CHECKERS else word
                for word in command.args
            ]
        return original(cmd, shenv, results, timeout)

    return execute


@dataclass
class WarmShTest:
    """lit's `ShTest` without processes for the programs that are known."""

    names: tuple[str, ...] = ()
    """Programs beside transom's own, by the names of their console scripts."""
    lints: bool = True
    """Whether a test fails whose checks are misspelt or never looked at."""
    shell: Any = field(default_factory=lambda: import_module("lit.formats").ShTest())

    def getTestsForPath(self, *args: Any) -> Any:
        """Called by lit: the tests of a file."""
        return self.shell.getTestsForPath(*args)

    def getTestsInDirectory(self, *args: Any) -> Any:
        """Called by lit: the tests of a folder."""
        return self.shell.getTestsInDirectory(*args)

    def execute(self, test: Any, lit_config: Any) -> Any:
        """Called by lit: run a test."""
        if os.environ.get(SHELL_VARIABLE):
            with executing(in_processes):
                return self.shell.execute(test, lit_config)
        pipelines = pipelines_with(self.names)
        pipelines.start_test()
        with executing(in_runner(pipelines)):
            result = self.shell.execute(test, lit_config)
        if self.lints and result.code.name == "PASS":
            problems = problems_in(Path(test.getSourcePath()), pipelines.checks)
            if problems:
                result.code = import_module("lit.Test").FAIL
                result.output += "".join(f"{problem}\n" for problem in problems)
        return result


def problems_in(path: Path, checks: Iterable[tuple[str, ...]]) -> list[str]:
    """What is wrong with the check lines of a test, by how `filecheck` was called."""
    prefixes = [
        prefix for args in checks if str(path) in args for prefix in prefixes_of(args)
    ]
    if not prefixes:
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    return [str(problem) for problem in lint(text, str(path), prefixes)]


def configure(
    config: Any,
    file: str,
    *,
    programs: Iterable[str] = (),
    timeout: int = 0,
    lint: bool = True,
) -> None:
    """
    Set up lit for the tests in the folder of a `lit.cfg.py`.

    `programs` are console scripts that may be called without processes as well;
    `timeout` bounds the seconds that a test takes. The programs are those of the
    environment that runs lit, whatever PATH says. Variables of the environment that
    tests shall see are set in `config.environment`.
    """
    config.test_format = WarmShTest(tuple(programs), lint)
    config.suffixes = [".mlir"]
    config.excludes = ["Inputs"]
    config.test_source_root = str(Path(file).parent)
    if timeout:
        config.maxIndividualTestTime = timeout
    scripts = str(Path(sys.executable).parent)
    config.environment["PATH"] = scripts + os.pathsep + os.environ["PATH"]
    config.environment["TRANSOM_CACHE"] = "memory"
    config.substitutions.extend(SUBSTITUTIONS)
