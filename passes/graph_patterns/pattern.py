"""
Patterns, compiled: terms numbered, roots by their kinds.
"""

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from transom.passes.graph_patterns.match import Match, Mismatch
from transom.passes.graph_patterns.matcher import Matcher
from transom.passes.graph_patterns.plan import Plan
from transom.passes.graph_patterns.terms import (
    EachTerm,
    EitherTerm,
    OpTerm,
    PatternError,
    ResultTerm,
    Term,
    ValueTerm,
    Where,
    is_kind,
    kind_name,
)


class Pattern:
    """
    What ops compute together, found from the op of its root.

    `others` are further roots, which share a part with the root or with one another;
    they are looked for among the readers of that part. `where` is asked of a whole
    match. A pattern is compiled when it is made and may be used by several threads.

    Raises `PatternError` for a root that is no op, and other roots that share nothing.
    """

    def __init__(
        self, root: Term, *others: Term, where: Where | Sequence[Where] = ()
    ) -> None:
        self.demands = (where,) if isinstance(where, Where) else tuple(where)
        for term in (root, *others):
            _check_root(term)
        self.plan = Plan(root, others)
        self.root_kinds = tuple(_kinds_of(root))

    def __str__(self) -> str:
        """The kinds of its root, and how many parts it has."""
        kinds = " or ".join(f"'{kind_name(kind)}'" for kind in self.root_kinds)
        return f"pattern of {len(self.plan.position)} parts that ends in {kinds}"

    def may_root(self, op: Operation) -> bool:
        """Whether an op is of a kind that the pattern can end in."""
        return any(is_kind(op, kind) for kind in self.root_kinds)

    def matches(self, op: Operation, matcher: Matcher | None = None) -> Iterator[Match]:
        """
        The ways in which the pattern ends in an op, the preferred first.

        `matcher` remembers what was found for other ops of IR that did not change.
        """
        if not self.may_root(op):
            return
        for match in (matcher or Matcher()).matches(self.plan, op):
            if all(demand.holds(match) for demand in self.demands):
                yield match

    def match(self, op: Operation, matcher: Matcher | None = None) -> Match | None:
        """The preferred way in which the pattern ends in an op, None if it does not."""
        return next(self.matches(op, matcher), None)

    def mismatch(self, op: Operation, matcher: Matcher | None = None) -> Mismatch:
        """
        Why the pattern does not end in an op, by the way that led furthest.

        Asked of an op in which it ends, it tells what is wrong with another way.
        """
        matcher = matcher or Matcher()
        for match in matcher.matches(self.plan, op):
            for demand in self.demands:
                if not demand.holds(match):
                    return Mismatch(len(match.ops), f"expected {demand.text}")
        return matcher.mismatch(self.plan, op)


def _check_root(term: Term) -> None:
    if isinstance(term, ResultTerm):
        raise PatternError("expected an op as the root, but got one of its results")
    if isinstance(term, (ValueTerm, EachTerm)):
        raise PatternError("expected an op as the root, but got values of any origin")
    if isinstance(term, EitherTerm):
        for alternative in term.alternatives:
            _check_root(alternative)


def _kinds_of(term: Term) -> Iterator[type[Operation] | str]:
    if isinstance(term, OpTerm):
        yield from term.kinds
    elif isinstance(term, EitherTerm):
        for alternative in term.alternatives:
            yield from _kinds_of(alternative)
