"""
What targets answer when they are asked for ops: candidates, or refusals with reasons.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation, SSAValue

from transom.dialects import graph
from transom.dialects.target import TargetAttr
from transom.lowering.conversion import Refusal
from transom.passes.graph_outline_regions import CLONED_OPS, is_computed
from transom.passes.graph_patterns import Matcher, Mismatch
from transom.passes.op_groups import outer_operands
from transom.targets.contract.op_answers import (
    answer_of,
    answers_of,
    cost_of,
    members_of,
)
from transom.targets.hooks import (
    Accepted,
    AnyClaim,
    Claim,
    PatternClaim,
    TargetHooks,
)
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
    claims: tuple[AnyClaim, ...] = field(compare=False)

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
    """All of them, but what is copied."""

    copied: tuple[Operation, ...] = ()
    """
    What belongs to it and may have other readers, such as constants; operands come
    before what reads them.
    """

    label: str | None = None
    seconds: float | None = None

    def reads(self) -> Iterator[SSAValue]:
        """What it reads of others."""
        inside = {*self.ops, *self.copied}
        for op in (*self.copied, *self.ops):
            for value in outer_operands(op):
                if value.owner not in inside:
                    yield value


@dataclass(frozen=True, eq=False)
class Refused:
    """Ops that a target might have taken together, and why it does not."""

    ops: tuple[Operation, ...]
    label: str | None
    reason: str


@dataclass
class Answer:
    """What a target says of an op."""

    candidates: list[Candidate] = field(default_factory=list[Candidate])
    refused: list[Refused] = field(default_factory=list[Refused])
    near: Mismatch | None = None
    """Where the pattern that fits best does not match."""

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
        reasons = dict.fromkeys(refused.reason for refused in self.refused)
        return "; ".join(reasons) or (self.near.reason if self.near else NO_CLAIM)


def ask(taker: Taker, op: Operation, matcher: Matcher) -> Answer:
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
        if not claim.may_root(op):
            continue
        if isinstance(claim, PatternClaim):
            _ask_pattern(taker, claim, op, answer, matcher)
        else:
            _ask_claim(taker, claim, op, answer)
    if answer.candidates or answer.refused or not isinstance(op, graph.GroupOp):
        return answer
    if isinstance(op, graph.CompositeOp) and op.composite.data in taker.labels():
        return Answer([Candidate(taker, op, (op,))])
    return _ask_inside(taker, op, matcher)


def _ask_pattern(
    taker: Taker, claim: PatternClaim, op: Operation, answer: Answer, matcher: Matcher
) -> None:
    found = False
    for match, said in answers_of(claim, op, taker.target, matcher):
        found = True
        _note(taker, claim, op, match.ops, match.copied, said, answer)
    if not found:
        near = claim.pattern.mismatch(op, matcher)
        if answer.near is None or near.depth > answer.near.depth:
            whose = "" if claim.label is None else f"no '{claim.label}': "
            answer.near = Mismatch(near.depth, whose + near.reason)


def _ask_claim(taker: Taker, claim: Claim, op: Operation, answer: Answer) -> None:
    members = tuple(members_of(claim, op, taker.target))
    if not members:
        return
    said = answer_of(claim, op, taker.target)
    distinct = dict.fromkeys(members)
    ops = tuple(m for m in distinct if not isinstance(m, CLONED_OPS))
    copied = tuple(m for m in distinct if isinstance(m, CLONED_OPS))
    _note(taker, claim, op, ops, copied, said, answer)


def _note(
    taker: Taker,
    claim: AnyClaim,
    root: Operation,
    ops: tuple[Operation, ...],
    copied: tuple[Operation, ...],
    said: Accepted | Refusal,
    answer: Answer,
) -> None:
    """Put what a claim says of some ops into an answer."""
    if isinstance(said, Refusal):
        answer.refused.append(Refused(ops, claim.label, said.reason))
        return
    seconds = said.seconds
    if seconds is None and len(ops) == 1:
        seconds = cost_of(root, taker.target)
    if claim.label is None:
        copied = ()  # there is no composite that would have them
    candidate = Candidate(taker, root, ops, copied, claim.label, seconds)
    answer.candidates.append(candidate)


def _ask_inside(taker: Taker, group: graph.GroupOp, matcher: Matcher) -> Answer:
    """
    Ask for all ops of a group, where none is for the group itself. One that computes
    nothing, and only hands on values, shows nothing that the target can do.
    """
    asked = [op for op in group.body.block.ops if is_asked_for(op)]
    if not asked:
        return _refused(group, "it computes nothing")
    for op in asked:
        answer = ask(taker, op, matcher)
        if not answer.takes_it_alone:
            return _refused(group, f"'{op.name}' in it: {answer.refusal}")
    return Answer([Candidate(taker, group, (group,))])


def _refused(op: Operation, reason: str) -> Answer:
    return Answer(refused=[Refused((op,), None, reason)])
