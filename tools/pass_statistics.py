"""
`--pass-statistics`: what passes counted, as text or as data.

```text
===-------------------------------------------------------------------------===
                         ... Pass statistics report ...
===-------------------------------------------------------------------------===
graph-fuse
  (S)  2 groups    - groups of ops that become one kernel
  (S)  5 fused-ops - ops in those groups
```
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom import cache
from transom.passes.pipeline import PassObserver
from transom.passes.statistics import Statistic, collecting
from transom.tools.report_header import header

DECLARATION = "statistics"
"""The attribute of a pass's class that lists its statistics."""

CACHED = (
    ("found", Statistic("cache-found", "results found in the cache")),
    ("missed", Statistic("cache-made", "results that the cache did not have")),
)
"""What a cache counts while a pass runs."""


@dataclass
class PassCounts:
    """What one pass of a pipeline counted, over all functions that it ran on."""

    name: str
    anchor: str
    counts: dict[Statistic, int] = field(default_factory=dict[Statistic, int])

    def add(self, statistic: Statistic, count: int) -> None:
        """Count more."""
        self.counts[statistic] = self.counts.get(statistic, 0) + count

    def to_json(self) -> dict[str, Any]:
        """It as data."""
        counts = {s.name: count for s, count in self.counts.items()}
        return {"pass": self.name, "anchor": self.anchor, "statistics": counts}


@dataclass
class PassStatistics(PassObserver):
    """Collects what passes count."""

    passes: dict[int, PassCounts] = field(
        default_factory=dict[int, PassCounts], init=False
    )
    """By the identity of the pass, in the order of the first run."""

    _kept: list[ModulePass] = field(default_factory=list[ModulePass], init=False)
    """So that no identity is given twice."""

    _running: list[tuple[PassCounts, cache.Counts]] = field(
        default_factory=list[tuple[PassCounts, cache.Counts]], init=False
    )
    _open: list[ExitStack] = field(default_factory=list[ExitStack], init=False)

    def collecting(self) -> AbstractContextManager[None]:
        """A context in which passes are to run."""
        return collecting(self._collect)

    def before(self, pass_: ModulePass, op: Operation) -> None:
        counts = self.passes.get(id(pass_))
        if counts is None:
            counts = PassCounts(pass_.name, op.name)
            declared: Sequence[Statistic] = getattr(type(pass_), DECLARATION, ())
            for statistic in declared:
                counts.add(statistic, 0)
            self.passes[id(pass_)] = counts
            self._kept.append(pass_)
        stack = ExitStack()
        self._running.append((counts, stack.enter_context(cache.counted())))
        self._open.append(stack)

    def after(self, pass_: ModulePass, op: Operation) -> None:
        counts, cached = self._running.pop()
        self._open.pop().close()
        for name, statistic in CACHED:
            if (count := getattr(cached.total, name)) != 0:
                counts.add(statistic, count)

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        self.after(pass_, op)

    def _collect(self, statistic: Statistic, count: int) -> None:
        if self._running:
            self._running[-1][0].add(statistic, count)

    def listed(self) -> list[PassCounts]:
        """The counts of all passes of one name together, by name."""
        found: dict[str, PassCounts] = {}
        for counts in self.passes.values():
            total = found.setdefault(counts.name, PassCounts(counts.name, ""))
            for statistic, count in counts.counts.items():
                total.add(statistic, count)
        return [found[name] for name in sorted(found)]

    def report(self, as_list: bool) -> str:
        """A table of what was counted: by name, or in the order of the pipeline."""
        lines: list[str] = []
        if as_list:
            for counts in self.listed():
                lines += _lines(counts, "")
        else:
            anchor = None
            for counts in self.passes.values():
                nested = counts.anchor != "builtin.module"
                if nested and counts.anchor != anchor:
                    lines.append(f"'{counts.anchor}' Pipeline")
                anchor = counts.anchor
                lines += _lines(counts, "  " * nested)
        return header("Pass statistics report") + "\n".join(lines) + "\n"

    def to_json(self, as_list: bool) -> list[dict[str, Any]]:
        """The same as data."""
        if as_list:
            return [
                {k: v for k, v in counts.to_json().items() if k != "anchor"}
                for counts in self.listed()
                if counts.counts
            ]
        return [counts.to_json() for counts in self.passes.values()]


def _lines(counts: PassCounts, indent: str) -> Iterable[str]:
    """A pass with its statistics; one that has none is a name alone."""
    yield indent + counts.name
    if not counts.counts:
        return
    number = max(len(str(count)) for count in counts.counts.values())
    name = max(len(statistic.name) for statistic in counts.counts)
    for statistic, count in counts.counts.items():
        yield (
            f"{indent}  (S) {count:{number}} {statistic.name:{name}} - "
            f"{statistic.description}"
        )
