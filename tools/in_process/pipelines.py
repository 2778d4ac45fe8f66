"""
Pipelines of lit whose programs need no processes of their own.

What lit's shell does around a command is left to lit: parsing, redirections, globs,
environment, and what a failure looks like.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from transom.tools.in_process.isolation import Command
from transom.tools.in_process.programs import CHECKERS
from transom.tools.in_process.runner import POLL_SECONDS, Runner, TimedOut

SHELL: Any = import_module("lit.ShellEnvironment")
RUNNER: Any = import_module("lit.TestRunner")
UTIL: Any = import_module("lit.util")

OF_LIT = frozenset(
    {"cd", "export", "mkdir", "popd", "pushd", "rm", "ulimit", "umask", ":", "@echo"}
)
"""What lit itself does within its process."""


@dataclass(frozen=True)
class Words:
    """A command: what is before the program, the program, and its arguments."""

    args: tuple[Any, ...]
    """Strings, and patterns of lit that stand for names of files."""
    env_words: tuple[tuple[str, ...], ...]
    """`env` with its arguments, once for each time that it stands there."""
    inversions: tuple[str, ...]
    """`not` and `!`."""
    shall_crash: bool

    @property
    def program(self) -> Any:
        return self.args[0] if self.args else None

    def status(self, status: int) -> int:
        """The exit status after `not` and `!`."""
        if self.shall_crash:
            return int(status >= 0)
        if self.inversions == ("not",):
            return int(status <= 0)  # a crash is not what was wanted
        if len(self.inversions) % 2:
            return int(status == 0)
        return int(status != 0) if self.inversions else status


def words_of(args: Sequence[Any]) -> Words:
    """Take apart what a command begins with."""
    rest = list(args)
    env_words: list[tuple[str, ...]] = []
    inversions: list[str] = []
    shall_crash = False
    while rest:
        if rest[0] == "env":
            end = _end_of_env(rest)
            env_words.append(tuple(rest[:end]))
            del rest[:end]
        elif rest[0] in ("not", "!"):
            inversions.append(rest.pop(0))
            if inversions[-1] == "not" and rest[:1] == ["--crash"]:
                shall_crash = True
                rest.pop(0)
        else:
            break
    return Words(tuple(rest), tuple(env_words), tuple(inversions), shall_crash)


def _end_of_env(words: Sequence[Any]) -> int:
    """Where the command begins that `env` runs."""
    index = 1
    while index < len(words):
        word = words[index]
        if word == "-u":
            index += 1
        elif word != "-i" and "=" not in str(word):
            break
        index += 1
    return index


@dataclass
class Pipelines:
    """Runs pipelines of lit's parser; `programs` are those for the runner."""

    programs: Mapping[str, str]
    runner: Runner = field(default_factory=Runner)
    checks: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """The arguments of each `filecheck` that was run."""

    _started: float = field(default=0.0, init=False)

    def start_test(self) -> None:
        """Forget what was about another test."""
        self.checks.clear()
        self._started = time.monotonic()

    def takes(self, pipeline: Any, shenv: Any) -> bool:
        """Whether there is something to run without a process of its own."""
        if shenv.ulimit or shenv.umask != -1:
            return False
        names = [words_of(command.args).program for command in pipeline.commands]
        if any(name is None or (len(names) > 1 and name in OF_LIT) for name in names):
            return False
        return any(isinstance(name, str) and name in self.programs for name in names)

    def run(self, pipeline: Any, shenv: Any, results: list[Any], timeout: Any) -> Any:
        """As lit's `_executeShCmd`: the exit status, and a result for each command."""
        with tempfile.TemporaryDirectory(prefix="transom-lit-") as folder:
            return _Run(self, shenv, timeout, Path(folder)).all(pipeline, results)

    def seconds_left(self, timeout: Any) -> float | None:
        """How long the test may go on, if that is limited."""
        if not timeout.active():
            return None
        return timeout.timeout - (time.monotonic() - self._started)


@dataclass(frozen=True)
class Streams:
    """Where a command reads and writes; `stderr` is None if it is `stdout`."""

    stdin: str
    stdout: str
    stderr: str | None
    next_stdin: str
    """What the next command of the pipeline reads."""
    shown: tuple[str | None, str | None]
    """What belongs into the report, as output and as errors."""


