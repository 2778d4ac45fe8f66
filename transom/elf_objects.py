"""
ELF objects and archives that are put together without a linker: symbols with another
name or visibility, constants as an object, a static library.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from transom.runtime.elf_symbols import (
    HIDDEN,
    LOCAL,
    SYMBOL_TABLE,
    is_elf,
    read_symbols,
)

PROGRAM_BITS, STRING_TABLE = 1, 3
WRITABLE, ALLOCATED = 1, 2
DEFAULT = 0
GLOBAL_DATA = 0x11
"""The binding and type of a global symbol of data."""

CONSTANT_ALIGNMENT = 64


class Section(NamedTuple):
    """The header of a section."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


@dataclass(frozen=True)
class Layout:
    """How an ELF file of a word size and byte order is laid out."""

    wide: bool
    order: str

    @classmethod
    def of(cls, data: bytes) -> "Layout":
        assert is_elf(data), "the compiler emits ELF objects"
        return cls(data[4] == 2, "<" if data[5] == 1 else ">")

    @property
    def header_size(self) -> int:
        return 64 if self.wide else 52

    @property
    def section_form(self) -> str:
        return self.order + ("IIQQQQIIQQ" if self.wide else "IIIIIIIIII")

    @property
    def symbol_size(self) -> int:
        return 24 if self.wide else 16

    def sections(self, data: bytes) -> list[tuple[int, Section]]:
        """Where the header of each section is, and what it says."""
        form = self.order + ("40xQ10xHH" if self.wide else "32xI10xHH")
        table, step, count = struct.unpack_from(form, data, 0)
        places = [table + number * step for number in range(count)]
        return [
            (at, Section(*struct.unpack_from(self.section_form, data, at)))
            for at in places
        ]

    def data_symbol(self, name: int, section: int, value: int, size: int) -> bytes:
        """An entry of a symbol table for a global constant."""
        if self.wide:
            form, fields = "IBBHQQ", (name, GLOBAL_DATA, 0, section, value, size)
        else:
            form, fields = "IIIBBH", (name, value, size, GLOBAL_DATA, 0, section)
        return struct.pack(self.order + form, *fields)


def with_symbols(
    data: bytes, rename: Callable[[str], str], is_hidden: Callable[[str], bool]
) -> bytes:
    """
    An object whose global symbols have other names; those that are defined in it are
    seen by what is linked with it only if they are hidden. `is_hidden` gets new names.
    """
    layout = Layout.of(data)
    sections = layout.sections(data)
    result = bytearray(data)
    for _, table in sections:
        if table.kind != SYMBOL_TABLE:
            continue
        at, strings = sections[table.link]
        names = bytearray(data[strings.offset : strings.offset + strings.size])
        for entry in range(
            table.offset + table.entry_size,
            table.offset + table.size,
            table.entry_size,
        ):
            (start,) = struct.unpack_from(layout.order + "I", data, entry)
            info_at = entry + (4 if layout.wide else 12)
            if data[info_at] >> 4 == LOCAL:
                continue
            old = bytes(names[start : names.index(0, start)]).decode()
            new = rename(old)
            index = struct.unpack_from(layout.order + "H", data, info_at + 2)[0]
            if index != 0:
                result[info_at + 1] = HIDDEN if is_hidden(new) else DEFAULT
            if new != old:
                struct.pack_into(layout.order + "I", result, entry, len(names))
                names += new.encode() + b"\0"
        moved = strings._replace(offset=len(result), size=len(names))
        struct.pack_into(layout.section_form, result, at, *moved)
        result += names
        result += b"\0" * (-len(result) % 8)
    return bytes(result)


def writable_bytes(data: bytes) -> int:
    """How much memory of an object is global and can be written."""
    return sum(
        section.size
        for _, section in Layout.of(data).sections(data)
        if section.flags & WRITABLE and section.flags & ALLOCATED
    )


def constants_object(constants: Mapping[str, bytes], like: bytes) -> bytes:
    """An object of read-only data by symbol, for the machine of another object."""
    layout = Layout.of(like)
    content = bytearray()
    names = bytearray(b"\0")
    symbols = bytearray(layout.symbol_size)
    for name, value in constants.items():
        content += b"\0" * (-len(content) % CONSTANT_ALIGNMENT)
        symbols += layout.data_symbol(len(names), 1, len(content), len(value))
        names += name.encode() + b"\0"
        content += value
    titles = [".rodata", ".symtab", ".strtab", ".note.GNU-stack"]
    places: list[int] = []
    for title in titles:
        places.append(len(names))
        names += title.encode() + b"\0"
    body = bytearray(layout.header_size)
    # The first symbol is none, so that all that follow are global.
    parts = [
        (PROGRAM_BITS, ALLOCATED, content, 0, 0, CONSTANT_ALIGNMENT, 0),
        (SYMBOL_TABLE, 0, symbols, 3, 1, 8, layout.symbol_size),
        (STRING_TABLE, 0, names, 0, 0, 1, 0),
        (PROGRAM_BITS, 0, bytearray(), 0, 0, 1, 0),
    ]
    headers = bytearray(struct.calcsize(layout.section_form))
    for name, (kind, flags, data, link, info, alignment, step) in zip(
        places, parts, strict=True
    ):
        body += b"\0" * (-len(body) % alignment)
        headers += struct.pack(
            layout.section_form,
            *Section(
                name, kind, flags, 0, len(body), len(data), link, info, alignment, step
            ),
        )
        body += data
    body += b"\0" * (-len(body) % 8)
    table = len(body)
    body[: layout.header_size] = like[: layout.header_size]
    form = layout.order + ("Q" if layout.wide else "I")
    struct.pack_into(form, body, 40 if layout.wide else 32, table)
    count_at = 60 if layout.wide else 48
    struct.pack_into(layout.order + "HH", body, count_at, len(parts) + 1, 3)
    return bytes(body + headers)


def static_library(members: Mapping[str, bytes]) -> bytes:
    """An archive of objects, with the index that linkers look symbols up in."""
    symbols = [
        (name, member)
        for member, data in members.items()
        for name in (*read_symbols(data).defined, *read_symbols(data).hidden)
    ]
    names = b"".join(name.encode() + b"\0" for name, _ in symbols)
    index_size = 4 + 4 * len(symbols) + len(names)
    magic = b"!<arch>\n"
    at = len(magic) + 60 + index_size + index_size % 2
    places: dict[str, int] = {}
    body = bytearray()
    for member, data in members.items():
        places[member] = at + len(body)
        body += _member(f"{member}/", data)
    index = struct.pack(">I", len(symbols))
    index += b"".join(struct.pack(">I", places[member]) for _, member in symbols)
    return magic + _member("/", index + names) + bytes(body)


def _member(name: str, data: bytes) -> bytes:
    assert len(name) <= 16, "longer names need a table"
    fields = (f"{name:<16}", f"{0:<12}", f"{0:<6}", f"{0:<6}", f"{644:<8}")
    header = "".join(fields) + f"{len(data):<10}`\n"
    return header.encode() + data + b"\n" * (len(data) % 2)


def undefined_in(objects: Sequence[bytes]) -> tuple[str, ...]:
    """What some objects need, and none of them has."""
    tables = [read_symbols(data) for data in objects]
    known = {name for table in tables for name in (*table.defined, *table.hidden)}
    required = dict.fromkeys(name for table in tables for name in table.required)
    return tuple(name for name in required if name not in known)
