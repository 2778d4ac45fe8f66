"""
The symbols of an ELF object, so that what it needs is known before it is linked.
"""

import struct
from dataclasses import dataclass

SYMBOL_TABLE = 2
LOCAL, WEAK = 0, 2


@dataclass(frozen=True)
class Symbols:
    """Names in the symbol table of an object; local ones are left out."""

    defined: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    """Undefined, and an error if nobody has it."""
    optional: tuple[str, ...] = ()
    """Undefined and weak: its address is null if nobody has it."""


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


def read_symbols(data: bytes) -> Symbols:
    """Read the symbol table of an ELF object of any word size and byte order."""
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    if wide:
        table_at, entry_size, count = read(order + "40xQ10xHH", data, 0)
        section_form, symbol_form = order + "4xI16xQQI12xQ", order + "IBxHQQ"
    else:
        table_at, entry_size, count = read(order + "32xI10xHH", data, 0)
        section_form, symbol_form = order + "4xI8xIII8xI", order + "IIIBxH"
    sections = [
        read(section_form, data, table_at + i * entry_size) for i in range(count)
    ]
    defined: list[str] = []
    required: list[str] = []
    optional: list[str] = []
    for kind, offset, size, link, step in sections:
        if kind != SYMBOL_TABLE:
            continue
        names = sections[link][1]
        for at in range(offset + step, offset + size, step):
            fields = read(symbol_form, data, at)
            if wide:
                name, info, index = fields[:3]
            else:
                name, info, index = fields[0], fields[3], fields[4]
            if info >> 4 == LOCAL:
                continue
            start = names + name
            text = data[start : data.index(b"\0", start)].decode()
            if index:
                defined.append(text)
            elif info >> 4 == WEAK:
                optional.append(text)
            else:
                required.append(text)
    return Symbols(tuple(defined), tuple(required), tuple(optional))


def read(form: str, data: bytes, at: int) -> tuple[int, ...]:
    return struct.unpack_from(form, data, at)
