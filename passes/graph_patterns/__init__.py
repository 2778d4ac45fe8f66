"""
Patterns over graph ops: what claims of targets and passes look for.

```python
x, w, b = value("x"), weight("w"), weight("b")
conv = op(graph.Conv2dOp, x, w, attributes={"groups": 1}, name="conv")
biased = optional(lambda c: op(graph.AddOp, c, b), conv)
pattern = Pattern(op(graph.ReluOp, biased))

match = pattern.match(relu)  # a Match, or None
match.op("conv", graph.Conv2dOp).strides
pattern.mismatch(relu).reason  # "expected 'graph.conv2d', but got 'graph.matmul'"
```

Matching changes nothing and takes nothing: matches may overlap, and each sees the ops
as they are. `docs/patterns.md` teaches the language by examples.
"""

from transom.passes.graph_patterns.match import Match, Mismatch
from transom.passes.graph_patterns.matcher import Matcher, plain_value
from transom.passes.graph_patterns.pattern import Pattern
from transom.passes.graph_patterns.terms import (
    PatternError,
    Term,
    Where,
    constant,
    each,
    either,
    op,
    optional,
    repeated,
    rest,
    value,
    weight,
    where,
)

__all__ = [
    "Match",
    "Matcher",
    "Mismatch",
    "Pattern",
    "PatternError",
    "Term",
    "Where",
    "constant",
    "each",
    "either",
    "op",
    "optional",
    "plain_value",
    "repeated",
    "rest",
    "value",
    "weight",
    "where",
]
