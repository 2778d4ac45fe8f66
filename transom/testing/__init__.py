"""
Tests of what IR computes, and of targets: what their authors run on theirs.

```python
def test_my_model():
    check_phases(transom.load("model.mlir"))
```
"""

from transom.targets.registry import given_hooks
from transom.testing.conformance import (
    RULES,
    ConformanceError,
    ConformanceReport,
    Violation,
    check_target,
)
from transom.testing.phases import (
    INTERPRETED,
    PhaseChecker,
    PhaseMismatch,
    PhaseResult,
    check_phases,
    interpret,
    random_inputs,
    reread,
)

__all__ = [
    "INTERPRETED",
    "RULES",
    "ConformanceError",
    "ConformanceReport",
    "PhaseChecker",
    "PhaseMismatch",
    "PhaseResult",
    "Violation",
    "check_phases",
    "check_target",
    "given_hooks",
    "interpret",
    "random_inputs",
    "reread",
]
