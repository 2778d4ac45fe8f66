"""
Two nests become one: the rewrites behind `tir-fuse-nests`.

`fuse_consumer` moves an element-wise nest into the `finish` of the nest that made its
input; `inline_producer` computes an element-wise nest where its result is read. Both
connect the nests through a buffer that the producer fills completely.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from transom.dialects.tir import (
    AccessAttr,
    DimAttr,
    DimKind,
    IndexOp,
    NestOp,
    YieldOp,
    affine,
)

Bound = int | SSAValue
Emit = Callable[[Block, dict[int, SSAValue]], SSAValue]
"""Compute a value at the end of a block, from the block's inputs by position."""


@dataclass
class Input:
    """An input of a nest that is being put together."""

    value: SSAValue
    access: AccessAttr


def output_position(nest: NestOp, buffer: SSAValue) -> int | None:
    """Which output of a nest a buffer is, if it is one and is written by a map."""
    positions = [i for i, out in enumerate(nest.outs) if out is buffer]
    if len(positions) != 1:
        return None
    access = nest.out_accesses.data[positions[0]]
    return None if access.is_indirect or access.combine is not None else positions[0]


def reads_of(nest: NestOp, buffer: SSAValue) -> list[int]:
    """The positions of a buffer among the inputs of a nest."""
    return [i for i, value in enumerate(nest.ins) if value is buffer]


def is_pointwise(nest: NestOp) -> bool:
    """Whether a nest is element-wise: parallel dims, no accumulators, no surprises."""
    return (
        not nest.has_accumulators
        and all(kind is DimKind.PARALLEL for kind in nest.dim_kinds)
        and not any(access.is_indirect for access in nest.out_accesses)
    )


def same_bound(a: Bound, b: Bound) -> bool:
    """Whether two bounds are known to be equal."""
    return a is b or (isinstance(a, int) and a == b)


def match_dims(producer: NestOp, consumer: NestOp) -> dict[int, AffineExpr] | None:
    """
    For each dim of the consumer the dim of the producer, where one point of the
    consumer reads what one point of the producer writes; None if it is not so.
    """
    matched: dict[int, AffineExpr] = {}
    theirs, ours = producer.bounds_values(), consumer.bounds_values()
    connected = False
    for position, buffer in enumerate(producer.outs):
        reads = reads_of(consumer, buffer)
        if not reads:
            continue
        if output_position(producer, buffer) != position:
            return None
        written = producer.out_accesses.data[position].map
        for read in reads:
            access = consumer.in_accesses.data[read]
            if written is None or access.map is None or access.pad is not None:
                return None
            connected = True
            for to, at in zip(written.results, access.map.results, strict=True):
                if not _match(to, at, matched, theirs, ours):
                    return None
    if not connected:
        return None
    used = {e.position for e in matched.values() if isinstance(e, AffineDimExpr)}
    for dim, bound in enumerate(theirs):
        reduced = producer.dim_kinds[dim] is DimKind.REDUCTION
        if not reduced and dim not in used and bound != 1:
            return None  # the consumer would run more often than it has points
    for dim, bound in enumerate(ours):
        if dim not in matched:
            if bound != 1:
                return None
            matched[dim] = AffineConstantExpr(0)
    return matched


def _match(
    to: AffineExpr,
    at: AffineExpr,
    matched: dict[int, AffineExpr],
    theirs: Sequence[Bound],
    ours: Sequence[Bound],
) -> bool:
    if isinstance(at, AffineDimExpr):
        known = matched.setdefault(at.position, to)
        if known != to:
            return False
        if isinstance(to, AffineDimExpr):
            if not same_bound(theirs[to.position], ours[at.position]):
                return False
            sharing = [d for d, e in matched.items() if e == to]
            return len(sharing) == 1
        return to == AffineConstantExpr(0) and ours[at.position] == 1
    if at != AffineConstantExpr(0):
        return False
    return to == at or (isinstance(to, AffineDimExpr) and theirs[to.position] == 1)


