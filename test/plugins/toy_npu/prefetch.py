"""
Start copies to the scratchpad earlier, so that they are done when they are needed: in a
kernel while the op before is computed, and for the weights of a kernel while the kernel
before runs, if they fit.

```mlir
tir.copy %w, %b : …             %t = tir.copy_async %w, %b : …
toy_npu.compute …(%x) to %y     toy_npu.compute …(%x) to %y
…                          ==>  tir.wait %t
toy_npu.compute …(%y, %b)       toy_npu.compute …(%y, %b)
```

Across the border of two kernels main holds the buffer, and the first one fills it:

```mlir
%a = tir.call @k(%x) outs(%d)           %b = tir.alloc {memory = @toy_sram} : …
%y = tir.call @l(%a, %w) outs(%e)  ==>  %a = tir.call @k(%x, %w) outs(%d, %b)
                                        %y = tir.call @l(%a, %b) outs(%e)
```
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, MemRefType, ModuleOp
from xdsl.ir import Block, BlockArgument
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from toy_npu.convert_graph_to_toy_npu import SRAM
from toy_npu.merge_kernels import kernel_of
from toy_npu.ops import ComputeOp
from toy_npu.plan_scratchpad import (
    capacity_of,
    functions_of,
    kernels_of,
    packed,
    pad_size,
    rounded,
    sizes_between_kernels,
)
from transom.dialects import graph, tir
from transom.dialects.executor import static_bytes


def computes_of(kernel: tir.FuncOp) -> list[ComputeOp]:
    """The ops of the engines, in order."""
    return [op for op in kernel.body.block.ops if isinstance(op, ComputeOp)]


def loads_of(kernel: tir.FuncOp) -> list[tir.CopyOp]:
    """The copies from arguments to buffers of the kernel that nothing moved yet."""
    return [
        op
        for op in kernel.body.block.ops
        if isinstance(op, tir.CopyOp)
        and isinstance(op.source, BlockArgument)
        and isinstance(op.destination.owner, tir.AllocOp)
    ]


def buffer_of(load: tir.CopyOp) -> MemRefType:
    """The type of the buffer that a load fills."""
    return cast("MemRefType", load.destination.type)


# Inside of a kernel.


def overlap(kernel: tir.FuncOp) -> None:
    """Start the loads for an op before the op in front of it, and wait for them."""
    block, computes = kernel.body.block, computes_of(kernel)
    for before, op in pairwise(computes):
        for load in loads_of(kernel):
            if load.destination not in op.inputs or load.is_before_in_block(before):
                continue
            alloc = load.destination.owner
            assert isinstance(alloc, tir.AllocOp), "what loads_of() gives"
            start = tir.CopyAsyncOp(load.source, load.destination)
            alloc.detach()
            block.insert_ops_before((alloc, start), before)
            block.insert_op_before(tir.WaitOp(start.token), op)
            Rewriter.erase_op(load)


def overlap_if_it_fits(kernel: tir.FuncOp) -> None:
    """Overlap copies in a kernel, unless the buffers do not fit any more then."""
    trial = kernel.clone()
    overlap(trial)
    if pad_size(packed(trial)) <= capacity_of(kernel):
        overlap(kernel)


# Across the border of two.


@dataclass(frozen=True)
class Border:
    """Two calls that follow each other, and their kernels."""

    first: tir.CallOp
    second: tir.CallOp
    before: tir.FuncOp
    after: tir.FuncOp

    def weights(self) -> list[tuple[int, tir.CopyOp]]:
        """
        The inputs of the second call that are weights and are loaded for the first op
        of its kernel, with the loads.
        """
        wanted = computes_of(self.after)[0].inputs
        loads = {load.source: load for load in loads_of(self.after)}
        found: list[tuple[int, tir.CopyOp]] = []
        for number, value in enumerate(self.second.ins):
            load = loads.get(self.after.args[number])
            if (
                load is not None
                and isinstance(value.owner, graph.WeightRefOp)
                and load.destination in wanted
                and self.after.args[number].uses.get_length() == 1
            ):
                found.append((number, load))
        return found

    def moved(self, number: int, load: tir.CopyOp) -> "Border":
        """The border after the first kernel loads a weight of the second one."""
        weight, alloc = self.second.ins[number].owner, load.destination.owner
        assert isinstance(weight, graph.WeightRefOp), "what weights() gives"
        assert isinstance(alloc, tir.AllocOp), "what loads_of() gives"
        copy = weight.clone()
        buffer = tir.AllocOp(alloc.result.type, memory=SRAM)
        buffer.location = self.first.location
        main = self.first.parent
        assert main is not None, "calls are in blocks"
        main.insert_ops_before((copy, buffer), self.first)
        self._fill(load)
        argument = self.after.args[number]
        Rewriter.replace_value_with_new_type(argument, alloc.result.type)
        argument = self.after.args[number]
        alloc.result.replace_all_uses_with(argument)
        Rewriter.erase_op(load)
        Rewriter.erase_op(alloc)
        self.after.update_function_type()
        self.second.operands[number] = buffer.result
        first = self.first
        ins, outs = (*first.ins, copy.result), (*first.outs, buffer.result)
        new = tir.CallOp(first.callee, ins, outs, first.scratch)
        new.attributes = dict(first.attributes)
        new.location = first.location
        Rewriter.replace_op(first, new)
        return replace(self, first=new)

    def _fill(self, load: tir.CopyOp) -> None:
        """Two more arguments of the first kernel, and a copy while it runs."""
        kernel, block = self.before, self.before.body.block
        read = block.insert_arg(load.source.type, len(self.first.ins))
        written = block.insert_arg(load.destination.type, len(block.args))
        effects = list(kernel.effects)
        effects.insert(len(self.first.ins), tir.EffectAttr(tir.Effect.READ))
        kernel.effects = ArrayAttr([*effects, tir.EffectAttr(tir.Effect.WRITE)])
        kernel.update_function_type()
        start = tir.CopyAsyncOp(read, written)
        first, last = block.first_op, block.last_op
        assert first is not None and last is not None, "kernels return"
        block.insert_op_before(start, first)
        block.insert_op_before(tir.WaitOp(start.token), last)


def borders_of(block: Block, once: Sequence[tir.FuncOp]) -> list[Border]:
    """The borders between calls of a block whose kernels are called once."""
    calls = [
        (op, kernel)
        for op in block.ops
        if isinstance(op, tir.CallOp) and (kernel := kernel_of(op)) is not None
    ]
    return [
        Border(first, second, before, after)
        for (first, before), (second, after) in pairwise(calls)
        if before in once and after in once
    ]


@dataclass(frozen=True)
class ToyNpuPrefetchPass(ModulePass):
    name = "toy-npu-prefetch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = kernels_of(op)
        for kernel in kernels:
            overlap_if_it_fits(kernel)
        called = [c.find_callee() for c in op.walk() if isinstance(c, tir.CallOp)]
        once = [kernel for kernel in kernels if called.count(kernel) == 1]
        held = sizes_between_kernels(op)
        largest = max((pad_size(packed(k)) for k in kernels), default=0)
        for func in functions_of(op):
            blocks = [b for o in func.walk() for r in o.regions for b in r.blocks]
            for block in blocks:
                # From the end, as a call changes that is the first of a border.
                for border in reversed(borders_of(block, once)):
                    for number, load in border.weights():
                        size = rounded(static_bytes(buffer_of(load)))
                        if held + size + largest <= capacity_of(border.before):
                            border = border.moved(number, load)
                            held += size
