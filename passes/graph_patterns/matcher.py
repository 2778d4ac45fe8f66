"""
Matching: first what each part demands by itself, then that shared parts are the same.

Whether a part fits a value, sharing aside, is found once for each part and value, so
that looking for a pattern everywhere is linear in the IR. The search for a way to bind
the parts tries alternatives in order, and meets only those that fit.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Data, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from transom.passes.graph_outline_regions import CLONED_OPS
from transom.passes.graph_patterns.match import Match, Mismatch
from transom.passes.graph_patterns.plan import Plan
from transom.passes.graph_patterns.terms import (
    EachTerm,
    EitherTerm,
    OpTerm,
    ResultTerm,
    Term,
    ValueTerm,
    Where,
    is_kind,
    kind_name,
)

MAX_READERS = 16
"""How many readers of a shared value are tried as a further root."""

Key = tuple[Term, tuple[int, ...]]
"""A term, and the numbers of the operands of the `each` terms that it is in."""


class Matcher:
    """
    Remembers which parts of patterns fit which values, while the IR does not change.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Term, SSAValue | Operation], Mismatch | None] = {}

    def matches(self, plan: Plan, root: Operation) -> Iterator[Match]:
        """The ways in which a pattern ends in an op."""
        if self.problem_of_op(plan.root, root) is None:
            yield from _Search(self, plan, root).matches()

    def mismatch(self, plan: Plan, root: Operation) -> Mismatch:
        """Why a pattern does not end in an op."""
        problem = self.problem_of_op(plan.root, root)
        if problem is not None:
            return problem
        return Mismatch(len(plan.position), "expected shared parts to be the same")

    def problem(
        self, term: Term, value: SSAValue, reader: Operation
    ) -> Mismatch | None:
        """What is in the way of a term for an operand, sharing aside, if anything."""
        owner = value.owner
        if isinstance(term, ValueTerm):
            return self._remembered(term, value)
        if isinstance(term, EitherTerm):
            return _deepest(self.problem(t, value, reader) for t in term.alternatives)
        assert isinstance(term, (OpTerm, ResultTerm)), "what stands for one value"
        wanted = term if isinstance(term, OpTerm) else term.op
        if not isinstance(value, OpResult):
            return Mismatch(0, f"expected {_kinds(wanted)}, but got a block argument")
        assert isinstance(owner, Operation), "of a result"
        if owner.parent is not reader.parent and not isinstance(owner, CLONED_OPS):
            return Mismatch(0, f"expected {_kinds(wanted)} in the same block")
        index = term.index if isinstance(term, ResultTerm) else 0
        if value.index != index:
            return Mismatch(
                0, f"expected result {index} of {_kinds(wanted)}, but got {value.index}"
            )
        return self._remembered(wanted, owner)

    def problem_of_op(self, term: Term, op: Operation) -> Mismatch | None:
        """What is in the way of a term for an op."""
        if isinstance(term, EitherTerm):
            return _deepest(self.problem_of_op(t, op) for t in term.alternatives)
        assert isinstance(term, OpTerm), "roots are ops"
        return self._remembered(term, op)

    def _remembered(self, term: Term, at: SSAValue | Operation) -> Mismatch | None:
        key = (term, at)
        if key not in self._known:
            if isinstance(at, Operation):
                assert isinstance(term, OpTerm), "asked of ops"
                self._known[key] = self._check_op(term, at)
            else:
                assert isinstance(term, ValueTerm), "asked of values"
                self._known[key] = _unmet_by_value(term.demands, at)
        return self._known[key]

    def _check_op(self, term: OpTerm, op: Operation) -> Mismatch | None:
        if not any(is_kind(op, kind) for kind in term.kinds) or op.has_trait(
            IsTerminator
        ):
            return Mismatch(0, f"expected {_kinds(term)}, but got '{op.name}'")
        problem = _unmet_attributes(term.attributes, op)
        if problem is None and op.results:
            problem = _unmet_by_value(term.value_demands, op.results[0])
        for demand in term.demands if problem is None else ():
            if not demand.holds(op):
                problem = Mismatch(1, f"expected {demand.text}")
        problem = problem or _operand_count(term, op)
        if problem is not None:
            return Mismatch(1, f"'{op.name}': {problem.reason}")
        return _deepest(
            _first(
                self.problem(part, operand, op)
                for part, operand, _ in _paired(term, op, swapped)
            )
            for swapped in ((False, True) if term.commutative else (False,))
        )


