"""
Mutated inputs: no traceback, no bug, no hang, and the exit status that fits.

`pytest -m nightly test/unit/test_mutants.py` takes 10,000, or as many as the variable
`TRANSOM_MUTANTS` says.
"""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable
from types import FrameType

import pytest
from mutants import Mutant, mutant

from transom.tools import transom_opt

SECONDS = 10
"""More is a hang."""

FEW, MANY = 500, int(os.environ.get("TRANSOM_MUTANTS", "10000"))
FIRST_OF_MANY = int(os.environ.get("TRANSOM_FIRST_MUTANT", "1000000"))

PLACE = re.compile(r'(\S+:\d+:\d+|<unknown>|"[^"]*"): error: ')


class HangError(BaseException):
    """Raised by the alarm; no handler of errors takes it."""


@contextlib.contextmanager
def alarm() -> Generator[None]:
    """End what takes too long."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals; the caller measures as well
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise HangError

    old = signal.signal(signal.SIGALRM, ring)
    signal.alarm(2 * SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def problem_of(made: Mutant) -> str | None:
    """What is wrong with how the program takes a mutant."""
    out, err = io.StringIO(), io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(made.text.encode("utf-8", "surrogatepass")))
    old, sys.stdin = sys.stdin, stdin
    start = time.monotonic()
    try:
        with alarm(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = transom_opt.main([*made.args, "-f", "mlir"])
    except HangError:
        return "hangs"
    except Exception as e:
        return f"raises {type(e).__name__}: {e}"
    finally:
        sys.stdin = old
    spent = time.monotonic() - start
    return problem_of_run(status, out.getvalue(), err.getvalue(), spent)


def problem_of_run(status: int, out: str, err: str, spent: float) -> str | None:
    """What is wrong with the end of a run."""
    errors = [line for line in err.splitlines() if re.search(r"\berror: ", line)]
    if spent > SECONDS:
        return f"takes {spent:.0f} s"
    if "Traceback" in err:
        return "prints a traceback"
    for line in errors:
        if "this is a bug" in line or "the parser stopped at" in line:
            return line
    if status not in (0, 1):
        return f"exits with {status}: {err.strip()}"
    if (status == 0) != bool(out):
        return f"exits with {status} and prints {out[:40]!r}"
    if (status == 1) != bool(errors):
        return f"exits with {status} and reports {errors[:1]}"
    if errors and not PLACE.match(errors[0]):
        return f"reports without a place: {errors[0]}"
    return None


def problems_of(numbers: Iterable[int]) -> list[str]:
    found: list[str] = []
    for number in numbers:
        made = mutant(number)
        if (problem := problem_of(made)) is not None:
            found.append(f"{number} ({made.seed}, {' '.join(made.args)}) {problem}")
    return found


def test_mutants() -> None:
    assert not problems_of(range(FEW))


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(100))
def test_many_mutants(part: int) -> None:
    count = -(-MANY // 100)
    first = FIRST_OF_MANY + part * count
    assert not problems_of(range(first, first + count))


@pytest.mark.parametrize("number", range(0, 60, 20))
def test_mutants_in_a_process(number: int) -> None:
    made = mutant(number)
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "transom.tools.transom_opt", *made.args, "-f", "mlir"],
        input=made.text.encode("utf-8", "surrogatepass"),
        capture_output=True,
        timeout=60,
    )
    spent = time.monotonic() - start
    out, err = done.stdout.decode(), done.stderr.decode()
    assert problem_of_run(done.returncode, out, err, spent - 5) is None


def test_mutants_are_made_from_their_number() -> None:
    assert mutant(7) == mutant(7)
    assert len({mutant(n).text for n in range(100)}) > 95


def test_what_counts_as_a_problem() -> None:
    good = "builtin.module {\n}\n"
    error = "<stdin>:1:1: error: expected x\n"
    assert problem_of_run(0, good, "", 0) is None
    assert problem_of_run(1, "", error, 0) is None
    for status, out, err, spent in (
        (0, "", "", 0),
        (1, "", "", 0),
        (2, "", "transom-opt: error: x\n", 0),
        (0, good, error, 0),
        (1, good, error, 0),
        (1, "", "transom-opt: error: x\n", 0),
        (1, "", f"{error}Traceback\n", 0),
        (1, "", "<stdin>:1:1: error: x; this is a bug, …\n", 0),
        (0, good, "", SECONDS + 1),
    ):
        assert problem_of_run(status, out, err, spent) is not None
