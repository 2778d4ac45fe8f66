"""
The layout of bytecode, which its reader and its writer share.

All numbers are little-endian words of 32 bits. A header is followed by the sections, in
the order of `SECTIONS`, each a tag and its length in bytes before its content.
"""

import struct

MAGIC = b"\x7ftransom"
VERSION = 1

HEADER = struct.Struct("<8s4I")
"""Magic, version, bytes in all, CRC-32 of all behind the header, number of sections."""

SECTION = struct.Struct("<4sI")
SECTIONS = (b"text", b"numb", b"pool", b"wght", b"kern", b"func")

MAX_BYTES = 64 << 20
"""Bytecode that is larger is refused."""

MAX_COUNT = 0xFFFF
"""Operands of one kind of an instruction."""
