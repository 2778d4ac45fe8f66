"""
The choice of targets for the ops of a block, among what targets claim.

The preferred target comes first, and what it claims in larger patterns before what it
claims in smaller ones. A target that comes later gets ops if both costs are known and
its own is lower. Ops that are taken together depend on each other without a cycle.
"""

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import Attribute, Block, Operation

from transom.dialects.diagnostics import OpError
from transom.passes.dependence_graph import DependenceGraph
from transom.passes.graph_patterns import Matcher
from transom.passes.op_groups import outer_operands
from transom.targets.claim_candidates import Answer, Candidate, Refused, Taker, ask
from transom.targets.proposals import Offer, refusal_of_offer


class BlockChoice:
    """
    Which target gets which ops of a block. `takers` says which ones may have an op, in
    order of preference; of an op that is not there nobody is asked.
    """

    def __init__(
        self,
        block: Block,
        takers: Mapping[Operation, Sequence[Taker]],
        offers: Sequence[Offer] = (),
        matcher: Matcher | None = None,
        hints: Mapping[Operation, Mapping[Taker, Attribute]] | None = None,
    ) -> None:
        self.block = block
        self.takers = dict(takers)
        self.hints = hints or {}
        """The targets that marks on an op prefer, with the places of the marks."""
        self.groups: list[list[Operation]] = []
        """Ops of several candidates that are to run together, if that was chosen."""
        self.searched: dict[Candidate, float | None] = {}
        """The candidates among which a search chose, and their seconds."""
        self.graph = DependenceGraph(block)
        self.taken: dict[Operation, Candidate] = {}
        self.absorbed: set[Operation] = set()
        """Ops that others copy, and that nothing else reads: nobody takes them."""
        matcher = matcher or Matcher()
        self.offered: dict[Candidate, Offer] = {}
        self._refused: dict[tuple[Taker, Operation], list[Refused]] = {}
        for offer in offers:
            self._consider(offer, matcher)
        self.answers: dict[Operation, dict[Taker, Answer]] = {
            op: {taker: ask(taker, op, matcher) for taker in self.takers[op]}
            for op in takers
        }
        self.candidates = sorted(self._allowed(), key=self._rank)
        self._by_op: dict[tuple[Taker, Operation], list[Candidate]] = {}
        for candidate in self.candidates:
            for op in candidate.ops:
                self._by_op.setdefault((candidate.taker, op), []).append(candidate)
        for answers in self.answers.values():
            for taker, answer in answers.items():
                for refused in answer.refused:
                    self._note_refused(taker, refused)

    def _consider(self, offer: Offer, matcher: Matcher) -> None:
        """
        Make candidates of what is offered, for each target that takes it.

        Raises `OpError` if it is required, and none does.
        """
        accepting: list[Taker] = []
        reasons: list[str] = []
        for taker in offer.takers:
            reason = refusal_of_offer(offer, taker, matcher)
            if reason is not None:
                self._note_refused(taker, Refused(offer.ops, offer.label, reason))
                reasons.append(f"'{taker.target}': {reason}")
                continue
            accepting.append(taker)
            root = offer.ops[-1]
            copied = () if offer.label is None else offer.copied
            candidate = Candidate(
                taker, root, offer.ops, copied, offer.label, offer.seconds
            )
            self.offered[candidate] = offer
        if not offer.is_required:
            return
        if not accepting:
            why = "; ".join(reasons) or "no target of the place is within reach"
            raise OpError(
                offer.ops[0],
                f"candidate '{offer.name}' is required, but no target takes it ({why})",
            )
        for op in offer.ops:
            self.takers[op] = accepting

    def check_required(self) -> None:
        """Raise `OpError` if something that is required was not taken."""
        taken = {self.offered.get(c) for c in self.taken.values()}
        for offer in dict.fromkeys(self.offered.values()):
            if offer.is_required and offer not in taken:
                raise OpError(
                    offer.ops[0],
                    f"candidate '{offer.name}' is required, but cannot be had beside "
                    "others that are",
                )

    def _note_refused(self, taker: Taker, refused: Refused) -> None:
        for op in refused.ops:
            self._refused.setdefault((taker, op), []).append(refused)

    def _allowed(self) -> Iterable[Candidate]:
        """What is claimed, of ops that the claimant may have, and what is offered."""
        yield from self.offered
        for answers in self.answers.values():
            for answer in answers.values():
                for candidate in answer.candidates:
                    allowed = (self.takers.get(op, ()) for op in candidate.ops)
                    if all(candidate.taker in takers for takers in allowed):
                        yield candidate

    def select(self) -> None:
        """Take candidates, the best first."""
        for candidate in self.candidates:
            if self.cheaper(candidate) is None:
                self._take(candidate)
        # What was left to a cheaper target, and that one could not take after all.
        for candidate in self.candidates:
            self._take(candidate)
        self._absorb()

    def _absorb(self) -> None:
        """Leave out the ops that are taken alone, and only read by copies of them."""
        copied = {op for c in self.taken.values() for op in c.copied}
        needed: set[Operation | Block] = set()
        for op in reversed(list(self.block.ops)):
            candidate = self.taken.get(op)
            if candidate is None:
                if op in needed or op not in copied:
                    needed |= {value.owner for value in outer_operands(op)}
            elif op in copied and op not in needed and candidate.ops == (op,):
                self.absorbed.add(op)
                del self.taken[op]
            else:
                needed |= {value.owner for value in candidate.reads()}
        # What nobody takes is not missed if only copies of it are read.
        self.absorbed |= {
            op for op in copied if op not in needed and op not in self.taken
        } & set(self.takers)

    def _rank(self, candidate: Candidate) -> tuple[int, int, int]:
        """
        The order of candidates: what is required, what is offered, what is claimed;
        equal ones are as in the block and the claims.
        """
        offer = self.offered.get(candidate)
        if offer is not None:
            order = offer.takers.index(candidate.taker)
            return (0 if offer.is_required else 1), order, -len(candidate.ops)
        preference = list(self.takers[candidate.root]).index(candidate.taker)
        return 2, preference, -len(candidate.ops)

    def _take(self, candidate: Candidate) -> None:
        if any(op in self.taken for op in candidate.ops):
            return
        if self.graph.join_all(candidate.ops) is not None:
            self.taken |= dict.fromkeys(candidate.ops, candidate)

    def cheaper(self, candidate: Candidate) -> tuple[Taker, float] | None:
        """The first target that is known to run a candidate's ops for less."""
        if candidate.seconds is None or candidate in self.offered:
            return None
        for taker in self.takers[candidate.root]:
            seconds = self._known_cost(taker, candidate)
            if seconds is not None and seconds < candidate.seconds:
                return taker, seconds
        return None

    def _known_cost(self, taker: Taker, other: Candidate) -> float | None:
        """
        What a target takes for exactly the ops of another candidate, in its largest
        patterns that fit; None if it does not run all of them, or a cost is unknown.
        """
        left, total = set(other.ops), 0.0
        for op in sorted(other.ops, key=self.graph.position.__getitem__, reverse=True):
            if op not in left:
                continue
            fitting = [
                candidate
                for candidate in self._by_op.get((taker, op), ())
                if candidate is not other and left.issuperset(candidate.ops)
            ]
            if not fitting:
                return None
            best = max(fitting, key=lambda candidate: len(candidate.ops))
            if best.seconds is None:
                return None
            total += best.seconds
            left.difference_update(best.ops)
        return total

    def untakeable(self) -> bool:
        """Whether there is an op that is in no candidate."""
        covered = {op for c in self.candidates for op in (*c.ops, *c.copied)}
        return any(op not in covered for op in self.takers)

    def regroup(self) -> None:
        """Begin the groups of ops anew, with what is taken together."""
        self.graph = DependenceGraph(self.block)
        for candidate in dict.fromkeys(self.taken.values()):
            joined = self.graph.join_all(candidate.ops)
            assert joined is not None, "candidates were chosen in an order"

    def untaken(self) -> list[Operation]:
        """The ops that no target takes."""
        return [
            op for op in self.takers if op not in self.taken and op not in self.absorbed
        ]

    def opinion(self, op: Operation, taker: Taker) -> str:
        """What a target says of an op that another one runs."""
        candidates = self._by_op.get((taker, op), ())
        if not candidates or self.searched:
            return self.refusal(op, taker)
        order = self.takers[op]
        chosen = self.taken[op]
        if chosen in self.offered:
            return f"takes it, but '{self.offered[chosen].name}' was asked for"
        if order.index(taker) < order.index(chosen.taker):
            return self.refusal(op, taker)
        hint = self.hint(op, chosen.taker)
        if hint is not None and self.hint(op, taker) is None:
            return f"takes it, but the hint '{hint}' prefers another"
        return "takes it, but is asked later"

    def hint(self, op: Operation, taker: Taker) -> Attribute | None:
        """The place of a mark on an op that prefers a target."""
        return self.hints.get(op, {}).get(taker)

    def refusal(self, op: Operation, taker: Taker) -> str:
        """Why a target does not get an op that it was asked for."""
        answer = self.answers[op][taker]
        candidates = self._by_op.get((taker, op), ())
        is_part = bool(candidates) and not answer.refused
        if not answer.candidates and not is_part:
            around = "" if answer.refused else self._refused_around(op, taker)
            return around or answer.refusal
        for candidate in candidates:
            if candidate in self.searched:
                seconds = self.searched[candidate]
                cost = "unknown cost" if seconds is None else f"{seconds:.3g} s"
                if len(candidate.ops) > 1:
                    cost = f"{cost} for all of {_quoted(candidate.label)}"
                return f"takes it at {cost}, but all together cost less elsewhere"
            better = self.cheaper(candidate)
            if better is not None:
                return (
                    f"takes {candidate.seconds:.3g} s, "
                    f"but '{better[0].target}' takes {better[1]:.3g} s"
                )
        patterns = (*answer.candidates, *candidates)
        labels = dict.fromkeys(c.label for c in patterns if c.label)
        pattern = " or ".join(f"'{label}'" for label in labels) or "a pattern"
        return f"takes it as part of {pattern} only, which is not to be had whole"

    def _refused_around(self, op: Operation, taker: Taker) -> str:
        """Why patterns that an op would be a part of are refused, if there are any."""
        reasons = (
            f"as part of '{refused.label or 'a pattern'}': {refused.reason}"
            for refused in self._refused.get((taker, op), ())
        )
        return "; ".join(dict.fromkeys(reasons))


def _quoted(label: str | None) -> str:
    return "a pattern" if label is None else f"'{label}'"
