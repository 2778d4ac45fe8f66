"""
What a pattern knows of its terms before it sees any IR.
"""

from collections.abc import Iterator, Sequence

from transom.passes.graph_patterns.terms import (
    EachTerm,
    EitherTerm,
    OpTerm,
    PatternError,
    ResultTerm,
    Term,
)


def parts_of(term: Term) -> tuple[Term, ...]:
    """The terms directly in a term."""
    match term:
        case OpTerm():
            return term.operands
        case ResultTerm():
            return (term.op,)
        case EitherTerm():
            return term.alternatives
        case EachTerm():
            return (term.term,)
        case _:
            return ()


class Plan:
    """
    The terms of a pattern in order, parts before what they are parts of, and which of
    them are one per operand of an `each`. Raises `PatternError`.
    """

    def __init__(self, root: Term, others: Sequence[Term]) -> None:
        self.root = root
        self.position: dict[Term, int] = {}
        self.scopes: dict[Term, tuple[EachTerm, ...]] = {}
        self._number(root)
        self.others = [(term, self._way_to(term)) for term in others]
        self._find_scopes((root, *others))
        self.names = frozenset(t.name for t in self.position if t.name is not None)

    def _number(self, root: Term) -> None:
        pending = [(root, iter(parts_of(root)))]
        entered = {root}
        while pending:  # patterns of repeated parts are deep
            term, parts = pending[-1]
            part = next((p for p in parts if p not in self.position), None)
            if part is None:
                pending.pop()
                self.position[term] = len(self.position)
            elif part in entered:
                raise AssertionError("terms are made of terms that exist")
            else:
                entered.add(part)
                pending.append((part, iter(parts_of(part))))

    def _way_to(self, other: Term) -> tuple[Term, int]:
        """
        The part that a further root shares with what is numbered so far, and how many
        ops above it the root is. Numbers the root.
        """
        level: list[Term] = [other]
        seen: set[Term] = set()
        distance = 0
        while level:
            shared = next((term for term in level if term in self.position), None)
            if shared is not None:
                if distance == 0:
                    raise PatternError("expected further roots that are not parts")
                self._number(other)
                return shared, distance
            below: list[Term] = []
            for term in level:
                for part in _operands_of(term):
                    if part not in seen:
                        seen.add(part)
                        below.append(part)
            level, distance = below, distance + 1
        raise PatternError("expected further roots to share a part with the first")

    def _find_scopes(self, roots: Sequence[Term]) -> None:
        """Terms are in the scope of an `each` if all ways to them lead through it."""
        self.scopes = {root: () for root in roots}
        order = sorted(self.position, key=self.position.__getitem__, reverse=True)
        for term in order:
            own = self.scopes[term]
            inner = (*own, term) if isinstance(term, EachTerm) else own
            for part in parts_of(term):
                known = self.scopes.get(part)
                self.scopes[part] = inner if known is None else _common(known, inner)


def _operands_of(term: Term) -> Iterator[Term]:
    """The terms of the operands of an op, alternatives and results looked through."""
    if not isinstance(term, OpTerm):
        return
    pending = list(reversed(term.operands))
    while pending:
        part = pending.pop()
        yield part
        if not isinstance(part, OpTerm):
            pending += reversed(parts_of(part))


def _common(a: tuple[EachTerm, ...], b: tuple[EachTerm, ...]) -> tuple[EachTerm, ...]:
    count = 0
    while count < min(len(a), len(b)) and a[count] is b[count]:
        count += 1
    return a[:count]
