"""
Compute nests where they are read, under as many loops as their schedules say.

`compute_at = 1` in the schedule of a nest says that it is computed at each step of the
outermost loop of the one nest that reads it. The loops of that nest become those of a
block, in which the first computes only what is read at one point, in a buffer that is
as small.

```mlir
tir.nest dims [parallel 64, parallel 32]
    ins(%x[d0, d1] : …) outs(%t[d0, d1] : memref<64x32xf32>)
    schedule #tir.schedule<compute_at = 1>
  …
tir.nest dims [parallel 64, parallel 8, reduction 32]
    ins(%t[d0, d2] : …, %w[d2, d1] : …) outs(%o[d0, d1] : …)
  …
==>
tir.block (%i: index) in dims [parallel 64] {
  %row = tir.alloc : memref<1x32xf32>
  tir.nest dims [parallel 32] at (%i)
      ins(%x[s0, d0] : …) outs(%row[0, d0] : memref<1x32xf32>)
    …
  tir.nest dims [parallel 8, reduction 32] at (%i)
      ins(%row[0, d1] : …, %w[d1, d0] : …) outs(%o[s0, d0] : …)
    …
}
```

The loops are those of `convert-tir-to-scf`: over tiles for caches, and then over the
parallel dims in tiles of registers. Those of a block that the reader is in already come
first. What windows share is computed again at each step. A nest that is not read by
one other nest alone, or is read as a whole at each step, is an error, and so is one
whose buffers live on from one point of a loop to the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, ModuleOp, UnknownLoc
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr

from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.tir import affine
from transom.dialects.tir.types import memref_type_of
from transom.passes.buffer_windows import Reads, Window, ops_around
from transom.passes.consumer_loops import OuterLoops, in_block
from transom.passes.inner_nests import Bound, index_constant, inner_nest, sum_of
from transom.passes.kernel_buffers import BlockOrder, is_local, smaller
from transom.passes.kernel_pass import KernelPass
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic

MOVED = Statistic("moved", "nests computed at loops of the nests that read them")


def compute_at(nest: tir.NestOp, depth: int) -> None:
    """
    Move a nest under so many loops of its reader. Raises `OpError` if it cannot be.
    """
    schedule = nest.schedule
    assert schedule is not None, "it says where"
    if depth == 0:
        nest.schedule = schedule.without_compute_at()
        return
    reader = find_reader(nest)
    check_order(nest, reader)
    blocks = blocks_around(nest, reader)
    block = block_at(nest, reader, blocks, depth)
    bounds = set(reader.bounds)
    if block is None:
        around = sum(map(moving_dims, blocks))
        reader = in_block(reader, OuterLoops.of(reader, depth - around))
        block = cast("tir.BlockOp", reader.parent_op())
        blocks.append(block)
    inner = frozenset(blocks[blocks.index(block) + 1 :])
    # What is left for a tile is never nothing, but others may say so point by point.
    own = [bound for bound in reader.bounds if bound in bounds]
    may_be_none = any(block in ops_around(bound) for bound in own)
    may_be_none |= 0 in reader.static_bounds
    Move(nest, reader, block, inner, may_be_none).apply()


def find_reader(nest: tir.NestOp) -> tir.NestOp:
    """The one nest that reads all that a nest writes."""
    if any(a.is_indirect or a.combine is not None for a in nest.out_accesses):
        raise OpError(
            nest,
            "expected outputs with a map that combine nothing, for 'compute_at'",
        )
    users = [{use.operation for use in out.uses} - {nest} for out in nest.outs]
    reader = next(iter(users[0]), None)
    if (
        not isinstance(reader, tir.NestOp)
        or any(found != {reader} for found in users)
        or any(out in reader.outs or out in nest.ins for out in nest.outs)
        or not all(map(is_local, nest.outs))
    ):
        raise OpError(
            nest,
            "expected 'compute_at' where all outputs are allocated in the kernel, and "
            "one other nest reads them, and nothing else",
        )
    check_buffers(nest)
    return reader


def check_buffers(nest: tir.NestOp) -> None:
    """Whether its outputs can be made anew at each step of more loops."""
    for out in nest.outs:
        alloc = cast("tir.AllocOp", out.owner)
        if alloc.parent is not nest.parent:
            raise OpError(
                nest,
                "expected outputs that are allocated in the same block of ops, for "
                "'compute_at': others hold what was computed before",
            )
        if alloc.pool is not None:
            raise OpError(
                nest,
                "expected outputs without a place in a pool, for 'compute_at'; "
                "'tir-plan-memory' gives one to what is left of them",
            )


def blocks_around(nest: tir.NestOp, reader: tir.NestOp) -> list[tir.BlockOp]:
    """The blocks that the reader is in and the nest is not, outermost first."""
    blocks: list[tir.BlockOp] = []
    op: Operation = reader
    while op.parent is not nest.parent:
        parent = op.parent_op()
        if not isinstance(parent, tir.BlockOp):
            raise OpError(
                nest,
                "expected the nest that reads it in the same block of ops, or in a "
                "'tir.block' of it, for 'compute_at'",
            )
        blocks.insert(0, parent)
        op = parent
    return blocks


def check_order(nest: tir.NestOp, reader: tir.NestOp) -> None:
    """Whether the nest reads the same where its reader is."""
    assert nest.parent is not None, "a nest of a kernel"
    order = BlockOrder(nest.parent)
    first = order.of(nest)
    for value in dict.fromkeys(nest.ins):
        for use in order.uses(value):
            if use.writes and use.position > first:
                raise OpError(
                    nest,
                    "expected inputs that are not written after it, for 'compute_at'",
                )


def moving_dims(block: tir.BlockOp) -> int:
    """How many loops a block has: those that go round once are none."""
    return sum(bound != 1 for bound in block.static_bounds)


def block_at(
    nest: tir.NestOp, reader: tir.NestOp, blocks: list[tir.BlockOp], depth: int
) -> tir.BlockOp | None:
    """The block that has so many loops around it; None if they are the reader's own."""
    total, ends = 0, [0]
    for block in blocks:
        total += moving_dims(block)
        ends.append(total)
        if total == depth:
            return block
    if depth < total:
        raise OpError(
            nest,
            f"expected 'compute_at' not to part the loops of a 'tir.block': {depth} is "
            f"none of {', '.join(map(str, ends))}",
        )
    most = total + len(OuterLoops.of(reader).steps)
    if depth > most:
        raise OpError(
            nest,
            f"expected at most {most} as 'compute_at', for so many loops are around "
            f"what reads it, but got {depth}",
        )
    if any(a.is_indirect or a.combine is not None for a in reader.out_accesses):
        raise OpError(
            nest,
            "expected a reader whose outputs have a map and combine nothing, for "
            "'compute_at' under its loops",
        )
    return None


