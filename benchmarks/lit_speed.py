"""
How long small FileCheck tests take with the format of `transom.tools.lit_format`.

```
python benchmarks/lit_speed.py [-n TESTS] [-j WORKERS] [--shell]
```

Writes tests into a folder that is removed again, runs lit on them, and reports the time
of all, of processors (which counts where the machine has other things to do), of each
test, and of each but the first of a worker, which starts the process for the others.
With `--shell` each command has a process of its own, to compare.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean, median
from time import perf_counter

CONFIG = """\
from transom.tools.lit_format import configure

config.name = "speed"
configure(config, __file__)
"""

FOLD = """\
// RUN: transom-opt -p canonicalize,cse %s | filecheck %s

// CHECK-LABEL: func.func @fold{n}(
// CHECK-SAME:    %[[X:.*]]: tensor<4x{size}xf32>
// CHECK-NEXT:    %[[R:.*]] = graph.relu %[[X]]
// CHECK-NEXT:    %[[S:.*]] = graph.add %[[R]], %[[R]]
// CHECK-NEXT:    func.return %[[S]]
func.func @fold{n}(%x: tensor<4x{size}xf32>) -> tensor<4x{size}xf32> {{
  %r = graph.relu %x : tensor<4x{size}xf32>
  %t = graph.relu %r : tensor<4x{size}xf32>
  %s = graph.add %r, %t : tensor<4x{size}xf32>
  func.return %s : tensor<4x{size}xf32>
}}
"""

ROUND_TRIP = """\
// RUN: %roundtrip | filecheck %s

// CHECK: scf.for
func.func @sum{n}(%n: index, %x: f32) -> f32 {{
  %zero = arith.constant 0 : index
  %one = arith.constant {size} : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (f32) {{
    %b = arith.addf %a, %x : f32
    scf.yield %b : f32
  }}
  func.return %sum : f32
}}
"""

DIAGNOSE = """\
// RUN: %diagnose

func.func @softmax{n}(%x: tensor<4x{size}xf32>) -> tensor<4x{size}xf32> {{
  // expected-error @+1 {{{{'graph.softmax' op expected}}}}
  %y = graph.softmax %x axis 9 : tensor<4x{size}xf32>
  func.return %y : tensor<4x{size}xf32>
}}
"""

ERROR = """\
// RUN: not transom-opt -p 'func.func(cs)' %s 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: transom-opt -p 'func.func(cse)' %s --print-debuginfo | filecheck %s

// ERROR: error: unknown pass 'cs'
// CHECK: @declared{n}
func.func private @declared{n}(tensor<{size}xf32>)
"""

KINDS = (FOLD, FOLD, ROUND_TRIP, FOLD, DIAGNOSE, FOLD, ERROR, FOLD)


def write_tests(folder: Path, count: int) -> None:
    """Tests of all kinds, no two the same."""
    (folder / "lit.cfg.py").write_text(CONFIG)
    for number in range(count):
        text = KINDS[number % len(KINDS)].format(n=number, size=2 + number % 61)
        (folder / f"test{number:04}.mlir").write_text(text)


def run(folder: Path, workers: int, shell: bool) -> tuple[float, float, list[float]]:
    """Seconds of all tests, seconds of processors, and seconds of each test."""
    report = folder / "report.json"
    lit = Path(sys.executable).parent / "lit"
    start = perf_counter()
    done = subprocess.run(
        [lit, "-q", f"-j{workers}", "-o", report, folder],
        env={**os.environ, "TRANSOM_LIT_SHELL": "1" if shell else ""},
        check=False,
    )
    seconds = perf_counter() - start
    if done.returncode:
        sys.exit("the tests fail")
    tests = json.loads(report.read_text())["tests"]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        seconds,
        used.ru_utime + used.ru_stime,
        [test["elapsed"] for test in tests],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=500, metavar="TESTS")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="WORKERS")
    parser.add_argument("--shell", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tests(folder, args.n)
        seconds, busy, each = run(folder, args.j, args.shell)
    warm = sorted(each)[: len(each) - args.j] or each
    print(f"{args.n} tests on {args.j} workers: {seconds:.1f} s")
    print(f"processors: {busy:.1f} s, {busy / args.n * 1000:.1f} ms for each")
    print(
        f"each: {mean(each) * 1000:.1f} ms on average, median {median(each) * 1000:.1f}"
    )
    print(f"each but the first of a worker: {mean(warm) * 1000:.1f} ms")


if __name__ == "__main__":
    main()
