"""
Bytecode as text for people.

```text
bytecode 1
kernel @exp_0123: (float32[4], float32[4]) -> status
func @main(%x: float32[4], %n: int64, %y: float32[4]) {
  %c0 = 0 : int64
   0  %z = executor.view main.workspace[0 to 16] : float32[4]
   1  %v0 = arith.cmpi.slt %c0, %n : bool
   2  cf.cond_br %v0, 3, 5
  …
```
"""

from collections.abc import Iterator

from transom.runtime.bytecode.instructions import FORMS, Kind
from transom.runtime.bytecode.layout import VERSION
from transom.runtime.bytecode.model import Bytecode, Function, Instruction


def text_of(bytecode: Bytecode) -> str:
    """The text of bytecode that is verified."""
    return "".join(f"{line}\n" for line in _lines(bytecode))


def _lines(bytecode: Bytecode) -> Iterator[str]:
    yield f"bytecode {VERSION}"
    for kernel in bytecode.kernels:
        types = ", ".join(map(str, kernel.types))
        result = " -> status" if kernel.gives_status else ""
        yield f"kernel @{kernel.name}: ({types}){result}"
    for function in bytecode.functions:
        yield from _function(bytecode, function)


def _function(bytecode: Bytecode, function: Function) -> Iterator[str]:
    names = register_names(function)
    arguments = ", ".join(
        f"%{name}: {register.type}"
        for name, register in zip(
            names[: function.arguments], function.registers, strict=False
        )
    )
    results = f" -> ({', '.join(map(str, function.results))})" * bool(function.results)
    yield f"func @{function.name}({arguments}){results} {{"
    for register, number in function.constants:
        constant = bytecode.numbers[number]
        yield f"  %{names[register]} = {constant.value} : {constant.type}"
    width = len(str(len(function.instructions)))
    for number, instruction in enumerate(function.instructions):
        text = _instruction(bytecode, function, names, instruction)
        yield f"  {number:>{width}}  {text}"
    yield "}"


def register_names(function: Function) -> list[str]:
    """A name of its own for each register."""
    names: list[str] = []
    seen: set[str] = set()
    for register in function.registers:
        name, number = register.name, 0
        while name in seen:
            number += 1
            name = f"{register.name}.{number}"
        seen.add(name)
        names.append(name)
    return names


def _instruction(
    bytecode: Bytecode, function: Function, names: list[str], instruction: Instruction
) -> str:
    form = FORMS[instruction.op]
    kinds = form.kinds(len(instruction.parameters)) or ()
    parameters = [
        _parameter(bytecode, kind, number)
        for kind, number in zip(kinds, instruction.parameters, strict=True)
    ]
    ins = [f"%{names[register]}" for register in instruction.ins]
    if instruction.op == "executor.view":
        pool, start, size = parameters
        end = int(start) + int(size)
        parameters = [f"{pool}[{start} to {end}]"]
    first = FORMS[instruction.op].parameters[:1]
    leads = first and first[0] in (Kind.KERNEL, Kind.FUNCTION, Kind.POOL, Kind.WEIGHT)
    operands = [*parameters, *ins] if leads else [*ins, *parameters]
    text = f"{instruction.op} {', '.join(operands)}".rstrip()
    if instruction.outs:
        outs = ", ".join(f"%{names[register]}" for register in instruction.outs)
        types = ", ".join(str(function.registers[r].type) for r in instruction.outs)
        text = f"{outs} = {text} : {types}"
    return text


def _parameter(bytecode: Bytecode, kind: Kind, number: int) -> str:
    match kind:
        case Kind.FUNCTION:
            return f"@{bytecode.functions[number].name}"
        case Kind.KERNEL:
            return f"@{bytecode.kernels[number].name}"
        case Kind.MESSAGE:
            return f'"{bytecode.messages[number]}"'
        case Kind.NUMBER:
            return str(bytecode.numbers[number].value)
        case Kind.POOL:
            return bytecode.pools[number]
        case Kind.WEIGHT:
            return f"@{bytecode.weights[number]}"
        case Kind.COUNT | Kind.LABEL:
            return str(number)
