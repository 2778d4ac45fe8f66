"""
What `transom-run` shows of kernel calls: their times, and what they have written.
"""

import re
from io import BytesIO
from pathlib import Path

import numpy as np

from transom.runtime.files import write_whole
from transom.runtime.main_values import KernelCall


class Watch:
    """Notes each call, and writes what it has written to a folder if there is one."""

    def __init__(self, folder: str | None) -> None:
        self.folder = None if folder is None else Path(folder)
        self.calls: list[tuple[str, str, float]] = []
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, call: KernelCall) -> None:
        number = len(self.calls)
        self.calls.append((call.node, call.kernel, call.seconds))
        if self.folder is None:
            return
        for name, array in call.written.items():
            buffer = BytesIO()
            np.save(buffer, array, allow_pickle=False)
            safe = re.sub(r"[^\w.]", "_", name)
            write_whole(self.folder / f"{number:04}.{safe}.npy", buffer.getvalue())

    def report(self) -> str:
        """A line for each call: its node, time, share and kernel."""
        total = sum(seconds for _, _, seconds in self.calls)
        lines = [
            f"{node:>10} {_time(seconds)} {seconds / (total or 1):>6.1%} {kernel}"
            for node, kernel, seconds in self.calls
        ]
        lines.append(f"{'':>10} {_time(total)} in {len(self.calls)} kernel calls")
        return "".join(f"{line}\n" for line in lines)


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:>10.1f} us"
