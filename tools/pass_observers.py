"""
Observers of passes: IR dumps, timing, and the verifier after each pass.

```text
// -----// IR Dump After CommonSubexpressionElimination (cse) //----- //
```
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from io import StringIO
from typing import IO

from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.traits import SymbolOpInterface

from transom.dialects.diagnostics import Note, OpError
from transom.dialects.verifier import verify_module
from transom.passes.pipeline import PassObserver


def ir_text(op: Operation, debuginfo: bool = False, generic: bool = False) -> str:
    """An op as text, without a newline at the end."""
    output = StringIO()
    Printer(
        stream=output, print_debuginfo=debuginfo, print_generic_format=generic
    ).print_op(op)
    return output.getvalue()


@dataclass
class PrintIR(PassObserver):
    """
    Dumps the IR around passes.

    `before` and `after` say for which passes; `only_changes` leaves out a dump after a
    pass that changed nothing; `module_scope` prints the whole module always.
    """

    stream: IO[str]
    print: Callable[[Operation], str]
    is_before: Callable[[str], bool] = lambda name: False
    is_after: Callable[[str], bool] = lambda name: False
    only_changes: bool = False
    on_failure: bool = False
    module_scope: bool = False
    _texts: list[str] = field(default_factory=list[str], init=False)

    def before(self, pass_: ModulePass, op: Operation) -> None:
        if self.is_before(pass_.name):
            self._dump("Before", pass_, op)
        if self.only_changes:
            self._texts.append(ir_text(op, debuginfo=True))

    def after(self, pass_: ModulePass, op: Operation) -> None:
        changed = True
        if self.only_changes:
            changed = self._texts.pop() != ir_text(op, debuginfo=True)
        if self.is_after(pass_.name) or (self.only_changes and changed):
            self._dump("After", pass_, op)

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        if self.only_changes:
            self._texts.pop()
        if self.on_failure:
            self._dump("After", pass_, op, " Failed")

    def _dump(
        self, when: str, pass_: ModulePass, op: Operation, state: str = ""
    ) -> None:
        cls = type(pass_).__name__.removesuffix("Pass")
        title = f"IR Dump {when} {cls}{state} ({pass_.name})"
        symbol = op.get_trait(SymbolOpInterface)
        if symbol is not None and (name := symbol.get_sym_attr_name(op)) is not None:
            title += f" ('{op.name}' operation: @{name.data})"
        shown = op.get_toplevel_object() if self.module_scope else op
        assert isinstance(shown, Operation), "passes run on ops of a module"
        self.stream.write(f"// -----// {title} //----- //\n{self.print(shown)}\n\n")


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
