"""
Run a test as lit does, and keep what its RUN lines give to `filecheck`.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from transom.tools.filecheck.options import (
    Arguments,
    UsageError,
    parse_arguments,
    prefixes_of,
)
from transom.tools.in_process.pipelines import Pipelines, words_of
from transom.tools.in_process.programs import CHECKERS
from transom.tools.lit_format import WarmShTest, configure, executing, pipelines_with

VERIFY = "--verify-diagnostics"


class RecordError(Exception):
    """The test cannot be run; the message says why."""


@dataclass(frozen=True)
class Run:
    """What one call of `filecheck` was given."""

    arguments: Arguments
    text: str


@dataclass
class Recording:
    """What the RUN lines of a test did."""

    runs: list[Run] = field(default_factory=list[Run])
    diagnostics: list[str] = field(default_factory=list[str])
    """What each `--verify-diagnostics` found wrong, as JSON, an object a line."""


def record(path: Path) -> Recording:
    """
    Run a test, but for its calls of `filecheck`, which pass.

    The configuration of lit is that of the folder, or transom's where there is none.
    Raises `RecordError`.
    """
    test, lit_config = _test(path)
    test_format = test.config.test_format
    if isinstance(test_format, WarmShTest):
        pipelines, shell = pipelines_with(test_format.names), test_format.shell
    else:
        pipelines, shell = pipelines_with(()), test_format
    recorder = _Recorder(str(test.getSourcePath()), pipelines)
    pipelines.start_test()
    with executing(recorder.replace):
        result = shell.execute(test, lit_config)
    if result.code.name in ("FAIL", "UNRESOLVED", "TIMEOUT", "XPASS"):
        raise RecordError(f"expected the RUN lines to pass\n{result.output}".rstrip())
    if result.code.name == "UNSUPPORTED":
        raise RecordError(f"the test is unsupported here: {result.output}".rstrip(": "))
    return recorder.recording


def prefixes_in(path: Path) -> list[str]:
    """
    The prefixes by which RUN lines of a test check it; nothing is run.

    Raises `RecordError`.
    """
    test, _ = _test(path)
    shell: Any = import_module("lit.TestRunner")
    source = str(test.getSourcePath())
    script = shell.parseIntegratedTestScript(test, require_script=False)
    if not isinstance(script, list):
        if script.code.name == "UNRESOLVED":
            raise RecordError(script.output)
        return []  # the test is unsupported here
    substitutions = shell.getDefaultSubstitutions(test, *shell.getTempPaths(test))
    features = dict.fromkeys(test.config.available_features, True)
    lines = shell.applySubstitutions(script, substitutions, features)
    found: list[str] = []
    for line in lines:
        command = re.sub(r"^%dbg\([^)]*\)", "", line)
        for pipeline in _pipelines(import_module("lit.ShUtil").ShParser(command)):
            words = words_of(pipeline.commands[-1].args)
            if words.program in CHECKERS and source in words.args:
                found.extend(prefixes_of([str(word) for word in words.args[1:]]))
    return found


def _pipelines(parser: Any) -> Iterator[Any]:
    """The pipelines of a command line."""
    try:
        todo = [parser.parse()]
    except ValueError:  # lit says so when it runs the test
        return
    while todo:
        command = todo.pop()
        if hasattr(command, "commands"):
            yield command
        else:
            todo += [command.rhs, command.lhs]


def _test(path: Path) -> tuple[Any, Any]:
    """The test of a file, and the configuration of lit."""
    lit_config: Any = import_module("lit.LitConfig").LitConfig(
        progname="lit",
        path=[],
        diagnostic_level="error",
        useValgrind=False,
        valgrindLeakCheck=False,
        valgrindArgs=[],
        noExecute=False,
        debug=False,
        isWindows=os.name == "nt",
        order="lexical",
        params={},
    )
    discovery: Any = import_module("lit.discovery")
    if not path.is_file():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    suite, in_suite = discovery.getTestSuite(str(path.resolve()), lit_config, {})
    if suite is None:
        return _without_config(path, lit_config), lit_config
    config = discovery.getLocalConfig(suite, in_suite[:-1], lit_config, {})
    return import_module("lit.Test").Test(suite, in_suite, config), lit_config


def _without_config(path: Path, lit_config: Any) -> Any:
    """A test in a folder of its own, with transom's configuration."""
    folder = path.resolve().parent
    lit: Any = import_module("lit.Test")
    config: Any = import_module("lit.TestingConfig").TestingConfig.fromdefaults(
        lit_config
    )
    config.name = "transom-checks"
    configure(config, str(folder / "lit.cfg.py"))
    config.test_exec_root = str(folder)
    suite = lit.TestSuite(config.name, str(folder), str(folder), config)
    return lit.Test(suite, (path.name,), config)


