"""
Command streams of the accelerator, as text in JSON, and a simulator of it.

A stream holds several functions. A command is a list: `["dma", source, destination,
tag]` starts a copy and `["wait", tag]` waits for it; `["copy", source, destination]` is
both; `["compute", kind, inputs, output, attributes]` runs an engine. An operand is a
part of an argument: its number, an offset in bytes, a shape, a dtype.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from transom.dialects.executor import EmittedCode

FORMAT = "toy_npu.commands"
DTYPES = {"bfloat16": np.dtype(bfloat16), "float32": np.dtype(np.float32)}

Command = list[Any]


class SimulationError(RuntimeError):
    """Commands that the accelerator would not run, or run wrongly."""


def compute(
    kind: str, inputs: Sequence[Any], output: Any, attributes: Mapping[str, Any]
) -> None:
    """Run an engine: it computes in f32, and writes its output once."""
    operands: list[Any] = [*(array.astype(np.float32) for array in inputs), None, None]
    x, y = operands[:2]
    match kind:
        case "add":
            result = x + y
        case "fill":
            result = np.full(output.shape, attributes["value"])
        case "gelu":
            result = 0.5 * x * (1 + _erf(x.astype(np.float64) / math.sqrt(2)))
        case "matmul":
            result = np.matmul(x, y)
        case "mul":
            result = x * y
        case "relu":
            result = np.maximum(x, np.float32(0))
        case "sum":
            result = x.sum(tuple(attributes["axes"])).reshape(output.shape)
        case _:
            raise SimulationError(f"no engine computes '{kind}'")
    output[...] = result.astype(output.dtype)


_erf: Any = np.vectorize(math.erf, otypes=[np.float64])


def to_text(functions: Mapping[str, Sequence[Command]]) -> str:
    """The text of a stream: a command per line."""
    parts: list[str] = []
    for name, commands in functions.items():
        lines = ",\n".join(f"    {json.dumps(command)}" for command in commands)
        parts.append(f"  {json.dumps(name)}: [\n{lines}\n  ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def commands_of(code: EmittedCode) -> Sequence[Command]:
    """The commands of a function."""
    functions = json.loads(code.payload_bytes)
    if code.entry_name not in functions:
        raise SimulationError(f"no function '{code.entry_name}' in the stream")
    return functions[code.entry_name]


def run(code: EmittedCode, arrays: Sequence[Any]) -> None:
    """Simulate a function on the arrays that are its arguments."""
    machine = Machine(arrays)
    for command in commands_of(code):
        machine.execute(command)
    if machine.pending:
        tags = ", ".join(map(str, machine.pending))
        raise SimulationError(f"nothing waits for copy {tags}")


class Machine:
    """
    The accelerator during one function.

    A copy is done when it is waited for. Until then its destination holds no numbers,
    and a command that touches it is refused.
    """

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.arrays = arrays
        self.pending: dict[int, tuple[Any, Any]] = {}

    def operand(self, operand: Sequence[Any]) -> Any:
        """The part of an argument that an operand is."""
        number, offset, shape, name = operand
        dtype = DTYPES[name]
        octets = self.arrays[number].reshape(-1).view(np.uint8)
        size = math.prod(shape) * dtype.itemsize
        if offset + size > octets.size:
            raise SimulationError(f"no bytes {offset} to {offset + size} in {number}")
        return octets[offset : offset + size].view(dtype).reshape(shape)

    def execute(self, command: Command) -> None:
        """Run one command."""
        match command:
            case ["dma", source, destination, tag]:
                target = self.touched(destination)
                if target.dtype.kind == "f":
                    target[...] = np.nan
                self.pending[tag] = (self.operand(source), target)
            case ["wait", tag]:
                source, target = self.pending.pop(tag)
                target[...] = source
            case ["copy", source, destination]:
                self.touched(destination)[...] = self.touched(source)
            case ["compute", kind, inputs, output, attributes]:
                values = [self.touched(operand) for operand in inputs]
                compute(kind, values, self.touched(output), attributes)
            case _:
                raise SimulationError(f"unknown command '{command[0]}'")

    def touched(self, operand: Sequence[Any]) -> Any:
        """An operand that no copy is under way to."""
        array = self.operand(operand)
        for tag, (_, target) in self.pending.items():
            if np.may_share_memory(array, target):
                raise SimulationError(f"copy {tag} to an operand is not done")
        return array


def cycles(code: EmittedCode, lanes: int) -> int:
    """
    The time of a function: copies move 4 bytes per cycle, engines make one operation
    per lane and cycle; both work at the same time.
    """
    now = dma_free = 0
    done: dict[int, int] = {}
    for command in commands_of(code):
        match command:
            case ["dma", source, _, tag]:
                dma_free = max(now, dma_free) + _size(source) // 4
                done[tag] = dma_free
            case ["wait", tag]:
                now = max(now, done[tag])
            case ["copy", source, _]:
                now = dma_free = max(now, dma_free) + _size(source) // 4
            case ["compute", kind, inputs, output, _]:
                elements = max(math.prod(o[2]) for o in (*inputs, output))
                if kind == "matmul":
                    elements = math.prod(output[2]) * inputs[0][2][-1]
                now += -(-elements // lanes)
            case _:
                raise SimulationError(f"unknown command '{command[0]}'")
    return now


def _size(operand: Sequence[Any]) -> int:
    return math.prod(operand[2]) * DTYPES[operand[3]].itemsize
