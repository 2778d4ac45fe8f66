"""
Main as bytecode for the executor `vm`: from a module at phase `executable`.

Control flow becomes branches between blocks (`lower-scf-to-cf`), and blocks follow each
other; what is passed to a block is moved to the registers of its arguments. Each value
has a register of its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import arith, cf, func, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from transom.dialects import executor
from transom.dialects.diagnostics import OpError
from transom.lowering.lower_scf_to_cf import LowerScfToCfPass
from transom.main_calls import (
    KernelSignatures,
    dropped_axes,
    predicate_of,
    static_numbers,
    type_text,
)
from transom.runtime.bytecode import (
    Bytecode,
    Function,
    Instruction,
    KernelEntry,
    Number,
    Register,
    write,
)
from transom.runtime.bytecode.instructions import FORMS, INDEX
from transom.runtime.main_failures import MainError
from transom.runtime.main_values import Type

EXECUTOR = "vm"


def bytecode_of(executable: ModuleOp, machine: ModuleOp) -> bytes:
    """
    Bytecode of main, of a module at phase `executable`; `machine` is the same at phase
    `machine`.

    Raises `OpError` at what bytecode cannot say.
    """
    module = executable.clone()
    LowerScfToCfPass().apply(Context(), module)
    functions = [
        op
        for op in module.body.ops
        if isinstance(op, func.FuncOp) and not op.is_declaration
    ]
    _expect_no_recursion(functions)
    tables = _Tables(machine, [function.sym_name.data for function in functions])
    found = tuple(_Function(tables, function).encode() for function in functions)
    try:
        return write(tables.bytecode(found))
    except MainError as e:
        raise OpError(executable, f"executor '{EXECUTOR}': {e}") from None


def _expect_no_recursion(functions: Sequence[func.FuncOp]) -> None:
    """Raise `OpError` at a call that leads back to the function that it is in."""
    calls = {
        function.sym_name.data: [
            op
            for op in function.walk()
            if isinstance(op, func.CallOp | executor.ShapeCallOp)
        ]
        for function in functions
    }
    for name in calls:
        seen: set[str] = set()
        work = [name]
        while work:
            for op in calls[work.pop()]:
                callee = op.callee.string_value()
                if callee == name:
                    raise OpError(
                        op,
                        f"executor '{EXECUTOR}' cannot run '@{name}', "
                        "which calls itself",
                    )
                if callee in calls and callee not in seen:
                    seen.add(callee)
                    work.append(callee)


class _Tables:
    """What the functions refer to, each thing once."""

    def __init__(self, machine: ModuleOp, functions: Sequence[str]) -> None:
        self.signatures = KernelSignatures(machine, EXECUTOR)
        self.functions = functions
        self.messages: dict[str, int] = {}
        self.numbers: dict[Number, int] = {}
        self.pools: dict[str, int] = {}
        self.weights: dict[str, int] = {}
        self.kernels: dict[str, int] = {}
        self.entries: list[KernelEntry] = []

    def message(self, text: str) -> int:
        return self.messages.setdefault(text, len(self.messages))

    def number(self, value: Any, type: Type = INDEX) -> int:
        number = Number.of(type, value)
        return self.numbers.setdefault(number, len(self.numbers))

    def pool(self, name: str) -> int:
        return self.pools.setdefault(name, len(self.pools))

    def weight(self, name: str) -> int:
        return self.weights.setdefault(name, len(self.weights))

    def kernel(self, op: executor.CallOp) -> int:
        name = op.callee.string_value()
        if name not in self.kernels:
            signature = self.signatures.of(op)
            self.kernels[name] = len(self.entries)
            self.entries.append(
                KernelEntry(
                    name,
                    signature.symbol,
                    signature.gives_status,
                    tuple(map(Type.parse, signature.types)),
                    tuple(signature.writes),
                )
            )
        return self.kernels[name]

    def bytecode(self, functions: tuple[Function, ...]) -> Bytecode:
        return Bytecode(
            tuple(self.messages),
            tuple(self.numbers),
            tuple(self.pools),
            tuple(self.weights),
            tuple(self.entries),
            functions,
        )


class _Function:
    """Encodes a function."""

    def __init__(self, tables: _Tables, op: func.FuncOp) -> None:
        self.tables, self.op = tables, op
        self.registers: list[Register] = []
        self.numbers: dict[SSAValue, int] = {}
        """The register of each value."""
        self.constants: dict[int, int] = {}
        """The register of each number."""
        self.instructions: list[Instruction] = []
        self.starts: dict[Block, int] = {}
        self.jumps: list[tuple[int, tuple[Block | int, ...]]] = []
        """Instructions whose parameters are blocks, until these have places."""

    def encode(self) -> Function:
        blocks = list(self.op.body.blocks)
        self.define_all(blocks)
        for block, following in zip(blocks, (*blocks[1:], None), strict=True):
            self.starts[block] = len(self.instructions)
            for op in block.ops:
                self.encode_op(op, following)
        for number, parameters in self.jumps:
            placed = [self.starts[p] if isinstance(p, Block) else p for p in parameters]
            jump = self.instructions[number]
            self.instructions[number] = jump._replace(parameters=tuple(placed))
        return Function(
            self.op.sym_name.data,
            len(blocks[0].args),
            tuple(self.type(type) for type in self.op.function_type.outputs),
            tuple(self.registers),
            tuple((register, number) for number, register in self.constants.items()),
            tuple(self.instructions),
        )

    def type(self, type: Attribute, op: Operation | None = None) -> Type:
        return Type.parse(type_text(type, self.op if op is None else op, EXECUTOR))

    def register(self, type: Type, name: str) -> int:
        self.registers.append(Register(type, name))
        return len(self.registers) - 1

    def define_all(self, blocks: Sequence[Block]) -> None:
        """Give a register to each value; arguments of the function come first."""
        for block in blocks:
            for argument in block.args:
                self.define(argument, self.op)
        for block in blocks:
            for op in block.ops:
                if isinstance(op, arith.ConstantOp):
                    self.numbers[op.result] = self.constant_of(op)
                else:
                    for result in op.results:
                        self.define(result, op)

    def define(self, value: SSAValue, op: Operation) -> None:
        name = value.name_hint or "v"
        self.numbers[value] = self.register(self.type(value.type, op), name)

    def constant_of(self, op: arith.ConstantOp) -> int:
        value = op.value
        if not isinstance(value, IntegerAttr | FloatAttr):
            raise self.refused(op, "has numbers as constants only")
        number, type = value.value.data, self.type(op.result.type, op)
        is_bit = type.dtype.name == "bool"
        return self.constant(int(number) & 1 if is_bit else number, type)

    def constant(self, value: Any, type: Type = INDEX) -> int:
        """The register that holds a number."""
        number = self.tables.number(value, type)
        if number not in self.constants:
            self.constants[number] = self.register(type, "c")
        return self.constants[number]

    def of(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        return tuple(self.numbers[value] for value in values)

    def emit(
        self,
        name: str,
        outs: Sequence[int] = (),
        ins: Sequence[int] = (),
        parameters: Sequence[int] = (),
    ) -> None:
        instruction = Instruction(name, tuple(outs), tuple(ins), tuple(parameters))
        self.instructions.append(instruction)

    def encode_op(self, op: Operation, following: Block | None) -> None:
        match op:
            case arith.ConstantOp():
                pass  # its register holds it from the start
            case executor.SyncOp():
                pass  # whatever was asked for is done by now
            case cf.BranchOp():
                self.pass_on(op.arguments, op.successor)
                self.jump(op.successor, following)
            case cf.ConditionalBranchOp():
                self.branch(op)
            case cf.SwitchOp():
                self.switch(op)
            case _:
                self.encode_simple(op)

    def encode_simple(self, op: Operation) -> None:
        """An op that is one instruction."""
        name, parameters = self.details(op)
        if name not in FORMS:
            raise self.refused(op, f"has no op '{op.name}'")
        if isinstance(op, memref.SubviewOp):
            ins = (self.numbers[op.source], *self.part(op))
        else:
            ins = self.of(op.operands)
        self.emit(name, self.of(op.results), ins, parameters)

    def details(self, op: Operation) -> tuple[str, Sequence[int]]:
        """The name of the instruction, and its parameters."""
        tables = self.tables
        match op:
            case arith.CmpiOp() | arith.CmpfOp():
                return f"{op.name}.{predicate_of(op)}", ()
            case cf.AssertOp():
                return op.name, [tables.message(op.msg.data)]
            case executor.AllocOp():
                return op.name, [tables.number(op.alignment_bytes)]
            case executor.CallOp():
                return op.name, [tables.kernel(op)]
            case executor.ConstantOp():
                return op.name, [tables.weight(op.weight.string_value())]
            case executor.ShapeCallOp() | func.CallOp():
                callee = tables.functions.index(op.callee.string_value())
                return "func.call", [callee]
            case executor.ViewOp():
                pool = tables.pool(op.pool.string_value())
                numbers = map(tables.number, (op.offset_bytes, op.size_bytes))
                return op.name, [pool, *numbers]
            case memref.CollapseShapeOp():
                groups = cast("ArrayAttr[ArrayAttr[Any]]", op.reassociation)
                return op.name, [len(group) for group in groups]
            case memref.SubviewOp():
                return op.name, dropped_axes(op)
            case _:
                return _RENAMED.get(op.name, op.name), ()

    def part(self, op: memref.SubviewOp) -> list[int]:
        """The registers of all offsets, sizes and strides."""
        dynamic = iter((*op.offsets, *op.sizes, *op.strides))
        return [
            self.numbers[next(dynamic)] if number is None else self.constant(number)
            for name in ("offsets", "sizes", "strides")
            for number in static_numbers(op, name)
        ]

    def refused(self, op: Operation, reason: str) -> OpError:
        return OpError(op, f"executor '{EXECUTOR}' {reason}")

    # Control flow

    def pass_on(self, values: Sequence[SSAValue], target: Block) -> None:
        """Move values to the arguments of a block."""
        pairs = [
            (self.numbers[argument], self.numbers[value])
            for argument, value in zip(target.args, values, strict=True)
            if argument is not value
        ]
        if pairs:
            outs, ins = zip(*pairs, strict=True)
            self.emit("move", outs, ins)

    def jump(self, target: Block, following: Block | None) -> None:
        if target is not following:
            self.jump_to("cf.br", (), (target,))

    def jump_to(
        self, name: str, ins: Sequence[int], parameters: Sequence[Block | int]
    ) -> None:
        self.jumps.append((len(self.instructions), tuple(parameters)))
        self.emit(name, (), ins)

    def branch(self, op: cf.ConditionalBranchOp) -> None:
        """Values that are passed on are moved behind the branch, on the way."""
        ways = (
            (op.then_arguments, op.then_block),
            (op.else_arguments, op.else_block),
        )
        at = len(self.instructions)
        self.emit("cf.cond_br", (), self.of([op.cond]))
        self.jumps.append((at, self.ways(ways)))

    def ways(
        self, ways: Sequence[tuple[Sequence[SSAValue], Block]]
    ) -> tuple[Block | int, ...]:
        """Where each way goes on: at its block, or at moves that lead to it."""
        found: list[Block | int] = []
        for values, target in ways:
            if not values:
                found.append(target)
                continue
            found.append(len(self.instructions))
            self.pass_on(values, target)
            self.jump_to("cf.br", (), (target,))
        return tuple(found)

    def switch(self, op: cf.SwitchOp) -> None:
        type = self.type(op.flag.type, op)
        values = op.case_values
        listed_values = () if values is None else values.get_values()
        numbers = cast("Sequence[int]", listed_values)
        at = len(self.instructions)
        self.emit("cf.switch", (), self.of([op.flag]))
        default, *cases = self.ways(
            [
                (op.default_operands, op.default_block),
                *zip(op.case_operand, op.case_blocks, strict=True),
            ]
        )
        pairs = zip(numbers, cases, strict=True)
        listed = [p for n, case in pairs for p in (self.tables.number(n, type), case)]
        self.jumps.append((at, (default, *listed)))


_RENAMED: Mapping[str, str] = {
    "memref.copy": "executor.copy",
    "memref.memory_space_cast": "memref.cast",
}
"""Ops that are instructions of another name."""
