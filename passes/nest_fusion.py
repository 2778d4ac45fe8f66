"""
Two nests become one: the rewrites behind `tir-fuse-nests`.

`fuse_consumer` moves an element-wise nest into the `finish` of the nest that made its
input; `inline_producer` computes an element-wise nest where its result is read. Both
connect the nests through a buffer that the producer fills completely, and leave the
two nests without their regions, to be erased.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr

from transom.dialects.tir import NestOp, YieldOp
from transom.passes.kernel_buffers import root_of
from transom.passes.nest_matching import (
    ZERO,
    inverse_dims,
    is_pointwise,
    match_dims,
    reads_of,
)
from transom.passes.nest_parts import (
    InputList,
    NewNest,
    Symbols,
    can_rename_indices,
    copy_ops,
    drop_arguments,
    inputs_of,
    moved,
    outputs_of,
    rename_indices,
    take_ops,
)


def fuse_consumer(
    producer: NestOp, consumer: NestOp, dead: Callable[[SSAValue], bool]
) -> NestOp | None:
    """
    The nest that computes both, in the dims of the producer, or None.

    `dead` says of an output of the producer that nothing else reads it.
    """
    if not is_pointwise(consumer) or consumer.schedule is not None:
        return None
    if any(access.is_indirect for access in producer.out_accesses):
        return None
    matched = match_dims(producer, consumer)
    if matched is None or share_more(producer, consumer):
        return None
    dims = [matched[dim] for dim in range(consumer.rank)]
    if not can_rename_indices(consumer, dims):
        return None
    made = list(producer.outs)
    symbols, inputs = Symbols(producer), InputList()
    own = {i: inputs.add(source) for i, source in enumerate(inputs_of(producer))}
    renamed = symbols.renamed(consumer)
    added = {
        position: inputs.add(moved(source, producer.rank, dims, renamed))
        for position, source in enumerate(inputs_of(consumer))
        if source.value not in made
    }
    kept = [position for position, out in enumerate(made) if not dead(out)]
    outs = [outputs_of(producer)[position] for position in kept]
    outs += [moved(out, producer.rank, dims, renamed) for out in outputs_of(consumer)]
    new = NewNest(producer, inputs.inputs, symbols)
    block, arguments = rewire(new, own, {})
    values = take_yielded(block)
    for position, old in consumer.finish_ins.items():
        if position in added:
            old.replace_all_uses_with(arguments[added[position]])
        else:
            old.replace_all_uses_with(values[made.index(consumer.ins[position])])
    rename_indices(consumer.finish.block, dims)
    results = take_ops(consumer.finish.block, block)
    block.add_op(YieldOp(*(values[position] for position in kept), *results))
    return new.build(outs, consumer.attributes)


def take_yielded(block: Block) -> list[SSAValue]:
    """Take the terminator of a region away; give what it yields."""
    last = block.last_op
    assert isinstance(last, YieldOp), "regions of nests end with it"
    values = list(last.operands)
    last.detach()
    last.erase()
    return values


@dataclass(frozen=True)
class Inlined:
    """What is computed in the place of an input."""

    producer: NestOp
    inputs: list[int]
    """The producer's inputs among those of the new nest."""
    dims: list[AffineExpr]
    """The producer's dims in terms of those of the new nest."""


def inline_producer(
    producer: NestOp, consumer: NestOp, buffer: SSAValue
) -> NestOp | None:
    """
    The consumer with what an element-wise producer computes in place of its reads of
    the producer's only output, or None.
    """
    read = _inlined_reads(producer, consumer, buffer)
    if read is None:
        return None
    symbols, inputs = Symbols(consumer), InputList()
    renamed = symbols.renamed(producer)
    kept: dict[int, int] = {}
    inlined: dict[int, Inlined] = {}
    for position, source in enumerate(inputs_of(consumer)):
        dims = read.get(position)
        if dims is None:
            kept[position] = inputs.add(source)
            continue
        own = [
            inputs.add(moved(made_of, consumer.rank, dims, renamed))
            for made_of in inputs_of(producer)
        ]
        inlined[position] = Inlined(producer, own, dims)
    new = NewNest(consumer, inputs.inputs, symbols)
    rewire(new, kept, inlined)
    return new.build(outputs_of(consumer), producer.attributes)


def can_inline(producer: NestOp, consumer: NestOp, buffer: SSAValue) -> bool:
    """Whether `inline_producer` gives a nest."""
    return _inlined_reads(producer, consumer, buffer) is not None


def _inlined_reads(
    producer: NestOp, consumer: NestOp, buffer: SSAValue
) -> dict[int, list[AffineExpr]] | None:
    if not is_pointwise(producer) or len(producer.outs) != 1:
        return None
    if producer.schedule is not None or share_more(producer, consumer):
        return None
    return _read_dims(producer, consumer, buffer)


def _read_dims(
    producer: NestOp, consumer: NestOp, buffer: SSAValue
) -> dict[int, list[AffineExpr]] | None:
    """
    For each input of the consumer that is the buffer the producer's dims at a point.
    """
    inverse = inverse_dims(producer, buffer)
    if inverse is None:
        return None
    found: dict[int, list[AffineExpr]] = {}
    for position in reads_of(consumer, buffer):
        access = consumer.in_accesses.data[position]
        if access.map is None or access.pad is not None:
            return None
        results = access.map.results
        found[position] = [ZERO if i is None else results[i] for i in inverse]
        if not can_rename_indices(producer, found[position]):
            return None
    return found


def share_more(producer: NestOp, consumer: NestOp) -> bool:
    """
    Whether the nests share memory in another way than that both read it, or that the
    consumer reads an output of the producer itself.
    """
    read = {root_of(value) for value in producer.ins}
    written = {root_of(value) for value in producer.outs}
    others = [value for value in consumer.ins if value not in producer.outs]
    return any(root_of(value) in written for value in others) or any(
        root_of(value) in read | written for value in consumer.outs
    )


def rewire(
    new: NewNest, kept: Mapping[int, int], inlined: Mapping[int, Inlined]
) -> tuple[Block, dict[int, SSAValue]]:
    """
    Give the regions of a nest the arguments of the new nest.

    `kept` says which input of the new one an input is; others are computed. Gives the
    block of `finish`, and its arguments by input.
    """
    if new.accumulators:
        count = len(new.old.body.block.args)
        olds = dict(enumerate(new.old.body_ins))
        block, arguments = new.body_arguments()
        _rewire_block(block, olds, arguments, kept, inlined)
        drop_arguments(block, count)
    count = len(new.old.finish.block.args)
    olds = new.old.finish_ins
    block, arguments = new.finish_arguments()
    _rewire_block(block, olds, arguments, kept, inlined)
    drop_arguments(block, count)
    return block, arguments


def _rewire_block(
    block: Block,
    olds: Mapping[int, SSAValue],
    arguments: Mapping[int, SSAValue],
    kept: Mapping[int, int],
    inlined: Mapping[int, Inlined],
) -> None:
    for position, old in olds.items():
        if position in kept:
            old.replace_all_uses_with(arguments[kept[position]])
        elif old.uses:
            what = inlined[position]
            values: dict[SSAValue, SSAValue] = {
                argument: arguments[what.inputs[number]]
                for number, argument in what.producer.finish_ins.items()
            }
            first = block.first_op
            assert first is not None, "a region ends with 'tir.yield'"
            source = what.producer.finish.block
            (value,) = copy_ops(source, first, values, what.dims)
            old.replace_all_uses_with(value)
