"""
The search: edits are tried in chunks of falling size, as delta debugging does, and kept
if the module still verifies and is still interesting.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from xdsl.dialects.builtin import ModuleOp

from transom.dialects.verifier import verify_module
from transom.tools.ir_printing import ir_text
from transom.tools.reduction.edits import Edit, Strategy
from transom.tools.reduction.strategies import STRATEGIES

Check = Callable[[ModuleOp], bool]
"""Whether a module is interesting; it owns the module and may change it."""


class NotInteresting(ValueError):
    """The module to start from is not interesting itself."""


class StepLimit(Exception):
    """The budget of steps or seconds is spent; what was found so far is kept."""


@dataclass
class Reducer:
    """
    Reduces one module; `best` is the smallest that was found so far.

    `max_steps` bounds the calls of the check, `max_seconds` the time, which gives up
    that the same input has the same result. `on_progress` is called with each better
    module.
    """

    best: ModuleOp
    is_interesting: Check
    max_steps: int | None = None
    max_seconds: float | None = None
    on_progress: Callable[[ModuleOp], None] = lambda module: None
    strategies: Sequence[Strategy] = STRATEGIES
    steps: int = field(default=0, init=False)
    is_complete: bool = field(default=False, init=False)
    """True once nothing can be taken away any more, false if a limit came first."""

    _seen: set[bytes] = field(default_factory=set[bytes], init=False, repr=False)
    _start: float = field(default_factory=monotonic, init=False, repr=False)

    def run(self) -> ModuleOp:
        """
        The reduced module.

        Raises `OpError` if the module does not verify to begin with, and
        `NotInteresting` if the check says no to it.
        """
        verify_module(self.best)
        self.best = self.best.clone()
        self._is_new(self.best)
        try:
            if not self._check(self.best):
                raise NotInteresting("expected an interesting module to start from")
            progress = True
            while progress:
                progress = False
                for strategy in self.strategies:
                    progress |= self.minimise(strategy)
            self.is_complete = True
        except StepLimit:
            pass
        return self.best

    def minimise(self, strategy: Strategy) -> bool:
        """Apply as many edits of a strategy as the check allows. True if any."""
        progress = False
        edits = strategy(self.best)
        size = len(edits)
        while size >= 1:
            changed = False
            start = 0
            while start < len(edits):
                if self.attempt(edits[start : start + size]):
                    changed = True
                    # Those before were refused at this size; the rest moved up.
                    edits = strategy(self.best)
                else:
                    start += size
            progress |= changed
            if size > 1 or not changed:
                size //= 2
        return progress

    def attempt(self, edits: Sequence[Edit]) -> bool:
        """Keep the module with these edits if it is new, verifies, is interesting."""
        candidate = self.best.clone()
        ops = tuple(candidate.walk())
        try:
            if not [edit for edit in edits if edit(ops)]:
                return False
            if not self._is_new(candidate):
                return False
            verify_module(candidate)
        except Exception:  # plug-in boundary: ops of others, as no parser makes them
            return False
        if not self._check(candidate):
            return False
        self.best = candidate
        self.on_progress(candidate)
        return True

    def _is_new(self, module: ModuleOp) -> bool:
        text = ir_text(module, debuginfo=True, generic=True)
        digest = hashlib.sha256(text.encode()).digest()
        if digest in self._seen:
            return False
        self._seen.add(digest)
        return True

    def _check(self, module: ModuleOp) -> bool:
        if self.max_steps is not None and self.steps >= self.max_steps:
            raise StepLimit
        if (
            self.max_seconds is not None
            and monotonic() - self._start > self.max_seconds
        ):
            raise StepLimit
        self.steps += 1
        return self.is_interesting(module.clone())


def reduce_module(
    module: ModuleOp, is_interesting: Check, *, max_steps: int | None = None
) -> ModuleOp:
    """
    A small module that verifies and for which `is_interesting` still holds; `module`
    stays as it is. `max_steps` bounds the calls of the check.

    Raises `OpError` if `module` does not verify, and `NotInteresting` if the check says
    no to it.
    """
    return Reducer(module, is_interesting, max_steps).run()
