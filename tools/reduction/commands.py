"""
Commands that say whether a module is interesting: programs of transom without a process
of their own, all else by a shell.
"""

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from xdsl.dialects.builtin import ModuleOp

from transom.tools.in_process.isolation import Command
from transom.tools.in_process.programs import programs
from transom.tools.in_process.runner import Runner, TimedOut
from transom.tools.ir_printing import ir_text
from transom.tools.reduction.failures import Failure, failure_of

SHELL_CHARACTERS = frozenset("|&;<>()$`\n*?")

TIMED_OUT = 124
"""The status of a command that takes too long, as `timeout` has it."""


@dataclass(frozen=True)
class Outcome:
    """What came of a command."""

    status: int
    output: str
    error: str


@dataclass(frozen=True)
class Expectation:
    """What makes a module interesting; without anything it is the status 0."""

    status: int | None = None
    output: re.Pattern[str] | None = None
    error: re.Pattern[str] | None = None
    same_failure: bool = False

    def is_met(self, outcome: Outcome) -> bool:
        """Whether it is as it shall be, but for the failure."""
        status = self.status
        if status is None and not self.same_failure:
            status = None if self.output or self.error else 0
        return (
            (status is None or outcome.status == status)
            and (self.output is None or self.output.search(outcome.output) is not None)
            and (self.error is None or self.error.search(outcome.error) is not None)
        )


@dataclass
class CommandCheck:
    """
    Runs a command on a module; `%s` in it is the file that the module is written to.

    Such a file lies in `folder`, so that a module may refer to files beside it.
    """

    command: str
    expectation: Expectation
    folder: Path
    seconds: float = 60.0
    """A command that takes longer is stopped; the module is not interesting."""
    generic: bool = False
    """Whether modules are written in generic form."""
    runner: Runner = field(default_factory=Runner)
    failure: Failure | None = None
    """How the module failed that the reduction started from."""
    last: Outcome | None = None

    def __post_init__(self) -> None:
        self.programs = programs()
        handle, name = tempfile.mkstemp(".mlir", ".reduce-", self.folder)
        os.close(handle)
        self.file = Path(name)
        self.streams = tempfile.TemporaryDirectory(prefix="transom-reduce-")

    def close(self) -> None:
        """Remove all that it has made."""
        self.runner.close()
        self.file.unlink(missing_ok=True)
        self.streams.cleanup()

    def __call__(self, module: ModuleOp) -> bool:
        """Whether a module is interesting."""
        self.file.write_text(ir_text(module, generic=self.generic) + "\n")
        self.last = self.run()
        if self.last.status == TIMED_OUT or not self.expectation.is_met(self.last):
            return False
        if not self.expectation.same_failure:
            return True
        failure = failure_of(self.last.status, self.last.error)
        if self.failure is None:
            self.failure = failure
            return self.last.status != 0
        return failure == self.failure

    def run(self) -> Outcome:
        """Run the command on the file."""
        words = self.words()
        out, err = (Path(self.streams.name, name) for name in ("out", "err"))
        for path in (out, err):
            path.write_bytes(b"")
        if words is None:
            status = self.in_shell(out, err)
        else:
            inverted = words[0] == "not"
            status = self.in_runner(words[inverted:], out, err)
            if inverted and status != TIMED_OUT:
                status = int(status <= 0)
        return Outcome(status, _text(out), _text(err))

    def words(self) -> Sequence[str] | None:
        """The words of the command if it needs no shell."""
        text = self.command.replace("%s", shlex.quote(str(self.file)))
        if SHELL_CHARACTERS.intersection(self.command):
            return None
        words = shlex.split(text)
        names = words[1:2] if words[:1] == ["not"] else words[:1]
        return words if names and names[0] in self.programs else None

    def in_runner(self, words: Sequence[str], out: Path, err: Path) -> int:
        end = monotonic() + self.seconds
        command = Command(
            tuple(words),
            dict(os.environ),
            os.getcwd(),
            os.devnull,
            str(out),
            str(err),
        )
        try:
            return self.runner.run(
                command,
                self.programs[words[0]],
                seconds=self.seconds,
                is_time_up=lambda: monotonic() > end,
            )
        except TimedOut:
            return TIMED_OUT

    def in_shell(self, out: Path, err: Path) -> int:
        text = self.command.replace("%s", shlex.quote(str(self.file)))
        with out.open("wb") as output, err.open("wb") as error:
            try:
                done = subprocess.run(
                    ["sh", "-c", text],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=error,
                    timeout=self.seconds,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return TIMED_OUT
        # A shell tells of a signal by a status above 128.
        return 128 - done.returncode if done.returncode > 128 else done.returncode


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")