def _paired(
    term: OpTerm, op: Operation, swapped: bool
) -> Iterator[tuple[Term, SSAValue, tuple[int, ...]]]:
    """Terms with their operands; those of an `each` also with their number."""
    operands = list(reversed(op.operands)) if swapped else list(op.operands)
    for part in term.operands:
        if isinstance(part, EachTerm):
            for number, operand in enumerate(operands):
                yield part.term, operand, (number,)
        else:
            yield part, operands.pop(0), ()


class _Search:
    """Looks for ways to bind the terms of a pattern that ends in an op."""

    def __init__(self, matcher: Matcher, plan: Plan, root: Operation) -> None:
        self.matcher = matcher
        self.plan = plan
        self.root = root
        self.bound: dict[Key, SSAValue | Operation] = {}

    def matches(self) -> Iterator[Match]:
        for _ in self._ops(self.plan.root, self.root, ()):
            for _ in self._others(0):
                yield self._match()

    def _others(self, number: int) -> Iterator[None]:
        """Bind the further roots, from this one on."""
        if number == len(self.plan.others):
            yield
            return
        term, (shared, distance) = self.plan.others[number]
        for op in self._above(shared, distance):
            if op in self.bound.values() or op.parent is not self.root.parent:
                continue
            if self.matcher.problem_of_op(term, op) is None:
                for _ in self._ops(term, op, ()):
                    yield from self._others(number + 1)

    def _above(self, shared: Term, distance: int) -> list[Operation]:
        """The ops that are some ops above what a term is bound to."""
        starts = [at for (term, _), at in self.bound.items() if term is shared]
        level: dict[SSAValue | Operation, None] = dict.fromkeys(starts)
        for _ in range(distance):
            readers: dict[SSAValue | Operation, None] = {}
            for at in level:
                values = at.results if isinstance(at, Operation) else (at,)
                for value in values:
                    uses = islice(value.uses, MAX_READERS)
                    readers |= dict.fromkeys(use.operation for use in uses)
            level = readers
        return [op for op in level if isinstance(op, Operation)]

    def _ops(self, term: Term, op: Operation, scope: tuple[int, ...]) -> Iterator[None]:
        """Bind a term to an op."""
        if isinstance(term, EitherTerm):
            for _ in self._bind(term, op, scope):
                for alternative in term.alternatives:
                    if self.matcher.problem_of_op(alternative, op) is None:
                        yield from self._ops(alternative, op, scope)
            return
        assert isinstance(term, OpTerm), "roots are ops"
        for _ in self._bind(term, op, scope):
            for swapped in (False, True) if _may_swap(term) else (False,):
                pairs = list(_paired(term, op, swapped))
                yield from self._operands(pairs, 0, op, scope)

    def _operands(
        self,
        pairs: list[tuple[Term, SSAValue, tuple[int, ...]]],
        number: int,
        reader: Operation,
        scope: tuple[int, ...],
    ) -> Iterator[None]:
        if number == len(pairs):
            yield
            return
        term, value, inner = pairs[number]
        for _ in self._value(term, value, reader, scope + inner):
            yield from self._operands(pairs, number + 1, reader, scope)

    def _value(
        self, term: Term, value: SSAValue, reader: Operation, scope: tuple[int, ...]
    ) -> Iterator[None]:
        """Bind a term to an operand."""
        if self.matcher.problem(term, value, reader) is not None:
            return
        if isinstance(term, EitherTerm):
            for _ in self._bind(term, value, scope):
                for alternative in term.alternatives:
                    yield from self._value(alternative, value, reader, scope)
        elif isinstance(term, ResultTerm):
            assert isinstance(value.owner, Operation), "of a result"
            for _ in self._bind(term, value, scope):
                yield from self._ops(term.op, value.owner, scope)
        elif isinstance(term, OpTerm):
            assert isinstance(value.owner, Operation), "of a result"
            yield from self._ops(term, value.owner, scope)
        else:
            yield from self._bind(term, value, scope)

    def _bind(
        self, term: Term, at: SSAValue | Operation, scope: tuple[int, ...]
    ) -> Iterator[None]:
        """Bind a term, if it is not bound to something else."""
        key = (term, scope[: len(self.plan.scopes[term])])
        known = self.bound.get(key)
        if known is not None:
            if known is at:
                yield
            return
        self.bound[key] = at
        try:
            yield
        finally:
            del self.bound[key]

    def _match(self) -> Match:
        ordered = sorted(
            self.bound.items(), key=lambda i: (self.plan.position[i[0][0]], i[0][1])
        )
        ops: dict[Operation, None] = {}
        copied: dict[Operation, None] = {}
        captures: dict[str, list[SSAValue]] = {}
        for (term, _), at in ordered:
            if isinstance(at, Operation) and isinstance(term, OpTerm):
                (copied if term.copied else ops).setdefault(at)
            if term.name is not None:
                value = at.results[0] if isinstance(at, Operation) else at
                captures.setdefault(term.name, []).append(value)
        return Match(
            self.root,
            tuple(ops),
            tuple(op for op in copied if op not in ops),
            {name: tuple(values) for name, values in captures.items()},
            self.plan.names,
        )


