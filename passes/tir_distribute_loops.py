"""
Give each thread a part of a parallel loop, and memory of its own.

In a kernel with `tir.threads` an outermost `scf.parallel` becomes one with a step for
each thread, around a loop over neighbouring steps. Parallel loops inside of it stay,
and run one step after the other. So does one that gives values, or whose body can fail.

```mlir
tir.func @k(…) attributes {tir.threads = 2} {
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %b = tir.alloc : memref<4096xf32>
    …
==>
tir.func @k(…) attributes {tir.threads = 2} {
  %s = tir.alloc {alignment = 64} : memref<32768xi8>
  scf.parallel (%w) = (%c0) to (%c2) step (%c1) {
    %shift = arith.muli %w, %c16384 : index
    %b = memref.view %s[%shift][] : memref<32768xi8> to memref<4096xf32>
    %from = arith.muli %w, %c32 : index
    %to = arith.addi %from, %c32 : index
    scf.for %i = %from to %to step %c1 {
      …
```

Buffers of more than `threshold` bytes, or of a size that is not static, become parts of
one in front of the loop, which `tir-lift-scratch` then shows to the plan of main.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    i8,
)
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from transom.dialects import tir
from transom.dialects.executor import element_bytes, static_bytes
from transom.passes.kernel_pass import KernelPass
from transom.passes.parallel_loops import is_forkable, outermost_loops
from transom.passes.rewrite_steps import may_rewrite

ALIGNMENT = 64
"""Of the memory of a thread: that of two threads shares no cache line."""


@dataclass(frozen=True)
class TirDistributeLoopsPass(KernelPass):
    name = "tir-distribute-loops"

    is_kept = False

    threshold: int = 4096
    """Buffers of a static size of up to so many bytes stay in the loop."""

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        for kernel in module.body.ops:
            if not isinstance(kernel, tir.FuncOp) or kernel.is_declaration:
                continue
            threads = tir.threads_of(kernel)
            if threads == 1:
                continue
            for loop in outermost_loops(kernel):
                if is_forkable(loop) and may_rewrite("distribute a loop", loop):
                    _Distribution(loop, threads, self.threshold).apply()


@dataclass
class _Distribution:
    """The rewrite of one loop."""

    loop: scf.ParallelOp
    threads: int
    threshold: int
    before: list[Operation] = field(default_factory=list[Operation])
    """What comes in front of the loop."""
    first: list[Operation] = field(default_factory=list[Operation])
    """What each thread does first."""

    def apply(self) -> None:
        loop = self.loop
        workers = self.workers()
        body = Block(arg_types=[loop.body.block.args[0].type])
        (worker,) = body.args
        for alloc in list(self.buffers()):
            self.share(alloc, worker, workers)
        lower, upper = self.part(worker, workers)
        inner = self.inner(lower, upper)
        body.add_ops([*self.first, inner, scf.ReduceOp()])
        ends = [self.number(n, self.before) for n in (0, workers, 1)]
        new = scf.ParallelOp([ends[0]], [ends[1]], [ends[2]], Region(body))
        new.attributes = dict(loop.attributes)
        made = (*self.before, new)
        for op in (*made, *self.first, inner):
            op.location = loop.location
        block = loop.parent
        assert block is not None, "the loop is in a kernel"
        block.insert_ops_before(made, loop)
        loop.detach()
        loop.erase()

    # Ops.

    def number(self, value: int, to: list[Operation]) -> SSAValue:
        op = arith.ConstantOp(IntegerAttr.from_index_int_value(value))
        to.append(op)
        return op.result

    def compute(
        self,
        kind: Callable[[SSAValue, SSAValue], Operation],
        lhs: SSAValue,
        rhs: SSAValue | int,
        to: list[Operation],
    ) -> SSAValue:
        """A number from two; the right one may be known."""
        if isinstance(rhs, int):
            rhs = self.number(rhs, to)
        op = kind(lhs, rhs)
        to.append(op)
        return op.results[0]

    # The range of a thread.

    def steps(self) -> int | None:
        """How many steps the loop has, if that is known."""
        ends = [constant_of(v[0]) for v in (self.loop.lowerBound, self.loop.upperBound)]
        step = constant_of(self.loop.step[0])
        if ends[0] is None or ends[1] is None or step is None:
            return None
        return max(0, -(-(ends[1] - ends[0]) // step))

    def workers(self) -> int:
        """How many threads have something to do."""
        steps = self.steps()
        return self.threads if steps is None else max(1, min(self.threads, steps))

    def part(self, worker: SSAValue, workers: int) -> tuple[SSAValue, SSAValue]:
        """Where the part of a thread starts, and where it ends."""
        lower, step = self.loop.lowerBound[0], self.loop.step[0]
        steps, to = self.steps(), self.first
        if steps is not None and steps % workers == 0:
            width, start = constant_of(step), constant_of(lower)
            assert width is not None and start is not None, "the steps are known"
            begin = self.compute(arith.MuliOp, worker, steps // workers * width, to)
            if start:
                begin = self.compute(arith.AddiOp, begin, start, to)
            return begin, self.compute(
                arith.AddiOp, begin, steps // workers * width, to
            )
        count = self.step_count() if steps is None else self.number(steps, self.before)
        after = self.compute(arith.AddiOp, worker, 1, to)
        ends: list[SSAValue] = []
        for number in (worker, after):
            shared = self.compute(arith.MuliOp, number, count, to)
            position = self.compute(arith.DivUIOp, shared, workers, to)
            distance = self.compute(arith.MuliOp, position, step, to)
            ends.append(self.compute(arith.AddiOp, lower, distance, to))
        return ends[0], ends[1]

    def step_count(self) -> SSAValue:
        """How many steps the loop has, computed in front of it."""
        loop, to = self.loop, self.before
        extent = self.compute(arith.SubiOp, loop.upperBound[0], loop.lowerBound[0], to)
        count = self.compute(arith.CeilDivSIOp, extent, loop.step[0], to)
        return self.compute(arith.MaxSIOp, count, 0, to)

    def inner(self, lower: SSAValue, upper: SSAValue) -> scf.ForOp:
        """The loop of a thread; further dims of the old loop are a loop in it."""
        loop = self.loop
        old = loop.body.block
        region = loop.detach_region(loop.body)
        if len(old.args) > 1:
            ends = (loop.lowerBound, loop.upperBound, loop.step)
            lowers, uppers, steps = (list(values)[1:] for values in ends)
            index = old.args[0]
            block = Block(arg_types=[index.type])
            index.replace_all_uses_with(block.args[0])
            old.erase_arg(index)
            block.add_ops(
                [scf.ParallelOp(lowers, uppers, steps, region), scf.YieldOp()]
            )
            return scf.ForOp(lower, upper, loop.step[0], (), Region(block))
        end = old.last_op
        assert end is not None, "a loop has a terminator"
        end.detach()
        end.erase()
        old.add_op(scf.YieldOp())
        return scf.ForOp(lower, upper, loop.step[0], (), region)

    # Memory.

    def buffers(self) -> Iterator[tir.AllocOp]:
        """The buffers of the body that are too large for the stack of a thread."""
        for op in self.loop.body.walk():
            if not isinstance(op, tir.AllocOp):
                continue
            type = op.result.type
            if (
                isinstance(type.layout, NoneAttr)
                and element_bytes(type.element_type) is not None
                and (not type.has_static_shape() or static_bytes(type) > self.threshold)
                and all(self.is_outside(size) for size in op.dynamic_sizes)
            ):
                yield op

    def is_outside(self, value: SSAValue) -> bool:
        """Whether a value is there in front of the loop."""
        block: Block | None = value.owner if isinstance(value.owner, Block) else None
        if isinstance(value.owner, Operation):
            block = value.owner.parent
        while block is not None:
            if block.parent is self.loop.body:
                return False
            around = block.parent_op()
            block = None if around is None else around.parent
        return True

    def share(self, alloc: tir.AllocOp, worker: SSAValue, workers: int) -> None:
        """Replace a buffer by a part of one in front of the loop."""
        type = alloc.result.type
        given = 1 if alloc.alignment is None else alloc.alignment.value.data
        alignment = max(ALIGNMENT, given)
        unit = element_bytes(type.element_type)
        assert unit is not None, "asked before"
        sizes: Sequence[SSAValue] = ()
        if type.has_static_shape():
            stride: SSAValue | int = -(-static_bytes(type) // alignment) * alignment
            length = stride * workers
        else:
            for size in type.get_shape():
                unit *= 1 if size == DYNAMIC_INDEX else size
            count = alloc.dynamic_sizes[0]
            for size in alloc.dynamic_sizes[1:]:
                count = self.compute(arith.MuliOp, count, size, self.before)
            octets = self.compute(arith.MuliOp, count, unit, self.before)
            parts = self.compute(arith.CeilDivSIOp, octets, alignment, self.before)
            stride = self.compute(arith.MuliOp, parts, alignment, self.before)
            sizes = [self.compute(arith.MuliOp, stride, workers, self.before)]
            length = DYNAMIC_INDEX
        space = type.memory_space
        buffer = tir.AllocOp(
            MemRefType(i8, [length], memory_space=space),
            sizes,
            alignment=alignment,
            memory=alloc.memory,
        )
        self.before.append(buffer)
        shift = self.compute(arith.MuliOp, worker, stride, self.first)
        view = memref.ViewOp(buffer.result, shift, list(alloc.dynamic_sizes), type)
        self.first.append(view)
        view.results[0].name_hint = alloc.result.name_hint
        alloc.result.replace_all_uses_with(view.results[0])
        alloc.detach()
        alloc.erase()


def constant_of(value: SSAValue) -> int | None:
    """The number that a value always is, if it is known."""
    if not isinstance(value, OpResult) or not isinstance(value.op, arith.ConstantOp):
        return None
    constant = value.op.value
    return constant.value.data if isinstance(constant, IntegerAttr) else None
