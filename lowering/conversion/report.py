"""
What a conversion did, and why it failed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import LocationAttr, StringAttr
from xdsl.ir import Operation

from transom.dialects.diagnostics import Note, OpError, location_of
from transom.lowering.conversion.pattern import name_of_op


@dataclass(frozen=True)
class Refused:
    """A pattern that did not take an op."""

    pattern: str
    reason: str
    blocked: bool = False
    """Whether it only lacks what another op, which stayed, should have become."""


@dataclass(frozen=True)
class Failure:
    """
    An op that the conversion could not make legal.

    `cause` is why it is illegal or what is missing, if that is known beyond the fact;
    `blamed` names the consumer that kept it alive, if no pattern takes the op itself.
    """

    op_name: str
    location: LocationAttr
    types: str
    headline: str = "no legal form for"
    cause: str | None = None
    refused: tuple[Refused, ...] = ()
    blamed: str | None = None
    wrapped: str | None = None
    """The name of another op that this one stands for, such as `aten.foo`."""

    @property
    def is_blocked(self) -> bool:
        """Whether the op only lacks an operand, whose op stayed for another reason."""
        return bool(self.refused) and all(r.blocked for r in self.refused)

    @property
    def reason(self) -> str:
        """All that is known, in one line."""
        parts = [] if self.cause is None else [self.cause]
        if self.refused:
            parts.extend(f"{r.pattern}: {r.reason}" for r in self.refused)
        elif self.headline == "no legal form for":
            blamed = f", used by '{self.blamed}'" if self.blamed else ""
            parts.append(f"no pattern{blamed}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Dropped:
    """A discardable attribute that no op carries after the conversion."""

    op_name: str
    attribute: str
    pattern: str
    location: LocationAttr


@dataclass
class ConversionReport:
    """What a conversion did, or in an analysis would do."""

    converted: Counter[str] = field(default_factory=Counter[str])
    """How many ops of each name were replaced, those of the input only."""

    rewrites: Counter[str] = field(default_factory=Counter[str])
    """How often each pattern succeeded."""

    failures: list[Failure] = field(default_factory=list[Failure])
    """The ops that stayed though they are illegal."""

    kept: list[Failure] = field(default_factory=list[Failure])
    """The ops that may stay, and that no pattern for them took."""

    dropped: list[Dropped] = field(default_factory=list[Dropped])
    """The discardable attributes that were lost."""

    @property
    def ok(self) -> bool:
        """Whether nothing illegal stayed."""
        return not self.failures

    def __str__(self) -> str:
        lines = [
            f"converted '{name}' x{count}"
            for name, count in sorted(self.converted.items())
        ]
        lines += [message_of(group) for group in grouped(self.failures)]
        lines += [
            f"'{first.op_name}' x{len(group)} stayed ({first.reason})"
            for group in grouped(self.kept)
            for first in group[:1]
        ]
        lines += [dropped_message(d) for d in self.dropped]
        return "\n".join(lines)


def grouped(failures: Iterable[Failure]) -> list[list[Failure]]:
    """Failures by kind, op and reason, in the order of the first of each group."""
    groups: dict[tuple[str, ...], list[Failure]] = {}
    for failure in failures:
        key = (
            failure.headline,
            failure.op_name,
            failure.wrapped or "",
            failure.reason,
        )
        groups.setdefault(key, []).append(failure)
    return list(groups.values())


def message_of(group: Sequence[Failure]) -> str:
    """One line for a group of failures."""
    first = group[0]
    wrapped = "" if first.wrapped is None else f" of '{first.wrapped}'"
    return (
        f"{first.headline} '{first.op_name}'{wrapped} x{len(group)} ({first.reason}); "
        f"its type is {first.types}"
    )


def dropped_message(dropped: Dropped) -> str:
    """One line for a lost attribute."""
    return f"{dropped.pattern} drops '{dropped.attribute}' of '{dropped.op_name}'"


class ConversionError(OpError):
    """
    A conversion failed, and the module is as it was.

    The message is about the first group of ops; the notes list where else they are,
    then the other groups. Ops that only lack an operand, because its op stayed, are
    counted; `report` has all of it as data.
    """

    def __init__(self, report: ConversionReport) -> None:
        self.report = report
        causes = [f for f in report.failures if not f.is_blocked]
        assert causes, "an op only lacks an operand if another op failed"
        groups = grouped(causes)
        groups.sort(key=lambda group: group[0].blamed is not None)
        message = message_of(groups[0])
        if blocked := len(report.failures) - len(causes):
            ops = "1 more op lacks" if blocked == 1 else f"{blocked} more ops lack"
            message += f"; {ops} an operand because of this"
        notes: list[Note] = []
        for group in groups:
            if group is not groups[0]:
                notes.append(Note(group[0].location, message_of(group)))
            for failure in group[1:]:
                notes.append(Note(failure.location, _also(failure, group[0])))
        super().__init__(groups[0][0].location, message, *notes)


class AuditError(OpError):
    """A conversion that was audited would have lost discardable attributes."""

    def __init__(self, report: ConversionReport) -> None:
        self.report = report
        first, *rest = report.dropped
        super().__init__(
            first.location,
            dropped_message(first),
            *(Note(d.location, dropped_message(d)) for d in rest),
        )


class BudgetError(OpError):
    """The patterns of a conversion do not seem to come to an end."""


def _also(failure: Failure, first: Failure) -> str:
    if failure.types == first.types:
        return "also here"
    return f"also here, of type {failure.types}"


def types_of(op: Operation) -> str:
    """Operand and result types as in the generic form of an op."""
    inputs = ", ".join(map(str, op.operand_types))
    outputs = [str(t) for t in op.result_types]
    text = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    return f"({inputs}) -> {text}"


def failure_of(
    op: Operation, cause: str | None, refused: tuple[Refused, ...]
) -> Failure:
    """The failure of an op that no pattern took."""
    return Failure(
        name_of_op(op),
        location_of(op),
        types_of(op),
        cause=cause,
        refused=refused,
        wrapped=_wrapped_name(op),
    )


def _wrapped_name(op: Operation) -> str | None:
    """The name of the op that another one stands for, by the usual attributes."""
    for key in ("name", "composite"):
        value = op.get_attr_or_prop(key)
        if isinstance(value, StringAttr):
            return value.data
    return None
