"""
Bytecode from bytes, which may be anything: what is read is in bounds, and no more is
taken than there are bytes.
"""

import zlib
from collections.abc import Callable
from struct import unpack_from
from typing import TypeVar

from transom.runtime.bytecode.layout import (
    HEADER,
    MAGIC,
    MAX_BYTES,
    MAX_COUNT,
    SECTION,
    SECTIONS,
    VERSION,
)
from transom.runtime.bytecode.model import (
    Bytecode,
    Function,
    Instruction,
    KernelEntry,
    Number,
    Register,
)
from transom.runtime.main_failures import MainError
from transom.runtime.main_values import Type

T = TypeVar("T")


def read(data: bytes) -> Bytecode:
    """
    What some bytes hold, which `verify` looks at next. Raises `MainError` for what is
    no bytecode, is cut or damaged, or of another version.
    """
    sections = _sections(data)
    reader = _Reader(sections[b"text"])
    texts = reader.listed(4, reader.text)
    messages = _Reader(reader.rest(), texts)
    tables = [_Reader(sections[tag], texts) for tag in SECTIONS[1:]]
    numbers, pools, weights, kernels, functions = tables
    found = Bytecode(
        messages.names(),
        numbers.listed(12, numbers.number),
        pools.names(),
        weights.names(),
        kernels.listed(20, kernels.kernel),
        functions.listed(24, functions.function),
    )
    for section in (messages, *tables):
        section.expect_end()
    return found


def _sections(data: bytes) -> dict[bytes, memoryview]:
    if len(data) > MAX_BYTES:
        raise MainError(f"expected at most {MAX_BYTES} bytes, but got {len(data)}")
    if data[: len(MAGIC)] != MAGIC[: len(data)] or not data:
        raise MainError("the bytes are no bytecode of transom")
    if len(data) < HEADER.size:
        raise MainError("the bytecode is cut")
    _, version, size, checksum, count = HEADER.unpack_from(data)
    if version != VERSION:
        raise MainError(
            f"expected version {VERSION} of the bytecode, but got {version}; "
            "compile the program again"
        )
    if size != len(data):
        what = "is cut" if size > len(data) else "goes on behind its end"
        raise MainError(f"the bytecode {what}: {len(data)} bytes of {size}")
    body = memoryview(data)[HEADER.size :]
    if zlib.crc32(body) != checksum:
        raise MainError("the bytecode is damaged: its checksum differs")
    found: dict[bytes, memoryview] = {}
    for tag in SECTIONS:
        if len(body) < SECTION.size:
            raise MainError(f"expected section '{tag.decode()}', but got the end")
        name, length = SECTION.unpack_from(body)
        if name != tag or length > len(body) - SECTION.size:
            raise MainError(f"expected section '{tag.decode()}' within the bytes")
        end = SECTION.size + length
        found[tag], body = body[SECTION.size : end], body[end:]
    if len(body) or count != len(found):
        raise MainError("expected no bytes behind the last section")
    return found


class _Reader:
    """Reads a section from its start."""

    def __init__(self, data: memoryview, texts: tuple[str, ...] = ()) -> None:
        self.data, self.at = data, 0
        self.known = texts
        self.types: dict[int, Type] = {}

    def rest(self) -> memoryview:
        return self.data[self.at :]

    def expect_end(self) -> None:
        if len(self.rest()):
            raise MainError(f"expected the end of a section, but got {len(self.data)}")

    def words(self, count: int) -> tuple[int, ...]:
        if 4 * count > len(self.data) - self.at:
            raise MainError("expected more in a section")
        found = unpack_from(f"<{count}I", self.data, self.at)
        self.at += 4 * count
        return found

    def word(self) -> int:
        return self.words(1)[0]

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise MainError("expected more in a section")
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def listed(self, least: int, item: Callable[[], T]) -> tuple[T, ...]:
        """Items behind their number, each of at least so many bytes."""
        count = self.word()
        if least * count > len(self.data) - self.at:
            raise MainError(f"expected {count} items in a section that is too short")
        return tuple(item() for _ in range(count))

    def text(self) -> str:
        try:
            return self.take(self.word()).decode()
        except UnicodeDecodeError:
            raise MainError("expected a text in UTF-8") from None

    def name(self) -> str:
        number = self.word()
        if number >= len(self.known):
            raise MainError(f"expected one of {len(self.known)} texts, not {number}")
        return self.known[number]

    def names(self) -> tuple[str, ...]:
        return self.listed(4, self.name)

    def type(self) -> Type:
        number = self.word()
        if number not in self.types:
            self.at -= 4
            self.types[number] = Type.parse(self.name())
        return self.types[number]

    def number(self) -> Number:
        type, data = self.type(), self.take(8)
        if type.shape is not None or type.dtype.itemsize > 8:
            raise MainError(f"expected the type of a number, but got '{type}'")
        return Number(type, data[: type.dtype.itemsize])

    def kernel(self) -> KernelEntry:
        name, symbol, gives_status = self.name(), self.name(), self.word()
        if gives_status not in (0, 1):
            raise MainError(f"expected 0 or 1, but got {gives_status}")
        types = self.listed(4, self.type)
        writes = self.listed(4, self.word)
        return KernelEntry(name, symbol, bool(gives_status), types, writes)

    def function(self) -> Function:
        name, arguments = self.name(), self.word()
        return Function(
            name,
            arguments,
            self.listed(4, self.type),
            self.listed(8, lambda: Register(self.type(), self.name())),
            self.listed(8, lambda: (self.word(), self.word())),
            self.listed(16, self.instruction),
        )

    def instruction(self) -> Instruction:
        op, counts = self.name(), self.words(3)
        if max(counts) > MAX_COUNT:
            raise MainError(f"expected at most {MAX_COUNT} operands of '{op}'")
        outs, ins, parameters = map(self.words, counts)
        return Instruction(op, outs, ins, parameters)
