"""
What may be left after a conversion: `ConversionTarget`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import TypeAlias

from xdsl.ir import Dialect, Operation

from transom.lowering.conversion.pattern import Refusal, name_of_op, roots_of

OpKind: TypeAlias = type[Operation] | str | UnionType
"""An op class, the name of an op, or a union of op classes."""

Predicate: TypeAlias = Callable[[Operation], "bool | Refusal"]
"""True: legal. False: illegal. A `Refusal`: illegal, and why."""


class Legality(Enum):
    """What a target says about a kind of op."""

    LEGAL = "legal"
    ILLEGAL = "illegal"
    DYNAMIC = "dynamic"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Rule:
    """What holds for all ops of one class."""

    legality: Legality
    predicate: Predicate | None = None
    recursive: Predicate | None = None
    """Whether, if the op is legal, so is all that it holds."""


_UNKNOWN = Rule(Legality.UNKNOWN)


def _always(op: Operation) -> bool:
    return True


class ConversionTarget:
    """
    The ops that are legal after a conversion.

    The most specific statement wins: one on the op (by class or name), then one on a
    base class, then one on its dialect; of two on the same thing, the later. An op of
    an unregistered dialect is seen under the name that it was written with.

    A target that names legal dialects or ops is *closed*: a full conversion leaves
    nothing else. A target that only names what is illegal is *open*: ops that it does
    not mention may stay. Legal ops that are exceptions from an illegal dialect do not
    close it. A partial conversion never asks for ops that are not mentioned.
    """

    def __init__(self) -> None:
        self._ops: dict[type[Operation] | str, Rule] = {}
        self._dialects: dict[str, Rule] = {}
        self._recursive: dict[type[Operation] | str, Predicate] = {}
        self._unknown: Rule = _UNKNOWN
        self._closed: bool | None = None
        self._rules: dict[type[Operation], Rule] = {}

    def add_legal_dialect(self, *names: str | Dialect) -> None:
        """All ops of these dialects are legal."""
        self._set_dialects(names, Rule(Legality.LEGAL))

    def add_illegal_dialect(self, *names: str | Dialect) -> None:
        """No op of these dialects may be left."""
        self._set_dialects(names, Rule(Legality.ILLEGAL))

    def add_dynamically_legal_dialect(
        self, *names: str | Dialect, predicate: Predicate
    ) -> None:
        """The ops of these dialects are legal for which the predicate holds."""
        self._set_dialects(names, Rule(Legality.DYNAMIC, predicate))

    def add_legal_op(self, *ops: OpKind) -> None:
        """These ops are legal."""
        self._set_ops(ops, Rule(Legality.LEGAL))

    def add_illegal_op(self, *ops: OpKind) -> None:
        """These ops may not be left."""
        self._set_ops(ops, Rule(Legality.ILLEGAL))

    def add_dynamically_legal_op(self, *ops: OpKind, predicate: Predicate) -> None:
        """These ops are legal where the predicate holds."""
        self._set_ops(ops, Rule(Legality.DYNAMIC, predicate))

    def mark_recursively_legal(
        self, *ops: OpKind, predicate: Predicate = _always
    ) -> None:
        """Where one of these ops is legal, so is all that is nested in it."""
        for key in roots_of(*ops):
            self._recursive[key] = predicate
        self._rules.clear()

    def mark_unknown_legal(self) -> None:
        """Ops that are not mentioned may stay, whatever else the target says."""
        self._closed = False

    def mark_unknown_illegal(self) -> None:
        """Ops that are not mentioned may not stay after a full conversion."""
        self._closed = True

    def mark_unknown_dynamically_legal(self, predicate: Predicate) -> None:
        """Ops that are not mentioned are legal where the predicate holds."""
        self._unknown = Rule(Legality.DYNAMIC, predicate)
        self._rules.clear()

    @property
    def closed(self) -> bool:
        """Whether a full conversion takes ops that are not mentioned for illegal."""
        if self._closed is not None:
            return self._closed
        if any(r.legality is Legality.LEGAL for r in self._dialects.values()):
            return True
        return any(
            rule.legality is Legality.LEGAL and not self._in_illegal_dialect(key)
            for key, rule in self._ops.items()
        )

    def rule_for(self, op: Operation) -> Rule:
        """The rule for an op of this class; the predicate is not asked."""
        kind = type(op)
        rule = self._rules.get(kind)
        if rule is None:
            self._rules[kind] = rule = self._resolve(kind, op)
        return rule

    def legality(self, op: Operation) -> Legality | Refusal:
        """LEGAL, ILLEGAL or UNKNOWN, or the reason why an op is illegal."""
        rule = self.rule_for(op)
        if rule.predicate is None:
            return rule.legality
        answer = rule.predicate(op)
        if isinstance(answer, Refusal):
            return answer
        return Legality.LEGAL if answer else Legality.ILLEGAL

    def _resolve(self, kind: type[Operation], op: Operation) -> Rule:
        name = name_of_op(op)
        keys = (kind, name, *kind.__mro__[1:])
        rule = next((self._ops[k] for k in keys if k in self._ops), None)
        if rule is None:
            rule = self._dialects.get(name.partition(".")[0], self._unknown)
        recursive = next(
            (self._recursive[k] for k in keys if k in self._recursive), None
        )
        return Rule(rule.legality, rule.predicate, recursive)

    def _set_dialects(self, names: tuple[str | Dialect, ...], rule: Rule) -> None:
        for name in names:
            self._dialects[name if isinstance(name, str) else name.name] = rule
        self._rules.clear()

    def _set_ops(self, ops: tuple[OpKind, ...], rule: Rule) -> None:
        for key in roots_of(*ops):
            self._ops[key] = rule
        self._rules.clear()

    def _in_illegal_dialect(self, key: type[Operation] | str) -> bool:
        name = key if isinstance(key, str) else getattr(key, "name", "")
        rule = self._dialects.get(name.partition(".")[0])
        return rule is not None and rule.legality is Legality.ILLEGAL
