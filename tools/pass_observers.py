"""
Small observers of passes: the verifier after each, and which one is running.
"""

from dataclasses import dataclass

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
class CurrentPass(PassObserver):
    """Knows which pass is running or failed."""

    name: str | None = None

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self.name = pass_.name

    def after(self, pass_: ModulePass, op: Operation) -> None:
        self.name = None
