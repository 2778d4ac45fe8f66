"""
What `transom-run` shows of kernel calls: their times, and what they have written.
"""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from transom.runtime.files import write_whole
from transom.runtime.main_values import KernelCall


class Watch:
    """
    Notes the calls of one or several runs with the same inputs, and writes what those
    of the last have written to a folder if there is one.
    """

    def __init__(self, folder: str | None) -> None:
        self.folder = None if folder is None else Path(folder)
        self.runs: list[list[KernelCall]] = []
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def start(self) -> None:
        """The calls from here on are those of another run."""
        self.runs.append([])

    def __call__(self, call: KernelCall) -> None:
        calls = self.runs[-1]
        number = len(calls)
        calls.append(replace(call, written={}))
        if self.folder is None:
            return
        for name, array in call.written.items():
            safe = re.sub(r"[^\w.]", "_", name)
            file = self.folder / f"{number:04}.{safe}.npy"
            write_whole(file, partial(np.save, arr=array, allow_pickle=False))

    def report(self) -> str:
        """A line for each call: its node, time, share and kernel."""
        (calls,) = self.runs
        total = sum(call.seconds for call in calls)
        lines = [
            f"{call.node:>10} {_time(call.seconds)} {_share(call.seconds, total)} "
            f"{call.kernel}"
            for call in calls
        ]
        lines.append(f"{'':>10} {_time(total)} in {len(calls)} kernel calls")
        return "".join(f"{line}\n" for line in lines)

    def report_of_runs(self) -> str:
        """
        The same with the least and the median time of each call in all runs; shares are
        those of the least.
        """
        calls = list(zip(*self.runs, strict=True))
        times = [sorted(call.seconds for call in same) for same in calls]
        total = sum(least for least, *_ in times)
        lines = [f"{'node':>10} {'least':>13} {'median':>13} {'share':>6}"]
        lines += [
            f"{same[0].node:>10} {_time(found[0])} {_time(median(found))} "
            f"{_share(found[0], total)} {same[0].kernel}"
            for same, found in zip(calls, times, strict=True)
        ]
        runs = [sum(call.seconds for call in run) for run in self.runs]
        lines.append(
            f"{'':>10} {_time(min(runs))} {_time(median(runs))} in {len(calls)} kernel "
            f"calls, {len(runs)} runs"
        )
        return "".join(f"{line}\n" for line in lines)


def _share(seconds: float, total: float) -> str:
    return f"{seconds / (total or 1):>6.1%}"


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:>10.1f} us"
