"""
`make demo`: take a model through every phase, run it at each, and show what happened.

```text
python -m transom.tools.demo [FILE] [--keep FOLDER]
```

The module at each phase is written to a folder, to look at and to run again:
`transom-run build/demo/4.tensor.mlir --input random:0`.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from xdsl.dialects.builtin import ModuleOp, UnregisteredOp

from transom.dialects.diagnostics import OpError, Sources
from transom.driver import PHASES, load
from transom.passes.pipeline import PipelineError
from transom.runtime.files import write_whole
from transom.testing import PhaseMismatch, PhaseResult, check_phases, random_inputs

DEFAULT = Path(__file__).resolve().parents[1] / "examples" / "digits.mlir"

SHOWN_LINES = 24
"""Lines of the input that are printed."""


def dialects_of(module: ModuleOp, most: int = 4) -> str:
    """The dialects of a module with the number of ops, those with most ops first."""
    counts = Counter(
        op.name.split(".")[0]
        for op in module.walk()
        if not isinstance(op, ModuleOp | UnregisteredOp)
    )
    shown = [f"{name} {count}" for name, count in counts.most_common(most)]
    return ", ".join(shown) + (", …" if len(counts) > most else "")


def report(console: Console, results: Sequence[PhaseResult]) -> None:
    """A table of the phases: what each holds, how it was run, how far off it was."""
    table = Table(title="one module, every phase: text, checked and executed")
    table.add_column("phase", style="bold cyan", no_wrap=True)
    table.add_column("what holds")
    table.add_column("ops by dialect")
    table.add_column("run as", no_wrap=True)
    table.add_column("error", justify="right", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    promises = {phase.name: phase.promise for phase in PHASES}
    seen: set[str] = set()
    for result in results:
        first = result.phase not in seen
        seen.add(result.phase)
        table.add_row(
            result.phase if first else "",
            promises[result.phase] if first else "",
            dialects_of(result.module) if first else "",
            result.way,
            f"{result.error:.0e}" if result.error else "0",
            f"{result.seconds * 1000:.0f} ms",
            end_section=not first or result.way == "compiled",
        )
    console.print(table)


def keep(folder: Path, results: Sequence[PhaseResult]) -> None:
    """Write the module at each phase to a file."""
    folder.mkdir(parents=True, exist_ok=True)
    modules = {result.phase: result.module for result in results}
    for number, (phase, module) in enumerate(modules.items(), 1):
        write_whole(folder / f"{number}.{phase}.mlir", str(module) + "\n")


def runner() -> str:
    """How to call `transom-run` from this folder."""
    program = Path(sys.executable).with_name("transom-run")
    if program.is_relative_to(Path.cwd()):
        program = program.relative_to(Path.cwd())
    return str(program)


def main(args: Sequence[str] | None = None) -> int:
    """Exit status: 0 all phases agree, 1 they do not or the input is wrong."""
    parser = argparse.ArgumentParser("demo", description="a model at every phase")
    parser.add_argument("file", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--keep", type=Path, default=Path("build/demo"), metavar="DIR")
    parsed = parser.parse_args(args)
    console = Console()
    try:
        module = load(parsed.file)
        text = parsed.file.read_text().splitlines()
        console.print(Text(f"{parsed.file}", style="bold"))
        console.print(Syntax("\n".join(text[:SHOWN_LINES]), "llvm", line_numbers=True))
        if len(text) > SHOWN_LINES:
            console.print(f"  … and {len(text) - SHOWN_LINES} more lines")
        inputs = random_inputs(module, sizes={"N": 2})
        results = check_phases(module, inputs)
    except OpError as e:
        print(e.diagnostic().render(Sources()), file=sys.stderr)
        return 1
    except (PhaseMismatch, PipelineError, OSError) as e:
        print(f"demo: error: {e}", file=sys.stderr)
        return 1
    report(console, results)
    keep(parsed.keep, results)
    console.print("Every phase gave the numbers of the reference evaluation.")
    # Not wrapped, so that the line can be copied.
    print(f"The modules are in {parsed.keep}; run one again with")
    print(f"  {runner()} {parsed.keep}/4.tensor.mlir --input random:0")
    return 0


if __name__ == "__main__":
    sys.exit(main())
