"""
Candidates that passes propose: ops that a place would take together.

A pass of yours calls `propose` for what it finds, in any order and overlapping as it
may be, and changes nothing else; the module carries the proposals as attributes. Where
places are chosen, they come before what targets claim, and are refused where the target
cannot run them.

```python
for op in func.walk():
    if (match := PATTERN.match(op)) is not None:
        propose(match.ops, f"mac{count}", place, label="acme.mac")
```
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Block, Operation

from transom.dialects.diagnostics import Note, OpError
from transom.dialects.target import (
    CANDIDATES,
    CandidateAttr,
    PlaceAttr,
    candidates_of,
)


@dataclass(frozen=True, eq=False)
class Proposal:
    """A candidate with its ops, in the order of the block."""

    candidate: CandidateAttr
    ops: tuple[Operation, ...]


def propose(
    ops: Iterable[Operation],
    name: str,
    place: PlaceAttr,
    *,
    label: str | None = None,
    seconds: float | None = None,
    required: bool = False,
) -> None:
    """
    Propose that a place takes ops of one block together, under a name that no other
    candidate of the block has. The place leaves open what may be chosen.

    Raises `VerifyException` if `seconds` is no number >= 0.
    """
    candidate = CandidateAttr.get(name, place, label, seconds, required)
    for op in ops:
        op.attributes[CANDIDATES] = ArrayAttr((*candidates_of(op), candidate))


def take_proposals(blocks: Iterable[Block]) -> dict[Block, Sequence[Proposal]]:
    """
    Remove the candidates that ops of some blocks are parts of, and give them.

    Raises `OpError` at an op whose candidate differs from that of another of the block.
    """
    found: dict[Block, Sequence[Proposal]] = {}
    for block in blocks:
        members: dict[str, tuple[CandidateAttr, list[Operation]]] = {}
        for op in block.ops:
            for candidate in candidates_of(op):
                name = candidate.name_attr.data
                known, ops = members.setdefault(name, (candidate, []))
                if known != candidate:
                    raise OpError(
                        op,
                        f"expected candidate '{name}' to be '{known}' everywhere, "
                        f"but got '{candidate}'",
                        Note(ops[0], "here it is"),
                    )
                ops.append(op)
        for op in block.ops:
            op.attributes.pop(CANDIDATES, None)
        if members:
            found[block] = [Proposal(c, tuple(ops)) for c, ops in members.values()]
    return found
