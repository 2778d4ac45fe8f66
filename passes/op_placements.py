"""
Where each op runs and why: what passes that choose places tell who asks.

As with `passes/statistics.py`, it goes to who collects in this context, and nobody else
pays for it.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Refused:
    """What a target that does not run an op said."""

    target: str
    device: str
    reason: str
    is_preferred: bool = True
    """Whether it would have come first."""


@dataclass(frozen=True)
class OpPlacement:
    """Where an op runs, and why there."""

    function: str
    op: str
    location: str
    """`file:line:col`, or nothing."""

    target: str
    device: str
    """Both are empty for an op that only its readers compute, each for itself."""

    why: str
    label: str | None = None
    """The composite that it is a part of."""

    seconds: float | None = None
    """What it costs there, with all that it is computed with, if that is known."""

    others: tuple[Refused, ...] = ()
    """What the other targets said, the preferred first."""


Collect = Callable[[Sequence[OpPlacement]], None]
"""Takes the ops of a function."""

_COLLECTORS: ContextVar[tuple[Collect, ...]] = ContextVar("placements", default=())


@contextmanager
def collecting(collect: Collect) -> Generator[None]:
    """Give what is told in this context to a collector, besides those around it."""
    token = _COLLECTORS.set((*_COLLECTORS.get(), collect))
    try:
        yield
    finally:
        _COLLECTORS.reset(token)


def is_asked() -> bool:
    """Whether anybody collects."""
    return bool(_COLLECTORS.get())


def tell(placements: Sequence[OpPlacement]) -> None:
    """Give the ops of a function to all who collect."""
    for collect in _COLLECTORS.get():
        collect(placements)


def add_untold(found: list[OpPlacement], placements: Sequence[OpPlacement]) -> None:
    """
    Add the ops of a function, unless an earlier pass told of the function: the later
    one finds in place what the earlier has placed, and knows no reasons any more.
    """
    told = {op.function for op in found}
    found += [op for op in placements if op.function not in told]


MAX_REASONS = 3
"""How many kinds of refusals the summary tells."""


@dataclass
class PlacementSummary:
    """The ops of a module by target, in one line."""

    counts: dict[tuple[str, str], int] = field(
        default_factory=dict[tuple[str, str], int]
    )
    """By target and device."""

    reasons: dict[tuple[str, str], dict[str, int]] = field(
        default_factory=dict[tuple[str, str], dict[str, int]]
    )
    """Why the preferred target does not run the ops that another one runs."""

    def add(self, placements: Iterable[OpPlacement]) -> None:
        """Count some ops."""
        for op in placements:
            if not op.device:
                continue
            key = (op.target, op.device)
            self.counts[key] = self.counts.get(key, 0) + 1
            first = next((o for o in op.others if o.is_preferred), None)
            if first is not None:
                reason = f"{short(op.op)}: {first.reason}"
                found = self.reasons.setdefault(key, {})
                found[reason] = found.get(reason, 0) + 1

    def line(self) -> str:
        """
        What runs how many of all ops, the most first, and why others do not:
        `cmsis_nn 37/41 ops, llvm_cpu 4/41 (softmax: axis is not last x1)`.
        """
        total = sum(self.counts.values())
        parts: list[str] = []
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        for (target, device), count in ordered:
            name = self._name_of(target, device)
            text = f"{name} {count}/{total}" + ("" if parts else " ops")
            reasons = self._reasons_of((target, device))
            parts.append(f"{text} ({reasons})" if reasons else text)
        return ", ".join(parts)

    def _name_of(self, target: str, device: str) -> str:
        """The kind of a target, or more where that is not enough."""
        alike = [t for t, _ in self.counts if short_target(t) == short_target(target)]
        if len(alike) == 1:
            return short_target(target)
        return target if alike.count(target) == 1 else f"{target} of @{device}"

    def _reasons_of(self, key: tuple[str, str]) -> str:
        found = sorted(
            self.reasons.get(key, {}).items(), key=lambda item: (-item[1], item[0])
        )
        texts = [f"{reason} x{count}" for reason, count in found[:MAX_REASONS]]
        if len(found) > MAX_REASONS:
            texts.append(f"and {len(found) - MAX_REASONS} more reasons")
        return ", ".join(texts)


def short(op: str) -> str:
    """The name of an op without that of its dialect."""
    return op.rpartition(".")[2]


def short_target(target: str) -> str:
    """`cmsis_nn` of `#cmsis_nn.target<…>`."""
    return target.removeprefix("#").partition(".")[0]
