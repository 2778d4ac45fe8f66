"""
Reduce a module to a small one that is still interesting, such as one that makes a pass
fail in the same way.

```python
def fails(candidate: ModuleOp) -> bool:
    try:
        pipeline.apply(ctx, candidate)
    except OpError as e:
        return "expected a static shape" in e.message
    return False

small = reduce_module(module, fails)
```

Only modules that verify are tried, and only clones are handed out, so that a check may
change what it gets. The result does not depend on hash seeds or time.
"""

from transom.tools.reduction.reducer import (
    NotInteresting,
    Reducer,
    StepLimit,
    reduce_module,
)

__all__ = ("NotInteresting", "Reducer", "StepLimit", "reduce_module")
