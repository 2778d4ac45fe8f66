"""
What a program finds as at the start of a process, and what it leaves behind undone.
"""

import functools
import gc
import io
import logging
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

OWN_PACKAGE = "transom"

UNIMPORTANT = frozenset({"LIT_CURRENT_TESTCASE"})
"""Variables that differ from command to command and that nobody reads."""


@dataclass(frozen=True)
class Command:
    """
    One run of a program.

    Standard output and error are appended to files; `stderr` is None if it goes where
    standard output goes.
    """

    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    stdin: str
    stdout: str
    stderr: str | None


@contextmanager
def isolated(command: Command) -> Generator[None]:
    """
    The state of a new process for a command; afterwards all is as it was.

    Environment, working folder, arguments, standard streams with their descriptors,
    warnings, logging, signals, limits of Python, threads that were left running, caches
    of transom that depend on the environment, and what is registered.
    """
    with ExitStack() as stack:
        stack.enter_context(_streams(command))
        stack.enter_context(_environment(command.env))
        stack.enter_context(_folder(command.cwd))
        stack.enter_context(_interpreter(command.args))
        stack.enter_context(_warnings())
        stack.enter_context(_logging())
        stack.enter_context(_signals())
        stack.enter_context(_threads())
        stack.enter_context(_registered())
        yield


@contextmanager
def _streams(command: Command) -> Generator[None]:
    """Files as descriptors 0, 1 and 2, and as the streams of `sys`."""
    old = (sys.stdin, sys.stdout, sys.stderr)
    for stream in old[1:]:
        stream.flush()
    saved = [os.dup(number) for number in range(3)]
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        _open_as(0, command.stdin, os.O_RDONLY)
        _open_as(1, command.stdout, append)
        if command.stderr is None:
            os.dup2(1, 2)
        else:
            _open_as(2, command.stderr, append)
        sys.stdin = _text_of(io.BufferedReader(io.FileIO(0, "r", closefd=False)))
        sys.stdout = _text_of(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
        # Like that of the interpreter: what cannot be encoded is no error here.
        error = io.BufferedWriter(io.FileIO(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(
            error, "utf-8", "backslashreplace", line_buffering=True
        )
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                _flush(stream)
    finally:
        sys.stdin, sys.stdout, sys.stderr = old
        for number, duplicate in enumerate(saved):
            os.dup2(duplicate, number)
            os.close(duplicate)


def _text_of(stream: io.BufferedReader | io.BufferedWriter) -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, "utf-8")


def _open_as(number: int, path: str, flags: int) -> None:
    opened = os.open(path, flags, 0o666)
    os.dup2(opened, number)
    os.close(opened)


def _flush(stream: Any) -> None:
    with suppress(AttributeError, OSError, ValueError):  # replaced, or closed
        stream.flush()


@contextmanager
def _environment(env: Mapping[str, str]) -> Generator[None]:
    old = dict(os.environ)
    _set_environment(env)
    _forget_if_changed(env)
    try:
        yield
    finally:
        _set_environment(old)


def _set_environment(env: Mapping[str, str]) -> None:
    now = dict(os.environ)
    for name in now.keys() - env.keys():
        del os.environ[name]
    for name, value in env.items():
        if now.get(name) != value:
            os.environ[name] = value


_last: dict[str, str] = {}
"""The environment of the last command, on which caches may depend."""


def _forget_if_changed(env: Mapping[str, str]) -> None:
    new = {name: value for name, value in env.items() if name not in UNIMPORTANT}
    if new != _last:
        _last.clear()
        _last.update(new)
        forget()


SAID_ONCE = ("transom.dialects.plugins:_PROBLEMS.clear",)
MADE_BEFORE = (
    "transom.cache.counts:PROCESS._kinds.clear",
    "transom.cache.entries:_store.cache_clear",
)
"""What makes transom forget what a process remembers, as `module:function`."""


@contextmanager
def _registered() -> Generator[None]:
    """What is registered, problems with plug-ins, and what was made before."""
    _call(MADE_BEFORE)
    old = _sizes()
    try:
        yield
    finally:
        if _sizes() != old:
            forget()


def _sizes() -> tuple[int, ...] | None:
    """How much is registered; None if nobody has asked in this process."""
    if "transom.registry" not in sys.modules:
        return None
    from transom.dialects.plugins import handling_problems, known_problems
    from transom.registry import registry

    with handling_problems(lambda error: None):
        known = registry()
    tables = (known.dialects, known.passes, known.emitters, known.readers)
    return (*map(len, tables), len(known_problems()))


def forget() -> None:
    """Empty the caches of transom's functions, as they are in a new process."""
    _call(SAID_ONCE)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != OWN_PACKAGE:
            continue
        for value in list(vars(module).values()):
            if isinstance(value, functools._lru_cache_wrapper):  # pyright: ignore[reportPrivateUsage]
                value.cache_clear()


def _call(paths: Sequence[str]) -> None:
    for path in paths:
        if path.partition(":")[0] in sys.modules:
            resolve_name(path)()


@contextmanager
def _folder(path: str) -> Generator[None]:
    old = os.getcwd()
    os.chdir(path)
    mask = os.umask(0)
    os.umask(mask)
    try:
        yield
    finally:
        os.umask(mask)
        os.chdir(old)


@contextmanager
def _interpreter(args: Sequence[str]) -> Generator[None]:
    """Arguments, limits, hooks and the path of imports."""
    argv, path, hooks = sys.argv, list(sys.path), (sys.excepthook, sys.displayhook)
    frames, digits = sys.getrecursionlimit(), sys.get_int_max_str_digits()
    collects = gc.isenabled()
    numbers = random.getstate()
    sys.argv = list(args)
    try:
        yield
    finally:
        sys.argv, (sys.excepthook, sys.displayhook) = argv, hooks
        sys.path[:] = path
        sys.setrecursionlimit(frames)
        sys.set_int_max_str_digits(digits)
        random.setstate(numbers)
        if collects:
            gc.enable()


@contextmanager
def _warnings() -> Generator[None]:
    """Filters as at the start; each warning is new."""
    with warnings.catch_warnings():
        yield


@contextmanager
def _logging() -> Generator[None]:
    """Levels and handlers of all loggers."""
    names = [None, *logging.root.manager.loggerDict]
    loggers = [logging.getLogger(name) for name in names]
    saved = [(x, x.level, x.handlers[:], x.propagate, x.disabled) for x in loggers]
    disabled = logging.root.manager.disable
    try:
        yield
    finally:
        logging.disable(disabled)
        for logger, level, handlers, propagates, is_disabled in saved:
            logger.setLevel(level)
            logger.handlers[:] = handlers
            logger.propagate = propagates
            logger.disabled = is_disabled


@contextmanager
def _signals() -> Generator[None]:
    """Handlers of signals, and no alarm that goes off later."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, *_numbers("SIGALRM", "SIGPIPE"))
    saved = [(number, signal.getsignal(number)) for number in numbers]
    try:
        yield
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in saved:
            if handler is not None:
                signal.signal(number, handler)


def _numbers(*names: str) -> list[signal.Signals]:
    """Those signals that this system has."""
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


@contextmanager
def _threads() -> Generator[None]:
    """Threads end with the command, as a process waits for them."""
    old = set(threading.enumerate())
    try:
        yield
    finally:
        for thread in threading.enumerate():
            if thread not in old and not thread.daemon:
                thread.join()
