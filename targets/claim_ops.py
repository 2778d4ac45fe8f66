"""
Decide which target of a device computes which ops, by what the targets claim.

Where a place leaves the target open, the targets of its device are asked for each op in
order of preference. What one claims becomes a `graph.region` for it, a pattern in that
a `graph.composite` under its label; neighbouring claims of one target are joined while
regions depend on each other without a cycle. A target that claims nothing takes what
the ones before it left, and its name becomes that of the function's place. A target
that comes later is chosen if both costs are known and its own is lower.

```mlir
target.device @soc {targets = [#toy_npu.target, #llvm_cpu.target<cpu = "cortex-a53">]}
func.func @main(%x: …) attributes {target.for = #target.place<@soc, ?, ?>} {
  %s = graph.add %x, %x : …
  %e = graph.exp %s : …
  ==>
func.func @main(%x: …) attributes {target.for = #target.place<@soc, #llvm_cpu…, ?>} {
  %s = graph.region #target.place<@soc, #toy_npu.target, ?> (%a = %x : …) -> (…) {
    %b = graph.add %a, %a : …
    graph.yield %b : …
  }
  %e = graph.exp %s : …
```

What passes propose (`target.candidates`), regions that are a `hint`, and what patterns
of the `pdl` dialect in the module find come before claims, if the target can run them.
A region or a mark that names a target leaves no choice, and one that names a device
leaves that of its targets; a hint is asked first. An op that no target takes is an
error with the reasons of all. With `explain` each op keeps in `target.refused` which
targets would have come first, and why they do not run it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import Note, OpError
from transom.dialects.target import LOWERED_TO
from transom.passes.function_pass import functions_of
from transom.passes.machine import Machine
from transom.targets.function_claims import FunctionClaims
from transom.targets.proposals import patterns_of, remove_patterns


def refused(untaken: Sequence[tuple[Operation, str]]) -> OpError:
    """What to say of ops that no target takes, grouped by kind and reasons."""
    groups: dict[tuple[str, str], list[Operation]] = {}
    for op, reasons in untaken:
        groups.setdefault((op.name, reasons), []).append(op)
    messages = [
        (ops, f"no target takes '{name}' x{len(ops)} ({reasons})")
        for (name, reasons), ops in groups.items()
    ]
    notes: list[Note] = []
    for index, (ops, message) in enumerate(messages):
        notes += [Note(ops[0], message)] if index else []
        notes += [Note(op, "also here") for op in ops[1:]]
    (first, *_), message = messages[0]
    return OpError(first, message, *notes)


@dataclass(frozen=True)
class TargetClaimOpsPass(ModulePass):
    name = "target-claim-ops"

    explain: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = Machine(op)
        patterns = patterns_of(op)
        claims = [
            FunctionClaims(func, machine, patterns)
            for func in functions_of(op)
            if LOWERED_TO not in func.attributes
        ]
        for claim in claims:
            claim.select(lambda choice, scope: choice.select())
        untaken = [entry for claim in claims for entry in claim.untaken()]
        if untaken:
            raise refused(untaken)
        for claim in claims:
            claim.apply(self.explain)
        remove_patterns(op)
