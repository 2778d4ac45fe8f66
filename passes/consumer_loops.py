"""
The outermost loops of a nest as a block, and which part of a buffer is read in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.tir import affine
from transom.dialects.tir.canonicalization import constant_index
from transom.passes.inner_nests import (
    Bound,
    Insert,
    dim_attrs,
    index_constant,
    inner_nest,
)

Step = tuple[int, int]
"""A dim that a loop is over, and how many of its points it goes on by."""


def most(bound: Bound) -> int | None:
    """The largest number that a bound may be, if it is known."""
    if isinstance(bound, int):
        return bound
    owner = bound.owner
    if isinstance(owner, arith.MinUIOp):
        return constant_index(owner.rhs)
    return constant_index(bound)


@dataclass(frozen=True)
class OuterLoops:
    """The loops around a tile of points, outermost first: those over caches, then
    those over parallel dims. A loop that goes round once is none."""

    steps: Sequence[Step]
    caches: int
    """How many of the tiles for caches the loops are of, those that go round once
    included."""

    @staticmethod
    def of(nest: tir.NestOp, count: int | None = None) -> OuterLoops:
        """All of a nest's loops, or some, as `convert-tir-to-scf` makes them."""
        schedule = nest.schedule or tir.ScheduleAttr.get()
        caches = len(schedule.cache_tiles)
        extents = [most(bound) for bound in nest.bounds_values()]
        steps: list[Step] = []
        used = 0
        for number, (dim, size) in enumerate(schedule.steps_of_loops(nest.dim_kinds)):
            if len(steps) == count:
                break
            extent = extents[dim]
            if extent is None or extent > size:
                steps.append((dim, size))
                extents[dim] = size
            used = min(number + 1, caches)
        return OuterLoops(steps, used)


def _count(bound: Bound, size: int, insert: Insert) -> Bound:
    """How often a loop goes round."""
    if isinstance(bound, int):
        return -(-bound // size)
    if size == 1:
        return bound
    rounded = insert(arith.AddiOp(bound, index_constant(size - 1, insert)))
    return insert(arith.DivUIOp(rounded, index_constant(size, insert)))


def in_block(nest: tir.NestOp, loops: OuterLoops) -> tir.NestOp:
    """
    Put a nest into a block of its outermost loops; gives what the nest is inside.

    Raises `OpError` where a tile within a tile would not be whole.
    """
    body = Block(arg_types=[IndexType()] * len(loops.steps))

    def around(op: Operation) -> SSAValue:
        op.location = nest.location
        parent = nest.parent
        assert parent is not None, "a nest of a kernel"
        parent.insert_op_before(op, nest)
        return op.results[0]

    def inside(op: Operation) -> SSAValue:
        op.location = nest.location
        body.add_op(op)
        return op.results[0]

    left: dict[int, Bound] = dict(enumerate(nest.bounds_values()))
    starts: dict[int, AffineExpr] = {}
    counts: list[Bound] = []
    moved = [dim for dim, _ in loops.steps]
    for number, (dim, size) in enumerate(loops.steps):
        bound = left[dim]
        counts.append(_count(bound, size, around))
        if size == 1 or (isinstance(bound, int) and bound % size == 0):
            left[dim] = size
        elif moved.count(dim) > 1:
            raise OpError(
                nest,
                f"expected whole tiles of 'd{dim}' for a 'compute_at' inside of two "
                f"loops of it, but {size} does not divide "
                f"{bound if isinstance(bound, int) else 'a size that is not known'}; "
                "a smaller 'compute_at' is outside of the second",
            )
        else:
            points = index_constant(size, inside)
            base = inside(arith.MuliOp(body.args[number], points))
            whole = index_constant(bound, inside) if isinstance(bound, int) else bound
            rest = inside(arith.SubiOp(whole, base))
            left[dim] = inside(arith.MinUIOp(rest, points))
        start = affine.multiply(affine.sym(len(nest.symbols) + number), size)
        starts[dim] = affine.add(starts.get(dim, 0), start)
    kept = [dim for dim in range(nest.rank) if dim not in starts or left[dim] != 1]
    old_dims = [
        affine.add(
            starts.get(dim, 0), affine.dim(kept.index(dim)) if dim in kept else 0
        )
        for dim in range(nest.rank)
    ]
    schedule = nest.schedule
    parallel: list[int] = []
    if schedule is not None:
        parallel = [moved.index(d) for d in schedule.parallel_dims if d in moved]
        others = set(kept) - set(moved)
        schedule = schedule.of_inner_loops(loops.caches, kept, others)
    inner = inner_nest(
        nest,
        [(nest.dim_kinds[dim], left[dim]) for dim in kept],
        [*nest.symbols, *body.args],
        old_dims,
        lambda value, access: (value, access),
        schedule,
    )
    body.add_ops([inner, tir.YieldOp()])
    block = tir.BlockOp(
        dim_attrs([(tir.DimKind.PARALLEL, count) for count in counts]),
        [count for count in counts if not isinstance(count, int)],
        Region(body),
        tir.ScheduleAttr.get(parallel=parallel) if parallel else None,
    )
    block.location = nest.location
    parent = nest.parent
    assert parent is not None, "a nest of a kernel"
    parent.insert_op_before(block, nest)
    nest.detach()
    nest.erase()
    return inner
