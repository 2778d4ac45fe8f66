"""
Choose which target computes which ops by search for the least cost.

The candidates are those of `target-claim-ops`: what targets claim and what passes,
people and patterns propose; but what is not placed by hand may go to any device of the
module. The cost is that of the candidates, of a launch for each region, and of copies,
once for each value and memory it is read in. Where a cost is not known, a choice with
fewer such ops comes first, then what is preferred. Small graphs, and long ones that are
narrow, are solved exactly; else the best of `budget` steps is taken, which is never
worse than what `target-claim-ops` chooses. A note tells cost, bound and gap.

```mlir
%s = graph.add %x, %x : …       %s = graph.region #target.place<@npu, …> (…) {
%r = graph.relu %s : …     ==>    … add, relu …
%e = graph.exp %r : …           }
                                %e = graph.exp %s : …
```

`costs` names a table of measured times (`docs/partitioning.md`); `analytic=false`
leaves out estimates by the speed of devices. `report` names a file for the problem,
what was found, and the bound: `python -m transom.tools.check_partition` checks it.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import report
from transom.dialects.target import LOWERED_TO
from transom.passes.function_pass import functions_of
from transom.passes.machine import Machine
from transom.passes.partition.search import DEFAULT_BUDGET
from transom.passes.partition.solution import Outcome, report_of
from transom.passes.statistics import Statistic
from transom.targets.claim_ops import refused
from transom.targets.claim_selection import BlockChoice
from transom.targets.cost_models import CostModel
from transom.targets.cost_tables import read_table
from transom.targets.function_claims import FunctionClaims, Scope
from transom.targets.partition_choice import ProblemBuilder, search
from transom.targets.proposals import patterns_of, remove_patterns

STEPS = Statistic("steps", "states that the search looked at")
REGIONS = Statistic("groups", "groups of ops that run together")


@dataclass(frozen=True)
class GraphSearchPartitionPass(ModulePass):
    name = "graph-search-partition"
    statistics: ClassVar[tuple[Statistic, ...]] = (STEPS, REGIONS)

    budget: int = DEFAULT_BUDGET
    """Steps of the search for each block."""

    costs: str | None = None
    """A file of measured times."""

    analytic: bool = True
    """Whether the speed of devices gives what is not known otherwise."""

    report: str | None = None
    """A file for what was searched and found."""

    explain: bool = False
    """Whether ops keep which targets do not run them, and why."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = Machine(op)
        table = None if self.costs is None else read_table(self.costs)
        model = CostModel(machine.devices, self.analytic, table)
        builder = ProblemBuilder(machine, model)
        searches: list[dict[str, Any]] = []
        patterns = patterns_of(op)
        claims = [
            FunctionClaims(func, machine, patterns, everywhere=True)
            for func in functions_of(op)
            if LOWERED_TO not in func.attributes
        ]

        def choose(choice: BlockChoice, scope: Scope) -> None:
            if choice.untakeable():
                choice.select()  # which leaves them, with their reasons
                return
            block, outcome = search(choice, scope, builder, self.budget)
            searches.append(report_of(block.problem, outcome))
            STEPS.add(outcome.steps)
            REGIONS.add(len(choice.groups))
            tell(scope, len(choice.groups), outcome)

        for claim in claims:
            claim.select(choose)
        untaken = [entry for claim in claims for entry in claim.untaken()]
        if untaken:
            raise refused(untaken)
        if table is not None:
            table.warn_of_rest(model.asked)
        for claim in claims:
            claim.apply(self.explain)
        remove_patterns(op)
        if self.report is not None:
            text = json.dumps({"searches": searches}, indent=1) + "\n"
            Path(self.report).write_text(text)


def tell(scope: Scope, groups: int, outcome: Outcome) -> None:
    """Say what a search found."""
    cost = outcome.cost
    found = f"{_counted(groups, 'group')}, {cost.seconds:.4g} s"
    if cost.unknown:
        found += f" and {_counted(int(cost.unknown), 'op')} of unknown cost"
    bound = f"at least {outcome.bound.seconds:.4g} s, gap {outcome.gap:.1%}"
    message = f"{found}; {bound}, {outcome.steps} steps"
    report("note", scope.owner, message)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
