"""
Nests that work on the same rows become one `tir.block` over the rows.

A *row dim* is a parallel dim that all nests of a run have in common: wherever two of
them meet in a buffer, both use it for the same index. The block has the row dims; its
nests have the dims that are left, and its buffers hold what is left of theirs.

Where a row lies apart in memory, as the channels of a pixel do, and its neighbours next
to it, the dim stays in the nests: their lanes are along it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from transom.dialects.tir import (
    AccessAttr,
    AllocOp,
    BlockOp,
    DimAttr,
    DimKind,
    NestOp,
    YieldOp,
    affine,
)
from transom.passes.inner_nests import inner_nest
from transom.passes.kernel_buffers import root_of, smaller
from transom.passes.nest_parts import same_bound
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic

FEW_LANES = 4
"""Rows fewer than that fill no vector."""

NestDim = tuple[int, int]
"""The number of a nest in its run, and a dim of it."""


class Member:
    """A nest of a run, with what is asked of it again and again."""

    def __init__(self, nest: NestOp) -> None:
        self.nest = nest
        self.kinds = nest.dim_kinds
        self.bounds = nest.bounds_values()
        self.outs = tuple(nest.outs)
        self.accesses: list[tuple[SSAValue, AccessAttr]] = [
            *zip(self.outs, nest.out_accesses, strict=True),
            *zip(nest.ins, nest.in_accesses, strict=True),
        ]


ROWS = Statistic("row-blocks", "blocks of nests made that go by rows")


def group_rows(block: Block) -> None:
    """Put runs of nests of a block that have row dims into blocks."""
    for nests in runs_of(block):
        run = [Member(nest) for nest in nests]
        start = 0
        while start < len(run):
            rows, end = None, start + 1
            for stop in range(start + 2, len(run) + 1):
                found = find_rows(run[start:stop])
                if found is None:
                    break
                rows, end = found, stop
            if rows is not None and may_rewrite("group rows", run[start].nest):
                rows.build()
                ROWS.add()
            start = end


def runs_of(block: Block) -> Iterator[list[NestOp]]:
    """The runs of nests with nothing between them but buffers and index arithmetic."""
    run: list[NestOp] = []
    for op in tuple(block.ops):
        if isinstance(op, NestOp) and can_be_grouped(op):
            run.append(op)
        elif not isinstance(op, AllocOp | memref.DimOp) and not (
            op.name.startswith("arith.") and not op.regions
        ):
            yield run
            run = []
    yield run


def can_be_grouped(nest: NestOp) -> bool:
    """Whether the points of parallel dims of a nest write different elements."""
    return nest.schedule is None and not any(
        access.is_indirect or access.combine is not None for access in nest.out_accesses
    )


@dataclass
class Rows:
    """The row dims of a run of nests, outermost first: one dim of each nest."""

    nests: Sequence[NestOp]
    classes: list[list[int]]
    shrunk: dict[SSAValue, list[int]] = field(default_factory=dict[SSAValue, list[int]])
    """The buffers of the run, with the indices that are row dims."""

    def build(self) -> None:
        """Replace the nests by a block."""
        first, last = self.nests[0], self.nests[-1]
        place = last.parent
        assert place is not None, "the nests of a block"
        bounds = [first.bounds_values()[members[0]] for members in self.classes]
        body = Block(arg_types=[IndexType()] * len(bounds))
        buffers: dict[SSAValue, SSAValue] = {}
        for buffer, dropped in self.shrunk.items():
            alloc = cast("AllocOp", buffer.owner)
            new = shrink(alloc, dropped)
            body.add_op(new)
            buffers[buffer] = new.result
        for number, nest in enumerate(self.nests):
            body.add_op(self._inner(number, nest, body, buffers))
        body.add_op(YieldOp())
        block = BlockOp(
            [
                DimAttr(DimKind.PARALLEL, b if isinstance(b, int) else None)
                for b in bounds
            ],
            [bound for bound in bounds if not isinstance(bound, int)],
            Region(body),
        )
        block.location = first.location
        place.insert_op_before(block, last)
        for op in (*reversed(self.nests), *(b.owner for b in self.shrunk)):
            assert isinstance(op, Operation), "nests and buffers"
            op.detach()
            op.erase()

    def _inner(
        self,
        number: int,
        nest: NestOp,
        body: Block,
        buffers: dict[SSAValue, SSAValue],
    ) -> NestOp:
        rows = {members[number]: i for i, members in enumerate(self.classes)}
        left = [d for d in range(nest.rank) if d not in rows]
        old_dims: list[AffineExpr] = [
            affine.sym(len(nest.symbols) + rows[d])
            if d in rows
            else AffineExpr.dimension(left.index(d))
            for d in range(nest.rank)
        ]

        def renamed(value: SSAValue, access: AccessAttr) -> tuple[SSAValue, AccessAttr]:
            dropped = self.shrunk.get(value, [])
            if access.map is not None:
                access = access.with_map(without_results(access.map, dropped))
            return buffers.get(value, value), access

        bounds = nest.bounds_values()
        return inner_nest(
            nest,
            [(nest.dim_kinds[d], bounds[d]) for d in left],
            [*nest.symbols, *body.args],
            old_dims,
            renamed,
            nest.schedule,
        )


def without_results(map: AffineMap, dropped: Sequence[int]) -> AffineMap:
    """A map that gives less."""
    kept = [e for index, e in enumerate(map.results) if index not in dropped]
    return AffineMap(map.num_dims, map.num_symbols, tuple(kept))


def shrink(alloc: AllocOp, dropped: Sequence[int]) -> AllocOp:
    """A buffer without some of its dimensions."""
    sizes = iter(alloc.dynamic_sizes)
    shape: list[int] = []
    dynamic: list[SSAValue] = []
    for axis, size in enumerate(alloc.result.type.get_shape()):
        value = next(sizes) if size == DYNAMIC_INDEX else None
        if axis in dropped:
            continue
        shape.append(size)
        if value is not None:
            dynamic.append(value)
    return smaller(alloc, shape, dynamic)


class DimClasses:
    """Dims of nests that stand for the same index of a buffer (union-find)."""

    def __init__(self) -> None:
        self._parents: dict[NestDim, NestDim] = {}
        self._local: set[NestDim] = set()

    def find(self, dim: NestDim) -> NestDim:
        """The representative of a dim's class."""
        while (parent := self._parents.get(dim, dim)) != dim:
            dim = parent
        return dim

    def unite(self, dims: Sequence[NestDim]) -> None:
        """Say that dims are one index."""
        root = self.find(dims[0])
        for dim in dims[1:]:
            other = self.find(dim)
            if other != root:
                self._parents[other] = root
                if other in self._local:
                    self._local.add(root)

    def exclude(self, dim: NestDim) -> None:
        """Say that a dim runs inside of a row."""
        self._local.add(self.find(dim))

    def is_row(self, dim: NestDim) -> bool:
        """Whether nothing says that a dim runs inside of a row."""
        return self.find(dim) not in self._local


