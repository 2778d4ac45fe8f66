"""
For each op of a function where it runs, why, and what the other targets said.
"""

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from transom.dialects.diagnostics import position_of
from transom.passes.op_placements import OpPlacement, Refused
from transom.targets.claim_candidates import Candidate, Taker
from transom.targets.claim_selection import BlockChoice

ONLY = "nothing else is allowed"
REST = "takes what is left"
COPIED = "computed again by each op that reads it"


def placements_in(choice: BlockChoice, function: str) -> Iterator[OpPlacement]:
    """The ops of a block, in its order."""
    position = {op: index for index, op in enumerate(choice.block.ops)}
    for op in sorted(choice.takers, key=position.__getitem__):
        candidate = choice.taken.get(op)
        if candidate is None:
            yield OpPlacement(function, op.name, place_of_op(op), "", "", COPIED)
            continue
        taker, order = candidate.taker, choice.takers[op]
        rank = order.index(taker) if taker in order else len(order)
        yield OpPlacement(
            function,
            op.name,
            place_of_op(op),
            str(taker.target),
            taker.device,
            _why(choice, candidate),
            candidate.label,
            choice.searched.get(candidate, candidate.seconds),
            tuple(
                Refused(str(t.target), t.device, choice.opinion(op, t), index < rank)
                for index, t in enumerate(order)
                if t is not taker
            ),
        )


def settled(ops: Sequence[Operation], taker: Taker, function: str) -> list[OpPlacement]:
    """Ops of which nobody was asked, as only one target may have them."""
    target = str(taker.target)
    return [
        OpPlacement(function, op.name, place_of_op(op), target, taker.device, ONLY)
        for op in ops
    ]


def _why(choice: BlockChoice, candidate: Candidate) -> str:
    offer = choice.offered.get(candidate)
    if offer is not None:
        kind = "required" if offer.is_required else "proposed"
        return f"{kind} as '{offer.name}'"
    why = "claimed"
    if candidate.label is not None:
        why = f"claimed as a part of '{candidate.label}'"
    elif candidate.taker.takes_all:
        why = REST
    hint = choice.hint(candidate.root, candidate.taker)
    if hint is not None:
        preferred = f"the hint '{hint}' prefers it"
        why = preferred if why == REST else f"{why}; {preferred}"
    if len(choice.takers[candidate.root]) == 1:
        return f"{why}; {ONLY}"
    return f"{why}; all together cost least" if choice.searched else why


def place_of_op(op: Operation) -> str:
    """`file:line:col` of an op, or nothing."""
    position = position_of(op.location)
    return "" if position is None else str(position)
