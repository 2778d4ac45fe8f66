"""
What compiling costs: processor time of all processes, and memory.

Each compilation is a process of its own, whose imports and whose reading of the model
count; the bytecode of what it imports exists by then. The memory is what is private to
it and all that it starts at most, in steps of some milliseconds: files that are mapped
do not count.

```sh
python -m benchmarks.compilation transom model.onnx   # compiles once; for `compare`
```
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.candidates import CompileError, Unable
from benchmarks.cases import Case, case_named
from benchmarks.measurement import ROOT, environment, write_bytecode, write_case
from benchmarks.peers import CANDIDATES

STEP = 0.004
"""Seconds between two looks at the memory."""

NOTHING_TO_DO = 3
"""The exit status if there is nothing to compile."""


class Run(NamedTuple):
    """One compilation."""

    user: float
    system: float
    """Seconds of all processes."""
    memory: int
    """Bytes."""

    @property
    def cpu(self) -> float:
        return self.user + self.system


class Compilation(NamedTuple):
    """Compilations of a case by one candidate; a failure has no numbers."""

    cold: float | None = None
    cold_user: float | None = None
    """The part of `cold` that is not the system's."""
    cold_spread: float | None = None
    """The slowest run less the fastest, as a part of the median; None of one run."""
    warm: float | None = None
    """Seconds when it was compiled before; None without a cache."""
    warm_user: float | None = None
    warm_spread: float | None = None
    memory: int | None = None
    """Bytes, of the cold ones."""
    failure: str | None = None


def compile_once(name: str, case: str, model: Path, cache: Path) -> Run | None:
    """
    Compile in a new process, with transom's cache in a folder; None if there is nothing
    to compile. Raises `CompileError`.
    """
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.compilation", name, case, str(model)],
            env={
                **environment(1),
                "TRANSOM_CACHE": "on",
                "TRANSOM_CACHE_DIR": str(cache),
            },
            cwd=ROOT,
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
        memory = 0
        while True:
            memory = max(memory, anonymous_memory(process.pid))
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(STEP)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode == NOTHING_TO_DO:
            return None
        if process.returncode != 0:
            printed.seek(0)
            (*_, said) = ["", *printed.read().splitlines()]
            raise CompileError(f"ended with status {process.returncode}: {said}")
        return Run(usage.ru_utime, usage.ru_stime, memory)


def anonymous_memory(pid: int) -> int:
    """Bytes of a process and all that it has started which no file holds."""
    return sum(map(_anonymous, family(pid)))


def family(pid: int) -> Iterator[int]:
    """A process, and those that it and they have started."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal() and (parent := _parent(entry.name)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    left = [pid]
    while left:
        yield (process := left.pop())
        left += children.get(process, ())


def _parent(pid: str) -> int | None:
    """
    The process that has started another; None if that has ended. Few kernels list
    children (`/proc/PID/task/TID/children`).
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # A name in parentheses may hold any character; the state follows.
    return int(text.rpartition(")")[2].split()[1])


def _anonymous(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def compile_case(
    case: Case, names: Sequence[str], runs: int
) -> tuple[dict[str, Compilation], int]:
    """Compile a case with each candidate; also gives the size of the model in bytes."""
    found: dict[str, Compilation] = {}
    write_bytecode()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = write_case(case, folder)
        for candidate in names:
            try:
                compilation = _compile(candidate, case, model, folder, runs)
            except CompileError as e:
                compilation = Compilation(failure=str(e))
            if compilation is not None:
                found[candidate] = compilation
        return found, model.stat().st_size


def _compile(
    candidate: str, case: Case, model: Path, folder: Path, runs: int
) -> Compilation | None:
    has_cache = candidate == "transom"
    cold: list[Run] = []
    warm: list[Run] = []
    for number in range(runs):
        cache = folder / f"{candidate}-{number}"
        for kept in (cold, warm) if has_cache else (cold,):
            run = compile_once(candidate, case.name, model, cache)
            if run is None:
                return None
            kept.append(run)
    memory = round(median(run.memory for run in cold))
    return Compilation(*_times(cold), *_times(warm), memory)


def _times(
    runs: Sequence[Run],
) -> tuple[float | None, float | None, float | None]:
    """Seconds, the user's part of them, and their spread."""
    if not runs:
        return None, None, None
    seconds = [run.cpu for run in runs]
    middle = median(seconds)
    spread = (max(seconds) - min(seconds)) / middle
    user = median(run.user for run in runs)
    return middle, user, spread if len(runs) > 1 else None


def main() -> int:
    name, case, model = sys.argv[1:]
    try:
        CANDIDATES[name].compile(case_named(case), Path(model), 1)
    except Unable:
        return NOTHING_TO_DO
    return 0


if __name__ == "__main__":
    sys.exit(main())
