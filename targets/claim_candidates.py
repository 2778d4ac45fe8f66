"""
What targets answer when they are asked for ops: candidates, or refusals with reasons.
"""

from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation

from transom.dialects import graph
from transom.dialects.target import TargetAttr
from transom.lowering.conversion import Refusal
from transom.passes.graph_outline_regions import CLONED_OPS, is_computed
from transom.targets.contract.op_answers import answer_of, cost_of, members_of
from transom.targets.hooks import Claim, TargetHooks
from transom.targets.registry import hooks_of

NO_CLAIM = "no claim is for it"


def is_asked_for(op: Operation) -> bool:
    """Whether an op is one that a target has to take."""
    return is_computed(op) and not isinstance(op, CLONED_OPS)


@dataclass(frozen=True)
class Taker:
    """A target of a device, to be asked for ops."""

    device: str
    target: TargetAttr
    hooks: TargetHooks[Any] = field(compare=False)
    claims: tuple[Claim, ...] = field(compare=False)

    @classmethod
    def of(cls, device: str, target: TargetAttr) -> "Taker":
        """A target with its hooks. Raises `HooksError`."""
        hooks = hooks_of(target)
        return Taker(device, target, hooks, tuple(hooks.claims(target)))

    @property
    def takes_all(self) -> bool:
        """Whether the target takes whatever is left, as it claims nothing."""
        return not self.claims

    def labels(self) -> frozenset[str]:
        """The labels of its patterns."""
        return frozenset(c.label for c in self.claims if c.label is not None)


@dataclass(frozen=True, eq=False)
class Candidate:
    """Ops that a target would take together."""

    taker: Taker
    root: Operation
    """The op that was asked for."""

    ops: tuple[Operation, ...]
    """All of them, but constants."""

    constants: tuple[Operation, ...] = ()
    """Constants and weights that belong to the pattern; they may have other readers."""

    label: str | None = None
    seconds: float | None = None


@dataclass
class Answer:
    """What a target says of an op."""

    candidates: list[Candidate] = field(default_factory=list[Candidate])
    reasons: list[str] = field(default_factory=list[str])

    @property
    def takes_it_alone(self) -> bool:
        """Whether the op is taken as it is, without others."""
        return any(
            len(candidate.ops) == 1 and candidate.label is None
            for candidate in self.candidates
        )

    @property
    def refusal(self) -> str:
        """Why it is not taken, all reasons in one line."""
        return "; ".join(dict.fromkeys(self.reasons)) or NO_CLAIM


def ask(taker: Taker, op: Operation) -> Answer:
    """
    Ask a target for an op.

    A `graph.composite` under a label of the target is its own; another group of ops
    that no claim is for is taken if each op in it is.
    """
    if taker.takes_all:
        seconds = cost_of(op, taker.target)
        return Answer([Candidate(taker, op, (op,), seconds=seconds)])
    answer = Answer()
    for claim in taker.claims:
        if isinstance(op, claim.root):
            _ask_claim(taker, claim, op, answer)
    if answer.candidates or answer.reasons or not isinstance(op, graph.GroupOp):
        return answer
    if isinstance(op, graph.CompositeOp) and op.composite.data in taker.labels():
        return Answer([Candidate(taker, op, (op,))])
    return _ask_inside(taker, op)


def _ask_claim(taker: Taker, claim: Claim, op: Operation, answer: Answer) -> None:
    members = tuple(members_of(claim, op, taker.target))
    if not members:
        return
    said = answer_of(claim, op, taker.target)
    if isinstance(said, Refusal):
        answer.reasons.append(said.reason)
        return
    distinct = dict.fromkeys(members)
    ops = tuple(m for m in distinct if not isinstance(m, CLONED_OPS))
    constants = tuple(m for m in distinct if isinstance(m, CLONED_OPS))
    seconds = said.seconds
    if seconds is None and len(ops) == 1:
        seconds = cost_of(op, taker.target)
    answer.candidates.append(Candidate(taker, op, ops, constants, claim.label, seconds))


def _ask_inside(taker: Taker, group: graph.GroupOp) -> Answer:
    """
    Ask for all ops of a group, where none is for the group itself. One that computes
    nothing, and only hands on values, shows nothing that the target can do.
    """
    asked = [op for op in group.body.block.ops if is_asked_for(op)]
    if not asked:
        return Answer(reasons=["it computes nothing"])
    for op in asked:
        answer = ask(taker, op)
        if not answer.takes_it_alone:
            return Answer(reasons=[f"'{op.name}' in it: {answer.refusal}"])
    return Answer([Candidate(taker, group, (group,))])
