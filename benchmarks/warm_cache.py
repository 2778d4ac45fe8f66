"""
What a compilation costs when the cache has all of it, against one that finds nothing.

Each compilation is a process of its own, cold and warm in turn; loading the model is
not counted. Two things are compiled: the module to phase `executable`, as text, and a
program with machine code. Exit status 1 if a ratio of programs is above the bar.

```sh
python -m benchmarks.warm_cache            # squeezenet and resnet50, 3 times
python -m benchmarks.warm_cache --runs 5 model.onnx
```
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.cases import light
from benchmarks.measurement import environment, write_bytecode

BAR = 0.3
"""The part of the cold time that a warm compilation may take."""

LIGHT_MODELS = ("squeezenet", "resnet50")
WAYS = ("executable", "program")

CHILD = """
import json, sys, time
from hashlib import sha256
import transom
import transom.compiler, transom.driver, transom.kernel_code
module = transom.load(sys.argv[1])
start, wall = time.process_time(), time.perf_counter()
with transom.cache.counted() as counts:
    if sys.argv[2] == "program":
        made = transom.compile(module)
    else:
        made = transom.lower(module, "executable")
seconds, wall = time.process_time() - start, time.perf_counter() - wall
data = made.code.objects if sys.argv[2] == "program" else [str(made).encode()]
print(json.dumps({
    "cpu": seconds, "wall": wall, "counts": str(counts), "missed": counts.total.missed,
    "hash": sha256(b"".join(data)).hexdigest()[:16],
}))
"""


class Run(NamedTuple):
    """What one process said."""

    cpu: float
    wall: float
    counts: str
    missed: int
    hash: str


def run(model: Path, way: str, cache: str) -> Run:
    """Compile a model in a new process."""
    printed = subprocess.run(
        [sys.executable, "-c", CHILD, str(model), way],
        env={**environment(1), "TRANSOM_CACHE": "on", "TRANSOM_CACHE_DIR": cache},
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    said: dict[str, Any] = json.loads(printed)
    return Run(**said)


def models(names: list[str], folder: Path) -> list[Path]:
    """The files of models: those that are there, else light models of `onnx`."""
    found = [Path(name) for name in names]
    if found:
        return found
    return [light(name).write(folder) for name in LIGHT_MODELS]


def compare(model: Path, way: str, runs: int) -> tuple[list[Run], list[Run]]:
    """Cold and warm runs in turn."""
    cold: list[Run] = []
    warm: list[Run] = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(run(model, way, cache))
            warm.append(run(model, way, cache))
    return cold, warm


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("models", nargs="*", help="files (default: light models)")
    parser.add_argument("--runs", type=int, default=3, help="default: %(default)s")
    arguments = parser.parse_args()
    is_good = True
    write_bytecode()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'CPU seconds':24}{'cold':>8}{'warm':>8}{'ratio':>8}{'wall':>8}")
        for model in models(arguments.models, Path(folder)):
            for way in WAYS:
                cold, warm = compare(model, way, arguments.runs)
                is_good &= report(f"{model.stem}, {way}", way, cold, warm)
    return 0 if is_good else 1


def report(title: str, way: str, cold: list[Run], warm: list[Run]) -> bool:
    """Print medians, and tell whether the bar is met."""
    before, after = (statistics.median(r.cpu for r in runs) for runs in (cold, warm))
    ratio = after / before
    wall = statistics.median(b.wall / a.wall for a, b in zip(cold, warm, strict=True))
    print(f"{title:24}{before:8.2f}{after:8.2f}{ratio:8.3f}{wall:8.3f}")
    print(f"    cold  {cold[0].counts}\n    warm  {warm[0].counts}")
    if len({r.hash for r in (*cold, *warm)}) != 1:
        print("    the results differ")
        return False
    if any(r.missed for r in warm):
        print("    a warm run did not find all: was the code edited meanwhile?")
        return False
    return way != "program" or ratio <= BAR


if __name__ == "__main__":
    sys.exit(main())