Shared = dict[SSAValue, list[tuple[int, AccessAttr]]]
"""Buffers that several accesses have in common, with the number of the nest of each."""


def find_rows(run: Sequence[Member]) -> Rows | None:
    """The row dims of some nests in order, or None if there are none."""
    touched: Shared = {}
    for number, member in enumerate(run):
        for value, access in member.accesses:
            touched.setdefault(value, []).append((number, access))
    written = {out for member in run for out in member.outs}
    shared = {v: a for v, a in touched.items() if v in written and len(a) > 1}
    read = {value for member in run for value in member.nest.ins}
    flows = {value: accesses for value, accesses in shared.items() if value in read}
    if not _connected(run, flows) or _has_views(touched, written):
        return None
    classes = DimClasses()
    for accesses in shared.values():
        if any(access.map is None or access.pad is not None for _, access in accesses):
            return None
        _unite(run, accesses, classes)
    rows = Rows([member.nest for member in run], [])
    for dim in range(len(run[0].bounds)):
        members = _members(run, classes, (0, dim))
        if (
            members is not None
            and _same_bounds(run, members)
            and _in_all(members, shared)
        ):
            rows.classes.append(members)
    inside = [set(range(len(member.bounds))) for member in run]
    for members in rows.classes:
        for dims, dim in zip(inside, members, strict=True):
            dims.discard(dim)
    rows.classes = [m for m in rows.classes if not _are_lanes(run, m, inside)]
    if not rows.classes:
        return None
    for buffer, accesses in shared.items():
        users = {use.operation for use in buffer.uses}
        if isinstance(buffer.owner, AllocOp) and users <= set(rows.nests):
            rows.shrunk[buffer] = [_index_of(m, accesses) for m in rows.classes]
    return rows


