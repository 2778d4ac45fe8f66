"""
Small observers of passes: the verifier after each, times, and which one is running.
"""

import time
from dataclasses import dataclass, field

from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import Note, OpError
from transom.dialects.verifier import verify_module
from transom.passes.pipeline import PassObserver


class NumbersMoved(OpError):
    """A pass has moved the numbers that a module computes."""


@dataclass
class VerifyEach(PassObserver):
    """Verifies what each pass leaves behind and names the pass that broke it."""

    def after(self, pass_: ModulePass, op: Operation) -> None:
        try:
            verify_module(op)
        except OpError as e:
            note = Note(e.location, f"found after pass '{pass_.name}'")
            raise OpError(e.location, e.message, *e.notes, note) from None


@dataclass
class TimePasses(PassObserver):
    """Sums the time of each pass."""

    seconds: dict[str, float] = field(default_factory=dict[str, float], init=False)
    _starts: list[float] = field(default_factory=list[float], init=False)

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self._starts.append(time.perf_counter())

    def after(self, pass_: ModulePass, op: Operation) -> None:
        spent = time.perf_counter() - self._starts.pop()
        self.seconds[pass_.name] = self.seconds.get(pass_.name, 0.0) + spent

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        self.after(pass_, op)

    def report(self) -> str:
        """A line per pass, in the order in which they ran first."""
        return "".join(
            f"{seconds:9.4f} s  {name}\n" for name, seconds in self.seconds.items()
        )


@dataclass
class CurrentPass(PassObserver):
    """Knows which pass is running or failed."""

    name: str | None = None

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self.name = pass_.name

    def after(self, pass_: ModulePass, op: Operation) -> None:
        self.name = None
