"""
Give the buffers of main offsets in pools, by what lives together.

All functions that main calls are planned with it, with points of their own for each
call; there is one pool for each memory that buffers are in. Buffers share bytes if no
path keeps both. One of dynamic size is planned at its upper bound, as the bounds of
symbolic sizes in the signature give it; without bound it stays an allocation at run
time. Buffers that have an offset keep it, and those of a memory that its target plans
are left alone. Those that name no memory have to fit into that of the function's place
or into the other memories that the device lists.

```mlir
%a = tir.alloc : memref<16xf32>   ==>   executor.pool @main.workspace {size = 64, …}
                                        %a = tir.alloc {pool = @main.workspace,
                                                        offset = 0} : memref<16xf32>
```

Inputs, outputs and constants have places in pools as well if `in_pools` of
`target.config` says so (`transom.passes.memory.argument_places`, `constant_places`).
Constants that nothing reads are dropped.

`algorithm` is one of `greedy-by-size`, `greedy-by-conflicts`, `hill-climb`, `exact`
(which needs OR-tools, `transom[plan]`), `auto`, or the name of a plug-in's. The plan is
verified by `tir-verify-plan`, which shares no code with this.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.target import InPools, get_config
from transom.passes.memory.argument_places import ArgumentCopies
from transom.passes.memory.call_graph import programs_of
from transom.passes.memory.constant_places import (
    drop_unread_constants,
    place_constants,
)
from transom.passes.memory.plan_program import (
    Machine,
    ProgramProblem,
    named_memory,
)
from transom.passes.memory.planning.algorithms import check_algorithm, plan
from transom.passes.memory.planning.failures import explain
from transom.passes.memory.planning.problem import PlanError
from transom.passes.pipeline import PipelineError
from transom.passes.statistics import Statistic
from transom.passes.tir_verify_plan import verify_plan

BUFFERS = Statistic("buffers", "buffers with an offset in a pool")
PLANNED = Statistic("pool-bytes", "bytes of all pools")
BOUND = Statistic("lower-bound", "what no plan costs less than, in bytes")


@dataclass(frozen=True)
class TirPlanMemoryPass(ModulePass):
    name = "tir-plan-memory"
    statistics: ClassVar[tuple[Statistic, ...]] = (BUFFERS, PLANNED, BOUND)

    alignment: int = 64
    """The alignment in bytes of buffers that ask for none."""

    algorithm: str = "auto"
    """How offsets are found."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = Machine.of(op)
        try:
            check_algorithm(self.algorithm)
        except ValueError as e:
            raise PipelineError(str(e)) from None
        drop_unread_constants(op)
        chosen = get_config(op).in_pools
        if InPools.CONSTANTS in chosen:
            place_constants(op, self.alignment)
        copies = ArgumentCopies(
            op, inputs=InPools.INPUTS in chosen, outputs=InPools.OUTPUTS in chosen
        )
        for program in programs_of(op):
            self._plan(ProgramProblem(op, program, machine, self.alignment))
        copies.remove()
        verify_plan(op)

    def _plan(self, program: ProgramProblem) -> None:
        problem = program.problem()
        if not problem.buffers:
            return
        try:
            outcome = plan(problem, self.algorithm)
            if outcome.packing is None:
                e = explain(problem, outcome)
                alloc = program.allocs[e.buffer]
                raise OpError(alloc, f"{e.message}; {without_room(alloc)}")
        except PlanError as e:
            raise OpError(program.allocs[e.buffer], e.message) from None
        BUFFERS.add(len(problem.buffers))
        PLANNED.add(sum(outcome.packing.tops))
        BOUND.add(outcome.bound)
        program.write(problem, outcome.packing.places)


def without_room(alloc: tir.AllocOp) -> str:
    """What to say of a buffer that finds no room, and how there could be some."""
    name, type = alloc.result.name_hint, alloc.result.type
    what = f"'{type}'" if name is None else f"'%{name}' of type '{type}'"
    other = "store it in another"
    if named_memory(alloc) is None:
        other = "list another behind it in 'memories' of the device"
    return f"{what} finds no room: enlarge the memory, or {other}"
