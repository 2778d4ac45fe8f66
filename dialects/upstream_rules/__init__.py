"""
Rules of upstream ops that xDSL 0.75 does not check, as in MLIR.

The parser takes any types and counts in the generic form, and passes rely on what the
documentation of an op promises. `verify_module` asks `verify_upstream` of each op that
verifies by itself.

```mlir
%y = "scf.if"(%c) ({ scf.yield %x : f32 }, {}) : (i1) -> f32  // what if not %c?
```
"""

from collections.abc import Callable, Mapping

from xdsl.ir import Operation

from transom.dialects.upstream_rules.control_flow import CONTROL_FLOW
from transom.dialects.upstream_rules.numbers import NUMBERS
from transom.dialects.upstream_rules.shapes import SHAPES

RULES: Mapping[str, Callable[[Operation], None]] = {
    **CONTROL_FLOW,
    **NUMBERS,
    **SHAPES,
}
"""What is checked of an op, by its name."""


def verify_upstream(op: Operation) -> None:
    """Raise `VerifyException` if an op breaks a rule that xDSL does not know."""
    rule = RULES.get(op.name)
    if rule is not None:
        rule(op)