@dataclass
class _Run:
    """One run of a pipeline; what its commands write is in a folder."""

    pipelines: Pipelines
    shenv: Any
    timeout: Any
    folder: Path
    stdin: str = os.devnull

    def all(self, pipeline: Any, results: list[Any]) -> int | None:
        commands = [(c, words_of(c.args)) for c in pipeline.commands]
        for command, words in commands:
            if words.program not in self.pipelines.programs:
                self.executable(command, words)
        exit_status: int | None = None
        for number, (command, words) in enumerate(commands):
            result = self.one(command, words, number, number == len(commands) - 1)
            results.append(result)
            if not pipeline.pipe_err or not exit_status or result.exitCode != 0:
                exit_status = result.exitCode
            if self.timeout.timeoutReached():
                break
        return exit_status

    def environment(self, words: Words) -> Any:
        """The environment of lit's shell for one command."""
        if not words.env_words:
            return self.shenv
        shenv = SHELL.ShellEnvironment(self.shenv.cwd, self.shenv.env)
        for env_words in words.env_words:
            SHELL.updateEnv(shenv, list(env_words))
        return shenv

    def executable(self, command: Any, words: Words) -> str:
        """The file of a program that needs a process, or an error of lit's shell."""
        shenv = self.environment(words)
        program: str = SHELL.expand_glob(words.program, shenv.cwd)[0]
        if program.startswith("."):
            local: str = os.path.join(shenv.cwd, program)
            if os.path.isfile(local):
                return local
        path = shenv.env.get("PATH", self.shenv.env.get("PATH", ""))
        found: str | None = UTIL.which(program, path)
        if found is None:
            raise SHELL.InternalShellError(command, f"{program!r}: command not found")
        return found

    def one(self, command: Any, words: Words, number: int, is_last: bool) -> Any:
        """The result of a command, in lit's form."""
        shenv = self.environment(words)
        args = RUNNER._expandLateSubstitutions(command, list(words.args), shenv.cwd)
        args = SHELL.expand_glob_expressions(args, shenv.cwd)
        opened: list[Any] = []
        try:
            stdin, stdout, stderr = SHELL.processRedirects(
                command, subprocess.PIPE, shenv, opened
            )
            streams = self.streams(stdin, stdout, stderr, number, is_last)
        finally:
            for _, _, file, _ in opened:
                file.close()
        path = self.pipelines.programs.get(args[0])
        if path is None:
            executable = self.executable(command, words)
            status = self.process(executable, args, shenv, streams)
        else:
            status = self.program(path, args, shenv, streams)
        status = words.status(status)
        out, err = map(_text, streams.shown)
        self.stdin = streams.next_stdin
        written = [_content(*file) for file in opened if status and file[1] != "r"]
        reached = self.timeout.timeoutReached()
        return SHELL.ShellCommandResult(command, out, err, status, reached, written)

    def streams(
        self, stdin: Any, stdout: Any, stderr: Any, number: int, is_last: bool
    ) -> Streams:
        """Files for what lit says about the streams of a command."""
        own_out, own_err = (str(self.folder / f"{n}{number}") for n in ("out", "err"))
        is_pipe = stdout == subprocess.PIPE
        source = self.stdin if stdin == subprocess.PIPE else stdin.name
        out = own_out if is_pipe else stdout.name
        if stderr == subprocess.PIPE:
            err, is_own_err = own_err, True
        elif stderr == subprocess.STDOUT:
            # After `2>&1 >file` errors go where output went before.
            err, is_own_err = (None if is_pipe else own_err), False
        else:
            err, is_own_err = (None if stderr is stdout else stderr.name), False
        goes_on = own_out if is_pipe else None
        if stderr == subprocess.STDOUT and not is_pipe:
            goes_on = own_err
        shown = (goes_on if is_last else None, own_err if is_own_err else None)
        return Streams(source, out, err, goes_on or os.devnull, shown)

    def program(
        self, path: str, args: Sequence[str], shenv: Any, streams: Streams
    ) -> int:
        """Run one of the programs: its exit status, negative for a signal."""
        if args[0] in CHECKERS:
            self.pipelines.checks.append(tuple(args[1:]))
        request = Command(
            tuple(args),
            shenv.env,
            shenv.cwd,
            streams.stdin,
            streams.stdout,
            streams.stderr,
        )
        try:
            return self.pipelines.runner.run(
                request,
                path,
                seconds=self.pipelines.seconds_left(self.timeout),
                is_time_up=self.timeout.timeoutReached,
            )
        except TimedOut:
            return -signal.SIGKILL

    def process(
        self, executable: str, args: Sequence[str], shenv: Any, streams: Streams
    ) -> int:
        """Run a program that needs a process."""
        with (
            open(streams.stdin, "rb") as stdin,
            open(streams.stdout, "ab") as stdout,
            open(streams.stderr or os.devnull, "ab") as stderr,
        ):
            process = subprocess.Popen(
                args,
                executable=executable,
                cwd=shenv.cwd,
                env=shenv.env,
                stdin=stdin,
                stdout=stdout,
                stderr=subprocess.STDOUT if streams.stderr is None else stderr,
            )
            while process.poll() is None:
                try:
                    process.wait(POLL_SECONDS if self.timeout.active() else None)
                except subprocess.TimeoutExpired:
                    if self.timeout.timeoutReached():
                        process.kill()
        return process.returncode


def _text(path: str | None) -> str:
    if path is None:
        return ""
    try:
        return Path(path).read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:  # the process ended before it wrote
        return ""


def _content(name: str, mode: str, file: Any, path: str) -> tuple[str, str, bytes]:
    """A file that a command wrote, as a report of lit shows it."""
    return name, path, Path(path).read_bytes()
