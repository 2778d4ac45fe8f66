"""
Programs of the virtual machine, as text in JSON, and the machine itself.

A program has numbered values: inputs, constants, then what its steps compute. A value
whose size is known lives in the workspace, at a place of its own.
"""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from transom.dialects.executor import EmittedCode

FORMAT = "toy_vm.program"
ENTRY = "run"
ALIGNMENT = 16


def relu(x: Any) -> Any:
    return np.maximum(x, np.float32(0))


def total(x: Any, axes: Sequence[int], keepdims: bool) -> Any:
    return x.sum(tuple(axes), keepdims=keepdims)


OPS: Mapping[str, Callable[..., Any]] = {
    "add": cast("Callable[..., Any]", np.add),
    "matmul": cast("Callable[..., Any]", np.matmul),
    "mul": cast("Callable[..., Any]", np.multiply),
    "relu": relu,
    "sum": total,
}
"""What a step can compute, by its name: on arrays of f32, and attributes."""


class VmError(ValueError):
    """A program that the machine can not run."""


@dataclass(frozen=True)
class Step:
    """One op on some values; a place in the workspace if its size is known."""

    op: str
    values: tuple[int, ...]
    attributes: Mapping[str, Any]
    place: int | None
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """Constants and steps; `results` are numbers of values."""

    inputs: int
    constants: tuple[Any, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    workspace: int

    def to_text(self) -> str:
        """The text of a program."""
        constants = [
            {
                "shape": list(array.shape),
                "elements": base64.b64encode(array.tobytes()).decode(),
            }
            for array in self.constants
        ]
        return json.dumps(
            {
                "entry": ENTRY,
                "inputs": self.inputs,
                "constants": constants,
                "steps": [asdict(step) for step in self.steps],
                "results": self.results,
                "workspace": self.workspace,
            }
        )

    @staticmethod
    def from_text(text: bytes) -> "Program":
        """The program of a text."""
        data = json.loads(text)
        return Program(
            data["inputs"],
            tuple(
                np.frombuffer(
                    base64.b64decode(constant["elements"]), np.float32
                ).reshape(constant["shape"])
                for constant in data["constants"]
            ),
            tuple(Step(**step) for step in data["steps"]),
            tuple(data["results"]),
            data["workspace"],
        )


def run(code: EmittedCode, arrays: Sequence[Any]) -> None:
    """Run a program on its inputs, memory for its results, and its workspace."""
    if code.entry_name != ENTRY:
        raise VmError(f"no function '{code.entry_name}' in the program")
    program = Program.from_text(code.payload_bytes)
    octets = arrays[-1].view(np.uint8) if program.workspace else None
    values = [*arrays[: program.inputs], *program.constants]
    for step in program.steps:
        result = OPS[step.op](*(values[v] for v in step.values), **step.attributes)
        if step.place is not None:
            assert octets is not None, "the workspace is not empty"
            memory = octets[step.place : step.place + result.nbytes]
            kept = memory.view(np.float32).reshape(step.shape)
            kept[...] = result
            result = kept
        values.append(result)
    for array, value in zip(arrays[program.inputs :], program.results, strict=False):
        array[...] = values[value]
