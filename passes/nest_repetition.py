"""
Element-wise nests that are better computed again at each reader than stored once.

A row whose mean is taken and subtracted passes several times, as in a normalization.
What little is computed of it, such as an extension to f32 or the difference from the
mean, takes less time than a store and a load.
"""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from transom.dialects import tir
from transom.passes.kernel_buffers import BlockOrder, is_local
from transom.passes.nest_fusion import can_inline
from transom.passes.nest_matching import is_pointwise, reads_once

CHEAP: tuple[type[Operation], ...] = (
    arith.AddfOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.MaximumfOp,
    arith.MinimumfOp,
    arith.MulfOp,
    arith.NegfOp,
    arith.SIToFPOp,
    arith.SubfOp,
    arith.SubiOp,
    arith.UIToFPOp,
)
"""Ops that take one instruction for a vector, or are a part of the load."""

MOST_OPS = 4
"""So many of them are computed again."""


def readers_that_repeat(
    producer: tir.NestOp, order: BlockOrder
) -> Sequence[tir.NestOp]:
    """
    The readers of what a nest computes, if it is better computed again in each of
    them: it is little, and reads as much as it writes, from what stays in memory.
    """
    if not is_pointwise(producer) or len(producer.outs) != 1 or not _is_cheap(producer):
        return ()
    (buffer,) = producer.outs
    source = _source(producer)
    if source is None or not is_local(buffer) or not _stays(source, producer, order):
        return ()
    readers: dict[tir.NestOp, None] = {}
    for use in order.uses(buffer):
        if use.op is producer:
            continue
        if use.writes or not isinstance(use.op, tir.NestOp):
            return ()
        if not (is_pointwise(use.op) or reads_once(use.op, buffer)):
            return ()
        if not can_inline(producer, use.op, buffer):
            return ()
        if any(u.writes for u in order.between(producer.ins, producer, use.op)):
            return ()
        readers[use.op] = None
    return tuple(readers) if len(readers) > 1 else ()


def _is_cheap(nest: tir.NestOp) -> bool:
    *ops, _ = nest.finish.block.ops
    computed = [op for op in ops if not isinstance(op, arith.ConstantOp)]
    return len(computed) <= MOST_OPS and all(isinstance(op, CHEAP) for op in computed)


def _source(nest: tir.NestOp) -> SSAValue | None:
    """
    The only input that moves along the last axis of what is written, if it lies as
    that does: the others are one number for a row.
    """
    written = nest.out_accesses.data[0].map
    assert written is not None, "a nest that is element-wise has no indirect output"
    last = written.results[-1] if written.results else None
    if not isinstance(last, AffineDimExpr):
        return None
    sources: list[SSAValue] = []
    for value, access in zip(nest.ins, nest.in_accesses, strict=True):
        if access.map is None or access.pad is not None:
            return None
        if last.position in access.map.used_dims():
            if access.map.results != written.results:
                return None
            sources.append(value)
    return sources[0] if len(sources) == 1 else None


def _stays(source: SSAValue, producer: tir.NestOp, order: BlockOrder) -> bool:
    """
    Whether an input is in memory anyway: what makes a buffer that nothing else reads
    computes this too.
    """
    return not is_local(source) or any(
        use.op is not producer and not use.writes for use in order.uses(source)
    )