def _may_swap(term: OpTerm) -> bool:
    """Whether another order of the operands can be another match."""
    if not term.commutative:
        return False
    first, second = term.operands
    return not (
        isinstance(first, ValueTerm)
        and isinstance(second, ValueTerm)
        and first.demands == second.demands
    )


def _kinds(term: OpTerm) -> str:
    return " or ".join(f"'{kind_name(kind)}'" for kind in term.kinds)


def _unmet_by_value(demands: tuple[Where, ...], value: SSAValue) -> Mismatch | None:
    for demand in demands:
        if not demand.holds(value):
            return Mismatch(0, f"expected {demand.text}, but got '{value.type}'")
    return None


def _operand_count(term: OpTerm, op: Operation) -> Mismatch | None:
    parts, found = term.operands, len(op.operands)
    if parts and isinstance(parts[-1], EachTerm):
        least = len(parts) - 1 + parts[-1].at_least
        if found < least:
            return Mismatch(1, f"expected {least} operands or more, but got {found}")
    elif found != len(parts):
        return Mismatch(1, f"expected {len(parts)} operands, but got {found}")
    return None


def _unmet_attributes(wanted: Mapping[str, object], op: Operation) -> Mismatch | None:
    for name, expected in wanted.items():
        found = op.properties.get(name, op.attributes.get(name))
        plain = plain_value(found)
        if isinstance(expected, Where):
            text, holds = expected.text, expected.holds(plain)
        elif isinstance(expected, Attribute):
            text, holds = f"'{expected}'", found == expected
        else:
            text, holds = f"{expected!r}", plain == _hashable(expected)
        if not holds:
            shown = "nothing" if found is None else repr(plain)
            if isinstance(plain, Attribute):
                shown = f"'{plain}'"
            return Mismatch(1, f"expected {name} to be {text}, but got {shown}")
    return None


def _hashable(expected: object) -> object:
    """Lists as the tuples that properties are."""
    return tuple(cast(list[Any], expected)) if isinstance(expected, list) else expected


def plain_value(attribute: Attribute | None) -> Any:
    """
    A property as Python has it: numbers, strings, enumerations, tuples of these; the
    attribute itself where there is no such thing.
    """
    match attribute:
        case None | UnitAttr():
            return attribute and True
        case IntegerAttr() | FloatAttr():
            return attribute.value.data
        case DenseArrayBase():
            return tuple(cast(Any, attribute).get_values())
        case ArrayAttr():
            return tuple(map(plain_value, cast(Iterable[Attribute], attribute.data)))
        case SymbolRefAttr():
            return attribute.string_value()
        case Data():
            return cast(Any, attribute).data
        case _:
            return attribute


def _first(problems: Iterator[Mismatch | None]) -> Mismatch | None:
    """The first problem, one op deeper; None if there is none."""
    problem = next((p for p in problems if p is not None), None)
    return None if problem is None else Mismatch(problem.depth + 1, problem.reason)


def _deepest(problems: Iterator[Mismatch | None]) -> Mismatch | None:
    """None if one way has no problem, else the problem of the one that led furthest."""
    deepest: Mismatch | None = None
    for problem in problems:
        if problem is None:
            return None
        if deepest is None or problem.depth > deepest.depth:
            deepest = problem
    return deepest
