"""
Bytecode as bytes.
"""

import zlib
from collections.abc import Iterable, Sequence
from struct import pack

from transom.runtime.bytecode.layout import (
    HEADER,
    MAGIC,
    MAX_BYTES,
    MAX_COUNT,
    SECTION,
    SECTIONS,
    VERSION,
)
from transom.runtime.bytecode.model import Bytecode, Function, Instruction
from transom.runtime.main_failures import MainError


def write(bytecode: Bytecode) -> bytes:
    """The bytes of bytecode. Raises `MainError` if there would be too many."""
    writer = _Writer()
    contents = {
        b"numb": writer.numbers(bytecode),
        b"pool": writer.listed(bytecode.pools),
        b"wght": writer.listed(bytecode.weights),
        b"kern": writer.kernels(bytecode),
        b"func": writer.functions(bytecode.functions),
    }
    messages = writer.listed(bytecode.messages)
    contents[b"text"] = writer.texts() + messages  # all texts are known by now
    body = b"".join(
        SECTION.pack(tag, len(contents[tag])) + contents[tag] for tag in SECTIONS
    )
    size = HEADER.size + len(body)
    if size > MAX_BYTES:
        raise MainError(f"expected at most {MAX_BYTES} bytes, but got {size}")
    return HEADER.pack(MAGIC, VERSION, size, zlib.crc32(body), len(SECTIONS)) + body


class _Writer:
    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def text(self, text: str) -> int:
        """The number of a text."""
        return self.known.setdefault(text, len(self.known))

    def texts(self) -> bytes:
        found = [words(len(self.known))]
        for text in self.known:
            data = text.encode()
            found += [words(len(data)), data]
        return b"".join(found)

    def listed(self, names: Sequence[str]) -> bytes:
        return counted(self.text(name) for name in names)

    def numbers(self, bytecode: Bytecode) -> bytes:
        found = [words(len(bytecode.numbers))]
        for number in bytecode.numbers:
            found += [words(self.text(str(number.type))), number.data.ljust(8, b"\0")]
        return b"".join(found)

    def kernels(self, bytecode: Bytecode) -> bytes:
        found = [words(len(bytecode.kernels))]
        for kernel in bytecode.kernels:
            found += [
                words(self.text(kernel.name), self.text(kernel.symbol)),
                words(int(kernel.gives_status)),
                counted(self.text(str(type)) for type in kernel.types),
                counted(kernel.writes),
            ]
        return b"".join(found)

    def functions(self, functions: Sequence[Function]) -> bytes:
        found = [words(len(functions))]
        for function in functions:
            found += [
                words(self.text(function.name), function.arguments),
                counted(self.text(str(type)) for type in function.results),
                words(len(function.registers)),
                *(
                    words(self.text(str(register.type)), self.text(register.name))
                    for register in function.registers
                ),
                words(len(function.constants)),
                *(words(*constant) for constant in function.constants),
                words(len(function.instructions)),
                *map(self.instruction, function.instructions),
            ]
        return b"".join(found)

    def instruction(self, instruction: Instruction) -> bytes:
        operands = instruction[1:]
        counts = [len(numbers) for numbers in operands]
        if max(counts) > MAX_COUNT:
            raise MainError(
                f"expected at most {MAX_COUNT} operands of '{instruction.op}', "
                f"but got {max(counts)}"
            )
        flat = (number for numbers in operands for number in numbers)
        return words(self.text(instruction.op), *counts, *flat)


def words(*numbers: int) -> bytes:
    """Words of 32 bits."""
    return pack(f"<{len(numbers)}I", *numbers)


def counted(numbers: Iterable[int]) -> bytes:
    """Words behind their number."""
    listed = list(numbers)
    return words(len(listed), *listed)
