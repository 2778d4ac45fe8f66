"""
Where the time of a model goes: each kernel, with what it computes.

```sh
python -m benchmarks.kernels squeezenet            # a case of `compare`
python -m benchmarks.kernels model.onnx --rounds 30
```

The code of main calls each kernel through a function that adds up the processor time of
the thread; what is printed is the median of some runs.
"""

import argparse
import ctypes
import gc
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
)

import transom
from benchmarks.cases import UnknownCase, select
from transom.dialects import tir
from transom.driver import declare_devices
from transom.registry import new_context
from transom.runtime.elf_symbols import read_symbols, rename_symbol
from transom.runtime.jit import emit_object
from transom.runtime.program import Code, Program
from transom.testing import random_inputs

TIMES = "transom.times"

ARGUMENTS = 40
"""How many words are handed on: more than any kernel takes."""

WRAPPER = """
define i64 @"{name}"({parameters}) {{
  %from = call i64 @now()
  %result = call i64 @"{renamed}"({parameters})
  %to = call i64 @now()
  %slot = getelementptr i64, ptr @"{times}", i64 {number}
  %before = load i64, ptr %slot
  %spent = sub i64 %to, %from
  %after = add i64 %before, %spent
  store i64 %after, ptr %slot
  ret i64 %result
}}
declare i64 @"{renamed}"({types})
"""

CLOCK = """
@"{times}" = global [{count} x i64] zeroinitializer
declare i32 @clock_gettime(i32, ptr)
define internal i64 @now() {{
  %pair = alloca [2 x i64]
  call i32 @clock_gettime(i32 3, ptr %pair)
  %seconds = load i64, ptr %pair
  %second = getelementptr i64, ptr %pair, i64 1
  %nanos = load i64, ptr %second
  %scaled = mul i64 %seconds, 1000000000
  %time = add i64 %scaled, %nanos
  ret i64 %time
}}
"""
"""Clock 3 of Linux is the processor time of the thread."""


@dataclass
class Kernel:
    """A kernel of a program."""

    name: str
    calls: int = 0
    origins: list[str] = field(default_factory=list[str])
    """What its first call computes."""
    types: str = ""
    times: list[int] = field(default_factory=list[int])
    """Nanoseconds in a run, of all calls."""


def timed_code(code: Code) -> tuple[Code, list[str]]:
    """Code that adds up the time of each kernel, and the names of the kernels."""
    main, *objects = code.objects
    names: list[str] = []
    renamed: list[bytes] = []
    for data in objects:
        found = read_symbols(data)
        (name,) = found.defined + found.hidden
        renamed.append(rename_symbol(data, name, f"k{len(names)}"))
        names.append(name)
    wrappers = emit_object(wrapper_text(names), cpu=code.cpu, features=code.features)
    return replace(code, objects=(main, *renamed, wrappers)), names


def wrapper_text(names: Sequence[str]) -> str:
    """LLVM IR of a function for each kernel, which takes the kernel's place."""
    types = ", ".join(["i64"] * ARGUMENTS)
    parameters = ", ".join(f"i64 %{number}" for number in range(ARGUMENTS))
    parts = [CLOCK.format(times=TIMES, count=len(names))]
    parts += [
        WRAPPER.format(
            name=name,
            renamed=f"k{number}",
            times=TIMES,
            number=number,
            types=types,
            parameters=parameters,
        )
        for number, name in enumerate(names)
    ]
    return "".join(parts)


def measure(program: Program, names: Sequence[str], inputs: Any, rounds: int) -> Any:
    """The times of the kernels in each of some runs, and those of all."""
    module: Any = program._module  # pyright: ignore[reportPrivateUsage] # the counters
    times = (ctypes.c_int64 * len(names)).from_address(module.address(TIMES))
    outputs = program.run(inputs)
    runs: list[list[int]] = []
    gc.disable()
    for _ in range(rounds):
        ctypes.memset(times, 0, ctypes.sizeof(times))
        program.run(inputs, outputs)
        runs.append(list(times))
    gc.enable()
    return runs


def kernels_of(module: ModuleOp) -> dict[str, Kernel]:
    """The kernels that the main of a module at phase `tensor` calls."""
    found: dict[str, Kernel] = {}
    for op in module.walk():
        if isinstance(op, tir.CallOp):
            name = op.callee.string_value()
            kernel = found.setdefault(name, Kernel(name))
            kernel.calls += 1
            if kernel.calls == 1:
                kernel.origins = list(names_of(op.location))
                parts = [value.type for value in op.operands]
                kernel.types = " ".join(map(short, parts))
    return found


def names_of(location: LocationAttr) -> Iterator[str]:
    """The names of nodes in a location."""
    if isinstance(location, NameLoc):
        yield location.desc.data
    elif isinstance(location, FusedLoc):
        for part in cast("ArrayAttr[LocationAttr]", location.locations):
            yield from names_of(part)
    elif isinstance(location, FileLineColLoc):
        yield f"{location.line.data}:{location.column.data}"


def short(type: Any) -> str:
    """The sizes of a tensor."""
    return str(type).removeprefix("tensor<").partition(",")[0].removesuffix(">")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernels", description=(__doc__ or "").strip()
    )
    parser.add_argument("model", help="a case, or a file")
    parser.add_argument("--rounds", type=int, default=9, metavar="K")
    parser.add_argument(
        "--cpu", help="compile for this CPU, which runs here as well, not for the host"
    )
    parser.add_argument("--width", type=int, default=150, metavar="COLUMNS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(options.model)
        if not path.exists():
            try:
                (case,) = select([options.model])
            except (UnknownCase, ValueError) as e:
                parser.error(f"expected a file or one case: {e}")
            path = case.write(Path(folder))
        report(path, options.rounds, options.width, options.cpu)
    return 0


def report(path: Path, rounds: int, width: int, cpu: str | None = None) -> None:
    """Print the kernels of a model, the slowest first."""
    module = transom.load(path)
    if cpu is not None:
        devices = {"cpu": f'#llvm_cpu.target<cpu = "{cpu}">'}
        declare_devices(module, devices, new_context())
    kernels = kernels_of(transom.lower(module, "tensor"))
    code, names = timed_code(transom.compile(module).code)
    inputs = random_inputs(module, seed=1)
    runs = measure(Program(code), names, inputs, rounds)
    for number, name in enumerate(names):
        kernels.setdefault(name, Kernel(name)).times = [run[number] for run in runs]
    total = median(sum(run) for run in runs)
    print(f"{'ms':>9}{'%':>6}{'calls':>6}  kernel")
    ordered = sorted(kernels.values(), key=lambda k: -median(k.times or [0]))
    for kernel in ordered:
        spent = median(kernel.times or [0])
        text = f"{kernel.name} {' '.join(kernel.origins)} {kernel.types}"
        print(
            f"{spent / 1e6:9.3f}{100 * spent / total:6.1f}{kernel.calls:6}  "
            f"{text[:width]}"
        )
    print(f"{total / 1e6:9.3f}{100:6.1f}{'':6}  all kernels")


if __name__ == "__main__":
    sys.exit(main())
