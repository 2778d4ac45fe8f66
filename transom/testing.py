"""
Tests of what IR computes: run a module at every phase and compare the numbers.

```python
def test_my_model():
    check_phases(transom.load("model.mlir"))
```
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from transom.compiler import base_folder, entry_signature, find_main, to_code
from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.graph.shapes import DYNAMIC
from transom.dialects.parser import parse_ir
from transom.dialects.target import get_config
from transom.driver import PHASES, lower
from transom.interpreters.interpreter import Interpreter
from transom.interpreters.weights import WeightStore
from transom.registry import new_context
from transom.runtime.comparison import Difference, compare_all, largest_error
from transom.runtime.program import Program
from transom.runtime.signature import Array
from transom.runtime.values import random_elements

INTERPRETED = ("graph", "placed", "partitioned", "tensor")
"""Phases whose modules are interpreted with whole arrays, and so in reasonable time."""


class PhaseMismatch(AssertionError):
    """The numbers of a module moved at a phase; says where, and in which outputs."""

    def __init__(self, phase: str, way: str, differences: Sequence[Difference]) -> None:
        listed = "\n".join(map(str, differences))
        super().__init__(f"the numbers move at phase '{phase}' ({way}):\n{listed}")
        self.phase = phase
        self.way = way
        self.differences = tuple(differences)


@dataclass(frozen=True)
class PhaseResult:
    """A phase that gave the right numbers, and how it was run."""

    phase: str
    way: str
    module: ModuleOp
    error: float
    """The largest distance from the reference, in units of the largest value."""
    seconds: float
    """Wall time of interpreting, or of finishing the module and running it."""


def random_inputs(
    module: ModuleOp,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
    *,
    name: str | None = None,
) -> dict[str, Array]:
    """
    Inputs for a module: floats from a normal distribution, integers from 0 to 9.

    `sizes` are those of symbols; others take their lower bound, or 3.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, Array] = {}
    for label, tensor in entry_signature(find_main(module, name)).inputs:
        shape = [
            size if size != DYNAMIC else _size_of(symbol, sizes or {})
            for size, symbol in zip(
                tensor.get_shape(), graph.dim_symbols(tensor), strict=True
            )
        ]
        found[label] = random_elements(rng, shape, numpy_dtype(tensor.element_type))
    return found


def _size_of(symbol: graph.Symbol | None, sizes: Mapping[str, int]) -> int:
    if symbol is None:
        return 3
    return sizes.get(symbol.name, 3 if symbol.lower is None else symbol.lower)


def interpret(
    module: ModuleOp,
    inputs: Mapping[str, Any],
    *,
    base: Path | None = None,
    name: str | None = None,
    **options: Any,
) -> dict[str, Array]:
    """The outputs of a module by name, from the reference evaluation."""
    weights = WeightStore(module, base_folder(module) if base is None else base)
    interpreter = Interpreter(module, weights=weights, **options)
    main = find_main(module, name)
    signature = entry_signature(main)
    results = interpreter.run(
        main.sym_name.data, [inputs[label] for label, _ in signature.inputs]
    )
    return {
        label: value
        for (label, _), value in zip(signature.outputs, results, strict=True)
    }


def check_phases(
    module: ModuleOp,
    inputs: Mapping[str, Any] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    phases: Sequence[str] | None = None,
    relative: float | None = None,
    absolute: float | None = None,
    libraries: Sequence[str] = (),
    ctx: Context | None = None,
    **options: Any,
) -> list[PhaseResult]:
    """
    Run a module at every phase on the same inputs and compare with the reference.

    At each phase the module is printed and parsed again first. Up to `tensor` it is
    interpreted; at every phase it is finished to machine code from its text and run.
    Raises `PhaseMismatch` for the first phase whose numbers move. `options` go to the
    `Interpreter`, such as `externs`.
    """
    ctx = new_context() if ctx is None else ctx
    base = base_folder(module)
    if inputs is None:
        inputs = random_inputs(module, seed, sizes)
    expected = interpret(module, inputs, base=base, **options)
    names = [phase.name for phase in PHASES]
    reached = get_config(module).phase
    done: list[PhaseResult] = []
    for phase in names[0 if reached is None else names.index(reached) :]:
        module = lower(module, phase, ctx=ctx)
        if phases is not None and phase not in phases:
            continue
        module = reread(module, ctx)

        def compiled(module: ModuleOp = module) -> dict[str, Array]:
            machine = lower(module, names[-1], ctx=ctx)
            return Program(to_code(machine, base=base), libraries).run(inputs)

        def interpreted(module: ModuleOp = module) -> dict[str, Array]:
            return interpret(module, inputs, base=base, **options)

        ways = {"interpreted": interpreted} if phase in INTERPRETED else {}
        for way, run in {**ways, "compiled": compiled}.items():
            start = perf_counter()
            actual = run()
            seconds = perf_counter() - start
            differences = compare_all(actual, expected, relative, absolute)
            if differences:
                raise PhaseMismatch(phase, way, differences)
            error = max(
                largest_error(actual[name], expected[name]) for name in expected
            )
            done.append(PhaseResult(phase, way, module, error, seconds))
    return done


def reread(module: ModuleOp, ctx: Context | None = None) -> ModuleOp:
    """
    A module from its own text. Raises `VerifyException` if it does not print the same.
    """
    text = str(module)
    again = parse_ir(new_context() if ctx is None else ctx, text, "<printed>")
    if str(again) != text:
        raise VerifyException("the module does not print as it was parsed")
    return again
