"""
`--timing`: where the time goes, as a tree of phases and pipelines or as a list.

```text
===-------------------------------------------------------------------------===
                       ... Execution time report ...
===-------------------------------------------------------------------------===
  Total Execution Time: 0.4210 seconds

  ----Wall Time----  ----Name----
    0.0310 (  7.4%)  Parser
    0.1020 ( 24.2%)  Phase 'graph'
    0.0610 ( 14.5%)    canonicalize
    …
    0.4210 (100.0%)  Total
```

As in `mlir-opt`, `Rest` is what nothing else accounts for, such as other observers.
"""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.target import PHASES, get_config
from transom.passes.pipeline import PassObserver
from transom.tools.report_header import header


@dataclass
class Node:
    """A name with the time that it took, and what is inside of it."""

    name: str
    seconds: float = 0.0
    children: "dict[str, Node]" = field(default_factory=dict[str, "Node"])

    def child(self, name: str) -> "Node":
        """What has this name inside of it."""
        return self.children.setdefault(name, Node(name))

    def walk(self, depth: int = 0) -> "Iterator[tuple[int, Node]]":
        """All inside of it with their depths, in order."""
        for child in self.children.values():
            yield depth, child
            yield from child.walk(depth + 1)

    def leaves(self) -> "Iterator[Node]":
        """All inside of it that have nothing inside."""
        return (node for _, node in self.walk() if not node.children)

    def to_json(self, total: float) -> dict[str, Any]:
        """It as data."""
        found: dict[str, Any] = {"wall": _wall(self.seconds, total), "name": self.name}
        if self.children:
            inside = self.children.values()
            found["passes"] = [node.to_json(total) for node in inside]
        return found


@dataclass
class PassTiming(PassObserver):
    """Measures passes, and what else asks to be measured."""

    root: Node = field(default_factory=lambda: Node("root"), init=False)
    start: float = field(default_factory=time.perf_counter, init=False)
    phase: bool = False
    """Whether the passes are those that lead to the next phase of the module."""

    _starts: list[float] = field(default_factory=list[float], init=False)

    @contextmanager
    def measured(self, name: str) -> Generator[None]:
        """Measure what is done in a context, under a name."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add((name,), time.perf_counter() - start)

    def add(self, path: tuple[str, ...], seconds: float) -> None:
        """Add time to a node and to all that it is in."""
        node = self.root
        for name in path:
            node = node.child(name)
            node.seconds += seconds

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self._scope = self.scope_of(op)
        self._starts.append(time.perf_counter())

    def after(self, pass_: ModulePass, op: Operation) -> None:
        seconds = time.perf_counter() - self._starts.pop()
        self.add((*self._scope, pass_.name), seconds)

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        self.after(pass_, op)

    def scope_of(self, op: Operation) -> tuple[str, ...]:
        """What a pass on an op is a part of: a phase, a nested pipeline."""
        scope: list[str] = []
        module = op.get_toplevel_object()
        if self.phase and isinstance(module, ModuleOp):
            reached = get_config(module).phase
            number = 0 if reached is None else PHASES.index(reached) + 1
            scope.append(f"Phase '{PHASES[min(number, len(PHASES) - 1)]}'")
        if not isinstance(op, ModuleOp):
            scope.append(f"'{op.name}' Pipeline")
        return tuple(scope)

    def rows(self, as_list: bool) -> tuple[list[tuple[int, Node]], float]:
        """Names with their depths, the rest and the total last; and the total."""
        total = time.perf_counter() - self.start
        if as_list:
            sums: dict[str, Node] = {}
            for leaf in self.root.leaves():
                node = sums.setdefault(leaf.name, Node(leaf.name))
                node.seconds += leaf.seconds
            rows = [(0, node) for node in sums.values()]
            rows.sort(key=lambda row: -row[1].seconds)
        else:
            rows = list(self.root.walk())
        known = sum(node.seconds for node in self.root.children.values())
        rows.append((0, Node("Rest", max(0.0, total - known))))
        rows.append((0, Node("Total", total)))
        return rows, total

    def report(self, as_list: bool) -> str:
        """A table of times."""
        rows, total = self.rows(as_list)
        lines = [
            f"  Total Execution Time: {total:.4f} seconds",
            "",
            "  ----Wall Time----  ----Name----",
        ]
        for depth, node in rows:
            share = _wall(node.seconds, total)["percentage"]
            indent = "  " * depth
            lines.append(f"  {node.seconds:8.4f} ({share:5.1f}%)  {indent}{node.name}")
        return header("Execution time report") + "\n".join(lines) + "\n"

    def to_json(self, as_list: bool) -> list[dict[str, Any]]:
        """The same as data, in the form of `mlir-opt`."""
        rows, total = self.rows(as_list)
        return [node.to_json(total) for depth, node in rows if depth == 0]


@dataclass
class Timed(PassObserver):
    """Measures another observer."""

    observer: PassObserver
    timing: PassTiming
    name: str

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self.observer.before(pass_, op)

    def after(self, pass_: ModulePass, op: Operation) -> None:
        with self.timing.measured(self.name):
            self.observer.after(pass_, op)

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        self.observer.failed(pass_, op)


def _wall(seconds: float, total: float) -> dict[str, float]:
    share = 100 * seconds / total if total else 0.0
    return {"duration": round(seconds, 4), "percentage": round(share, 1)}
