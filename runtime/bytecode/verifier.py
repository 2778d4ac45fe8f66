"""
What bytecode has to keep before it runs: names, counts, types, registers and jumps are
right, views lie in their pools, no register is read before it is written on any way
that leads there, or after its memory was given back, and no function calls itself.
"""

from collections.abc import Sequence

from transom.runtime.bytecode.instructions import FORMS, Kind, Site
from transom.runtime.bytecode.model import Bytecode, Function, Instruction
from transom.runtime.main_failures import MainError
from transom.runtime.main_kernels import C_SCALARS
from transom.runtime.main_values import PoolMemory

MAX_FLOW_BITS = 1 << 31
"""Registers of a function, times its blocks."""


def verify(bytecode: Bytecode, pools: Sequence[PoolMemory]) -> None:
    """Raise `MainError` for what is wrong; `pools` are those of `bytecode.pools`."""
    _expect_distinct("function", [function.name for function in bytecode.functions])
    _expect_distinct("kernel", [kernel.name for kernel in bytecode.kernels])
    for kernel in bytecode.kernels:
        for type in kernel.types:
            if type.is_number and type.dtype.name not in C_SCALARS:
                raise MainError(f"'{kernel.name}' takes a number of type '{type}'")
        if any(number >= len(kernel.types) for number in kernel.writes):
            raise MainError(f"'{kernel.name}' writes what it does not take")
    for function in bytecode.functions:
        _Verifier(bytecode, pools, function).verify()
    _expect_no_recursion(bytecode)


def _expect_distinct(what: str, names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise MainError(f"expected each {what} once")


class _Verifier:
    """Looks at a function."""

    def __init__(
        self, bytecode: Bytecode, pools: Sequence[PoolMemory], function: Function
    ) -> None:
        self.bytecode, self.pools, self.function = bytecode, pools, function
        self.limits = {
            Kind.FUNCTION: len(bytecode.functions),
            Kind.KERNEL: len(bytecode.kernels),
            Kind.LABEL: len(function.instructions),
            Kind.MESSAGE: len(bytecode.messages),
            Kind.NUMBER: len(bytecode.numbers),
            Kind.POOL: len(bytecode.pools),
            Kind.WEIGHT: len(bytecode.weights),
        }

    def verify(self) -> None:
        function = self.function
        if function.arguments > len(function.registers):
            raise MainError(f"'{function.name}' has more arguments than registers")
        self.constants()
        if not function.instructions:
            raise MainError(f"'{function.name}' has no instructions")
        for number, instruction in enumerate(function.instructions):
            try:
                self.instruction(number, instruction)
            except MainError as e:
                raise self.error(number, str(e)) from None
        self.flow()

    def error(self, number: int, reason: str) -> MainError:
        op = self.function.instructions[number].op
        return MainError(f"'{self.function.name}', {number} '{op}': {reason}")

    def constants(self) -> None:
        function = self.function
        seen: set[int] = set()
        for register, number in function.constants:
            if register in seen or not (
                function.arguments <= register < len(function.registers)
                and number < len(self.bytecode.numbers)
                and function.registers[register].type
                == self.bytecode.numbers[number].type
            ):
                raise MainError(
                    f"'{function.name}': expected a number of its type for a "
                    f"register, but got {number} for {register}"
                )
            seen.add(register)
        self.fixed = seen

    def instruction(self, number: int, instruction: Instruction) -> None:
        form = FORMS.get(instruction.op)
        if form is None:
            raise MainError("unknown instruction")
        registers = self.function.registers
        for register in (*instruction.outs, *instruction.ins):
            if register >= len(registers):
                raise MainError(f"expected {len(registers)} registers, not {register}")
        if not self.fixed.isdisjoint(instruction.outs):
            raise MainError("expected no constant to be written")
        kinds = form.kinds(len(instruction.parameters))
        if kinds is None:
            raise MainError(f"unexpected {len(instruction.parameters)} parameters")
        for kind, parameter in zip(kinds, instruction.parameters, strict=True):
            limit = self.limits.get(kind)
            if limit is not None and parameter >= limit:
                raise MainError(
                    f"expected one of {limit} {kind.value}s, not {parameter}"
                )
        if form.goes_on and number + 1 == len(self.function.instructions):
            raise MainError("expected no end of the function behind it")
        form.check(
            Site(
                self.bytecode,
                self.pools,
                instruction,
                tuple(registers[register].type for register in instruction.outs),
                tuple(registers[register].type for register in instruction.ins),
                self.function.results,
            )
        )

    def successors(self, number: int) -> list[int]:
        instruction = self.function.instructions[number]
        form = FORMS[instruction.op]
        kinds = form.kinds(len(instruction.parameters)) or ()
        labels = [
            parameter
            for kind, parameter in zip(kinds, instruction.parameters, strict=True)
            if kind is Kind.LABEL
        ]
        return [*labels, number + 1] if form.goes_on else labels

    def flow(self) -> None:
        """
        What is written on all ways, as a bit per register, at the start of each block,
        until nothing changes.
        """
        function = self.function
        starts = self.block_starts()
        if len(starts) * len(function.registers) > MAX_FLOW_BITS:
            raise MainError(f"'{function.name}' is too large to be verified")
        arguments = (1 << function.arguments) - 1
        written = {0: sum((1 << register for register in self.fixed), arguments)}
        work = [0]
        while work:
            number = work.pop()
            known = written[number]
            while True:
                instruction = function.instructions[number]
                self.expect_written(number, instruction, known)
                known = self.after(instruction, known)
                following = self.successors(number)
                if following != [number + 1] or number + 1 in starts:
                    break
                number += 1
            for start in following:
                old = written.get(start)
                new = known if old is None else known & old
                if new != old:
                    written[start] = new
                    work.append(start)

    def block_starts(self) -> set[int]:
        """The instructions that others than the one before them go on at."""
        found = {0}
        for number in range(len(self.function.instructions)):
            following = self.successors(number)
            if following != [number + 1]:
                found.update(following)
        return found

    def expect_written(self, number: int, instruction: Instruction, known: int) -> None:
        for register in instruction.ins:
            if not known >> register & 1:
                name = self.function.registers[register].name
                raise self.error(number, f"'{name}' is read before it is written")

    @staticmethod
    def after(instruction: Instruction, known: int) -> int:
        """What is written when an instruction is done."""
        for register in instruction.outs:
            known |= 1 << register
        if instruction.op == "executor.free":
            known &= ~(1 << instruction.ins[0])
        return known


def _expect_no_recursion(bytecode: Bytecode) -> None:
    """Take functions away that call none which is left, until there are no others."""
    callers: list[set[int]] = [set() for _ in bytecode.functions]
    left = [0] * len(bytecode.functions)
    for caller, function in enumerate(bytecode.functions):
        called = {i.parameters[0] for i in function.instructions if i.op == "func.call"}
        left[caller] = len(called)
        for number in called:
            callers[number].add(caller)
    ready = [number for number, count in enumerate(left) if not count]
    while ready:
        for caller in callers[ready.pop()]:
            left[caller] -= 1
            if not left[caller]:
                ready.append(caller)
    for function, count in zip(bytecode.functions, left, strict=True):
        if count:
            name = function.name
            raise MainError(f"expected no function to call itself, but '{name}' may")
