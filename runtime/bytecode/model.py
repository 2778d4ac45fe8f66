"""
What bytecode holds.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from transom.runtime.main_values import Type


class Instruction(NamedTuple):
    """What is done with registers."""

    op: str
    """A name of `FORMS`."""
    outs: tuple[int, ...] = ()
    """Registers that are written."""
    ins: tuple[int, ...] = ()
    """Registers that are read, all of them before any is written."""
    parameters: tuple[int, ...] = ()
    """Numbers of instructions, or of entries of a table; `FORMS` says which."""


class Register(NamedTuple):
    """A place for a value."""

    type: Type
    name: str
    """For people; several may have the same."""


class Number(NamedTuple):
    """A constant: its elements' bytes, little-endian."""

    type: Type
    data: bytes

    @classmethod
    def of(cls, type: Type, value: Any) -> "Number":
        """The number of a type that is nearest to a value."""
        assert type.shape is None, "a number"
        array = np.array([value]).astype(type.dtype)
        return cls(type, array.tobytes())

    @property
    def value(self) -> Any:
        """The NumPy scalar."""
        return np.frombuffer(self.data, self.type.dtype)[0]


@dataclass(frozen=True)
class KernelEntry:
    """A C function that is called."""

    name: str
    symbol: str
    gives_status: bool
    types: tuple[Type, ...]
    writes: tuple[int, ...]
    """The arguments that it writes."""


@dataclass(frozen=True)
class Function:
    """A function of main's module; its first registers are the arguments."""

    name: str
    arguments: int
    results: tuple[Type, ...]
    registers: tuple[Register, ...]
    constants: tuple[tuple[int, int], ...]
    """Registers that hold numbers from the start, and are not written."""
    instructions: tuple[Instruction, ...]

    @property
    def argument_types(self) -> tuple[Type, ...]:
        """The types of the arguments."""
        return tuple(register.type for register in self.registers[: self.arguments])


@dataclass(frozen=True)
class Bytecode:
    """The tables that instructions refer to, and the functions."""

    messages: tuple[str, ...]
    numbers: tuple[Number, ...]
    pools: tuple[str, ...]
    weights: tuple[str, ...]
    kernels: tuple[KernelEntry, ...]
    functions: tuple[Function, ...]
