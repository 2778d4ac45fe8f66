"""
The executor `vm`: main as bytecode, which is checked when it is loaded and then run
instruction by instruction.

It takes and gives what the compiled main does. What the instructions do with numbers
and memory is shared with the executor `graph` (`main_ops`); each becomes a function of
the registers, which for jumps gives the number of the instruction to go on at.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from transom.runtime import main_ops as ops
from transom.runtime.bytecode import Bytecode, Function, Instruction, read, verify
from transom.runtime.bytecode.text import register_names
from transom.runtime.main_failures import MainError
from transom.runtime.main_kernels import FindFunction, Kernel
from transom.runtime.main_memory import Allocator
from transom.runtime.main_ops import Environment, Step, values_of
from transom.runtime.main_values import (
    Observer,
    PoolMemory,
    Run,
    entry_of,
    shapes_of,
)
from transom.runtime.signature import Array

END = -1
"""What `func.return` goes on at."""


class VirtualMachine:
    """Bytecode that is loaded, with the functions that it calls."""

    def __init__(
        self,
        data: bytes,
        find: FindFunction,
        constants: Mapping[str, Array],
        pools: Sequence[PoolMemory],
    ) -> None:
        """Raises `MainError` for bytecode that is wrong."""
        self.bytecode = read(data)
        self.constants, self.pools = constants, pools
        self.allocator = Allocator()
        self.places = {pool.name: number for number, pool in enumerate(pools)}
        for name in self.bytecode.pools:
            if name not in self.places:
                raise MainError(f"expected a pool '{name}'")
        named = [pools[self.places[name]] for name in self.bytecode.pools]
        verify(self.bytecode, named)
        self.kernels = [
            Kernel(k.name, k.symbol, k.types, k.gives_status, find)
            for k in self.bytecode.kernels
        ]
        self.functions = [_Function(function) for function in self.bytecode.functions]
        for function in self.functions:
            function.load(self)

    def function(self, name: str) -> "_Function":
        """A function by name. Raises `MainError` if there is none."""
        for function in self.functions:
            if function.code.name == name:
                return function
        raise MainError(f"expected a function '{name}'")

    def entry(
        self, name: str, count: int, observer: Observer | None = None
    ) -> Callable[..., int]:
        """See `Walked`."""
        function = self.function(name)
        call, types = function.call, function.code.argument_types
        return entry_of(call, types, count, self.pools, self.allocator, observer)

    def shapes(self, name: str) -> Callable[..., int]:
        """See `Walked`."""
        return shapes_of(self.function(name).call, self.allocator)


class _Function:
    """A function, as steps."""

    def __init__(self, code: Function) -> None:
        self.code = code
        self.steps: list[Step] = []
        self.start: Environment = []

    def load(self, machine: VirtualMachine) -> None:
        """Make the steps; verified bytecode has some for each instruction."""
        code, numbers = self.code, machine.bytecode.numbers
        self.start = [None] * len(code.registers)
        for register, number in code.constants:
            self.start[register] = numbers[number].value
        loader = _Loader(machine, code)
        self.steps = [
            loader.step(number, instruction)
            for number, instruction in enumerate(code.instructions)
        ]

    def call(self, values: Sequence[Any], run: Run) -> Sequence[Any]:
        """The results for some arguments."""
        registers = self.start.copy()
        registers[: len(values)] = values
        steps, at = self.steps, 0
        while True:
            target = steps[at](registers, run)
            if target is None:
                at += 1
            elif target != END:
                at = target
            else:
                last = self.code.instructions[at]
                return values_of(registers, last.ins)


class _Loader:
    """Makes a step of an instruction."""

    def __init__(self, machine: VirtualMachine, code: Function) -> None:
        self.machine, self.code = machine, code
        self.names = register_names(code)

    def step(self, number: int, instruction: Instruction) -> Step:
        special = _CONTROL.get(instruction.op)
        if special is not None:
            return special(self.machine.bytecode, instruction)
        return ops.bound(self.compute(number, instruction), instruction.outs)

    def number(self, instruction: Instruction, parameter: int) -> int:
        """A parameter of the table of numbers."""
        numbers = self.machine.bytecode.numbers
        return int(numbers[instruction.parameters[parameter]].value)

    def compute(self, number: int, instruction: Instruction) -> ops.Compute:
        machine, (op, outs, ins, parameters) = self.machine, instruction
        types = [self.code.registers[register].type for register in outs]
        if op in ops.SCALAR_OPS:
            return ops.arithmetic(op, ins, types[0])
        if op.startswith("arith.cmp"):
            name, _, predicate = op.rpartition(".")
            return ops.comparison(name, predicate, ins)
        match op:
            case "arith.select":
                return ops.selection(ins)
            case "cf.assert":
                return ops.assertion(ins, machine.bytecode.messages[parameters[0]])
            case "executor.alloc":
                return ops.allocation(types[0], self.number(instruction, 0), ins)
            case "executor.call":
                entry = machine.bytecode.kernels[parameters[0]]
                names = [self.names[register] for register in ins]
                place = f"{self.code.name}:{number}"
                kernel = machine.kernels[parameters[0]]
                return ops.kernel_call(kernel, ins, names, entry.writes, place)
            case "executor.constant":
                name = machine.bytecode.weights[parameters[0]]
                return ops.weight(types[0], name, machine.constants)
            case "executor.copy":
                return ops.copy(ins)
            case "executor.free":
                return ops.giving_back(ins)
            case "executor.view":
                pool = machine.places[machine.bytecode.pools[parameters[0]]]
                start, size = (self.number(instruction, n) for n in (1, 2))
                return ops.view(types[0], pool, start, size, ins)
            case "func.call":
                function = machine.functions[parameters[0]]
                return lambda env, run: function.call(values_of(env, ins), run)
            case "memref.cast":
                return ops.same_memory(types[0], ins)
            case "memref.collapse_shape":
                ends = pairwise(accumulate(parameters, initial=0))
                return ops.collapse([range(*ends_) for ends_ in ends], ins)
            case "memref.dim":
                return ops.size_of(ins)
            case "memref.expand_shape":
                return ops.expand(types[0], ins)
            case "memref.load":
                return ops.load(ins)
            case "memref.store":
                return ops.store(ins)
            case "memref.subview":
                unknown = [None] * ((len(ins) - 1) // 3)
                return ops.part([unknown] * 3, parameters, ins)
            case "memref.view":
                return ops.byte_view(types[0], ins)
            case _:
                raise MainError(f"unknown instruction '{op}'")


def _move(bytecode: Bytecode, instruction: Instruction) -> Step:
    outs, ins = instruction.outs, instruction.ins

    def move(registers: Environment, run: Run) -> None:
        for out, value in zip(outs, [registers[n] for n in ins], strict=True):
            registers[out] = value

    return move


def _jump(bytecode: Bytecode, instruction: Instruction) -> Step:
    (target,) = instruction.parameters
    return lambda registers, run: target


def _branch(bytecode: Bytecode, instruction: Instruction) -> Step:
    (condition,), (then, otherwise) = instruction.ins, instruction.parameters
    return lambda registers, run: then if registers[condition] else otherwise


def _switch(bytecode: Bytecode, instruction: Instruction) -> Step:
    (flag,), (default, *cases) = instruction.ins, instruction.parameters
    targets: dict[int, int] = {}
    for number, target in zip(cases[::2], cases[1::2], strict=True):
        targets.setdefault(int(bytecode.numbers[number].value), target)
    return lambda registers, run: targets.get(int(registers[flag]), default)


def _return(bytecode: Bytecode, instruction: Instruction) -> Step:
    return lambda registers, run: END


_CONTROL: Mapping[str, Callable[[Bytecode, Instruction], Step]] = {
    "cf.br": _jump,
    "cf.cond_br": _branch,
    "cf.switch": _switch,
    "func.return": _return,
    "move": _move,
}
"""Steps that are more than a computation of results."""
