"""
Which texts LLVM's passes have nothing to do for: their loops are written out.

The tiles of products and convolutions are written out and kept in registers by a
schedule. LLVM's passes take half of the time that compiling them takes, and the code is
no faster:
what code generation does by itself is enough. Short loops, such as those that copy and
pack, they make faster; but not those that fill the border of an image with zeros, which
they write out to hundreds of stores, whose order then takes longest of all.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MANY = 16
"""
Operations on vectors in a loop whose body is long: 8 multiply-adds, as tiles at edges
have. Fewer do not fill the time until the first of them is done.
"""

_BRANCH = re.compile(r"label %(\w+)")
_LABEL = re.compile(r"^(\w+):$")
_OPERATION = re.compile(r"  (?:%\w+ = )?(call|fadd|fmul|fsub|load|store) ")


@dataclass
class _Body:
    """What a block, or a loop, does."""

    vectors: int = 0
    """Operations on vectors."""
    reads: bool = False
    writes: bool = False
    """Whether it writes vectors."""

    def note(self, line: str) -> None:
        """Count a line."""
        found = _OPERATION.match(line)
        if found is None:
            return
        name, on_vectors = found[1], "<" in line
        if name == "store":
            self.writes |= on_vectors
            return
        self.reads |= name in ("call", "load")
        computes = name != "load" and "@llvm.masked." not in line
        self.vectors += on_vectors and computes

    @property
    def is_long(self) -> bool:
        return self.vectors >= MANY

    @property
    def is_fill(self) -> bool:
        """Whether it does nothing but write what it knows before."""
        return self.writes and not self.reads


def is_written_out(text: str) -> bool:
    """
    Whether a text has loops, and the innermost ones are long and on vectors, beside
    some that fill memory.
    """
    bodies = [body for body in _innermost(text) if not body.is_fill]
    return bool(bodies) and all(body.is_long for body in bodies)


def _innermost(text: str) -> Iterator[_Body]:
    """
    The loops without another in them. A loop ends with the branch that goes back; its
    blocks follow each other.
    """
    blocks: dict[str, int] = {}
    bodies: list[_Body] = []
    ends: list[tuple[int, int]] = []
    for line in text.split("\n"):
        if line.startswith("define "):
            blocks = {}
        elif (label := _LABEL.match(line)) is not None:
            blocks[label.group(1)] = len(bodies)
            bodies.append(_Body())
        elif line.startswith("  br "):
            here = len(bodies) - 1
            found = (blocks.get(name) for name in _BRANCH.findall(line))
            ends += [(start, here) for start in found if start is not None]
        elif bodies:
            bodies[-1].note(line)
    for start, end in ends:
        if not any((start, end) != (a, b) and start <= a and b <= end for a, b in ends):
            parts = bodies[start : end + 1]
            yield _Body(
                sum(part.vectors for part in parts),
                any(part.reads for part in parts),
                any(part.writes for part in parts),
            )
