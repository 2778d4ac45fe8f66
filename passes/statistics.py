"""
What passes count: `--pass-statistics` shows it, and nobody else pays for it.

```python
FUSED = Statistic("fused-ops", "ops put into groups")


class GraphFusePass(FunctionPass):
    statistics: ClassVar[tuple[Statistic, ...]] = (FUSED,)

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        ...
        FUSED.add(len(group))
```

What is counted goes to who collects in this context, for the pass that runs there; two
compilations in two threads know nothing of each other. A pass lists its statistics so
that those are shown which stayed zero; what the code that it calls counts is shown too.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Statistic:
    """Something that is counted."""

    name: str
    """Words with dashes, as the table shows it."""

    description: str
    """What it counts, with the unit if it is not ops."""

    def add(self, count: int = 1) -> None:
        """Count more, if somebody collects."""
        collect = _COLLECT.get()
        if collect is not None:
            collect(self, count)


Collect = Callable[[Statistic, int], None]
"""Takes what is counted."""

_COLLECT: ContextVar[Collect | None] = ContextVar("collector", default=None)


@contextmanager
def collecting(collect: Collect) -> Generator[None]:
    """Give what is counted in this context to a collector."""
    token = _COLLECT.set(collect)
    try:
        yield
    finally:
        _COLLECT.reset(token)