def renamed(
    access: AccessAttr,
    dims: Sequence[AffineExpr],
    rank: int,
    first_symbol: int,
    symbols: int,
) -> AccessAttr:
    """An access in terms of another nest's dims, its symbols behind that nest's."""
    if access.map is None:
        return access
    shifted = [affine.sym(first_symbol + i) for i in range(access.map.num_symbols)]
    results = tuple(affine.substitute(e, dims, shifted) for e in access.map.results)
    return access.with_map(AffineMap(rank, symbols, results))


def widened(access: AccessAttr, symbols: int) -> AccessAttr:
    """An access of a nest that gets more symbols."""
    if access.map is None:
        return access
    map = access.map
    return access.with_map(AffineMap(map.num_dims, symbols, map.results))


def visible_in_finish(access: AccessAttr, kinds: Sequence[DimKind]) -> bool:
    """Whether `finish` sees an input with this access."""
    if access.map is None:
        return True
    reduced = {i for i, kind in enumerate(kinds) if kind is DimKind.REDUCTION}
    return not access.map.used_dims() & reduced


def element_of(source: Input) -> Attribute:
    """What regions see of an input."""
    if source.access.is_indirect:
        return source.value.type
    return source.value.type.element_type  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType] # a memref


def clone_into(
    block: Block,
    source: Block,
    values: dict[SSAValue, SSAValue],
    dims: Sequence[AffineExpr] | None,
) -> list[SSAValue]:
    """
    Append the ops of a region to a block, and give what the region yields.

    With `dims`, the expression of each dim of the source in the dims of the block's
    nest, `tir.index` is renamed.
    """
    for op in source.ops:
        if isinstance(op, YieldOp):
            return [values.get(value, value) for value in op.operands]
        if isinstance(op, IndexOp) and dims is not None:
            values[op.result] = _index(block, dims[op.position])
        else:
            block.add_op(op.clone(values))
    raise AssertionError("regions of nests end with 'tir.yield'")


def _index(block: Block, dim: AffineExpr) -> SSAValue:
    if isinstance(dim, AffineDimExpr):
        op: Operation = IndexOp(dim.position)
    else:
        assert isinstance(dim, AffineConstantExpr), "can_rename_indices() says so"
        op = arith.ConstantOp(IntegerAttr(dim.value, IndexType()))
    block.add_op(op)
    return op.results[0]


def can_rename_indices(nest: NestOp, dims: Sequence[AffineExpr]) -> bool:
    """Whether every `tir.index` of a nest has a form over other dims."""
    return all(
        isinstance(dims[op.position], AffineDimExpr | AffineConstantExpr)
        for op in nest.walk()
        if isinstance(op, IndexOp)
    )


@dataclass
class Parts:
    """The new nest, but for its regions."""

    nest: NestOp
    """The nest whose dims the new one has."""
    inputs: list[Input]
    symbols: list[SSAValue]
    kinds: tuple[DimKind, ...]

    def region(self, accumulators: Sequence[Attribute], body: bool) -> Block:
        """An empty block with the arguments of `body`, or of `finish`."""
        types = [element_of(i) for i in self.inputs if body or self._visible(i)]
        if body:
            return Block(arg_types=[*types, *accumulators])
        return Block(arg_types=[*accumulators, *types])

    def _visible(self, source: Input) -> bool:
        return visible_in_finish(source.access, self.kinds)

    def arguments(
        self, block: Block, accumulators: int, body: bool
    ) -> dict[int, SSAValue]:
        """The arguments of a block for the inputs, by position."""
        positions = [i for i, s in enumerate(self.inputs) if body or self._visible(s)]
        args = block.args[: len(positions)] if body else block.args[accumulators:]
        return dict(zip(positions, args, strict=True))

    def build(
        self,
        outs: Sequence[Input],
        body: Block | None,
        finish: Block,
    ) -> NestOp:
        """The new nest."""
        old = self.nest
        made = NestOp(
            list(old.dims),
            list(old.bounds),
            self.symbols,
            [source.value for source in self.inputs],
            [widened(source.access, len(self.symbols)) for source in self.inputs],
            [out.value for out in outs],
            [widened(out.access, len(self.symbols)) for out in outs],
            [
                old.init.clone() if old.has_accumulators else Region(),
                Region() if body is None else Region(body),
                Region(finish),
            ],
            old.schedule,
        )
        made.location = old.location
        return made


