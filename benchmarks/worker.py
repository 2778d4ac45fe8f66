"""
A process that measures: it prepares some candidates of one case, and then runs a batch
of one of them for each line that it is sent. `compare` starts it.

Answers are lines of JSON on standard output; what libraries print goes to standard
error.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from benchmarks.candidates import Candidate, Unable
from benchmarks.cases import case_named
from benchmarks.halves import rounded, widened
from benchmarks.peers import CANDIDATES

BATCH = 0.02
"""Seconds that a batch takes at least."""


def seconds_per_call(
    run: Callable[[], None], count: int, clock: Callable[[], float]
) -> float:
    """The time of one of `count` calls in a row."""
    start = clock()
    for _ in range(count):
        run()
    return (clock() - start) / count


def batch_size(run: Callable[[], None], clock: Callable[[], float]) -> int:
    """How many calls a batch of at least `BATCH` seconds needs."""
    count = 1
    while True:
        seconds = seconds_per_call(run, count, clock) * count
        if seconds >= BATCH:
            return count
        # The clock may be too coarse for few calls.
        count = max(2 * count, int(1.2 * count * BATCH / max(seconds, BATCH / 10)))


def own_output() -> IO[str]:
    """Standard output, to which nothing else is written from now on."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return output


def main() -> None:
    """Arguments: a folder, a case, the number of threads, the candidates."""
    folder, name, threads, *names = sys.argv[1:]
    case, model = case_named(name), Path(folder, "model.onnx")
    inputs: dict[str, Any] = dict(np.load(Path(folder, "inputs.npz")))
    inputs = rounded(inputs, case.element)
    output = own_output()

    def answer(**said: Any) -> None:
        print(json.dumps(said), file=output, flush=True)

    clock = time.process_time if threads == "1" else time.perf_counter
    candidates: dict[str, tuple[Candidate, int]] = {}
    failed: dict[str, str] = {}
    for name in names:
        answer(preparing=name)
        try:
            candidate = CANDIDATES[name](case, model, inputs, int(threads))
            candidates[name] = candidate, batch_size(candidate.run, clock)
        except Unable:
            continue
        except Exception as e:  # what goes wrong in one leaves the others to measure
            failed[name] = f"{type(e).__name__}: {e}".strip().partition("\n")[0]
    gc.collect()
    gc.disable()
    answer(ready=list(candidates), failed=failed)
    for line in sys.stdin:
        order = line.split()
        if order[0] == "time":
            candidate, count = candidates[order[1]]
            answer(seconds=seconds_per_call(candidate.run, count, clock))
        else:  # "results"
            for name, (candidate, _) in candidates.items():
                for array in candidate.outputs.values():
                    array.fill(np.nan)  # what was there before is no result
                candidate.run()
                results = widened(candidate.results())
                np.savez(Path(folder, f"{name}.npz"), **results)
            answer(saved=list(candidates))


if __name__ == "__main__":
    main()
