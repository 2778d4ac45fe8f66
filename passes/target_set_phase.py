"""
Record that the module has reached a phase, and check what the phase promises.

`--to` does this after the passes of each phase; as a pass it makes that a part of a
pipeline's text, so that the text alone can be run again.

```mlir
builtin.module {
  …
}
==>
builtin.module attributes {target.config = #target.config<phase = "graph">} {
  …
}
```
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.target import PHASES, set_phase
from transom.passes.verify_phase import verify_phase


@dataclass(frozen=True)
class TargetSetPhasePass(ModulePass):
    name = "target-set-phase"

    phase: str

    def __post_init__(self) -> None:
        if self.phase not in PHASES:
            near = did_you_mean(self.phase, PHASES)
            raise ValueError(f"unknown phase '{self.phase}'{near}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        set_phase(op, self.phase)
        verify_phase(op, self.phase)