def fuse_consumer(
    producer: NestOp, consumer: NestOp, dead: Callable[[SSAValue], bool]
) -> NestOp | None:
    """
    The nest that computes both, in the dims of the producer, or None.

    `dead` says of an output of the producer that nothing else reads it.
    """
    if not is_pointwise(consumer) or any(a.is_indirect for a in producer.out_accesses):
        return None
    matched = match_dims(producer, consumer)
    if matched is None:
        return None
    dims = [matched[i] for i in range(consumer.rank)]
    if not can_rename_indices(consumer, dims):
        return None
    first, count = len(producer.symbols), len(producer.symbols) + len(consumer.symbols)
    made = list(producer.outs)
    inputs = [
        Input(v, a) for v, a in zip(producer.ins, producer.in_accesses, strict=True)
    ]
    added: dict[int, int] = {}
    for position, (value, access) in enumerate(
        zip(consumer.ins, consumer.in_accesses, strict=True)
    ):
        if value not in made:
            added[position] = len(inputs)
            moved = renamed(access, dims, producer.rank, first, count)
            inputs.append(Input(value, moved))
    if any(out in made or out in producer.ins for out in consumer.outs):
        return None
    parts = Parts(
        producer, inputs, [*producer.symbols, *consumer.symbols], producer.dim_kinds
    )
    accumulators = producer.accumulator_types
    body = _with_more_inputs(parts, accumulators) if producer.has_accumulators else None
    finish = parts.region(accumulators, body=False)
    arguments = parts.arguments(finish, len(accumulators), body=False)
    values: dict[SSAValue, SSAValue] = dict(
        zip(producer.finish_accumulators, finish.args, strict=False)
    )
    values |= {arg: arguments[i] for i, arg in producer.finish_ins.items()}
    yielded = clone_into(finish, producer.finish.block, values, None)
    inner: dict[SSAValue, SSAValue] = {}
    for position, arg in consumer.finish_ins.items():
        if position in added:
            inner[arg] = arguments[added[position]]
        else:
            inner[arg] = yielded[made.index(consumer.ins[position])]
    results = clone_into(finish, consumer.finish.block, inner, dims)
    kept = [i for i, out in enumerate(made) if not dead(out)]
    outs = [Input(made[i], producer.out_accesses.data[i]) for i in kept]
    outs += [
        Input(value, renamed(access, dims, producer.rank, first, count))
        for value, access in zip(consumer.outs, consumer.out_accesses, strict=True)
    ]
    finish.add_op(YieldOp(*(yielded[i] for i in kept), *results))
    return parts.build(outs, body, finish)


def _with_more_inputs(parts: Parts, accumulators: Sequence[Attribute]) -> Block:
    """The body of the nest, with arguments for inputs that it does not use."""
    old = parts.nest
    body = parts.region(accumulators, body=True)
    count = len(parts.inputs)
    values: dict[SSAValue, SSAValue] = dict(zip(old.body_ins, body.args, strict=False))
    values |= dict(zip(old.body_accumulators, body.args[count:], strict=True))
    body.add_op(YieldOp(*clone_into(body, old.body.block, values, None)))
    return body


def inverse_dims(producer: NestOp, buffer: SSAValue) -> list[int | None] | None:
    """
    For each dim of a producer the index of the buffer that it is; None for a dim of
    bound 1 that is no index. None if the map has no such inverse.
    """
    position = output_position(producer, buffer)
    if position is None:
        return None
    access = producer.out_accesses.data[position].map
    assert access is not None, "output_position() is None for indirect outputs"
    found: list[int | None] = [None] * producer.rank
    for index, expr in enumerate(access.results):
        if isinstance(expr, AffineDimExpr):
            if found[expr.position] is not None:
                return None
            found[expr.position] = index
        elif expr != AffineConstantExpr(0):
            return None
    bounds = producer.bounds_values()
    complete = all(
        index is not None or bound == 1
        for index, bound in zip(found, bounds, strict=True)
    )
    return found if complete else None


