"""
Which texts LLVM's passes have nothing to do for: their loops are written out.

The tiles of products and convolutions are written out and kept in registers by a
schedule. LLVM's passes take half of the time that compiling them takes, and the code is
no faster:
what code generation does by itself is enough. Short loops, such as those that copy and
pack, they make faster.
"""

import re
from collections.abc import Iterator

MANY = 24
"""Operations on vectors in a loop whose body is long: of a tile, 12 multiply-adds."""

_BRANCH = re.compile(r"label %(\w+)")
_LABEL = re.compile(r"^(\w+):$")
_VECTOR = re.compile(r"^  %\w+ = (?:fmul|fadd|fsub|call) .*<\d+ x ")


def is_written_out(text: str) -> bool:
    """Whether a text has loops, and the innermost ones are long and on vectors."""
    counts = [vectors for _, _, vectors in _innermost(text)]
    return bool(counts) and min(counts) >= MANY


def _innermost(text: str) -> Iterator[tuple[int, int, int]]:
    """
    First and last block of each loop without another in it, and its operations on
    vectors. A loop ends with the branch that goes back; its blocks follow each other.
    """
    blocks: dict[str, int] = {}
    vectors: list[int] = []
    ends: list[tuple[int, int]] = []
    for line in text.split("\n"):
        if line.startswith("define "):
            blocks = {}
        elif (label := _LABEL.match(line)) is not None:
            blocks[label.group(1)] = len(vectors)
            vectors.append(0)
        elif line.startswith("  br "):
            here = len(vectors) - 1
            found = (blocks.get(name) for name in _BRANCH.findall(line))
            ends += [(start, here) for start in found if start is not None]
        elif _VECTOR.match(line) is not None:
            vectors[-1] += 1
    for start, end in ends:
        if not any((start, end) != (a, b) and start <= a and b <= end for a, b in ends):
            yield start, end, sum(vectors[start : end + 1])
