"""
How the points of two nests correspond, where one reads what the other writes.
"""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from transom.dialects.tir import AllocOp, DimKind, NestOp, affine
from transom.passes.nest_parts import Bound, same_bound

ZERO = AffineConstantExpr(0)


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


def is_move(nest: NestOp) -> bool:
    """Whether a nest computes nothing: it hands one input on, or a constant."""
    ops = list(nest.finish.block.ops)
    return len(ops) == 1 or (
        len(ops) == 2 and isinstance(ops[0], arith.ConstantOp) and not nest.ins
    )


def match_dims(producer: NestOp, consumer: NestOp) -> dict[int, AffineExpr] | None:
    """
    For each dim of the consumer what it is in dims of the producer, where one point of
    the consumer reads what one point of the producer writes; None if it is not so.

    That is a dim, or several that number it, `d1 * 16 + d4`, as where the producer
    writes what was in blocks.
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
    used = {dim for expr in matched.values() for dim in expr.used_dims()}
    for dim, bound in enumerate(theirs):
        reduced = producer.dim_kinds[dim] is DimKind.REDUCTION
        if not reduced and dim not in used and bound != 1:
            return None  # the consumer would run more often than it has points
    for dim, bound in enumerate(ours):
        if dim not in matched:
            if bound != 1:
                return None
            matched[dim] = ZERO
    return matched


def _match(
    to: AffineExpr,
    at: AffineExpr,
    matched: dict[int, AffineExpr],
    theirs: Sequence[Bound],
    ours: Sequence[Bound],
) -> bool:
    """Match an index that is written and one that is read."""
    if isinstance(at, AffineDimExpr):
        known = matched.setdefault(at.position, to)
        if known != to:
            return False
        if to == ZERO:
            return ours[at.position] == 1
        if isinstance(to, AffineDimExpr):
            if not same_bound(theirs[to.position], ours[at.position]):
                return False
        elif not _numbers(to, theirs, ours[at.position]):
            return False
        own = set(to.used_dims())
        sharing = [d for d, e in matched.items() if not own.isdisjoint(e.used_dims())]
        return len(sharing) == 1
    if at != ZERO:
        return False
    return to == at or (isinstance(to, AffineDimExpr) and theirs[to.position] == 1)


def _numbers(expr: AffineExpr, bounds: Sequence[Bound], bound: Bound) -> bool:
    """Whether dims number what is below a bound, each once: `d1 * 16 + d4`."""
    sizes: list[tuple[int, int]] = []
    for product, coefficient in affine.terms_of(expr).items():
        if len(product) != 1 or not isinstance(product[0], AffineDimExpr):
            return False
        size = bounds[product[0].position]
        if not isinstance(size, int):
            return False
        sizes.append((coefficient, size))
    count = 1
    for coefficient, size in sorted(sizes):
        if coefficient != count:
            return False
        count *= size
    return count == bound


def inverse_dims(producer: NestOp, buffer: SSAValue) -> list[int | None] | None:
    """
    For each dim of a producer the index of the buffer that it is; None for a dim of
    bound 1 that is no index. None if the map has no such inverse, or leaves elements
    of the buffer out.
    """
    position = output_position(producer, buffer)
    if position is None:
        return None
    access = producer.out_accesses.data[position].map
    assert access is not None, "output_position() is None for indirect outputs"
    found: list[int | None] = [None] * producer.rank
    bounds, extents = producer.bounds_values(), extents_of(buffer)
    if extents is None:
        return None
    for index, (expr, extent) in enumerate(zip(access.results, extents, strict=True)):
        if isinstance(expr, AffineDimExpr):
            if found[expr.position] is not None:
                return None
            found[expr.position] = index
            if not same_bound(bounds[expr.position], extent):
                return None
        elif expr != ZERO or extent != 1:
            return None
    complete = all(
        index is not None or bound == 1
        for index, bound in zip(found, bounds, strict=True)
    )
    return found if complete else None


def extents_of(buffer: SSAValue) -> list[Bound] | None:
    """The sizes of a buffer of the kernel, None for other memrefs."""
    alloc = buffer.owner
    if not isinstance(alloc, AllocOp):
        return None
    dynamic = iter(alloc.dynamic_sizes)
    return [
        next(dynamic) if size == DYNAMIC_INDEX else size
        for size in alloc.result.type.get_shape()
    ]


def reads_once(consumer: NestOp, buffer: SSAValue) -> bool:
    """Whether the consumer reads no element of a buffer twice."""
    positions = reads_of(consumer, buffer)
    if len(positions) != 1:
        return False
    (position,) = positions
    access = consumer.in_accesses.data[position]
    if access.map is None or access.pad is not None:
        return False
    in_body = consumer.has_accumulators and bool(consumer.body_ins[position].uses)
    used = {e.position for e in access.map.results if isinstance(e, AffineDimExpr)}
    return all(
        dim in used or bound == 1 or (kind is DimKind.REDUCTION and not in_body)
        for dim, (bound, kind) in enumerate(
            zip(consumer.bounds_values(), consumer.dim_kinds, strict=True)
        )
    )