def inline_producer(
    producer: NestOp, consumer: NestOp, buffer: SSAValue
) -> NestOp | None:
    """
    The consumer with what an element-wise producer computes in place of its reads of
    the producer's only output, or None.
    """
    if not is_pointwise(producer) or len(producer.outs) != 1:
        return None
    inverse = inverse_dims(producer, buffer)
    reads = reads_of(consumer, buffer)
    if inverse is None or not reads or buffer in consumer.outs:
        return None
    if any(out in producer.ins for out in consumer.outs):
        return None
    first, count = len(consumer.symbols), len(producer.symbols) + len(consumer.symbols)
    inputs: list[Input] = []
    kept: dict[int, int] = {}
    replaced: dict[int, tuple[list[AffineExpr], int]] = {}
    for position, (value, access) in enumerate(
        zip(consumer.ins, consumer.in_accesses, strict=True)
    ):
        if position not in reads:
            kept[position] = len(inputs)
            inputs.append(Input(value, access))
            continue
        if access.map is None or access.pad is not None:
            return None
        results = access.map.results
        dims = [AffineConstantExpr(0) if i is None else results[i] for i in inverse]
        if not can_rename_indices(producer, dims):
            return None
        replaced[position] = dims, len(inputs)
        inputs += [
            Input(v, renamed(a, dims, consumer.rank, first, count))
            for v, a in zip(producer.ins, producer.in_accesses, strict=True)
        ]
    parts = Parts(
        consumer, inputs, [*consumer.symbols, *producer.symbols], consumer.dim_kinds
    )
    accumulators = consumer.accumulator_types

    def fill(block: Block, old: Block, olds: dict[int, SSAValue], body: bool) -> None:
        arguments = parts.arguments(block, len(accumulators), body)
        count = len(parts.inputs)
        new_accumulators = block.args[count:] if body else block.args
        old_accumulators = (
            consumer.body_accumulators if body else consumer.finish_accumulators
        )
        values: dict[SSAValue, SSAValue] = dict(
            zip(old_accumulators, new_accumulators, strict=False)
        )
        for position, arg in olds.items():
            if position in kept:
                values[arg] = arguments[kept[position]]
            elif arg.uses:
                dims, start = replaced[position]
                inner: dict[SSAValue, SSAValue] = {
                    a: arguments[start + i] for i, a in producer.finish_ins.items()
                }
                (values[arg],) = clone_into(block, producer.finish.block, inner, dims)
        block.add_op(YieldOp(*clone_into(block, old, values, None)))

    body: Block | None = None
    if consumer.has_accumulators:
        body = parts.region(accumulators, body=True)
        fill(body, consumer.body.block, dict(enumerate(consumer.body_ins)), True)
    finish = parts.region(accumulators, body=False)
    fill(finish, consumer.finish.block, dict(consumer.finish_ins), False)
    outs = [
        Input(v, a) for v, a in zip(consumer.outs, consumer.out_accesses, strict=True)
    ]
    return parts.build(outs, body, finish)


def reads_once(consumer: NestOp, buffer: SSAValue) -> bool:
    """Whether the consumer reads no element of a buffer twice."""
    (*positions,) = reads_of(consumer, buffer)
    if len(positions) != 1:
        return False
    access = consumer.in_accesses.data[positions[0]]
    if access.map is None or access.pad is not None:
        return False
    used = {e.position for e in access.map.results if isinstance(e, AffineDimExpr)}
    return all(
        dim in used or bound == 1 for dim, bound in enumerate(consumer.bounds_values())
    )


def is_move(nest: NestOp) -> bool:
    """Whether a nest computes nothing: it hands one input on, or a constant."""
    ops = list(nest.finish.block.ops)
    return len(ops) == 1 or (
        len(ops) == 2 and isinstance(ops[0], arith.ConstantOp) and not nest.ins
    )


__all__ = ["DimAttr", "fuse_consumer", "inline_producer", "is_move", "reads_once"]
