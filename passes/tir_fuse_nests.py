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

No element is computed twice, except by a nest that moves elements only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import cse

from transom.dialects import tir
from transom.dialects.tir.canonicalization import constant_index
from transom.passes.nest_fusion import (
    fuse_consumer,
    inline_producer,
    is_move,
    reads_once,
)
from transom.passes.nest_rows import group_rows


def nests_of(block: Block) -> Iterator[tir.NestOp]:
    """The nests of a block in order, as they are when asked."""
    for op in tuple(block.ops):
        if isinstance(op, tir.NestOp) and op.parent is block:
            yield op


def users_of(buffer: SSAValue) -> set[Operation]:
    """The ops that mention a buffer, other than to ask for its size."""
    return {
        use.operation
        for use in buffer.uses
        if not isinstance(use.operation, memref.DimOp)
    }


def is_local(buffer: SSAValue) -> bool:
    """Whether a buffer is one of the kernel's own."""
    return isinstance(buffer.owner, tir.AllocOp)


def is_output(buffer: SSAValue) -> bool:
    """Whether a buffer is a result of the kernel, without content before."""
    if not isinstance(buffer, BlockArgument):
        return False
    func = buffer.block.parent_op()
    return (
        isinstance(func, tir.FuncOp)
        and func.argument_effects[buffer.index] is tir.Effect.WRITE
    )


class NestFuser:
    """Fuses the nests of one block of a kernel."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def run(self) -> None:
        """Fuse until nothing changes; each step leaves one nest less."""
        while self._step():
            pass

    def _step(self) -> bool:
        order = {op: i for i, op in enumerate(self.block.ops)}
        for consumer in nests_of(self.block):
            for buffer in dict.fromkeys(consumer.ins):
                producer = self._only_writer(buffer, order)
                if producer is None or order[producer] >= order[consumer]:
                    continue
                if self._fuse(producer, consumer, buffer, order):
                    return True
        return False

    def _only_writer(
        self, buffer: SSAValue, order: dict[Operation, int]
    ) -> tir.NestOp | None:
        if not (is_local(buffer) or is_output(buffer)):
            return None
        writers = [
            op
            for op in users_of(buffer)
            if not (isinstance(op, tir.NestOp) and buffer not in op.outs)
        ]
        if len(writers) != 1 or writers[0] not in order:
            return None
        return writers[0] if isinstance(writers[0], tir.NestOp) else None

    def _fuse(
        self,
        producer: tir.NestOp,
        consumer: tir.NestOp,
        buffer: SSAValue,
        order: dict[Operation, int],
    ) -> bool:
        def dead(out: SSAValue) -> bool:
            return is_local(out) and users_of(out) <= {producer, consumer}

        between = [
            op for op, i in order.items() if order[producer] < i < order[consumer]
        ]
        fused = None
        if not self._clash(producer, between):
            fused = fuse_consumer(producer, consumer, dead)
        if fused is None and dead(buffer) and not self._overwrites(producer, between):
            worthwhile = is_move(producer) or reads_once(consumer, buffer)
            if worthwhile:
                fused = inline_producer(producer, consumer, buffer)
        if fused is None:
            return False
        self.block.insert_op_before(fused, consumer)
        for op in (consumer, producer):
            op.detach()
            op.erase()
        return True

    def _clash(self, producer: tir.NestOp, between: Sequence[Operation]) -> bool:
        """Whether the producer can not move behind some ops."""
        return self._overwrites(producer, between) or any(
            users_of(out) & set(between) for out in producer.outs
        )

    def _overwrites(self, producer: tir.NestOp, between: Sequence[Operation]) -> bool:
        """Whether some ops may change what the producer reads."""
        for op in between:
            if isinstance(op, tir.NestOp):
                written = list(op.outs)
            elif isinstance(op, memref.DimOp | tir.AllocOp) or not op.operands:
                continue
            else:
                written = list(op.operands)
            if any(value in producer.ins for value in written):
                return True
        return False


def forward_sizes(func: tir.FuncOp) -> None:
    """Replace the size of a buffer of the kernel by what it was allocated with."""
    for op in [op for op in func.walk() if isinstance(op, memref.DimOp)]:
        alloc, index = op.source.owner, constant_index(op.index)
        if not isinstance(alloc, tir.AllocOp) or index is None:
            continue
        shape = alloc.result.type.get_shape()
        if shape[index] == DYNAMIC_INDEX:
            dynamic = [axis for axis, size in enumerate(shape) if size == DYNAMIC_INDEX]
            size = alloc.dynamic_sizes[dynamic.index(index)]
            op.result.replace_all_uses_with(size)
            op.detach()
            op.erase()


def remove_dead_allocs(func: tir.FuncOp) -> None:
    """Remove buffers that nothing mentions any more."""
    for op in [op for op in func.walk() if isinstance(op, tir.AllocOp)]:
        if not op.result.uses:
            op.detach()
            op.erase()


@dataclass(frozen=True)
class TirFuseNestsPass(ModulePass):
    name = "tir-fuse-nests"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = [
            func
            for func in op.body.block.ops
            if isinstance(func, tir.FuncOp) and len(func.body.blocks) == 1
        ]
        for func in kernels:
            forward_sizes(func)
            cse(func)
            block = func.body.block
            if sum(1 for _ in nests_of(block)) > 1:
                NestFuser(block).run()
                remove_dead_allocs(func)
                group_rows(block)
