"""
Runs of a module in the middle of a pipeline, on the same inputs.

A module is interpreted, or run as machine code once it is that. What can neither be
interpreted nor is machine code may be *finished*: lowered to machine code by the passes
that follow, which says nothing about a pass alone. Machine code runs in a process of
its own, as wrong code may end it.
"""

import faulthandler
import os
import pickle
import select
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from transom.compiler import signature_of, to_program
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import SIGNATURE
from transom.driver import PHASES, lower
from transom.entry import entry_signature, find_main
from transom.interpreters.interpreter import MAX_STEPS
from transom.runtime.comparison import compare, tolerance_of
from transom.runtime.program import Program
from transom.runtime.signature import Array
from transom.runtime.values import Words
from transom.testing import interpret

Arrays = Mapping[str, Array]

MAX_SECONDS = 60.0
"""Time that machine code has before it is taken for code that does not end."""


class Way(Enum):
    """How a module is run."""

    INTERPRETED = "interpreted"
    MACHINE_CODE = "as machine code"
    FINISHED = "finished by the passes that follow"


@dataclass(frozen=True)
class NotRun:
    """Why a module cannot be run."""

    reason: str


@dataclass(frozen=True)
class Outputs:
    """What came out of a run."""

    arrays: Arrays
    way: Way


@dataclass(frozen=True)
class Moved:
    """An output that is not what it was."""

    name: str
    message: str

    def __str__(self) -> str:
        return f"output '{self.name}': {self.message}"


@dataclass(frozen=True)
class Tolerances:
    """How far numbers may move; None is by element type."""

    relative: float | None = None
    absolute: float | None = None


@dataclass
class Runner:
    """
    Runs modules on the same inputs, given as the words of a command line.

    Where a module has inputs of other names or shapes than the first one, as one that
    was made smaller has, those are random numbers of the same seed.
    """

    words: Sequence[str]
    base: Path
    ctx: Context
    function: str | None = None
    max_steps: int = MAX_STEPS
    tolerances: Tolerances = Tolerances()
    _inputs: dict[str, Array] = field(default_factory=dict[str, Array], init=False)

    @property
    def inputs(self) -> Arrays:
        """The inputs by name."""
        return self._inputs

    def set_inputs(self, module: ModuleOp) -> None:
        """Make the inputs of a module. Raises `InputError`, `OpError`, `OSError`."""
        signature = signature_of(entry_signature(find_main(module, self.function)))
        words = self.words or ("random:0",)
        self._inputs = Words(words).arrays(signature.inputs, complete=True)

    def inputs_for(self, module: ModuleOp) -> dict[str, Array]:
        """The inputs of a module that may have other ones than the first."""
        signature = signature_of(entry_signature(find_main(module, self.function)))
        others = Words(("random:0",)).arrays(signature.inputs, complete=True)
        for name, array in others.items():
            known = self._inputs.get(name)
            if known is not None and (known.shape, known.dtype) == (
                array.shape,
                array.dtype,
            ):
                others[name] = known
        return others

    def run(
        self, module: ModuleOp, inputs: Arrays | None = None, *, finish: bool = False
    ) -> Outputs | NotRun:
        """Run a module, which is not changed. `finish` allows to finish it first."""
        given = self._inputs if inputs is None else inputs
        if is_machine_code(module):
            return self._machine_code(module, given, Way.MACHINE_CODE)
        reason = ""
        try:
            arrays = interpret(
                module,
                given,
                base=self.base,
                name=self.function,
                max_steps=self.max_steps,
            )
            return Outputs(arrays, Way.INTERPRETED)
        except OpError as e:
            reason = e.message
        except Exception as e:  # what a pass left may be wrong in any way
            reason = f"{type(e).__name__}: {str(e).strip().partition(chr(10))[0]}"
        if not finish:
            return NotRun(reason)
        finished = self.run_finished(module, given)
        if isinstance(finished, NotRun):
            return NotRun(f"{reason}; {finished.reason}")
        return finished

    def run_finished(
        self, module: ModuleOp, inputs: Arrays | None = None
    ) -> Outputs | NotRun:
        """Lower a copy of a module by all passes that follow, and run that."""
        try:
            machine = lower(module, PHASES[-1].name, ctx=self.ctx)
        except Exception as e:  # what a pass left may be wrong in any way
            message = (
                e.message if isinstance(e, OpError) else f"{type(e).__name__}: {e}"
            )
            return NotRun(f"finishing it fails: {message.partition(chr(10))[0]}")
        given = self._inputs if inputs is None else inputs
        return self._machine_code(machine, given, Way.FINISHED)

    def _machine_code(
        self, module: ModuleOp, inputs: Arrays, way: Way
    ) -> Outputs | NotRun:
        try:
            program = to_program(module, base=self.base)
        except Exception as e:  # plug-in boundary: emission of targets
            message = e.message if isinstance(e, OpError) else str(e)
            return NotRun(message.partition("\n")[0])
        found = run_apart(program, inputs)
        return found if isinstance(found, NotRun) else Outputs(found, way)

    def moved(self, actual: Arrays, expected: Arrays) -> list[Moved]:
        """The outputs that are beyond the tolerance."""
        found: list[Moved] = []
        for name, wanted in expected.items():
            if name not in actual:
                found.append(Moved(name, "there is no such output"))
                continue
            tolerance = tolerance_of(
                wanted.dtype.name, self.tolerances.relative, self.tolerances.absolute
            )
            difference = compare(name, actual[name], wanted, tolerance)
            if difference is not None:
                where = largest_at(actual[name], wanted)
                found.append(Moved(name, difference.reason + where))
        return found


def is_machine_code(module: ModuleOp) -> bool:
    """Whether what a program starts with is a function of the `llvm` dialect."""
    return any(
        op.name == "llvm.func" and SIGNATURE in op.attributes for op in module.body.ops
    )


def largest_at(actual: Array, expected: Array) -> str:
    """Where two arrays of one shape are furthest apart, for a message."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return ""
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        distance = np.abs(a - e)
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    distance = np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))
    place = np.unravel_index(int(np.argmax(distance)), distance.shape)
    index = [int(i) for i in place]
    return f"; at {index} {expected[place]} is expected, but {actual[place]} is there"


def run_apart(program: Program, inputs: Arrays) -> dict[str, Array] | NotRun:
    """Run a program in a process of its own, where there can be one."""
    if not hasattr(os, "fork"):
        return _run(program, inputs)
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            faulthandler.disable()  # the parent tells what happened
            os.close(receive)
            with os.fdopen(send, "wb") as stream:
                pickle.dump(_run(program, inputs), stream)
        finally:
            os._exit(0)
    os.close(send)
    data = _read_all(receive, child)
    _, status = os.waitpid(child, 0)
    if data is None:
        return NotRun(f"the code does not end within {MAX_SECONDS:.0f} s")
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return NotRun(f"the code ends the process with {name}")
    return pickle.loads(data)


def _run(program: Program, inputs: Arrays) -> dict[str, Array] | NotRun:
    try:
        return program.run(inputs)
    except Exception as e:  # whatever wrong code comes to
        return NotRun(f"{type(e).__name__}: {e}")


def _read_all(descriptor: int, child: int) -> bytes | None:
    """What a child sends; None, and an end to it, if it takes too long."""
    parts: list[bytes] = []
    end = time.monotonic() + MAX_SECONDS
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        while True:
            ready, _, _ = select.select([stream], [], [], end - time.monotonic())
            if not ready:
                os.kill(child, signal.SIGKILL)
                return None
            part = stream.read(1 << 20)
            if not part:
                return b"".join(parts)
            parts.append(part)
