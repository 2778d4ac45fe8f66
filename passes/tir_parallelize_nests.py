"""
Let loops of nests and blocks run on several threads where that is worth a team.

How many threads there may be is `threads` of `target.config`; with one, nothing
changes. Results never depend on it: sums are not split, and no two threads touch the
same element of an output.

```mlir
tir.func @k(…) {                      tir.func @k(…) attributes {tir.threads = 2} {
  tir.nest dims [parallel 64, …]        tir.nest dims [parallel 64, …]
      …                          ==>        schedule #tir.schedule<parallel = [d0]>
}                                     }
```

One dim is chosen, by the time that the loops would take: of balanced loops the
outermost, which starts the fewest teams. A kernel uses as many threads as have `grain`
nanoseconds of work each. What a schedule says itself is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from transom.dialects import tir
from transom.dialects.target import get_config
from transom.passes.parallel_dims import Loop, loops_of, work_ns
from transom.passes.rewrite_steps import may_rewrite

GAIN = 0.9
"""What takes a larger part of the time than that is left alone."""


@dataclass(frozen=True)
class TirParallelizeNestsPass(ModulePass):
    name = "tir-parallelize-nests"

    grain: int = 4000
    """The least work for a thread, in nanoseconds as they are estimated."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        threads = get_config(op).threads
        if threads == 1:
            return
        for kernel in op.body.ops:
            if isinstance(kernel, tir.FuncOp) and len(kernel.body.blocks) == 1:
                used = self.choose(kernel.body.block, threads)
                if used > 1 and tir.THREADS not in kernel.attributes:
                    tir.set_threads(kernel, used)

    def choose(self, block: Block, threads: int) -> int:
        """Choose loops in a block; how many threads they use."""
        used = 1
        for op in block.ops:
            if not isinstance(op, tir.NestOp | tir.BlockOp):
                continue
            if op.schedule is not None and op.schedule.parallel_dims:
                used = threads
                continue
            work = work_ns(op)
            team = min(threads, int(work // self.grain))
            loop = best_loop(op, work, team)
            if loop is not None and may_rewrite("run on several threads", op):
                schedule = op.schedule or tir.ScheduleAttr.get()
                op.schedule = schedule.with_parallel([loop.dim])
                used = max(used, team)
            elif isinstance(op, tir.BlockOp):
                used = max(used, self.choose(op.body.block, threads))
        return used


def best_loop(op: tir.NestOp | tir.BlockOp, work: float, threads: int) -> Loop | None:
    """The loop that makes an op of so much work fastest, if one does."""
    best, least = None, work * GAIN
    if threads > 1:
        for loop in loops_of(op):
            time = loop.time_ns(work, threads)
            if time < least:
                best, least = loop, time
    return best