@dataclass
class _Recorder:
    path: str
    pipelines: Pipelines
    recording: Recording = field(default_factory=Recording)

    def replace(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def execute(cmd: Any, shenv: Any, results: list[Any], timeout: Any) -> Any:
            if not hasattr(cmd, "commands"):
                return original(cmd, shenv, results, timeout)
            return self.pipeline(cmd, shenv, results, timeout, original)

        return execute

    def pipeline(
        self,
        cmd: Any,
        shenv: Any,
        results: list[Any],
        timeout: Any,
        original: Callable[..., Any],
    ) -> Any:
        def run() -> Any:
            if self.pipelines.takes(cmd, shenv):
                return self.pipelines.run(cmd, shenv, results, timeout)
            return original(cmd, shenv, results, timeout)

        last = words_of(cmd.commands[-1].args)
        arguments = self.checks(last.program, last.args[1:])
        if arguments is not None:
            return self.check(cmd, shenv, results, arguments, run)
        if any(VERIFY in str(word) for word in last.args) and self.path in last.args:
            return self.verify(cmd, results, run)
        return run()

    def checks(self, program: Any, args: tuple[Any, ...]) -> Arguments | None:
        """The arguments of a `filecheck` of this test."""
        if program not in CHECKERS:
            return None
        try:
            arguments = parse_arguments([str(arg) for arg in args], {})
        except UsageError as e:
            raise RecordError(f"filecheck: {e}") from None
        return arguments if arguments.files == [self.path] else None

    def check(
        self,
        cmd: Any,
        shenv: Any,
        results: list[Any],
        arguments: Arguments,
        run: Callable[[], Any],
    ) -> Any:
        """Run what is before a `filecheck`."""
        checker = cmd.commands.pop()
        sources = [file for op, file in checker.redirects if op == ("<",)]
        sources += arguments.values.get("input-file", ())
        status, text = 0, ""
        if cmd.commands:
            status = run()
            text = results[-1].stdout
        if sources:
            file = os.path.join(shenv.cwd, str(sources[-1]))
            text = Path(file).read_bytes().decode("utf-8", "replace")
        self.recording.runs.append(Run(arguments, text))
        return status

    def verify(self, cmd: Any, results: list[Any], run: Callable[[], Any]) -> int:
        """Run a `--verify-diagnostics`; whatever it finds is no failure."""
        command = cmd.commands[-1]
        command.args = [*command.args, "--error-format=json"]
        run()
        self.recording.diagnostics.append(results[-1].stderr)
        return 0


def comment_and_runs(text: str) -> tuple[str, int]:
    """
    How comments of a test begin, and the number of lines up to its last RUN line.

    Raises `RecordError` if there is none.
    """
    found = list(_run_lines(text))
    if not found:
        raise RecordError("expected a RUN line")
    return found[0][1], found[-1][0] + 1


def _run_lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n")):
        before, found, _ = line.partition("RUN:")
        if found:
            yield number, before.strip() or "//"
