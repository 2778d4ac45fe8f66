"""
A file of several modules: parts between lines that start with a marker.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

DEFAULT_MARKER = "// -----"


@dataclass(frozen=True)
class Chunk:
    """A part of the input that is a module of its own, after `line_offset` lines."""

    content: bytes
    line_offset: int = 0


def split(content: bytes, marker: str = DEFAULT_MARKER) -> Iterator[Chunk]:
    """The pieces between lines that start with `marker`."""
    pattern = re.compile(rb"^" + re.escape(marker.encode()) + rb".*\n?", re.MULTILINE)
    start, line = 0, 0
    for match in pattern.finditer(content):
        yield Chunk(content[start : match.start()], line)
        line += content.count(b"\n", start, match.end())
        start = match.end()
    yield Chunk(content[start:], line)
