"""
What a kernel call costs beside the kernel, for each executor.

A chain of kernels that add two vectors of 16 numbers, each into a buffer of the plan:
the time of a program with 101 calls, less that of one with a single call, per call. The
kernels themselves take some nanoseconds, and are counted. Prints microseconds of
processor time: medians of rounds that take the executors in turn. Ends with status 1 if
one is above its bar.

    python -m benchmarks.call_overhead [ROUNDS]
"""

import sys
from collections.abc import Mapping
from statistics import median
from time import process_time

import numpy as np

import transom
from transom.driver import EXECUTORS
from transom.runtime.program import Program

CALLS = 100
ROUNDS = 30
RUNS = 20
"""Of each program in a round."""

BARS: Mapping[str, float] = {"aot": 2.0, "graph": 20.0, "vm": 20.0}
"""Microseconds per call."""

KERNEL = """
  tir.func private @k{number}(
    read %a: memref<16xf32>, read %b: memref<16xf32>, write %y: memref<16xf32>
  ) attributes {{
    target.for = #target.place<@cpu, #llvm_cpu.target<cpu = "host">, ?>
  }} {{
    %c = arith.constant {number}.0 : f32
    tir.nest dims [parallel 16]
        ins(%a[d0] : memref<16xf32>, %b[d0] : memref<16xf32>)
        outs(%y[d0] : memref<16xf32>)
    finish (%p : f32, %q : f32) {{
      %s = arith.addf %p, %q : f32
      %t = arith.addf %s, %c : f32
      tir.yield %t : f32
    }}
    tir.return
  }}
"""
CALL = """
    %d{number} = tensor.empty() : tensor<16xf32>
    %v{next} = tir.call @k{number}(%v{number} : tensor<16xf32>, %x : tensor<16xf32>)
      outs(%d{number} : tensor<16xf32>)
"""


def chain(calls: int) -> str:
    """A module of so many kernels, each called once."""
    kernels = "".join(KERNEL.format(number=n) for n in range(calls))
    body = "".join(CALL.format(number=n, next=n + 1) for n in range(calls))
    body = body.replace("%v0", "%x")
    return f"""
module attributes {{target.config = #target.config<host = @cpu, phase = "tensor">}} {{
  target.device @cpu {{targets = [#llvm_cpu.target<cpu = "host">]}}
  {kernels}
  func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {{
    {body}
    func.return %v{calls} : tensor<16xf32>
  }}
}}
"""


def seconds_of(program: Program) -> float:
    """Processor time of a run, in seconds."""
    inputs = {"arg0": np.zeros(16, np.float32)}
    outputs = {"result0": np.empty(16, np.float32)}
    program.run(inputs, outputs)
    start = process_time()
    for _ in range(RUNS):
        program.run(inputs, outputs)
    return (process_time() - start) / RUNS


def main() -> int:
    """Measure, and print; the exit status."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    programs = {
        (executor, calls): transom.compile(
            transom.parse(chain(calls)), executor=executor
        )
        for executor in EXECUTORS
        for calls in (1, 1 + CALLS)
    }
    taken: dict[str, list[float]] = {executor: [] for executor in EXECUTORS}
    for _ in range(rounds):
        for executor, found in taken.items():
            short, long = (programs[executor, n] for n in (1, 1 + CALLS))
            found.append((seconds_of(long) - seconds_of(short)) / CALLS * 1e6)
    failed = False
    for executor, found in taken.items():
        cost, bar = median(found), BARS[executor]
        failed |= cost > bar
        print(f"{executor:>6} {cost:8.3f} us per call (bar {bar:g})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
