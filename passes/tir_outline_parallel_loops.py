"""
Make a kernel of its own of each parallel loop that threads run, and fork to it.

```mlir
tir.func @k(read %x: …, write %y: …)       tir.func @k.team0(read %worker: index,
    attributes {tir.threads = 2} {             read %team: index, read %x: …,
  scf.parallel (%i) = (%c0) to (%c2)           read_write %y: …) {
      step (%c1) {                    ==>    scf.for %i = %worker to %c2 step %team {
    …                                          …
  }                                          }
  tir.return                                 tir.return
}                                          }
                                           tir.func @k(read %x: …, write %y: …)
                                               attributes {tir.threads = 2} {
                                             tir.fork @k.team0(%x, %y : …) threads 2
                                             tir.return
                                           }
```

Every thread takes each step whose number is its own, by the size that the team has. The
new kernel gets what the loop uses of the one around; constants and views of memory it
makes again, so that no two of its arguments overlap. A loop stays, and runs one step
after the other, if it gives values or can fail, or if it uses memory of which it is not
known what it may overlap with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, VectorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free

from transom.dialects import tir
from transom.dialects.symbols import lookup
from transom.dialects.tir.types import is_number
from transom.passes.kernel_buffers import is_view
from transom.passes.kernel_pass import KernelPass
from transom.passes.parallel_loops import is_forkable, outermost_loops

INDEX = IndexType()


@dataclass(frozen=True)
class TirOutlineParallelLoopsPass(KernelPass):
    name = "tir-outline-parallel-loops"

    is_kept = False

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        kernels = [op for op in module.body.ops if isinstance(op, tir.FuncOp)]
        for kernel in kernels:
            threads = tir.threads_of(kernel)
            if threads == 1 or len(kernel.body.blocks) != 1:
                continue
            for loop in outermost_loops(kernel):
                if len(loop.lowerBound) == 1 and is_forkable(loop):
                    outline(kernel, loop, threads)


def outline(kernel: tir.FuncOp, loop: scf.ParallelOp, threads: int) -> None:
    """Replace a loop of a kernel by a fork to a new one in front of it, if it may."""
    captured = captures_of(loop)
    if captured is None:
        return
    passed = sorted(captured.passed, key=lambda value: _effect(kernel, value).value)
    arguments = [(_effect(kernel, value), value.type) for value in passed]
    part = tir.FuncOp(
        _new_name(kernel),
        [(tir.Effect.READ, INDEX), (tir.Effect.READ, INDEX), *arguments],
    )
    part.attributes = dict(kernel.attributes)
    part.attributes.pop(tir.THREADS)
    part.location = kernel.location
    worker, team, *inside = part.args
    values: dict[SSAValue, SSAValue] = dict(zip(passed, inside, strict=True))
    body = part.body.block
    for op in captured.made_again:
        body.add_op(op.clone(values))
    body.add_ops([*_steps(loop, worker, team, values), tir.ReturnOp()])
    module_block = kernel.parent
    assert module_block is not None, "kernels are in a module"
    module_block.insert_op_before(part, kernel)
    fork = tir.ForkOp(part.sym_name.data, passed, threads)
    fork.location = loop.location
    block = loop.parent
    assert block is not None, "the loop is in the kernel"
    block.insert_op_before(fork, loop)
    loop.detach()
    loop.erase()


def _new_name(kernel: tir.FuncOp) -> str:
    number = 0
    while lookup(kernel, f"{kernel.sym_name.data}.team{number}") is not None:
        number += 1
    return f"{kernel.sym_name.data}.team{number}"


def _effect(kernel: tir.FuncOp, value: SSAValue) -> tir.Effect:
    """What the steps of a loop may do with a value; `READ` sorts first."""
    if not isinstance(value.type, MemRefType):
        return tir.Effect.READ
    if (
        isinstance(value, BlockArgument)
        and value.block is kernel.body.block
        and kernel.argument_effects[value.index] is tir.Effect.READ
    ):
        return tir.Effect.READ
    return tir.Effect.READ_WRITE


def _steps(
    loop: scf.ParallelOp,
    worker: SSAValue,
    team: SSAValue,
    values: dict[SSAValue, SSAValue],
) -> Sequence[Operation]:
    """The steps that a thread takes, as a loop over copies of what the old one has."""
    lower, upper, step = (
        values.get(v[0], v[0]) for v in (loop.lowerBound, loop.upperBound, loop.step)
    )
    ahead = arith.MuliOp(worker, step)
    stride = arith.MuliOp(team, step)
    first = arith.AddiOp(lower, ahead)
    block = Block(arg_types=[INDEX])
    values[loop.body.block.args[0]] = block.args[0]
    for op in loop.body.block.ops:
        if not isinstance(op, scf.ReduceOp):
            block.add_op(op.clone(values))
    block.add_op(scf.YieldOp())
    new = scf.ForOp(first.result, upper, stride.result, (), Region(block))
    made = (ahead, stride, first, new)
    for op in made:
        op.location = loop.location
    return made


@dataclass(frozen=True)
class Captures:
    """What a loop uses of what is around it."""

    passed: Sequence[SSAValue]
    made_again: Sequence[Operation]
    """Ops that the new kernel has as well, in order."""


def captures_of(loop: scf.ParallelOp) -> Captures | None:
    """What a loop uses, or None if that cannot all be had in another kernel."""
    passed: dict[SSAValue, None] = {}
    made_again: dict[Operation, None] = {}

    def need(value: SSAValue) -> bool:
        owner = value.owner
        if isinstance(owner, Operation) and is_made_again(owner):
            known = owner in made_again or all([need(v) for v in owner.operands])
            made_again.setdefault(owner)
            return known
        passed.setdefault(value)
        return _may_pass(value)

    used = [v for op in loop.walk() for v in op.operands if not _is_inside(v, loop)]
    if not all([need(value) for value in dict.fromkeys(used)]):
        return None
    return Captures(tuple(passed), tuple(made_again))


def is_made_again(op: Operation) -> bool:
    """Whether an op is a constant or a view, which another kernel can have as well."""
    return is_constant(op) or (is_view(op) and not op.regions)


def is_constant(op: Operation) -> bool:
    """Whether an op computes what is always the same."""
    return (
        not op.regions
        and is_side_effect_free(op)
        and all(
            isinstance(value.owner, Operation) and is_constant(value.owner)
            for value in op.operands
        )
    )


def _is_inside(value: SSAValue, loop: scf.ParallelOp) -> bool:
    owner = value.owner
    around = owner.parent_op() if isinstance(owner, Block) else owner
    if around is loop:
        return isinstance(owner, Block)
    while around is not None and around is not loop:
        around = around.parent_op()
    return around is loop


def _may_pass(value: SSAValue) -> bool:
    """Whether a value can be an argument of a kernel: memory overlaps with no other."""
    type: Attribute = value.type
    if isinstance(type, MemRefType):
        if isinstance(value, BlockArgument):
            return isinstance(value.block.parent_op(), tir.FuncOp)
        return isinstance(value.owner, tir.AllocOp)
    return isinstance(type, VectorType) or is_number(type)
