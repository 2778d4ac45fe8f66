"""
Rewrites counted one by one, and stopped after so many: how a wrong one is found.

Inside of `counting_steps(limit)` greedy patterns (`PatternRewriteWalker`), conversions
(`transom.lowering.conversion`) and what asks `may_rewrite` rewrite ops `limit` times
and then no more; all of that is recorded. Outside of it, in other threads too, they are
as ever.

```python
with counting_steps(limit=3) as steps:
    pipeline.apply(ctx, module)
print(steps.taken[-1])  # 'FoldRelu' on 'graph.relu' at a.mlir:3:8
```

A pass whose rewrites are no patterns asks before each one that may be left out:

```python
if may_rewrite("fuse nests", nest):
    fuse(nest, producer)
```
"""

import inspect
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import Lock
from types import FrameType
from typing import Any, cast

from xdsl.dialects.builtin import LocationAttr, UnregisteredOp
from xdsl.ir import Operation, Region
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)

from transom.cache import turned_off
from transom.dialects.diagnostics import Diagnostic
from transom.dialects.symbols import symbol_name


@dataclass(frozen=True)
class RewriteStep:
    """One rewrite: what did it, and the op as it was before."""

    pattern: str
    op_name: str
    location: LocationAttr
    function: str | None = None
    """The symbol that the op is in."""

    @staticmethod
    def of(pattern: str, op: Operation) -> "RewriteStep":
        """The rewrite of an op that is still as it was."""
        inner: Operation | None = op
        while inner is not None and symbol_name(inner) is None:
            inner = inner.parent_op()
        function = None if inner is None else symbol_name(inner)
        return RewriteStep(pattern, _name_of(op), op.location, function)

    def __str__(self) -> str:
        place = Diagnostic("note", self.location, "").place()
        return f"'{self.pattern}' on '{self.op_name}' at {place}"


@dataclass
class RewriteSteps:
    """The rewrites so far, and how many there may be."""

    limit: int | None = None
    taken: list[RewriteStep] = field(default_factory=list[RewriteStep])

    @property
    def are_used_up(self) -> bool:
        """Whether nothing may be rewritten any more."""
        return self.limit is not None and len(self.taken) >= self.limit

    def take(self, pattern: str, op: Operation) -> None:
        """Record a rewrite that is about to happen, or has happened."""
        self.taken.append(RewriteStep.of(pattern, op))

    def give_back(self, count: int) -> None:
        """Forget all but the first rewrites: what they did has been undone."""
        del self.taken[count:]


FOLD = "fold"
"""What an applier of patterns does without one: fold constants, erase dead ops."""

_STEPS: ContextVar[RewriteSteps | None] = ContextVar("rewrite steps", default=None)


def current_steps() -> RewriteSteps | None:
    """The steps that are being counted here, if they are."""
    return _STEPS.get()


def may_rewrite(what: str, op: Operation) -> bool:
    """Whether a rewrite that may be left out may happen; then it is counted."""
    steps = _STEPS.get()
    if steps is None:
        return True
    if steps.are_used_up:
        return False
    steps.take(what, op)
    return True


@contextmanager
def counting_steps(limit: int | None = None) -> Generator[RewriteSteps]:
    """Count rewrites in this context, and leave out all after the first `limit`."""
    steps = RewriteSteps(limit)
    token = _STEPS.set(steps)
    try:
        # What a cache has was made without a limit, and what is made here is not whole.
        with turned_off(), _watching_walkers():
            yield steps
    finally:
        _STEPS.reset(token)


# xDSL's walkers. They offer no place to look in, so that one method is replaced while
# somebody counts; for who does not, it does what it always did.

_watchers = 0
_lock = Lock()
_rewrite_region = PatternRewriteWalker.rewrite_region


@contextmanager
def _watching_walkers() -> Generator[None]:
    global _watchers
    with _lock:
        _watchers += 1
        PatternRewriteWalker.rewrite_region = _counted_rewrite_region
    try:
        yield
    finally:
        with _lock:
            _watchers -= 1
            if _watchers == 0:
                PatternRewriteWalker.rewrite_region = _rewrite_region


def _counted_rewrite_region(self: PatternRewriteWalker, region: Region) -> bool:
    steps = _STEPS.get()
    if steps is not None and not isinstance(self.pattern, _Counted):
        self = replace(self, pattern=_Counted(self.pattern, steps))
    return _rewrite_region(self, region)


@dataclass(eq=False, repr=False)
class _Counted(RewritePattern):
    """A pattern that is counted, and does nothing once the steps are used up."""

    pattern: RewritePattern
    steps: RewriteSteps

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if self.steps.are_used_up:
            return
        before = RewriteStep.of("", op)
        # The walker made it, and offers no place to look in either.
        watched = cast(Any, rewriter)
        watched.rewritten_by = None
        watched.__class__ = _WatchedRewriter
        try:
            self.pattern.match_and_rewrite(op, rewriter)
        finally:
            watched.__class__ = PatternRewriter
            if rewriter.has_done_action:
                name = watched.rewritten_by or type(self.pattern).__name__
                self.steps.taken.append(replace(before, pattern=name))


class _WatchedRewriter(PatternRewriter):
    """Knows which pattern is the first to do something."""

    rewritten_by: str | None

    @property
    def has_done_action(self) -> bool:
        """Has the rewriter done any action during the current match."""
        return bool(self.__dict__.get("has_done_action"))

    @has_done_action.setter
    def has_done_action(  # pyright: ignore[reportIncompatibleVariableOverride]  # a field
        self, value: bool
    ) -> None:
        if value and self.rewritten_by is None:
            self.rewritten_by = _innermost_pattern(inspect.currentframe())
        self.__dict__["has_done_action"] = value


def _innermost_pattern(frame: FrameType | None) -> str | None:
    """The pattern that is running, by the stack: patterns may call others."""
    while frame is not None:
        pattern: Any = frame.f_locals.get("self")
        if isinstance(pattern, RewritePattern):
            applies = isinstance(pattern, GreedyRewritePatternApplier)
            return FOLD if applies else type(pattern).__name__
        frame = frame.f_back
    return None


def _name_of(op: Operation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name
