"""
`transom show`: what a saved program holds, and its main where that is no machine code.

```text
executor  vm
machine   x86_64-unknown-linux-gnu, znver4
input     x: float32[N, 8]
output    y: float32[N, 8]
pool      main.workspace: 4096 bytes, aligned to 64
code      2 objects, 5144 bytes
weights   1, 256 bytes

bytecode 1
kernel @softmax_10e172cb: (float32[?,8], float32[?,8]) -> status
func @main(%x: float32[?,8], %y: float32[?,8]) {
…
```
"""

import argparse
from collections.abc import Iterator

from transom.runtime.archive import ArchiveError, read
from transom.runtime.bytecode import read as read_bytecode
from transom.runtime.bytecode import text_of, verify
from transom.runtime.main_failures import MainError
from transom.runtime.program import Code
from transom.tools.output_files import write_stdout
from transom.tools.reporter import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("file", help="a program that was saved")


def run(args: argparse.Namespace, reporter: Reporter) -> bool:
    """Print it. False if the file is none."""
    try:
        code = read(args.file)
        text = "".join(f"{line}\n" for line in lines(code)) + main_of(code)
    except (ArchiveError, MainError) as e:
        reporter.error(str(e))
        return False
    write_stdout(text)
    return True


def lines(code: Code) -> Iterator[str]:
    """What the program takes, gives and needs."""
    yield f"executor  {code.executor}"
    yield f"machine   {code.triple}, {code.cpu}"
    for spec in code.signature.inputs:
        yield f"input     {spec.name}: {spec}"
    for spec in code.signature.outputs:
        yield f"output    {spec.name}: {spec}"
    for pool in code.pools:
        yield f"pool      {pool.name}: {pool.size} bytes, aligned to {pool.alignment}"
    size = sum(map(len, code.objects))
    yield f"code      {len(code.objects)} objects, {size} bytes"
    weights = code.constants.values()
    yield f"weights   {len(weights)}, {sum(array.nbytes for array in weights)} bytes"
    for artifact in code.artifacts:
        yield f"artifact  {artifact.name}: {len(artifact.payload_bytes)} bytes"


def main_of(code: Code) -> str:
    """Main as text, behind an empty line; nothing for machine code."""
    if code.graph is not None:
        return f"\n{code.graph}"
    if code.bytecode is None:
        return ""
    bytecode = read_bytecode(code.bytecode)
    by_name = {pool.name: pool for pool in code.pools}
    missing = [name for name in bytecode.pools if name not in by_name]
    if missing:
        raise MainError(f"expected a pool '{missing[0]}'")
    verify(bytecode, [by_name[name] for name in bytecode.pools])
    return f"\n{text_of(bytecode)}"
