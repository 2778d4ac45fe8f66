"""
Run a module at every phase and compare the numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from transom.c_functions import Externs, lower_with
from transom.compiler import to_program
from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.graph.shapes import DYNAMIC
from transom.dialects.parser import parse_ir
from transom.dialects.target import get_config
from transom.dialects.weight_files import base_folder
from transom.driver import PHASES, lower
from transom.entry import entry_signature, find_main
from transom.interpreters.weights import WeightStore
from transom.registry import new_context
from transom.runtime.comparison import Difference, compare_all, largest_error
from transom.runtime.signature import Array
from transom.runtime.values import random_elements
from transom.targets.references import interpreter_of

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
    """
    The outputs of a module by name, from the reference evaluation: that of transom, and
    what the targets of the module bring.
    """
    weights = WeightStore(module, base_folder(module) if base is None else base)
    interpreter = interpreter_of(module, weights=weights, **options)
    main = find_main(module, name)
    signature = entry_signature(main)
    results = interpreter.run(
        main.sym_name.data, [inputs[label] for label, _ in signature.inputs]
    )
    return {
        label: value
        for (label, _), value in zip(signature.outputs, results, strict=True)
    }


@dataclass
class PhaseChecker:
    """Runs one module at one phase after the other, and compares."""

    inputs: Mapping[str, Any]
    base: Path
    ctx: Context
    relative: float | None = None
    absolute: float | None = None
    libraries: Sequence[str] = ()
    compiled_externs: Externs = "native"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    expected: dict[str, Array] = field(default_factory=dict[str, Array])

    def interpreted(self, module: ModuleOp) -> dict[str, Array]:
        return interpret(module, self.inputs, base=self.base, **self.options)

    def compiled(self, module: ModuleOp) -> dict[str, Array]:
        machine = module.clone()
        functions, _ = lower_with(machine, self.compiled_externs, self.ctx)
        program = to_program(
            machine,
            base=self.base,
            libraries=self.libraries,
            callbacks=self.options.get("artifacts"),
            functions=functions,
        )
        return program.run(self.inputs)

    def differences(self, actual: Mapping[str, Array]) -> list[Difference]:
        return compare_all(actual, self.expected, self.relative, self.absolute)

    def check(self, module: ModuleOp, phase: str) -> Iterator[PhaseResult]:
        """Run a module in the ways of its phase. Raises `PhaseMismatch`."""
        ways = {"interpreted": self.interpreted} if phase in INTERPRETED else {}
        if phase != PHASES[-1].name or self.compiled_externs == "native":
            ways["compiled"] = self.compiled
        for way, run in ways.items():
            start = perf_counter()
            actual = run(module)
            seconds = perf_counter() - start
            if differences := self.differences(actual):
                if way == "compiled":
                    # All modules from here on were finished with the same passes.
                    self.blame(module, phase)
                raise PhaseMismatch(phase, way, differences)
            error = max(
                (largest_error(actual[k], v) for k, v in self.expected.items()),
                default=0.0,
            )
            yield PhaseResult(phase, way, module, error, seconds)

    def blame(self, module: ModuleOp, phase: str) -> None:
        """
        Raise `PhaseMismatch` for the phase behind this one whose passes move numbers.

        The module at each phase is interpreted, down to scalar steps; what is right up
        to the last of those is wrong in the machine code.
        """
        names = [phase.name for phase in PHASES]
        for later in names[names.index(phase) + 1 : -1]:
            module = lower(module, later, ctx=self.ctx)
            try:
                differences = self.differences(self.interpreted(module))
            except OpError:  # too many steps, or an op without evaluation
                return
            if differences:
                raise PhaseMismatch(later, "interpreted", differences)
        raise PhaseMismatch(
            names[-1], "compiled", self.differences(self.compiled(module))
        )


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
    compiled_externs: Externs = "native",
    ctx: Context | None = None,
    **options: Any,
) -> list[PhaseResult]:
    """
    Run a module at every phase on the same inputs and compare with the reference.

    At each phase the module is printed and parsed again first. Up to `tensor` it is
    interpreted; at every phase it is finished to machine code from its text and run.
    Raises `PhaseMismatch` for the first phase whose numbers move, where the modules are
    small enough to tell: after a wrong run of machine code the later phases are
    interpreted too. `options` go to the `Interpreter`, such as `externs`.
    `compiled_externs` are `externs` of `transom.compile`; where they are not native, a
    module at phase `machine` is not run.
    """
    ctx = new_context() if ctx is None else ctx
    if inputs is None:
        inputs = random_inputs(module, seed, sizes)
    checker = PhaseChecker(
        inputs,
        base_folder(module),
        ctx,
        relative,
        absolute,
        libraries,
        compiled_externs,
        options,
    )
    checker.expected = checker.interpreted(module)
    names = [phase.name for phase in PHASES]
    reached = get_config(module).phase
    done: list[PhaseResult] = []
    for phase in names[0 if reached is None else names.index(reached) :]:
        module = lower(module, phase, ctx=ctx)
        if phases is None or phase in phases:
            module = reread(module, ctx)
            done += checker.check(module, phase)
    return done


def reread(module: ModuleOp, ctx: Context | None = None) -> ModuleOp:
    """
    A module from its own text, as from a file in the folder of the module's. Raises
    `VerifyException` if it does not print the same.
    """
    text, file = str(module), base_folder(module) / "<printed>"
    again = parse_ir(new_context() if ctx is None else ctx, text, str(file))
    if str(again) != text:
        raise VerifyException("the module does not print as it was parsed")
    return again