@dataclass(frozen=True)
class Part:
    """A buffer that is a window of another one along some axes."""

    buffer: SSAValue
    axes: Sequence[Window | None]


@dataclass
class Move:
    """Puts a nest into a block that its reader is in."""

    nest: tir.NestOp
    reader: tir.NestOp
    block: tir.BlockOp
    inner: frozenset[tir.BlockOp]
    """The blocks inside of it that the reader is in."""
    may_be_none: bool
    """Whether the reader may have no points at one of the block."""

    def __post_init__(self) -> None:
        self.place: Operation = self.reader
        while self.place.parent_op() is not self.block:
            parent = self.place.parent_op()
            assert parent is not None, "the reader is in the block"
            self.place = parent

    def insert(self, op: Operation) -> SSAValue:
        """Put an op in front of what the reader is in, and say what it is for."""
        if isinstance(op.location, UnknownLoc):
            op.location = self.nest.location
        self.block.body.block.insert_op_before(op, self.place)
        return op.results[0]

    def apply(self) -> None:
        """Compute the part of the nest that is read, in buffers as small."""
        nest = self.nest
        windows = self.windows()
        if not windows:
            raise OpError(
                nest,
                "expected each step of the loops to read a part of it, for "
                "'compute_at', but all of it may be read in each; with 0 it stays",
            )
        used = [value for window in windows.values() for value, _ in window.values]
        symbols = list(dict.fromkeys([*nest.symbols, *used]))
        bounds = nest.bounds_values()
        kept: list[int] = []
        dims: list[tuple[tir.DimKind, Bound]] = []
        old_dims: list[AffineExpr] = []
        for dim, kind in enumerate(nest.dim_kinds):
            window, index = windows.get(dim), affine.as_expr(0)
            if window is None or window.extent > 1 or window.is_partial:
                index = affine.dim(len(kept))
                kept.append(dim)
                bound = bounds[dim]
                dims.append((kind, self.bound(bound, window) if window else bound))
            begin = window.begin(symbols) if window else affine.as_expr(0)
            old_dims.append(affine.add(begin, index))
        buffers = {out: self.part_of(out, windows) for out in nest.outs}
        schedule = nest.schedule
        assert schedule is not None, "it says where"
        schedule = schedule.without_compute_at()
        inner = inner_nest(
            nest,
            dims,
            symbols,
            old_dims,
            lambda value, access: in_part(value, access, symbols, buffers),
            schedule.of_inner_loops(0, kept, kept),
        )
        self.block.body.block.insert_op_before(inner, self.place)
        self.read_from(buffers)
        for op in (nest, *(old.owner for old in buffers)):
            assert isinstance(op, Operation), "nests and buffers"
            op.detach()
            op.erase()

    def windows(self) -> dict[int, Window]:
        """For dims of the nest, the points that are needed; the same of all outputs."""
        nest = self.nest
        found: dict[int, list[Window | None]] = {}
        for out, access in zip(nest.outs, nest.out_accesses, strict=True):
            assert access.map is not None, "outputs are not indirect"
            reads = Reads(self.reader, out, self.inner, self.may_be_none)
            shape = memref_type_of(out).get_shape()
            dims = [
                e.position for e in access.map.results if isinstance(e, AffineDimExpr)
            ]
            for axis, expr in enumerate(access.map.results):
                for dim in expr.used_dims():
                    plain = isinstance(expr, AffineDimExpr) and dims.count(dim) == 1
                    whole = nest.static_bounds[dim] == (
                        None if shape[axis] == DYNAMIC_INDEX else shape[axis]
                    )
                    window = reads.window(axis) if plain and whole else None
                    found.setdefault(dim, []).append(window)
        return {
            dim: windows[0]
            for dim, windows in found.items()
            if windows[0] is not None
            and len(windows) == len(nest.outs)
            and all(window == windows[0] for window in windows)
            and nest.dim_kinds[dim] is tir.DimKind.PARALLEL
            and windows[0].extent != nest.static_bounds[dim]
        }

    def bound(self, whole: Bound, window: Window) -> Bound:
        """How many points of a dim are computed: those that are left, if few are."""
        if not window.is_partial:
            return window.extent
        symbols = [value for value, _ in window.values]

        def of_symbol(atom: AffineExpr) -> SSAValue:
            assert isinstance(atom, AffineSymExpr), "windows begin at sums of symbols"
            return symbols[atom.position]

        begin = sum_of(window.begin(symbols), of_symbol, self.insert)
        end = index_constant(whole, self.insert) if isinstance(whole, int) else whole
        rest = self.insert(arith.SubiOp(end, begin))
        if self.may_be_none:
            rest = self.insert(arith.MaxSIOp(rest, index_constant(0, self.insert)))
        extent = index_constant(window.extent, self.insert)
        return self.insert(arith.MinUIOp(rest, extent))

    def part_of(self, out: SSAValue, windows: Mapping[int, Window]) -> Part:
        """A buffer for a part of an output."""
        nest, alloc = self.nest, cast("tir.AllocOp", out.owner)
        map = nest.out_accesses.data[nest.outs.index(out)].map
        assert map is not None, "outputs are not indirect"
        axes = [
            windows.get(expr.position) if isinstance(expr, AffineDimExpr) else None
            for expr in map.results
        ]
        sizes = iter(alloc.dynamic_sizes)
        shape: list[int] = []
        dynamic: list[SSAValue] = []
        for axis, size in zip(axes, memref_type_of(out).get_shape(), strict=True):
            value = next(sizes) if size == DYNAMIC_INDEX else None
            shape.append(size if axis is None else axis.extent)
            if axis is None and value is not None:
                dynamic.append(value)
        return Part(self.insert(smaller(alloc, shape, dynamic)), axes)

    def read_from(self, parts: Mapping[SSAValue, Part]) -> None:
        """Let the reader read the parts."""
        reader, symbols = self.reader, list(self.reader.symbols)
        pairs = list(zip(reader.ins, reader.in_accesses.data, strict=True))
        moved = [in_part(value, access, symbols, parts) for value, access in pairs]
        first = len(reader.bounds) + len(reader.symbols)
        for number, (value, _) in enumerate(moved):
            reader.operands[first + number] = value
        reader.in_accesses = ArrayAttr(access for _, access in moved)


def in_part(
    value: SSAValue,
    access: tir.AccessAttr,
    symbols: Sequence[SSAValue],
    parts: Mapping[SSAValue, Part],
) -> tuple[SSAValue, tir.AccessAttr]:
    """How a nest accesses what may be a part of a buffer now."""
    part = parts.get(value)
    if part is None or access.map is None:
        return value, access
    results = tuple(
        expr
        if axis is None
        else affine.add(expr, affine.multiply(axis.begin(symbols), -1))
        for expr, axis in zip(access.map.results, part.axes, strict=True)
    )
    map = AffineMap(access.map.num_dims, len(symbols), results)
    return part.buffer, access.with_map(map)


@dataclass(frozen=True)
class TirComputeAtPass(KernelPass):
    name = "tir-compute-at"
    statistics: ClassVar[tuple[Statistic, ...]] = (MOVED,)
    is_kept = False

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        nests = [op for op in module.walk() if isinstance(op, tir.NestOp)]
        # The last ones first: what they are read by is in its place then.
        for nest in reversed(nests):
            depth = None if nest.schedule is None else nest.schedule.compute_at_depth
            if depth is not None and may_rewrite("compute at loops", nest):
                compute_at(nest, depth)
                MOVED.add()