def _has_views(touched: Shared, written: set[SSAValue]) -> bool:
    """Whether some nests touch what others write in another form."""
    roots = {root_of(value): value for value in written}
    return any(roots.get(root_of(value), value) is not value for value in touched)


def _connected(run: Sequence[Member], flows: Shared) -> bool:
    """
    Whether each nest but the first meets an earlier one in a buffer that is written and
    read: nests that only write parts of one gain nothing from each other.
    """
    met = {0}
    for accesses in sorted(flows.values(), key=lambda found: found[-1][0]):
        numbers = {number for number, _ in accesses}
        if len(numbers) > 1:
            met |= numbers
    return len(met) == len(run)


def _unite(
    run: Sequence[Member],
    accesses: Sequence[tuple[int, AccessAttr]],
    classes: DimClasses,
) -> None:
    maps = [(n, a.map) for n, a in accesses if a.map is not None]
    for index in range(len(maps[0][1].results)):
        exprs = [(n, map.results[index]) for n, map in maps]
        dims = [(n, e.position) for n, e in exprs if isinstance(e, AffineDimExpr)]
        parallel = all(run[n].kinds[d] is DimKind.PARALLEL for n, d in dims)
        if len(dims) == len(exprs) and parallel:
            classes.unite(dims)
        else:
            for number, expr in exprs:
                for dim in expr.used_dims():
                    classes.exclude((number, dim))


def _members(
    run: Sequence[Member], classes: DimClasses, dim: NestDim
) -> list[int] | None:
    """The one dim of each nest that is the same row dim as this one."""
    if not classes.is_row(dim):
        return None
    root = classes.find(dim)
    members: list[int] = []
    for number, member in enumerate(run):
        dims = range(len(member.bounds))
        found = [d for d in dims if classes.find((number, d)) == root]
        if len(found) != 1:
            return None
        members += found
    return members


def _same_bounds(run: Sequence[Member], members: Sequence[int]) -> bool:
    bounds = [member.bounds[dim] for member, dim in zip(run, members, strict=True)]
    return all(same_bound(bounds[0], bound) for bound in bounds)


def _are_lanes(
    run: Sequence[Member], members: Sequence[int], inside: Sequence[set[int]]
) -> bool:
    """
    Whether what a row would hold lies apart in memory, and rows next to each other are
    neighbours: they are better computed side by side, as lanes of vectors.
    """
    for member, dim, others in zip(run, members, inside, strict=True):
        bound = member.bounds[dim]
        if isinstance(bound, int) and bound < FEW_LANES:
            continue
        for _, access in member.accesses:
            results = access.map.results if access.map is not None else ()
            if results[-1:] == (affine.dim(dim),) and any(
                others & expr.used_dims() for expr in results
            ):
                return True
    return False


def _index_of(
    members: Sequence[int], accesses: Sequence[tuple[int, AccessAttr]]
) -> int:
    """The index of a buffer that a row dim is in all accesses, or -1."""
    maps = [(number, access.map) for number, access in accesses if access.map]
    for index in range(len(maps[0][1].results)):
        if all(
            map.results[index] == AffineExpr.dimension(members[number])
            for number, map in maps
        ):
            return index
    return -1


def _in_all(members: Sequence[int], shared: Shared) -> bool:
    return all(_index_of(members, accesses) >= 0 for accesses in shared.values())
