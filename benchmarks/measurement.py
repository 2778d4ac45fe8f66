"""
Times of candidates, measured in turn.

On one thread all candidates of a case are in one process, and the clock is that of its
processor time, which other programs hardly change. On more threads the clock is the
wall's, and each candidate has a process of its own, which is stopped while others run:
idle pools of threads would take the processor from them.
"""

import compileall
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from types import TracebackType
from typing import IO, Any, Self, cast

import numpy as np

from benchmarks.cases import LIMIT, Array, Case, random_inputs
from benchmarks.peers import REFERENCES

ROOT = Path(__file__).parents[1]

PATIENCE = 10.0
"""Seconds of a candidate's calls after which no more rounds are measured of it."""

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Under it each process compiles the Python source of a checkout again."""

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "TVM_NUM_THREADS")
FOREIGN = ("OPENBLAS_", "OMP_", "GOMP_", "MKL_", "TVM_", "IREE_")
"""How the names of variables begin that others read."""


@dataclass
class Timing:
    """Seconds of a call, a number per round, and the error of the result."""

    seconds: list[float] = field(default_factory=list[float])
    error: float | None = None
    """Of the largest value of the reference; None for the reference itself."""
    failure: str | None = None
    """Why there is no time."""
    limit: float = LIMIT
    """The largest error that is taken as right."""

    @property
    def median(self) -> float | None:
        return median(self.seconds) if self.seconds else None

    @property
    def spread(self) -> float | None:
        """The distance of the quartiles, as a part of the median."""
        if len(self.seconds) < 2:
            return None
        low, middle, high = quantiles(self.seconds, n=4, method="inclusive")
        return (high - low) / middle

    @property
    def is_right(self) -> bool:
        """That there is a result, and it is that of the reference."""
        return self.failure is None and (self.error is None or self.error <= self.limit)


class WorkerError(Exception):
    """A process that measures has ended."""


class Worker:
    """A process that measures some candidates of a case."""

    def __init__(
        self, folder: Path, case: str, threads: int, names: Sequence[str]
    ) -> None:
        command = [sys.executable, "-m", "benchmarks.worker", str(folder), case]
        self.process = subprocess.Popen(
            [*command, str(threads), *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment(threads),
        )
        self.preparing: str | None = None
        self.ready: list[str] = []
        self.failed: dict[str, str] = {}

    def prepare(self) -> None:
        """Wait until candidates are `ready`; if the process ends, it is of the one
        that it was `preparing`."""
        while "ready" not in (said := self._answer()):
            self.preparing = said["preparing"]
        self.ready, self.failed = said["ready"], said["failed"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()

    def seconds(self, candidate: str) -> float:
        """The time of a call, from a batch of them."""
        return self._ask(f"time {candidate}")["seconds"]

    def save_results(self) -> list[str]:
        """Have the candidates write what they compute to files; gives their names."""
        return self._ask("results")["saved"]

    def pause(self) -> None:
        """Stop all threads of the process."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def _ask(self, order: str) -> dict[str, Any]:
        stdin = cast("IO[str]", self.process.stdin)
        print(order, file=stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        line = cast("IO[str]", self.process.stdout).readline()
        if not line:
            raise WorkerError(f"the process ended with status {self.process.wait()}")
        return json.loads(line)


def start(folder: Path, case: str, threads: int, names: Sequence[str]) -> Worker:
    """A process whose candidates are ready; one that ends it has failed."""
    ended: dict[str, str] = {}
    while True:
        left = [name for name in names if name not in ended]
        worker = Worker(folder, case, threads, left)
        try:
            worker.prepare()
        except WorkerError as e:
            worker.close()
            if worker.preparing is None:
                raise
            ended[worker.preparing] = str(e)
        else:
            worker.failed.update(ended)
            return worker


def environment(threads: int) -> dict[str, str]:
    """
    That of a process that measures: what libraries are told is ours, and Python keeps
    bytecode, as it does for users.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(FOREIGN) and name != NO_BYTECODE
    }
    paths = [str(ROOT), *filter(None, [kept.get("PYTHONPATH")])]
    return {
        **kept,
        **dict.fromkeys(THREAD_VARIABLES, str(threads)),
        "PYTHONPATH": os.pathsep.join(paths),
    }


def write_bytecode() -> None:
    """
    Compile the Python source of the checkout, so that no process that is measured does
    it. Packages are compiled when they are installed.
    """
    for folder in (
        ROOT / "benchmarks",
        ROOT / "transom",
        *(ROOT / "transom").iterdir(),
    ):
        if folder.is_dir():  # links are followed only where they are named
            compileall.compile_dir(folder, quiet=2)


def write_case(case: Case, folder: Path) -> Path:
    """
    Write the model of a case, with the shapes of its outputs, which ONNX demands, and
    values of its inputs; gives the model's file.
    """
    import onnx

    path = case.write(folder).rename(folder / "model.onnx")
    model = onnx.shape_inference.infer_shapes(
        onnx.ModelProto.FromString(path.read_bytes())
    )
    path.write_bytes(model.SerializeToString())
    arrays: dict[str, Any] = random_inputs(model)
    np.savez(folder / "inputs.npz", **arrays)
    return path


def measure(
    case: Case, folder: Path, names: Sequence[str], threads: int, rounds: int
) -> dict[str, Timing]:
    """
    Time the candidates of a case, whose model is in a folder, and compare what they
    compute with the reference.
    """
    timings = {name: Timing(limit=case.limit) for name in names}
    groups = [list(names)] if threads == 1 else [[name] for name in names]
    with ExitStack() as stack:
        workers: list[Worker] = []
        for group in groups:
            worker = stack.enter_context(start(folder, case.name, threads, group))
            for name, reason in worker.failed.items():
                timings[name].failure = reason
            workers.append(worker)
            worker.save_results()
            worker.pause()
        for _ in range(rounds):
            for worker in workers:
                worker.resume()
                for name in worker.ready:
                    seconds = timings[name].seconds
                    if sum(seconds) < PATIENCE:
                        seconds.append(worker.seconds(name))
                worker.pause()
    taking_part = {n: t for n, t in timings.items() if t.seconds or t.failure}
    compare_results(taking_part, folder)
    return taking_part


def compare_results(timings: Mapping[str, Timing], folder: Path) -> None:
    """Set the errors of the candidates that have saved results."""
    saved = {
        name: list(np.load(folder / f"{name}.npz").values())
        for name, timing in timings.items()
        if timing.failure is None
    }
    reference = next((name for name in REFERENCES if name in saved), None)
    if reference is None:
        return
    for name, arrays in saved.items():
        if name != reference:
            timings[name].error = error_of(arrays, saved[reference])


def error_of(found: Sequence[Array], expected: Sequence[Array]) -> float:
    """The largest difference, as a part of the largest value."""
    worst = 0.0
    for one, other in zip(found, expected, strict=True):
        if one.shape != other.shape:
            return float("inf")
        largest = float(np.abs(other).max(initial=0)) or 1.0
        worst = max(worst, float(np.abs(one - other).max(initial=0)) / largest)
        if not np.isfinite(one).all():
            return float("inf")
    return worst


def measure_case(
    case: Case, names: Sequence[str], threads: Sequence[int], rounds: int
) -> dict[int, dict[str, Timing]]:
    """Time a case on some numbers of threads."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_case(case, folder)
        return {count: measure(case, folder, names, count, rounds) for count in threads}
