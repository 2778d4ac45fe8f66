"""
Fuse the nests of a kernel into one nest, or into a block over common rows.

A lowered group of ops is a chain of nests with a buffer between each two. An
element-wise nest joins the `finish` of the nest whose result it reads, or is computed
where its own result is read; what is left and shares its outer dims, such as the nests
of a softmax, becomes a `tir.block` whose buffers hold one row.

```mlir
tir.nest … outs(%c) … finish { %acc }         tir.nest … outs(%out) …
tir.nest … ins(%c, %bias) outs(%out) …   ==>    finish (%acc, %b) {
  finish { addf }                                 addf %acc, %b
```

No element is computed twice, except by a nest that moves elements only, or where that
takes less than a store and a load: the difference from the mean of a row is computed
where the variance is summed, and again where it is scaled. A maximum of what is rounded
to f16 or bf16 is rounded instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.transforms.common_subexpression_elimination import cse
from xdsl.transforms.dead_code_elimination import region_dce

from transom.dialects import tir
from transom.dialects.tir.canonicalization import constant_index
from transom.passes.kernel_buffers import BlockOrder, is_local, is_output
from transom.passes.kernel_pass import KernelPass
from transom.passes.nest_fusion import fuse_consumer, inline_producer
from transom.passes.nest_matching import is_move, reads_once
from transom.passes.nest_repetition import readers_that_repeat
from transom.passes.nest_rounding import round_once
from transom.passes.nest_rows import ROWS, group_rows
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic


def nests_of(block: Block) -> Iterator[tir.NestOp]:
    """The nests of a block in order, as they are when asked."""
    for op in tuple(block.ops):
        if isinstance(op, tir.NestOp) and op.parent is block:
            yield op


class NestFuser:
    """Fuses the nests of one block of a kernel."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.order = BlockOrder(block)

    def run(self) -> None:
        """Fuse until nothing changes; each step leaves one nest less."""
        changed = True
        while changed:
            changed = False
            for nest in nests_of(self.block):
                fused = self._fused(nest)
                while fused is not None:
                    changed = True
                    fused = self._fused(fused)

    def _fused(self, consumer: tir.NestOp) -> tir.NestOp | None:
        """A nest after a producer of one of its inputs has become a part of it."""
        for buffer in dict.fromkeys(consumer.ins):
            producer = self._only_writer(buffer, consumer)
            if producer is None:
                continue
            fused = self._fuse(producer, consumer, buffer)
            if fused is not None:
                return fused
        return None

    def _only_writer(self, buffer: SSAValue, consumer: tir.NestOp) -> tir.NestOp | None:
        """The nest before the consumer that alone fills a buffer, if there is one."""
        if not (is_local(buffer) or is_output(buffer)):
            return None
        writers = {use.op for use in self.order.uses(buffer) if use.writes}
        if len(writers) != 1:
            return None
        (writer,) = writers
        if not isinstance(writer, tir.NestOp) or buffer not in writer.outs:
            return None
        before = self.order.of(writer) < self.order.of(consumer)
        return writer if before else None

    def _fuse(
        self, producer: tir.NestOp, consumer: tir.NestOp, buffer: SSAValue
    ) -> tir.NestOp | None:
        def dead(out: SSAValue) -> bool:
            return is_local(out) and all(
                use.op in (producer, consumer) for use in self.order.uses(out)
            )

        if any(u.writes for u in self.order.between(producer.ins, producer, consumer)):
            return None  # the producer would read something else
        if not may_rewrite("fuse nests", consumer):
            return None
        fused = None
        if not any(self.order.between(producer.outs, producer, consumer)):
            fused = fuse_consumer(producer, consumer, dead)
        if (
            fused is None
            and dead(buffer)
            and (is_move(producer) or reads_once(consumer, buffer))
        ):
            fused = inline_producer(producer, consumer, buffer)
        if fused is not None:
            FUSED.add()
            self._replace(consumer, fused)
            producer.detach()
            producer.erase()
        return fused

    def repeat(self) -> bool:
        """Compute what is cheap again where it is read. Gives whether anything was."""
        if not any(nest.has_accumulators for nest in nests_of(self.block)):
            return False  # all that is element-wise becomes one nest
        repeated = False
        op = self.block.first_op
        while op is not None:
            following = op.next_op
            if isinstance(op, tir.NestOp) and self._repeat(op):
                repeated = True
                following = op.next_op  # its readers are others now
                op.detach()
                op.erase()
            op = following
        return repeated

    def _repeat(self, producer: tir.NestOp) -> bool:
        readers = readers_that_repeat(producer, self.order)
        if not readers or not may_rewrite("repeat a nest", producer):
            return False
        for reader in readers:
            fused = inline_producer(producer, reader, producer.outs[0])
            assert fused is not None, "readers_that_repeat() says so"
            self._replace(reader, fused)
        FUSED.add()
        return True

    def _replace(self, old: tir.NestOp, new: tir.NestOp) -> None:
        self.block.insert_op_before(new, old)
        self.order.replace(old, new)
        old.detach()
        old.erase()


def forward_sizes(func: tir.FuncOp) -> None:
    """
    Replace the size of a buffer of the kernel by what it was allocated with, and that
    of a view by what it was made with.
    """
    for op in [op for op in func.walk() if isinstance(op, memref.DimOp)]:
        owner, index = op.source.owner, constant_index(op.index)
        if isinstance(owner, tir.AllocOp):
            shape, sizes = owner.result.type.get_shape(), owner.dynamic_sizes
        elif isinstance(owner, memref.ReinterpretCastOp):
            shape, sizes = owner.static_sizes.get_values(), owner.sizes
        else:
            continue
        if index is not None and shape[index] == DYNAMIC_INDEX:
            dynamic = [axis for axis, size in enumerate(shape) if size == DYNAMIC_INDEX]
            op.result.replace_all_uses_with(sizes[dynamic.index(index)])
            op.detach()
            op.erase()


def remove_dead_allocs(func: tir.FuncOp) -> None:
    """Remove buffers that nothing mentions any more."""
    for op in [op for op in func.walk() if isinstance(op, tir.AllocOp)]:
        if not op.result.uses:
            op.detach()
            op.erase()


FUSED = Statistic("fused-nests", "nests that became a part of another")


@dataclass(frozen=True)
class TirFuseNestsPass(KernelPass):
    name = "tir-fuse-nests"
    statistics: ClassVar[tuple[Statistic, ...]] = (FUSED, ROWS)

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        kernels = [
            func
            for func in module.body.block.ops
            if isinstance(func, tir.FuncOp) and len(func.body.blocks) == 1
        ]
        for func in kernels:
            forward_sizes(func)
            cse(func)
            block = func.body.block
            are_several = sum(1 for _ in nests_of(block)) > 1
            if are_several:
                fuser = NestFuser(block)
                fuser.repeat()
                fuser.run()
                while fuser.repeat():
                    fuser.run()
                remove_dead_allocs(func)
                group_rows(block)
            if round_once(func) or are_several:
                cse(func)
            region_dce(func.body)
