"""
The symbols of an ELF object, so that what it needs is known before it is linked.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

SYMBOL_TABLE = 2
LOCAL, WEAK = 0, 2
HIDDEN = 2


@dataclass(frozen=True)
class Symbols:
    """Names in the symbol table of an object; local ones are left out."""

    defined: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    """Undefined, and an error if nobody has it."""
    optional: tuple[str, ...] = ()
    """Undefined and weak: its address is null if nobody has it."""
    hidden: tuple[str, ...] = ()
    """Defined, for objects that are linked with it only."""


def is_elf(data: bytes) -> bool:
    return data[:4] == b"\x7fELF"


MACHINES = {"x86_64": 62, "aarch64": 183, "arm64": 183, "riscv64": 243}
"""The numbers of machines, by the architecture of a triple."""


def is_for(data: bytes, architecture: str) -> bool:
    """Whether an ELF file is for an architecture."""
    if len(data) < 20:
        return False
    order = "<" if data[5] == 1 else ">"
    return read(order + "18xH", data, 0)[0] == MACHINES.get(architecture)


@dataclass(frozen=True)
class _Entry:
    """A global symbol of a table."""

    name: str
    at: int
    """Where its name is in the file."""
    is_weak: bool
    is_hidden: bool
    is_defined: bool


def _entries(data: bytes) -> Iterator[_Entry]:
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    if wide:
        table_at, entry_size, count = read(order + "40xQ10xHH", data, 0)
        section_form, symbol_form = order + "4xI16xQQI12xQ", order + "IBBHQQ"
    else:
        table_at, entry_size, count = read(order + "32xI10xHH", data, 0)
        section_form, symbol_form = order + "4xI8xIII8xI", order + "IIIBBH"
    sections = [
        read(section_form, data, table_at + i * entry_size) for i in range(count)
    ]
    for kind, offset, size, link, step in sections:
        if kind != SYMBOL_TABLE:
            continue
        names = sections[link][1]
        for at in range(offset + step, offset + size, step):
            fields = read(symbol_form, data, at)
            name = fields[0]
            info, other, index = fields[1:4] if wide else fields[3:6]
            if info >> 4 == LOCAL:
                continue
            start = names + name
            text = data[start : data.index(b"\0", start)].decode()
            yield _Entry(
                text, start, info >> 4 == WEAK, other & 3 == HIDDEN, index != 0
            )


def read_symbols(data: bytes) -> Symbols:
    """Read the symbol table of an ELF object of any word size and byte order."""
    entries = tuple(_entries(data))
    defined = [entry for entry in entries if entry.is_defined]
    others = [entry for entry in entries if not entry.is_defined]
    return Symbols(
        tuple(entry.name for entry in defined if not entry.is_hidden),
        tuple(entry.name for entry in others if not entry.is_weak),
        tuple(entry.name for entry in others if entry.is_weak),
        tuple(entry.name for entry in defined if entry.is_hidden),
    )


def rename_symbol(data: bytes, old: str, new: str) -> bytes:
    """
    An ELF object whose only symbol called `old` has another name, which is no longer.
    """
    (entry,) = (entry for entry in _entries(data) if entry.name == old)
    name = new.encode()
    room = len(old.encode())
    assert len(name) <= room and b"\0" not in name, "there is room for the name"
    return data[: entry.at] + name.ljust(room, b"\0") + data[entry.at + room :]


def read(form: str, data: bytes, at: int) -> tuple[int, ...]:
    return struct.unpack_from(form, data, at)
