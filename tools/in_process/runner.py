"""
The process in which commands run, one after the other: its two ends.

A request is a line of JSON, the answer a line with the exit status. If a command takes
the process down, its signal is the status of the command, and the next one gets a new
process.
"""

import contextvars
import faulthandler
import json
import os
import select
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing.util import Finalize
from pathlib import Path

from transom.tools.in_process.isolation import Command, forget, isolated
from transom.tools.in_process.programs import load

POLL_SECONDS = 0.02

LAST_WORDS_SECONDS = 0.5
"""How long before its end a command says where it is."""

START = f"from {__name__} import serve; serve()"

FIXED_VARIABLES = ("PYTHON", "LD_", "DYLD_", "OMP_", "OPENBLAS_", "MALLOC_", "LC_")
"""Beginnings of names of variables that only a new process looks at."""


def run_here(command: Command, path: str) -> int:
    """Run a command in this process: its exit status."""
    with isolated(command):
        status = contextvars.copy_context().run(_status_of, path)
    if _wrote(command):
        # Some things are said once in a process: the next command says them again.
        forget()
    return status


def _status_of(path: str) -> int:
    """Call a program as a console script does."""
    try:
        code = load(path)()
    except SystemExit as e:
        code = e.code
    except KeyboardInterrupt:
        code = 130
    except BaseException:  # as the interpreter does at the top
        traceback.print_exc()
        code = 1
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _wrote(command: Command) -> bool:
    """Whether something may have been said on standard error."""
    return command.stderr is None or os.path.getsize(command.stderr) > 0


def serve() -> None:
    """Run the commands that come on standard input, until it ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)  # what somebody prints between commands is no answer
    faulthandler.enable(2)  # by then the standard error of the command that crashed
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for line in requests:
        request = json.loads(line)
        path, seconds = request.pop("path"), request.pop("seconds")
        request["args"] = tuple(request["args"])
        command = Command(**request)
        with _traced(seconds, command):
            status = run_here(command, path)
        answers.write(b"%d\n" % status)
        answers.flush()


def _end_with_parent() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@contextmanager
def _traced(seconds: float | None, command: Command) -> Generator[None]:
    """Say where the process is, shortly before it is killed for taking too long."""
    if seconds is None:
        yield
        return
    with Path(command.stderr or command.stdout).open("ab", buffering=0) as file:
        before = max(seconds - min(LAST_WORDS_SECONDS, seconds / 5), 0.01)
        faulthandler.dump_traceback_later(before, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


class TimedOut(Exception):
    """The command was stopped, as it was time."""


@dataclass
class Runner:
    """This end: starts the process when it is needed, and again when it is gone."""

    _running: "list[subprocess.Popen[bytes]]" = field(
        default_factory=list["subprocess.Popen[bytes]"], init=False
    )
    """The process, if there is one."""
    _fixed: dict[str, str] = field(default_factory=dict[str, str], init=False)

    def __post_init__(self) -> None:
        # Also at the end of a process of `multiprocessing`, unlike `atexit`.
        Finalize(self, _end, (self._running,), exitpriority=0)

    def run(
        self,
        command: Command,
        path: str,
        *,
        seconds: float | None = None,
        is_time_up: Callable[[], bool] = lambda: False,
    ) -> int:
        """
        The exit status of a command, negative for a signal.

        If there is a limit of time, `seconds` are what is left of it; Raises `TimedOut`
        when `is_time_up` says so.
        """
        process = self._process_for(command.env)
        assert process.stdin is not None and process.stdout is not None
        request = json.dumps({**asdict(command), "path": path, "seconds": seconds})
        try:
            process.stdin.write(request.encode() + b"\n")
            process.stdin.flush()
            if seconds is not None:
                while not select.select([process.stdout], [], [], POLL_SECONDS)[0]:
                    if is_time_up():
                        self.close()
                        raise TimedOut
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        if not answer:
            status = process.wait()
            self.close()
            return status
        return int(answer)

    @property
    def process_id(self) -> int | None:
        """Of the process, if there is one."""
        return self._running[0].pid if self._running else None

    def close(self) -> None:
        """End the process, whatever it is doing."""
        _end(self._running)

    def _process_for(self, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        fixed = {k: v for k, v in env.items() if k.startswith(FIXED_VARIABLES)}
        if self._running and fixed != self._fixed:
            self.close()
        if not self._running:
            self._fixed = fixed
            self._running.append(
                subprocess.Popen(
                    [sys.executable, "-P", "-c", START],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=dict(env),
                )
            )
        return self._running[0]


def _end(running: "list[subprocess.Popen[bytes]]") -> None:
    """End processes, whatever they are doing."""
    while running:
        process = running.pop()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
